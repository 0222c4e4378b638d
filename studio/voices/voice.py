"""A voice of the library, its consent record, and the rules for names."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from studio.errors import BadVoiceName
from studio.voices.grades import Grade

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Consent:
    """Consent record of the voice's owner: given by, ISO date, permitted use."""

    by: str = ""
    date: str = ""
    scope: str = ""

    def __bool__(self) -> bool:
        return bool(self.by or self.date or self.scope)


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice. ``clip`` is an audio file; if ``generation`` is set, prompt features for models of that generation.

    ``created`` is an ISO time, empty for bundled voices. ``quality`` is the grade of the clip, None if not assessed;
    ``language`` is an ISO code, None if unknown.
    """

    name: str
    clip: Path
    transcript: str | None
    clip_seconds: float
    notes: str = ""
    generation: str | None = None
    created: str = ""
    sha256: str = ""
    is_built_in: bool = False
    quality: Grade | None = None
    language: str | None = None
    consent: Consent = NO_CONSENT


@dataclass(frozen=True, slots=True)
class TrashedVoice:
    """A voice in the trash, restored by ``number``; ``removed`` is an ISO time."""

    number: int
    voice: Voice
    removed: str


def checked_name(name: str) -> str:
    """Return ``name`` with normalised blanks and characters. Raises ``BadVoiceName``."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    is_fine = (
        name.isprintable() and 0 < len(name) <= LONGEST_NAME and not set(name) & set("/\\") and name[0] not in "-."
    )
    if not is_fine:
        raise BadVoiceName(
            "“{name}” is not a valid voice name.",
            remedy="Use 1 to {longest} characters, no slashes, and no dash or dot at the start.",
            name=name[:LONGEST_NAME],
            longest=LONGEST_NAME,
        )
    return name


def suggest_name(wanted: str, fallback: str) -> str:
    """Turn ``wanted``, for example a file name, into a valid name; return ``fallback`` if nothing remains."""
    letters = "".join(letter if letter.isprintable() else " " for letter in wanted.replace("/", " ").replace("\\", " "))
    tidy = unicodedata.normalize("NFC", " ".join(letters.split()).lstrip("-. "))
    return tidy[:LONGEST_NAME].strip() or fallback


def name_key(name: str) -> str:
    """Return the key by which names are compared: case and form do not matter."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def clean(text: str | None) -> str:
    """Strip ``text`` and remove lone surrogates, which cannot be encoded as UTF-8."""
    return (text or "").encode("utf-8", "ignore").decode("utf-8").strip()
