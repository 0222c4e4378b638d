"""The SQLite file of a project: its tables, its versions, and its failures as sentences.

A ``.timbre`` file is one SQLite database with the application id ``APPLICATION_ID``; ``user_version``
counts the migrations it has seen.

======================  ====================================================================================
``project``             one row: ``name``, and ``save_id``, another one each time the file is written
``lines``               the script; ``rank`` gives the order; ``sampling`` is JSON
``takes``               what was spoken; ``recipe`` is JSON (:class:`~studio.project.takes.TakeRecipe`)
``sounds``              the sound of takes in blocks: 32-bit floats, little-endian, in order of ``number``
``dictionary``          the project's pronunciation dictionary
``recordings``          takes that are not yet in ``takes``: being made, or just finished (working copies only)
``working_copy``        one row: the file it belongs to, and whether it holds more than that (working copies only)
======================  ====================================================================================

A saved file is only ever replaced as a whole; the working copy (write-ahead logged, in the drafts
folder) is where changes go. Sounds outlive their takes there, so that undo can bring a take back;
saving leaves them out.
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DiskFull, StudioError, UnreadableProject
from studio.wording import wording

APPLICATION_ID = 0x54694D62  # "TiMb"
_APPLICATION_ID_OFFSET = 68
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 30.0

_TAKE_COLUMNS = """
    id TEXT PRIMARY KEY,
    line_id TEXT NOT NULL{reference},
    number INTEGER NOT NULL,
    created TEXT NOT NULL,
    audio_seconds REAL NOT NULL,
    sample_rate INTEGER NOT NULL,
    recipe TEXT NOT NULL,
    is_kept INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    first_audio_seconds REAL,
    real_time_factor REAL,
    num_underruns INTEGER
"""
# Each is applied once, in order. Never edit one that was released.
_MIGRATIONS = (
    f"""
    CREATE TABLE project (name TEXT NOT NULL, save_id TEXT NOT NULL) STRICT;
    INSERT INTO project VALUES ('', '');
    CREATE TABLE lines (
        id TEXT PRIMARY KEY,
        rank INTEGER NOT NULL,
        text TEXT NOT NULL,
        voice TEXT,
        preset TEXT,
        instruct TEXT,
        speed REAL NOT NULL,
        seed INTEGER,
        sampling TEXT,
        pause_after_seconds REAL NOT NULL,
        is_locked INTEGER NOT NULL,
        chosen_take TEXT,
        file_name TEXT
    ) STRICT;
    CREATE TABLE takes ({_TAKE_COLUMNS.format(reference=" REFERENCES lines(id) DEFERRABLE INITIALLY DEFERRED")}) STRICT;
    CREATE TABLE sounds (
        take_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        samples BLOB NOT NULL,
        UNIQUE (take_id, number)
    ) STRICT;
    CREATE TABLE dictionary (
        position INTEGER PRIMARY KEY,
        written TEXT NOT NULL,
        alias TEXT,
        pronunciation TEXT,
        is_case_sensitive INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE recordings ({_TAKE_COLUMNS.format(reference="")}) STRICT;
    CREATE TABLE working_copy (
        project_path TEXT,
        next_save_id TEXT NOT NULL,
        is_modified INTEGER NOT NULL
    ) STRICT;
    """,  # noqa: S608 - our own words
)
SCHEMA_VERSION = len(_MIGRATIONS)


def connect(path: Path, *, is_new: bool = False) -> sqlite3.Connection:
    """A working copy, brought up to date; usable from any thread, one at a time."""
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        if is_new:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        # A killed program loses nothing: what was written belongs to the system. A power cut may cost the last second.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection, database: str) -> None:
    """The tables of a saved file, in an empty database attached as ``database``."""
    connection.execute(f"PRAGMA {database}.application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA {database}.user_version = {SCHEMA_VERSION}")
    for (statement,) in connection.execute("SELECT sql FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        connection.execute(statement.replace("CREATE TABLE ", f"CREATE TABLE {database}.", 1))


def require_project(path: Path) -> None:
    """Raises ``UnreadableProject`` for what cannot be a whole project file, without reading all of it."""
    try:
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
        and int.from_bytes(header[_APPLICATION_ID_OFFSET : _APPLICATION_ID_OFFSET + 4], "big") == APPLICATION_ID
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
        raise damaged(path, wording("it ends before it should"))


def saved_id(path: Path) -> str | None:
    """The ``save_id`` of a saved file; None where it is no project any more."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as found:
            row = found.execute("SELECT save_id FROM project").fetchone()
    except sqlite3.Error:
        return None
    return str(row[0]) if row else None


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # Full disks end transactions by themselves.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turns what SQLite and the system say about ``path`` into ``StudioError``."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise damaged(path, wording("it holds bytes that are no text")) from error
    except (sqlite3.Error, OSError) as error:
        raise _sentence(error, path) from error


def damaged(path: Path, what: object) -> UnreadableProject:
    return UnreadableProject(
        "{file} is damaged: {what}.",
        remedy="Use a copy, if you have one, or what the program recovers at its start.",
        file=path.name,
        what=what,
    )


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise UnreadableProject(
            "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
        )
    for number, statements in enumerate(_MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            for statement in statements.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")


def _sentence(error: sqlite3.Error | OSError, path: Path) -> StudioError:
    if isinstance(error, OSError):
        return cannot_write(error, path)
    # The low byte is the kind of error, what is above it the circumstances.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return _disk_full(path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_ERROR:
            return damaged(path, error)
    return CannotWrite(
        "{path} cannot be written ({reason}).",
        remedy="Check the permissions of its folder, or choose another.",
        path=path,
        reason=error,
    )


def cannot_write(error: OSError, path: Path) -> StudioError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(path)
    return CannotWrite(
        "{path} cannot be written ({reason}).",
        remedy="Check the permissions of its folder, or choose another.",
        path=path,
        reason=error,
    )


def _disk_full(path: Path) -> DiskFull:
    return DiskFull(
        "The disk is full: {path} could not be written.",
        remedy="Free some space and try again; nothing is lost.",
        path=path,
    )
