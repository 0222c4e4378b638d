"""Inputs of a check. Requests contain all that is needed, so that a check reads nothing else of the program's state."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.records import TakeMeasures, VoiceTarget


class Strictness(Enum):
    """How easily a take is called doubtful. The values are stored in projects."""

    LENIENT = "lenient"
    NORMAL = "normal"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A take to check.

    Attributes:
        samples: Mono audio (n,), from -1 to 1, without the edits of the take.
        text: The text of the take as written.
        language: Language tag of the text, such as ``en`` or ``zh``; empty to detect it.
        evidence: From the language model, for each sentence in order; empty for other audio.
        prompt_clip: Clip of the voice, to compare the speaker with, or None.
        model_folder: Folder of the model that spoke, which contains the speaker encoder, or None.
        recognizer: Id of a recogniser, ``auto`` for the first one for the language, or ``off``.
        known_words: Words of the pronunciation dictionary. The recogniser may spell them in another way.
        earlier_takes: Measures of other takes of the same voice and model, with which this one is compared. The most
            recent 50 suffice; fewer than 8 are not used.
        speed: The speed at which the take was spoken, for its expected length.
        targets: The ranges of the script and of the neighbouring lines to which the measures should belong.
    """

    samples: npt.NDArray[np.float32] = field(repr=False)
    sample_rate: int
    text: str
    language: str = ""
    evidence: tuple[SentenceEvidence, ...] = ()
    prompt_clip: Path | None = None
    model_folder: Path | None = None
    recognizer: str = "auto"
    known_words: tuple[str, ...] = ()
    strictness: Strictness = Strictness.NORMAL
    earlier_takes: tuple[TakeMeasures, ...] = ()
    speed: float = 1.0
    targets: tuple[VoiceTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Parts of a recording whose speaker is wanted.

    Attributes:
        samples: Mono audio (n,), from -1 to 1.
        spans: Start and end of each part, in seconds.
        model_folder: Folder of the model that contains the speaker encoder.
    """

    samples: npt.NDArray[np.float32] = field(repr=False)
    sample_rate: int
    spans: tuple[tuple[float, float], ...]
    model_folder: Path


@dataclass(frozen=True, slots=True)
class TranscriptRequest:
    """A recording to transcribe, such as the clip of a voice.

    Attributes:
        samples: Mono audio (n,), from -1 to 1.
        typed: The transcript to compare with, or an empty string.
        language: Language tag of the speech; empty to detect it from ``typed``.
        recognizer: Id of a recogniser, or ``auto`` for the first one for the language.
    """

    samples: npt.NDArray[np.float32] = field(repr=False)
    sample_rate: int
    typed: str = ""
    language: str = ""
    recognizer: str = "auto"
    known_words: tuple[str, ...] = ()
