"""Results of checking a take. Does not import numpy or any recogniser: projects and the window import it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum


class Verdict(Enum):
    """Summary of a check. The values are stored in projects and printed by ``timbre check --json``."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"
    NOT_CHECKED = "not-checked"


class ProblemKind(Enum):
    """Kinds of problems. The values are stored in projects and printed by ``timbre check --json``."""

    MISSING_WORDS = "missing-words"
    REPEATED_WORDS = "repeated-words"
    WRONG_WORDS = "wrong-words"
    EXTRA_SPEECH = "extra-speech"  # babble after or between the words of the text
    CUT_START = "cut-start"
    CUT_END = "cut-end"
    LONG_SILENCE = "long-silence"
    NOISE = "noise"  # sound that is not speech
    CLIPPING = "clipping"
    DC_OFFSET = "dc-offset"
    ODD_LEVEL = "odd-level"  # level unlike other takes of the voice
    ODD_BANDWIDTH = "odd-bandwidth"  # bandwidth unlike other takes of the voice
    ODD_LENGTH = "odd-length"  # too short or too long for the text
    LOOP = "loop"  # the language model repeats a sequence of speech tokens
    ODD_PACE = "odd-pace"  # outside the targets of the script
    ODD_PITCH = "odd-pitch"  # outside the targets of the script
    OTHER_VOICE = "other-voice"  # unlike the prompt
    VOICE_DRIFT = "voice-drift"  # the voice changes within the take


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a take.

    Attributes:
        from_seconds, to_seconds: The place in the recording.
        text: The affected words as written in the line, or an empty string.
        confidence: From 0 to 1.
        text_start, text_end: Positions of ``text`` in the text of the take, or -1 if they are unknown.
    """

    kind: ProblemKind
    from_seconds: float
    to_seconds: float
    text: str = ""
    confidence: float = 1.0
    text_start: int = -1
    text_end: int = -1

    def is_near(self, other: Problem, seconds: float) -> bool:
        """Return whether the places of two problems overlap, or nearly so: less than ``seconds`` lie between them."""
        return self.from_seconds < other.to_seconds + seconds and other.from_seconds < self.to_seconds + seconds


@dataclass(frozen=True, slots=True)
class WordTime:
    """Time of one word, or of one character in Chinese and Japanese.

    Attributes:
        text_start, text_end: The positions of the word in the text of the take.
    """

    text: str
    from_seconds: float
    to_seconds: float
    text_start: int
    text_end: int


# Of the average speech in ``TakeMeasures.pace``: 2.5 phones of 0.08 s for each syllable.
_SYLLABLES_PER_SECOND = 5.0
_MIN_OTHER_SHARE = 0.5  # share of the typed letters that differ, from which a recording has another text


@dataclass(frozen=True, slots=True)
class TakeMeasures:
    """Measures of a take, to be compared with other takes of the voice.

    Attributes:
        pace: Duration of the speech divided by the duration expected for the text, or 0 if it is unknown.
        level_dbfs: Level of the loud syllables.
        bandwidth_hz: Frequency below which nearly all energy lies.
        similarity: Of the speaker embeddings of prompt and take, or None.
        pitch_hz: Median pitch, 0 without voiced speech, or None if an earlier version measured the take.
        pitch_range_semitones: Between the lowest and the highest tenth of the voiced speech, or None without it.
        pause_seconds: Mean length of the pauses between words, or None without pauses.
    """

    pace: float
    level_dbfs: float
    bandwidth_hz: float
    similarity: float | None = None
    pitch_hz: float | None = None
    pitch_range_semitones: float | None = None
    pause_seconds: float | None = None

    @property
    def syllables_per_second(self) -> float | None:
        """The pace in syllables of average length, so that lines with long and short words are comparable."""
        return _SYLLABLES_PER_SECOND / self.pace if self.pace > 0 else None


class Measure(Enum):
    """Measures of a take that should stay the same. The values are stored in projects and printed by ``--json``."""

    PACE = "pace"
    PITCH = "pitch"
    PITCH_RANGE = "pitch-range"
    LEVEL = "level"
    SIMILARITY = "similarity"
    PAUSES = "pauses"


@dataclass(frozen=True, slots=True)
class Span:
    """Values that are at most ``tolerance`` from ``centre``."""

    centre: float
    tolerance: float


# The spans of one voice. It may lack measures.
VoiceTarget = Mapping[Measure, Span]


@dataclass(frozen=True, slots=True)
class TakeCheck:
    """Result of checking a take.

    Attributes:
        similarity: Cosine similarity of the speaker embeddings of prompt and take, or None if it was not computed.
        word_error_rate: From recognition, or None without a recogniser.
        words: Word times in the order of the text; empty if no alignment was possible.
        recognizer: Id of the recogniser, or empty.
        error_code: Code of the error because of which the check, or its recognition, was not possible, or empty.
        is_accepted: Whether the user accepted the take despite its problems.
        measures: For the checks of the voice's later takes (``CheckRequest.earlier_takes``), or None for silence.
    """

    verdict: Verdict
    problems: tuple[Problem, ...] = ()
    similarity: float | None = None
    word_error_rate: float | None = None
    words: tuple[WordTime, ...] = ()
    recognizer: str = ""
    error_code: str = ""
    is_accepted: bool = False
    measures: TakeMeasures | None = None

    @property
    def needs_review(self) -> bool:
        return self.verdict in (Verdict.DOUBTFUL, Verdict.BAD) and not self.is_accepted

    def without_recognition(self, error_code: str) -> TakeCheck:
        """Return the check after an error of recognition: problems count, but their absence proves nothing."""
        verdict = Verdict.NOT_CHECKED if self.verdict is Verdict.GOOD else self.verdict
        return replace(self, verdict=verdict, error_code=error_code)


class DifferenceKind(Enum):
    """How heard speech differs from a typed transcript."""

    MISSING = "missing"  # typed, but not heard
    EXTRA = "extra"  # heard, but not typed
    OTHER = "other"  # heard as other words


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where a recording and its typed transcript differ.

    Attributes:
        typed: The typed words, or an empty string.
        heard: The heard words, or an empty string.
        text_start, text_end: Positions of ``typed`` in the transcript; equal where something is missing from it.
        from_seconds, to_seconds: The place in the recording.
    """

    kind: DifferenceKind
    typed: str
    heard: str
    text_start: int
    text_end: int
    from_seconds: float
    to_seconds: float
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Speaker embeddings of parts of a recording.

    Attributes:
        vectors: For each part, (192,) values of length 1, or None if the part is too short.
        error_code: What prevented the embedding, or an empty string.
    """

    vectors: tuple[tuple[float, ...] | None, ...] = ()
    error_code: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """Transcription of a recording by a recogniser.

    Attributes:
        text: The heard words.
        words: Their times; positions are those in ``text``.
        differences: From the typed transcript of the request.
        error_code: Code of the error because of which nothing was recognised, or empty.
    """

    text: str
    words: tuple[WordTime, ...] = ()
    differences: tuple[Difference, ...] = ()
    recognizer: str = ""
    error_code: str = ""

    def is_other_text(self, typed: str) -> bool:
        """Return whether most of the typed words were not heard, but others were."""
        num_differing = sum(each.text_end - each.text_start for each in self.differences)
        return bool(self.text.strip()) and num_differing >= _MIN_OTHER_SHARE * len(typed.strip())
