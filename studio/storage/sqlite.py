"""SQLite connections, transactions and schema migrations, and the kinds of errors they raise."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

# SQLite reports some failures on a full disk as a general I/O error. Less free space than this counts as full.
_FULL_BYTES = 1 << 16
_DAMAGE = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_INTERRUPT,
)


def connect(database: str | Path, *, busy_seconds: float = 5.0) -> sqlite3.Connection:
    """Open a path, or a ``file:`` URI, without implicit transactions. Any thread may use the connection, one at a time.

    ``busy_seconds`` is how long a statement waits for the lock of another connection.
    """
    is_uri = str(database).startswith("file:")
    connection = sqlite3.connect(
        database, timeout=busy_seconds, isolation_level=None, check_same_thread=False, uri=is_uri
    )
    connection.row_factory = sqlite3.Row
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the block as one transaction for writing, or roll it back if it raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite itself has already rolled back if the disk is full.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of migrations that :func:`migrate` has applied."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    """Apply the ``migrations`` that have not been applied yet, within the caller's transaction.

    Each is one or more statements, separated by semicolons. Never edit a migration that was released.
    """
    version = schema_version(connection)
    for number, script in enumerate(migrations[version:], start=version + 1):
        for statement in script.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")


def error_kind(error: BaseException) -> int:
    """Return the primary result code of an SQLite error, such as ``sqlite3.SQLITE_BUSY``; 0 for other errors."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return whether a statement that is correct for a valid file failed because the file is damaged."""
    return error_kind(error) in _DAMAGE


def is_disk_full(error: sqlite3.Error | OSError, path: Path) -> bool:
    """Return whether writing the database ``path`` failed because its disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if error_kind(error) == sqlite3.SQLITE_IOERR:
        with contextlib.suppress(OSError):
            return shutil.disk_usage(path.parent).free < _FULL_BYTES
    return error_kind(error) == sqlite3.SQLITE_FULL
