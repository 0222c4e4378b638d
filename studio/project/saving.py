"""From a working copy to a file that is complete or not there: written beside, then renamed."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import sqlite3
import sys
import time
from pathlib import Path

from studio.project import database

_PART_SUFFIX = ".part"
# Nobody needs so long to save.
_ABANDONED_AFTER_SECONDS = 24 * 3600


class Snapshot:
    """A working copy as it is at this moment, on its way into a new file beside ``target``.

    Whoever makes it keeps others from changing the working copy; from then on they may. All methods
    raise ``DiskFull`` and ``CannotWrite``.
    """

    def __init__(self, working_copy: Path, target: Path) -> None:
        self._target = target.resolve()  # through a link, not in its place
        self._part = self._target.with_name(f".{self._target.name}.{secrets.token_hex(6)}{_PART_SUFFIX}")
        _sweep(self._target)
        with database.sentences(target), contextlib.ExitStack() as undo:
            undo.callback(self._part.unlink, missing_ok=True)
            self._part.touch(exist_ok=False)  # says more clearly than SQLite why it cannot be
            self._connection = sqlite3.connect(working_copy, isolation_level=None, check_same_thread=False)
            undo.callback(self._connection.close)
            execute = self._connection.execute
            execute("ATTACH DATABASE ? AS target", (str(self._part),))
            # The file counts for nothing until it is complete, so it needs no journal.
            execute("PRAGMA target.journal_mode = OFF")
            execute("PRAGMA target.synchronous = OFF")
            database.create_tables(self._connection, "target")
            execute("BEGIN")
            execute("SELECT name FROM main.project").fetchone()  # from here on, this is what is read
            undo.pop_all()

    def write(self, save_id: str) -> None:
        """Completes the file under its name, in place of one that was there."""
        with database.sentences(self._target):
            try:
                self._copy(save_id)
                self._connection.close()
                _sync(self._part)
                if self._target.exists():
                    shutil.copymode(self._target, self._part)
                os.replace(self._part, self._target)
                _sync(self._target.parent)
            finally:
                self._connection.close()
                self._part.unlink(missing_ok=True)

    def _copy(self, save_id: str) -> None:
        execute = self._connection.execute
        execute("INSERT INTO target.project SELECT name, ? FROM main.project", (save_id,))
        for table in ("lines", "takes", "dictionary"):
            execute(f"INSERT INTO target.{table} SELECT * FROM main.{table}")  # noqa: S608 - our own name
        execute(
            "INSERT INTO target.sounds SELECT * FROM main.sounds"
            " WHERE take_id IN (SELECT id FROM main.takes) ORDER BY rowid"
        )
        execute("COMMIT")


def _sweep(target: Path) -> None:
    """Removes what a program left beside ``target`` that died while it saved."""
    with contextlib.suppress(OSError):
        for part in target.parent.glob(f".{glob.escape(target.name)}.*{_PART_SUFFIX}"):
            if time.time() - part.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                part.unlink()


def _sync(path: Path) -> None:
    """Has the system put it onto the disk; folders too, where the system can."""
    if path.is_dir() and sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
