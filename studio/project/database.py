"""The SQLite file of a project: opening it safely, migrating it, and translating its errors.

``schema.py`` describes the tables. A saved file is replaced as a whole; changes go to the working copy in the drafts
folder, which uses a write-ahead log. There, the audio of removed takes is kept for undo; saving omits it.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DiskFull, StudioError, UnreadableProject
from studio.messages import wording
from studio.project import schema
from studio.storage import sqlite
from studio.storage.disk import require_regular_file

_APPLICATION_ID_OFFSET = 68
_HEADER_BYTES = 100
_USER_VERSION_OFFSET = 60
_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 30.0
_MAX_VALUE_BYTES = 1 << 28
# Checking the tables of a valid file takes a few hundred instructions; a malicious file may need any number.
_MAX_INSTRUCTIONS = 10_000_000
_INSTRUCTIONS_BETWEEN_CHECKS = 10_000


def connect(path: Path, *, is_new: bool = False, copy_of: Path | None = None) -> sqlite3.Connection:
    """Open a working copy and migrate it. Any thread may use the connection, one at a time.

    ``copy_of``: the file it was copied from; error messages name this file instead. Raise ``UnreadableProject``.
    """
    connection = sqlite.connect(path, busy_seconds=_BUSY_SECONDS)
    try:
        _restrict(connection)
        connection.row_factory = sqlite3.Row
        if is_new:
            connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        else:
            _require_known_schema(connection, copy_of or path)
        connection.execute("PRAGMA journal_mode = WAL")
        # A killed program loses nothing, as the system holds what was written. A power cut may lose the last second:
        # see checkpoints.py.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file that no other connection writes to. Its contents are not trusted: see :func:`_restrict`."""
    connection = sqlite.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    try:
        _restrict(connection)
        connection.row_factory = sqlite3.Row
    except BaseException:
        connection.close()
        raise
    return connection


def _restrict(connection: sqlite3.Connection) -> None:
    """Limit what an untrusted file can do: no functions in its schema, and values that fit into memory."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)


@contextlib.contextmanager
def _instruction_limit(connection: sqlite3.Connection) -> Iterator[None]:
    """Interrupt statements that run longer than any valid file requires."""
    checks = itertools.count(1)
    connection.set_progress_handler(
        lambda: int(next(checks) * _INSTRUCTIONS_BETWEEN_CHECKS > _MAX_INSTRUCTIONS), _INSTRUCTIONS_BETWEEN_CHECKS
    )
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def _require_known_schema(connection: sqlite3.Connection, path: Path) -> None:
    with _instruction_limit(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > schema.VERSION:
            raise UnreadableProject(
                "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
            )
        problem = schema.problem_of(connection)
    if problem is not None:
        raise corrupt_file(path, problem)


def require_project(path: Path) -> None:
    """Raise ``UnreadableProject`` unless the header and the size of ``path`` are those of a project file."""
    try:
        require_regular_file(path)
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        num_bytes = path.stat().st_size
    except IsADirectoryError as error:
        raise UnreadableProject(
            "{path} is a folder, not a project.", remedy="Choose a .timbre file.", path=path
        ) from error
    except FileNotFoundError as error:
        raise UnreadableProject(
            "There is no file {path}.", remedy="It may have been moved or renamed.", path=path
        ) from error
    except OSError as error:
        raise UnreadableProject(
            "{path} cannot be read ({reason}).", remedy="Check its permissions.", path=path, reason=error
        ) from error
    is_ours = (
        len(header) == _HEADER_BYTES
        and header.startswith(_MAGIC)
        and int.from_bytes(header[_APPLICATION_ID_OFFSET : _APPLICATION_ID_OFFSET + 4], "big") == schema.APPLICATION_ID
    )
    if not is_ours:
        raise UnreadableProject(
            "{file} is not a project of this program.",
            remedy="Open a .timbre file, or import the text in it.",
            file=path.name,
        )
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    if num_bytes < page_bytes * int.from_bytes(header[28:32], "big"):
        raise corrupt_file(path, wording("it is truncated"))


def is_of_newer_version(path: Path) -> bool:
    """Whether the header gives a newer schema version. The rest of the file may be unreadable."""
    if not path.is_file():  # opening a named pipe would block
        return False
    with contextlib.suppress(OSError), path.open("rb") as file:
        version = file.read(_HEADER_BYTES)[_USER_VERSION_OFFSET : _USER_VERSION_OFFSET + 4]
        return int.from_bytes(version, "big") > schema.VERSION
    return False


def saved_id(path: Path) -> str | None:
    """Return the ``save_id`` of a saved file, or None if it is not a project."""
    if not path.is_file():
        return None
    try:
        with contextlib.closing(connect_read_only(path)) as found:
            _require_known_schema(found, path)
            row = found.execute("SELECT save_id FROM project").fetchone()
    except (sqlite3.Error, UnreadableProject):
        return None
    return str(row[0]) if row else None


@contextlib.contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the system in the block into a ``StudioError`` about ``path``."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise corrupt_file(path, wording("it contains text that is not UTF-8")) from error
    except (sqlite3.Error, OSError) as error:
        raise _sentence(error, path) from error


def corrupt_file(path: Path, what: object) -> UnreadableProject:
    return UnreadableProject(
        "{file} is damaged: {what}.",
        remedy="Use a backup, or the unsaved work offered when the program starts.",
        file=path.name,
        what=what,
    )


def _migrate(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(version + 1, schema.VERSION + 1):
        with sqlite.transaction(connection):
            schema.migrate(connection, number)


def _sentence(error: sqlite3.Error | OSError, path: Path) -> StudioError:
    corrupt = (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_INTERRUPT,
    )
    return corrupt_file(path, error) if sqlite.error_kind(error) in corrupt else cannot_write(error, path)


def cannot_write(error: sqlite3.Error | OSError, path: Path) -> StudioError:
    if sqlite.is_disk_full(error, path):
        return DiskFull(
            "The disk is full: {path} could not be written.",
            remedy="Free some space and try again; nothing is lost.",
            path=path,
        )
    return CannotWrite(
        "{path} cannot be written ({reason}).",
        remedy="Check the permissions of its folder, or choose another.",
        path=path,
        reason=error,
    )
