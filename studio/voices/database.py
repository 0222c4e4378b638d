"""SQLite database of the voice library: connections, schema migrations and error messages.

Decision: a rollback journal; reads work on a copy in memory. Reason: reading then needs no lock held by a writer, no
disk space and no write permission, and older schema versions are migrated in the copy only. Alternative: the
write-ahead log of earlier versions, which has to create files even for reading.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DamagedLibrary, DiskFull, StudioError
from studio.storage import sqlite
from studio.storage.disk import require_regular_file

_BUSY_SECONDS = 10.0
# Errors when reading a write-ahead logged database whose side files cannot be created.
_CANNOT_CREATE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
# Applied in order; PRAGMA user_version counts those applied. Never edit a released one.
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
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a copy of the database in memory; empty if there is no file. Waits for another process only while it commits.

    Raises ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``.
    """
    with contextlib.closing(sqlite.connect(":memory:")) as copy:
        with _translated_errors(path):
            _copy_list(path, copy)
            _migrate(copy, path)
            copy.row_factory = sqlite3.Row
        with _translated_errors(path):
            yield copy


@contextlib.contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Run the block in one write transaction. Creates or migrates the file.

    Raises ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``; ``sqlite3.IntegrityError`` passes through.
    """
    with _translated_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(_connect(path)) as connection:
            _use_rollback_journal(connection)
            with sqlite.transaction(connection):
                _migrate(connection, path)
                yield connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite.connect(path, busy_seconds=_BUSY_SECONDS)
    connection.row_factory = sqlite3.Row
    return connection


def _use_rollback_journal(connection: sqlite3.Connection) -> None:
    """Convert a database of an earlier version from WAL mode, unless another process has it open."""
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if sqlite.error_kind(error) != sqlite3.SQLITE_BUSY:
            raise


def _copy_list(path: Path, copy: sqlite3.Connection) -> None:
    try:
        require_regular_file(path)
    except FileNotFoundError:
        return
    try:
        _copy_database(f"{path.absolute().as_uri()}?mode=rw", copy)
    except sqlite3.OperationalError as error:
        if sqlite.error_kind(error) not in _CANNOT_CREATE:
            raise
        _copy_write_ahead_logged(path, copy)


def _copy_write_ahead_logged(path: Path, copy: sqlite3.Connection) -> None:
    """Copy a WAL database on a full or read-only disk, where SQLite cannot create its shared-memory file."""
    log = path.with_name(f"{path.name}-wal")
    if not log.is_file() or log.stat().st_size == 0:
        _copy_database(f"{path.absolute().as_uri()}?mode=ro&immutable=1", copy)
        return
    with tempfile.TemporaryDirectory(prefix="timbre-voices-") as folder:
        for file in (path, log):
            shutil.copyfile(file, Path(folder, file.name))
        _copy_database(f"{Path(folder, path.name).as_uri()}?mode=rw", copy)


def _copy_database(uri: str, copy: sqlite3.Connection) -> None:
    with contextlib.closing(sqlite.connect(uri, busy_seconds=_BUSY_SECONDS)) as source:
        # backup() would wait for a lock without limit; take the lock first, within the timeout of the connection.
        source.execute("BEGIN")
        (page_bytes,) = source.execute("PRAGMA page_size").fetchone()
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        copy.execute(f"PRAGMA page_size = {page_bytes}")  # SQLite copies into memory only between equal page sizes
        source.backup(copy)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(_MIGRATIONS):
        raise DamagedLibrary(
            "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
        )
    for number, statement in enumerate(_MIGRATIONS[version:], start=version + 1):
        connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")


@contextlib.contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise _translate(error, path) from error


def _translate(error: sqlite3.Error | OSError, path: Path) -> StudioError:
    if sqlite.is_disk_full(error, path):
        return DiskFull("The disk is full: the voice could not be saved.", remedy="Free some space and try again.")
    match sqlite.error_kind(error):
        case sqlite3.SQLITE_BUSY:
            return CannotWrite(
                "Another program is using the voice library.", remedy="Close it, or try again in a moment."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_ERROR:
            return DamagedLibrary(
                "The voice library {path} is damaged ({reason}).",
                remedy="Move it away and add the voices again; their recordings are in the folder clips next to it.",
                path=path,
                reason=error,
            )
    return CannotWrite(
        "The voice library {path} cannot be used ({reason}).",
        remedy="Check its permissions.",
        path=path,
        reason=error,
    )
