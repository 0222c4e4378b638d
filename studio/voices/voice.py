"""A voice as the library knows it, who agreed to its use, and what it may be called."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from studio.errors import BadVoiceName
from studio.voices.grades import Grade

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Consent:
    """That the voice's owner agrees: who said so, when (as an ISO date), and to what."""

    by: str = ""
    date: str = ""
    scope: str = ""

    def __bool__(self) -> bool:
        return bool(self.by or self.date or self.scope)


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class Voice:
    """``clip`` is a sound file, or prompt features of a voice that has no recording any more (``generation``).

    ``created`` is an ISO time, empty for voices that come with the program. ``quality`` is what the
    prompt doctor thought of the clip, None where nobody asked; ``language`` an ISO code, None if unknown.
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
    """A voice that can still be had back, by ``number``; ``removed`` is an ISO time."""

    number: int
    voice: Voice
    removed: str


def checked_name(name: str) -> str:
    """``name`` in its tidy form. Raises ``BadVoiceName``."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    is_fine = (
        name.isprintable() and 0 < len(name) <= LONGEST_NAME and not set(name) & set("/\\") and name[0] not in "-."
    )
    if not is_fine:
        raise BadVoiceName(
            "“{name}” cannot be the name of a voice.",
            remedy="Use 1 to {longest} letters; no slashes, and no dash or dot at the beginning.",
            name=name[:LONGEST_NAME],
            longest=LONGEST_NAME,
        )
    return name


def suggest_name(wish: str, fallback: str) -> str:
    """The nearest that a voice may be called, for example after a file; ``fallback`` where nothing is left."""
    letters = "".join(letter if letter.isprintable() else " " for letter in wish.replace("/", " ").replace("\\", " "))
    tidy = unicodedata.normalize("NFC", " ".join(letters.split()).lstrip("-. "))
    return tidy[:LONGEST_NAME].strip() or fallback


def name_key(name: str) -> str:
    """Equal for names that count as the same."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def clean(text: str | None) -> str:
    """Without blanks around it, and without the half characters that no file can hold."""
    return (text or "").encode("utf-8", "ignore").decode("utf-8").strip()
