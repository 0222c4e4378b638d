"""The SQLite file of a project: its tables, opening the file safely, and translation of errors.

A saved file is replaced as a whole. Changes are written to the working copy in the drafts folder, which uses a
write-ahead log. The working copy keeps the audio of removed takes for undo; saving omits it.

A ``.timbre`` file is one SQLite database with the application id ``APPLICATION_ID``; ``user_version``
is the number of migrations applied to it.

======================  ====================================================================================
``project``             one row: ``name``, and ``save_id``, which each save replaces
``lines``               the script, ordered by ``rank``; ``sampling`` is JSON
``takes``               finished takes; ``recipe`` is JSON (:class:`~studio.project.takes.TakeParameters`), and so is
                        ``check_result`` (:class:`~studio.take_checks.records.TakeCheck`)
``evidence``            evidence of the language model about takes, for their checks, as JSON
``sounds``              the audio of takes in blocks of little-endian 32-bit floats, ordered by ``number``
``dictionary``          the project's pronunciation dictionary
``recordings``          recorded takes that are not yet in ``takes`` (working copies only)
``working_copy``        one row: the project file, and whether the copy differs from it (working copies only)
======================  ====================================================================================

The columns ``details`` are JSON objects of the values that differ from their defaults.

Decision: a file with views, triggers, additional indexes or other definitions of these tables is rejected. Reason: a
view can run forever, and a trigger can delete what is being saved. Other tables, such as the statistics of
``ANALYZE``, are ignored and not saved.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from studio.errors import CannotWrite, DiskFull, StudioError, UnreadableProject
from studio.messages import Message, message
from studio.storage import sqlite
from studio.storage.disk import require_regular_file

APPLICATION_ID = 0x54694D62  # "TiMb"
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
    """,  # noqa: S608 - constant text
    """
    ALTER TABLE project ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE project ADD COLUMN cover BLOB;
    ALTER TABLE lines ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE takes ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE recordings ADD COLUMN details TEXT NOT NULL DEFAULT '{}'
    """,
    """
    ALTER TABLE takes ADD COLUMN check_result TEXT;
    ALTER TABLE recordings ADD COLUMN check_result TEXT;
    CREATE TABLE evidence (take_id TEXT PRIMARY KEY, sentences TEXT NOT NULL) STRICT
    """,
)
VERSION = len(_MIGRATIONS)

_APPLICATION_ID_OFFSET = 68
_HEADER_BYTES = 100
_USER_VERSION_OFFSET = 60
_MAGIC = b"SQLite format 3\0"
_BUSY_SECONDS = 30.0
_MAX_VALUE_BYTES = 1 << 28
# Checking the tables of a valid file takes a few hundred instructions. A malicious file may require any number.
_MAX_INSTRUCTIONS = 10_000_000
_INSTRUCTIONS_BETWEEN_CHECKS = 10_000


def connect(path: Path, *, is_new: bool = False, copy_of: Path | None = None) -> sqlite3.Connection:
    """Open a working copy and migrate it. Any thread may use the connection, one at a time.

    If the working copy was just copied from ``copy_of``, error messages name that file. Raise ``UnreadableProject``.
    """
    connection = sqlite.connect(path, busy_seconds=_BUSY_SECONDS)
    try:
        _restrict(connection)
        if is_new:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        else:
            _require_known_schema(connection, copy_of or path)
        connection.execute("PRAGMA journal_mode = WAL")
        # If the program is killed, nothing is lost, because the system writes its buffers. If the power fails, the last
        # second may be lost: see Checkpoints in storage.py.
        connection.execute("PRAGMA synchronous = NORMAL")
        # Checkpoints copies a long log to the file; a write here would wait for the disk.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA journal_size_limit = 0")
        connection.execute("PRAGMA foreign_keys = ON")
        if sqlite.schema_version(connection) < VERSION:
            with sqlite.transaction(connection):
                sqlite.migrate(connection, _MIGRATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file that no other connection writes to. Its contents are not trusted: see :func:`_restrict`."""
    connection = sqlite.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    try:
        _restrict(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of a saved file in an empty database."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    sqlite.migrate(connection, _MIGRATIONS)


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
        if sqlite.schema_version(connection) > VERSION:
            raise UnreadableProject(
                "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
            )
        problem = _schema_problem(connection)
    if problem is not None:
        raise corrupt_file(path, problem)


def _schema_problem(connection: sqlite3.Connection) -> Message | None:
    """Return the first difference between the tables of a file and those of a project, or None."""
    own_tables = _schema_tables(sqlite.schema_version(connection))
    tables: dict[str, str] = {}
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        if kind == "view":
            return message("unexpected view {name}", name=name)
        if kind == "trigger":
            return message("unexpected trigger {name}", name=name)
        if kind == "index" and sql is not None and table in own_tables:
            return message("unexpected index {name}", name=name)
        if kind == "table" and name in own_tables:
            tables[name] = _normalized(sql)
    missing = [name for name, sql in own_tables.items() if tables.get(name) != sql]
    return message("table {name} is missing or different", name=missing[0]) if missing else None


@cache
def _schema_tables(version: int) -> dict[str, str]:
    """Return the definition of each table in schema ``version``."""
    with contextlib.closing(sqlite.connect(":memory:")) as model:
        sqlite.migrate(model, _MIGRATIONS[:version])
        rows = model.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {name: _normalized(sql) for name, sql in rows}


def _normalized(sql: object) -> str:
    return " ".join(str(sql).split())


def require_project(path: Path) -> None:
    """Raise ``UnreadableProject`` unless ``path`` has the header and the size of a project file."""
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
        raise corrupt_file(path, message("it is truncated"))


def is_of_newer_version(path: Path) -> bool:
    """Whether the header gives a newer schema version. The rest of the file may be unreadable."""
    if not path.is_file():  # opening a named pipe would block
        return False
    with contextlib.suppress(OSError), path.open("rb") as file:
        version = file.read(_HEADER_BYTES)[_USER_VERSION_OFFSET : _USER_VERSION_OFFSET + 4]
        return int.from_bytes(version, "big") > VERSION
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
        raise corrupt_file(path, message("it contains text that is not UTF-8")) from error
    except (sqlite3.Error, OSError) as error:
        raise corrupt_file(path, error) if sqlite.is_damage(error) else _cannot_write(error, path) from error


def corrupt_file(path: Path, what: object) -> UnreadableProject:
    return UnreadableProject(
        "{file} is damaged: {what}.",
        remedy="Use a backup, or the unsaved work offered when the program starts.",
        file=path.name,
        what=what,
    )


def _cannot_write(error: sqlite3.Error | OSError, path: Path) -> StudioError:
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
