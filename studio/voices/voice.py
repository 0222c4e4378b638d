"""A voice of the library, with its quality grade and consent record, and the rules for names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Self

from studio.errors import BadVoiceName

MAX_NAME = 80
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Grade(Enum):
    """Quality of a clip, from best to worst."""

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"

    @classmethod
    def worst(cls, grades: list[Grade]) -> Grade:
        """Return the worst of ``grades``, or GOOD if there are none."""
        return max(grades, key=list(cls).index, default=cls.GOOD)


class SpokenWords(StrEnum):
    """Whether the speaker says the sentence of consent, by a recogniser. The values are stored."""

    SAID = "said"
    OTHER = "other words"
    UNKNOWN = "not compared"  # no recogniser for the language, or it does not understand the voice


@dataclass(frozen=True, slots=True)
class SpokenConsent:
    """A recording in which the speaker consents.

    Attributes:
        sha256: The hash of the file, by which the library finds it.
        sentence: What the speaker was asked to say.
        similarity: Cosine similarity of the speaker to that of the voice, or None for a voice without a recording.
    """

    sha256: str
    sentence: str
    similarity: float | None = None
    words: SpokenWords = SpokenWords.UNKNOWN

    @classmethod
    def parse(cls, values: object) -> Self:
        """Return the record with the fields ``values``. Raises ``ValueError`` for invalid ones."""
        fields = values if isinstance(values, dict) else {}
        sha256, sentence, similarity = fields.get("sha256"), fields.get("sentence"), fields.get("similarity")
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or not isinstance(sentence, str):
            raise ValueError("invalid hash or sentence")
        if similarity is not None and (isinstance(similarity, bool) or not isinstance(similarity, int | float)):
            raise ValueError("invalid similarity")
        if similarity is not None and not -1.001 <= similarity <= 1.001:
            raise ValueError("similarity outside its range")
        return cls(sha256, sentence, similarity, SpokenWords(str(fields.get("words"))))


@dataclass(frozen=True, slots=True)
class Consent:
    """Record of the speaker's consent to the use of the voice. Unknown values are empty."""

    by: str = ""  # name of the person who consented
    date: str = ""  # ISO date
    scope: str = ""  # permitted use
    until: str = ""  # ISO date of the last day, empty without a limit
    spoken: SpokenConsent | None = None

    def __bool__(self) -> bool:
        return bool(self.by or self.date or self.scope or self.until or self.spoken)


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class VoiceDetails:
    """Metadata of a voice. ``generation`` is set only if the clip consists of stored prompt features."""

    name: str
    transcript: str | None = None
    notes: str = ""
    generation: str | None = None
    language: str | None = None
    consent: Consent = NO_CONSENT


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice of the library.

    Attributes:
        clip: An audio file or, if ``generation`` is set, prompt features for models of that generation.
        created: An ISO time, empty for a bundled voice.
        sha256: The hash of the clip, empty for a bundled voice with a recording.
        bundled_name: The original name of a bundled voice, by which it is still found after renaming.
        models: For a built-in speaker, the names of the models that contain it.
        quality: The grade of the clip, or None if it was not assessed.
        language: An ISO code, or None if the language is unknown.
        description: A sentence about a bundled voice, in English.
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
    bundled_name: str = ""
    models: tuple[str, ...] = ()
    description: str = ""

    def works_with(self, generation: str | None) -> bool:
        """Return whether models of ``generation`` can use the voice; True if the generation is unknown."""
        if self.generation is None or generation is None:
            return True
        return self.generation.casefold() == generation.casefold()


@dataclass(frozen=True, slots=True)
class TrashedVoice:
    """A voice in the trash. ``number`` identifies it there, and ``removed`` is an ISO time."""

    number: int
    voice: Voice
    removed: str


def default_voice(voices: Sequence[Voice], language: str) -> Voice:
    """Return the first bundled voice whose recording is in ``language``, an ISO code, or the first of ``voices``."""
    return next((voice for voice in voices if voice.is_built_in and voice.language == language), voices[0])


def checked_name(name: str) -> str:
    """Return ``name`` with single spaces and composed characters. Raises ``BadVoiceName`` for an invalid name."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    is_fine = name.isprintable() and 0 < len(name) <= MAX_NAME and not set(name) & set("/\\") and name[0] not in "-."
    if not is_fine:
        raise BadVoiceName(
            "“{name}” is not a valid voice name.",
            remedy="Use 1 to {longest} characters, no slashes, and no dash or dot at the start.",
            name=name[:MAX_NAME],
            longest=MAX_NAME,
        )
    return name


def suggest_name(wanted: str, fallback: str) -> str:
    """Return a valid name like ``wanted``, for example a file name, or ``fallback`` if no valid character remains."""
    letters = "".join(letter if letter.isprintable() else " " for letter in wanted.replace("/", " ").replace("\\", " "))
    tidy = unicodedata.normalize("NFC", " ".join(letters.split()).lstrip("-. "))
    return tidy[:MAX_NAME].strip() or fallback


def name_key(name: str) -> str:
    """Return the key by which names are compared. It ignores case, spacing and Unicode composition."""
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def clean(text: str | None) -> str:
    """Strip ``text`` and remove lone surrogates, which cannot be encoded as UTF-8."""
    return (text or "").encode("utf-8", "ignore").decode("utf-8").strip()
