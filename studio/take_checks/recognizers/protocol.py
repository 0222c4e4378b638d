"""Interface between recognisers and the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from studio.errors import UnrecognizedVoice

Samples = npt.NDArray[np.float32]
SAMPLE_RATE = 16_000


@dataclass(frozen=True, slots=True)
class HeardUnit:
    """A heard word, or character in Chinese and Japanese, in lower case without punctuation.

    Attributes:
        text: Empty for speech that the recogniser cannot write down.
        confidence: From 0 to 1.
        expected_index: Index of the expected unit that was heard, or -1 if the recogniser does not report it.
    """

    text: str
    from_seconds: float
    to_seconds: float
    confidence: float
    expected_index: int = -1


@dataclass(frozen=True, slots=True)
class AlignedUnit:
    """Where an expected unit lies in the recording if all expected units were spoken.

    ``score`` from 0 to 1 is low where the recording does not contain the unit.
    """

    from_seconds: float
    to_seconds: float
    score: float


@dataclass(frozen=True, slots=True)
class Recognition:
    """Result of comparing a recording with expected units.

    Attributes:
        heard: What was heard, in order.
        aligned: For each expected unit, or empty if the recogniser does not align. None if a unit is not found.
    """

    heard: tuple[HeardUnit, ...]
    aligned: tuple[AlignedUnit | None, ...] = ()


def unrecognized_voice() -> UnrecognizedVoice:
    """Return the error of a recogniser that does not understand the voice of a recording."""
    return UnrecognizedVoice(
        "The speech recogniser does not understand this voice.",
        remedy="Choose another recogniser. `timbre models list` shows the languages of each.",
    )


class Recognizer(Protocol):
    """A loaded recogniser. Audio is mono at 16 kHz, from -1 to 1."""

    @property
    def name(self) -> str:
        """Its id, as in ``CheckRequest.recognizer``."""
        ...

    def recognize(self, samples: Samples, expected: Sequence[str], language: str) -> Recognition:
        """Recognise ``samples``, which should contain the ``expected`` units: words, characters or pronunciation tokens."""
        ...

    def transcribe(self, samples: Samples, language: str) -> tuple[HeardUnit, ...]:
        """Recognise ``samples`` without knowing their text. An empty ``language`` is detected."""
        ...
