"""Voices as rows of the library's tables ``voices`` and ``trash``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from studio.voices.grades import Grade
from studio.voices.voice import Consent, TrashedVoice, Voice, name_key

_COLUMNS = (
    "name_key", "name", "clip", "sha256", "clip_seconds", "transcript", "notes", "generation", "created",
    "quality", "language", "consent_by", "consent_date", "consent_scope",
)  # fmt: skip
_LIST = ", ".join(_COLUMNS)
_TRASH_DAYS = 30

ClipPath = Callable[[str], Path]


def insert(connection: sqlite3.Connection, voice: Voice) -> None:
    """Insert ``voice``. Raises ``sqlite3.IntegrityError`` if the name is taken."""
    places = ", ".join("?" for _ in _COLUMNS)
    connection.execute(f"INSERT INTO voices ({_LIST}) VALUES ({places})", _values(voice))  # noqa: S608 - constant column names


def update(connection: sqlite3.Connection, name: str, voice: Voice) -> None:
    """Replace the row of ``name`` by ``voice``. Raises ``sqlite3.IntegrityError`` if the new name is taken."""
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


def to_trash(connection: sqlite3.Connection, name: str) -> int:
    """Move a voice to the trash and return its number there. Deletes expired rows of the trash."""
    now = datetime.now(UTC)
    oldest = (now - timedelta(days=_TRASH_DAYS)).isoformat(timespec="seconds")
    connection.execute("DELETE FROM trash WHERE removed < ?", (oldest,))
    cursor = connection.execute(
        f"INSERT INTO trash (removed, {_LIST}) SELECT ?, {_LIST} FROM voices WHERE name_key = ?",  # noqa: S608 - constant column names
        (now.isoformat(timespec="seconds"), name_key(name)),
    )
    delete(connection, name)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def take_from_trash(connection: sqlite3.Connection, number: int, clip_path: ClipPath) -> Voice | None:
    """Remove the voice with ``number`` from the trash and return it; None if it is not there."""
    row = connection.execute("SELECT * FROM trash WHERE number = ?", (number,)).fetchone()
    connection.execute("DELETE FROM trash WHERE number = ?", (number,))
    return _voice(row, clip_path) if row is not None else None


def select_trash(connection: sqlite3.Connection, clip_path: ClipPath) -> list[TrashedVoice]:
    """Return the trash, latest first."""
    rows = connection.execute("SELECT * FROM trash ORDER BY number DESC")
    return [TrashedVoice(row["number"], _voice(row, clip_path), row["removed"]) for row in rows]


def clips_in_use(connection: sqlite3.Connection) -> set[str]:
    """Return the file names of all clips, including the trash."""
    return {str(row["clip"]) for row in connection.execute("SELECT clip FROM voices UNION SELECT clip FROM trash")}


def _values(voice: Voice) -> tuple[str | float | None, ...]:
    return (
        name_key(voice.name), voice.name, voice.clip.name, voice.sha256, voice.clip_seconds, voice.transcript,
        voice.notes, voice.generation, voice.created, voice.quality.value if voice.quality else None, voice.language,
        voice.consent.by, voice.consent.date, voice.consent.scope,
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
        consent=Consent(row["consent_by"], row["consent_date"], row["consent_scope"]),
    )
