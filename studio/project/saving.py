"""Saving a project: write a new file, verify it, then replace the old one."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite
from studio.project import database
from studio.project.script import Script
from studio.project.storage import contains_script, write_script
from studio.storage import sqlite
from studio.storage.atomic_file import atomic_path, sync


class Snapshot:
    """The script, the audio and the evidence of a working copy at one moment, to be saved.

    The working copy must not change while a snapshot is created, which takes as long as opening a file. Later changes
    are not included. Call ``write`` or ``close`` afterwards. Raises ``DiskFull`` and ``CannotWrite``.
    """

    def __init__(self, working_copy: Path, script: Script) -> None:
        self._script = script
        with database.translate_errors(working_copy):
            self._connection = sqlite.connect(working_copy)
            try:
                self._connection.execute("BEGIN")
                self._connection.execute("SELECT name FROM project").fetchone()  # this begins the read transaction
            except BaseException:
                self._connection.close()
                raise

    def write(self, target: Path, save_id: str) -> None:
        """Write and check a new file, then rename it to ``target``. Closes the snapshot."""
        with contextlib.closing(self), database.translate_errors(target), atomic_path(target) as part:
            part.touch(exist_ok=False)  # this raises clearer errors than SQLite
            digest = self._copy(part, save_id)
            sync(part)
            self._verify(part, save_id, digest, target)

    def close(self) -> None:
        self._connection.close()

    def _copy(self, part: Path, save_id: str) -> bytes:
        """Fill the new file and return the digest of its audio and evidence."""
        with contextlib.closing(sqlite.connect(part)) as connection:
            # An incomplete file is discarded, so it needs no journal.
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            database.create_tables(connection)
            write_script(connection, self._script, save_id)
            sounds, evidence = _sounds(self._connection, self._script), _evidence(self._connection, self._script)
            connection.executemany("INSERT INTO sounds (take_id, number, samples) VALUES (?, ?, ?)", sounds)
            connection.executemany("INSERT INTO evidence (take_id, sentences) VALUES (?, ?)", evidence)
            connection.execute("COMMIT")
        return sounds.digest + evidence.digest

    def _verify(self, part: Path, save_id: str, digest: bytes, target: Path) -> None:
        """Raise ``CannotWrite`` unless the file reads back as it was written."""
        with contextlib.closing(database.connect_read_only(part)) as connection:
            sounds, evidence = _sounds(connection, self._script), _evidence(connection, self._script)
            num_read = sum(1 for _ in sounds) + sum(1 for _ in evidence)
            count = "SELECT (SELECT COUNT(*) FROM sounds) + (SELECT COUNT(*) FROM evidence)"
            (num_rows,) = connection.execute(count).fetchone()
            is_intact = (
                contains_script(connection, self._script)
                and database.saved_id(part) == save_id
                and (sounds.digest + evidence.digest, num_read) == (digest, num_rows)
            )
        if not is_intact:
            raise CannotWrite(
                "{path} was written but does not read back correctly.",
                remedy="The disk or its connection may be failing. Save to another location.",
                path=target,
            )


def _sounds(connection: sqlite3.Connection, script: Script) -> _TakeRows:
    query = "SELECT take_id, number, samples FROM sounds WHERE take_id = ? ORDER BY number"
    return _TakeRows(connection, script, query)


def _evidence(connection: sqlite3.Connection, script: Script) -> _TakeRows:
    return _TakeRows(connection, script, "SELECT take_id, sentences FROM evidence WHERE take_id = ?")


class _TakeRows:
    """Iterable of the rows of a table about all takes. ``digest`` covers the rows so far."""

    def __init__(self, connection: sqlite3.Connection, script: Script, query: str) -> None:
        self._connection = connection
        self._take_ids = sorted(script.line_of_take)
        self._query = query
        self._hash = hashlib.blake2b()

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        for take_id in self._take_ids:
            for row in self._connection.execute(self._query, (take_id,)):
                for value in row:
                    content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
                    self._hash.update(f"{len(content)} ".encode())
                    self._hash.update(content)
                yield tuple(row)

    @property
    def digest(self) -> bytes:
        return self._hash.digest()
