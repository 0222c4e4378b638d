"""The tables of a project file, their creation, and the check that a file has these tables and no code.

A ``.timbre`` file is one SQLite database with the application id ``APPLICATION_ID``; ``user_version``
is the number of migrations applied to it.

======================  ====================================================================================
``project``             one row: ``name``, and ``save_id``, a new one for each save
``lines``               the script; ``rank`` gives the order; ``sampling`` is JSON
``takes``               finished takes; ``recipe`` is JSON (:class:`~studio.project.takes.TakeParameters`)
``sounds``              the audio of takes in blocks: 32-bit floats, little-endian, in order of ``number``
``dictionary``          the project's pronunciation dictionary
``recordings``          takes that are not yet in ``takes``, being recorded or finished (working copies only)
``working_copy``        one row: the project file, and whether the copy differs from it (working copies only)
======================  ====================================================================================

Decision: a file with views, triggers, additional indexes or other definitions of these tables is rejected. Reason: a
view can run forever, and a trigger can delete what is being saved. Other tables, such as the statistics of
``ANALYZE``, are ignored and not saved.
"""

from __future__ import annotations

import contextlib
import sqlite3
from functools import cache

from studio.messages import Message, wording
from studio.storage import sqlite

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
    """,  # noqa: S608 - constant text
)
VERSION = len(_MIGRATIONS)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Apply the migration to ``version``, within the caller's transaction."""
    for statement in _MIGRATIONS[version - 1].split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of a saved file in an empty database."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for version in range(1, VERSION + 1):
        migrate(connection, version)


def problem_of(connection: sqlite3.Connection) -> Message | None:
    """Return what is wrong with the schema of an existing file, or None."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    own_tables = _tables_of(version)
    tables: dict[str, str] = {}
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        if kind == "view":
            return wording("unexpected view {name}", name=name)
        if kind == "trigger":
            return wording("unexpected trigger {name}", name=name)
        if kind == "index" and sql is not None and table in own_tables:
            return wording("unexpected index {name}", name=name)
        if kind == "table" and name in own_tables:
            tables[name] = _normalized(sql)
    missing = [name for name, sql in own_tables.items() if tables.get(name) != sql]
    return wording("table {name} is missing or different", name=missing[0]) if missing else None


@cache
def _tables_of(version: int) -> dict[str, str]:
    """Return the definition of each table in schema ``version``."""
    with contextlib.closing(sqlite.connect(":memory:")) as model:
        for number in range(1, version + 1):
            migrate(model, number)
        rows = model.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {name: _normalized(sql) for name, sql in rows}


def _normalized(sql: object) -> str:
    return " ".join(str(sql).split())
