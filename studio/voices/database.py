"""The list of the user's voices as a SQLite file: write-ahead logged, migrated, its failures sentences."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DamagedLibrary, DiskFull, StudioError

_BUSY_SECONDS = 10.0
_AGAIN_SECONDS = 0.005
# Each is applied once, in order; PRAGMA user_version counts those applied. Never edit one that was released.
_MIGRATIONS = (
    """
    CREATE TABLE voices (
        name_key TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        clip TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        clip_seconds REAL NOT NULL,
        transcript TEXT,
        notes TEXT NOT NULL,
        generation TEXT,
        created TEXT NOT NULL
    ) STRICT
    """,
    "ALTER TABLE voices ADD COLUMN quality TEXT",
    "ALTER TABLE voices ADD COLUMN language TEXT",
    "ALTER TABLE voices ADD COLUMN consent_by TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE voices ADD COLUMN consent_date TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE voices ADD COLUMN consent_scope TEXT NOT NULL DEFAULT ''",
    """
    CREATE TABLE trash (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        removed TEXT NOT NULL,
        name_key TEXT NOT NULL,
        name TEXT NOT NULL,
        clip TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        clip_seconds REAL NOT NULL,
        transcript TEXT,
        notes TEXT NOT NULL,
        generation TEXT,
        created TEXT NOT NULL,
        quality TEXT,
        language TEXT,
        consent_by TEXT NOT NULL,
        consent_date TEXT NOT NULL,
        consent_scope TEXT NOT NULL
    ) STRICT
    """,
)


@contextlib.contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction: all of the block or nothing of it. Makes the file, or brings it up to date.

    Raises ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``; ``sqlite3.IntegrityError`` passes through.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(_connect(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _migrate(connection, path)
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except sqlite3.IntegrityError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise _sentence(error, path) from error


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        _write_ahead(connection)
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Waits for others, which SQLite does not do by itself where somebody makes the file or closes it last."""
    deadline_seconds = time.monotonic() + _BUSY_SECONDS
    while not _writes_ahead(connection, is_last=time.monotonic() > deadline_seconds):
        time.sleep(_AGAIN_SECONDS)


def _writes_ahead(connection: sqlite3.Connection, *, is_last: bool) -> bool:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if is_last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(_MIGRATIONS):
        raise DamagedLibrary(
            "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
        )
    for number, statement in enumerate(_MIGRATIONS[version:], start=version + 1):
        connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")


def _sentence(error: sqlite3.Error | OSError, path: Path) -> StudioError:
    # The low byte is the kind of error, what is above it the circumstances.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFull("The disk is full: the voice could not be saved.", remedy="Free some space and try again.")
        case sqlite3.SQLITE_BUSY:
            return CannotWrite(
                "Another program is busy with the library of voices.", remedy="Close it, or try again in a moment."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_ERROR:
            return DamagedLibrary(
                "The list of voices, {path}, is damaged ({reason}).",
                remedy="Move it away and add the voices again: their recordings are beside it, in clips.",
                path=path,
                reason=error,
            )
    return CannotWrite(
        "The list of voices, {path}, cannot be used ({reason}).",
        remedy="Check its permissions.",
        path=path,
        reason=error,
    )
