"""SQLite database of the voice library: voices as rows, transactions, schema migrations and error messages.

Decision: a rollback journal; reads work on a copy in memory. Reason: reading then needs no lock held by a writer, no
disk space and no write permission, and files of older versions are migrated only in the copy. Alternative: the
write-ahead log of earlier versions, which has to create files even for reading.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from studio.errors import CannotWrite, DamagedLibrary, DiskFull, StudioError
from studio.storage import sqlite
from studio.storage.disk import require_regular_file
from studio.storage.json_input import parse_json
from studio.voices.voice import Consent, Grade, SpokenConsent, TrashedVoice, Voice, name_key

_BUSY_SECONDS = 10.0
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
    """
    CREATE TABLE bundled_names (
        bundled_key TEXT PRIMARY KEY,
        name TEXT NOT NULL
    ) STRICT
    """,
    "ALTER TABLE voices ADD COLUMN consent_until TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE trash ADD COLUMN consent_until TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE voices ADD COLUMN consent_spoken TEXT NOT NULL DEFAULT ''",  # a ``SpokenConsent`` in JSON
    "ALTER TABLE trash ADD COLUMN consent_spoken TEXT NOT NULL DEFAULT ''",
)
_COLUMNS = (
    "name_key", "name", "clip", "sha256", "clip_seconds", "transcript", "notes", "generation", "created",
    "quality", "language", "consent_by", "consent_date", "consent_scope", "consent_until",
    "consent_spoken",
)  # fmt: skip
_COLUMN_LIST = ", ".join(_COLUMNS)
_TRASH_DAYS = 30

ClipPath = Callable[[str], Path]


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a copy of the database in memory, which is empty if there is no file.

    Another process can delay this only while it commits. Raises ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``.
    """
    with contextlib.closing(sqlite.connect(":memory:")) as copy:
        with _translated_errors(path):
            _copy_list(path, copy)
            _migrate(copy, path)
        with _translated_errors(path):
            yield copy


@contextlib.contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Run the block in one write transaction. Creates or migrates the file.

    Raises ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``; ``sqlite3.IntegrityError`` passes through.
    """
    with _translated_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite.connect(path, busy_seconds=_BUSY_SECONDS)) as connection:
            _use_rollback_journal(connection)
            with sqlite.transaction(connection):
                _migrate(connection, path)
                yield connection


def insert(connection: sqlite3.Connection, voice: Voice) -> None:
    """Insert ``voice``. Raises ``sqlite3.IntegrityError`` if the name is taken."""
    places = ", ".join("?" for _ in _COLUMNS)
    connection.execute(f"INSERT INTO voices ({_COLUMN_LIST}) VALUES ({places})", _values(voice))  # noqa: S608 - constant column names


def update(connection: sqlite3.Connection, name: str, voice: Voice) -> None:
    """Replace the row of the voice ``name`` with ``voice``. Raises ``sqlite3.IntegrityError`` if the new name is taken."""
    settings = ", ".join(f"{column} = ?" for column in _COLUMNS)
    connection.execute(
        f"UPDATE voices SET {settings} WHERE name_key = ?",  # noqa: S608 - constant column names
        (*_values(voice), name_key(name)),
    )


def delete(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("DELETE FROM voices WHERE name_key = ?", (name_key(name),))


def select(connection: sqlite3.Connection, clip_path: ClipPath) -> list[Voice]:
    """Return all voices in order of name."""
    return [_voice(row, clip_path) for row in connection.execute("SELECT * FROM voices ORDER BY name_key")]


def bundled_names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the names of renamed bundled voices, by the ``name_key`` of their original names."""
    return {row["bundled_key"]: row["name"] for row in connection.execute("SELECT * FROM bundled_names")}


def rename_bundled(connection: sqlite3.Connection, bundled_name: str, name: str) -> None:
    """Set the name of a bundled voice. Its original name is not stored."""
    connection.execute("DELETE FROM bundled_names WHERE bundled_key = ?", (name_key(bundled_name),))
    if name != bundled_name:
        connection.execute("INSERT INTO bundled_names VALUES (?, ?)", (name_key(bundled_name), name))


def to_trash(connection: sqlite3.Connection, name: str) -> int:
    """Move a voice to the trash and return its number there. Voices that have expired are deleted from the trash."""
    now = datetime.now(UTC)
    oldest = (now - timedelta(days=_TRASH_DAYS)).isoformat(timespec="seconds")
    connection.execute("DELETE FROM trash WHERE removed < ?", (oldest,))
    cursor = connection.execute(
        f"INSERT INTO trash (removed, {_COLUMN_LIST}) SELECT ?, {_COLUMN_LIST} FROM voices WHERE name_key = ?",  # noqa: S608 - constant column names
        (now.isoformat(timespec="seconds"), name_key(name)),
    )
    delete(connection, name)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def take_from_trash(connection: sqlite3.Connection, number: int, clip_path: ClipPath) -> Voice | None:
    """Remove the voice with ``number`` from the trash and return it, or None if the trash does not contain it."""
    row = connection.execute("SELECT * FROM trash WHERE number = ?", (number,)).fetchone()
    connection.execute("DELETE FROM trash WHERE number = ?", (number,))
    return _voice(row, clip_path) if row is not None else None


def select_trash(connection: sqlite3.Connection, clip_path: ClipPath) -> list[TrashedVoice]:
    """Return the trash, latest first."""
    rows = connection.execute("SELECT * FROM trash ORDER BY number DESC")
    return [TrashedVoice(row["number"], _voice(row, clip_path), row["removed"]) for row in rows]


def clips_in_use(connection: sqlite3.Connection) -> set[str]:
    """Return the file names of all clips and the hashes of spoken consents, including voices in the trash."""
    rows = connection.execute("SELECT clip, consent_spoken FROM voices UNION SELECT clip, consent_spoken FROM trash")
    found = [(str(row["clip"]), _parse_spoken(row["consent_spoken"])) for row in rows]
    return {clip for clip, _ in found} | {spoken.sha256 for _, spoken in found if spoken is not None}


def _values(voice: Voice) -> tuple[str | float | None, ...]:
    return (
        name_key(voice.name), voice.name, voice.clip.name, voice.sha256, voice.clip_seconds, voice.transcript,
        voice.notes, voice.generation, voice.created, voice.quality.value if voice.quality else None, voice.language,
        voice.consent.by, voice.consent.date, voice.consent.scope, voice.consent.until,
        json.dumps(dataclasses.asdict(voice.consent.spoken)) if voice.consent.spoken else "",
    )  # fmt: skip


def _voice(row: sqlite3.Row, clip_path: ClipPath) -> Voice:
    return Voice(
        name=row["name"],
        clip=clip_path(row["clip"]),
        transcript=row["transcript"],
        clip_seconds=row["clip_seconds"],
        notes=row["notes"],
        generation=row["generation"],
        created=row["created"],
        sha256=row["sha256"],
        quality=Grade(row["quality"]) if row["quality"] else None,
        language=row["language"],
        consent=Consent(
            row["consent_by"],
            row["consent_date"],
            row["consent_scope"],
            row["consent_until"],
            _parse_spoken(row["consent_spoken"]),
        ),
    )


def _parse_spoken(content: str) -> SpokenConsent | None:
    """Return the record in ``content``, or None if it is empty or cannot be read."""
    try:
        return SpokenConsent.parse(parse_json(content)) if content else None
    except ValueError:
        return None


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
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with contextlib.closing(sqlite.connect(uri, busy_seconds=_BUSY_SECONDS)) as source:
        # backup() would wait for a lock without limit. So take the lock first, within the timeout of the connection.
        source.execute("BEGIN")
        (page_bytes,) = source.execute("PRAGMA page_size").fetchone()
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        copy.execute(f"PRAGMA page_size = {page_bytes}")  # SQLite copies into memory only between equal page sizes
        source.backup(copy)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if sqlite.schema_version(connection) > len(_MIGRATIONS):
        raise DamagedLibrary(
            "{file} was written by a newer version of the program.", remedy="Update this program.", file=path.name
        )
    sqlite.migrate(connection, _MIGRATIONS)


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
    if sqlite.error_kind(error) == sqlite3.SQLITE_BUSY:
        return CannotWrite("Another program is using the voice library.", remedy="Close it, or try again in a moment.")
    if sqlite.is_damage(error):
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
