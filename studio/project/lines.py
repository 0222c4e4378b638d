"""A line of the script: text, voice and style."""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from studio.audio.edits import MAX_FADE_SECONDS, MAX_GAIN_DB, MIN_GAIN_DB
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.errors import UnusableSetting
from studio.messages import Message, message
from studio.model.options import Quality, SamplingOptions

MAX_PAUSE_SECONDS = 60.0
DEFAULT_PAUSE_SECONDS = 0.3
MAX_SEED = 2**63 - 1
_MAX_SPARE_SECONDS = 0.5  # a later end is seen: the mouth has long been closed
_MIN_GAP_SECONDS = 0.1  # silence that is left before the next speech
_SPEED = message("The speed")
_PAUSE = message("The pause in seconds")
_VOLUME = message("The volume in decibels")
_FADE = message("The fade in seconds")
_SEED = message("The seed")


def new_id() -> str:
    """Return a random id for a line or a take."""
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The id of a style preset, or a free instruction, or neither."""

    preset: str | None = None
    instruct: str | None = None

    def __post_init__(self) -> None:
        if self.preset and self.instruct:
            raise UnusableSetting(
                "A line cannot have both a style preset and an instruction.", remedy="Remove one of them."
            )

    @property
    def is_plain(self) -> bool:
        return not (self.preset or self.instruct)


class Heading(IntEnum):
    """Kinds of headings. The text of the line is the title of the chapter or scene."""

    NONE = 0
    CHAPTER = 1
    SCENE = 2


@dataclass(frozen=True, slots=True)
class Slot:
    """Time of a line in a video, in seconds from its start."""

    start_seconds: float
    end_seconds: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.start_seconds <= self.end_seconds:
            raise UnusableSetting(
                "The time {start:g} s to {end:g} s is out of order.",
                remedy="Set an end after the start.",
                start=self.start_seconds,
                end=self.end_seconds,
            )

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


def merge_slots(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    """Return the times covered by ``slots``, in order and without overlaps."""
    merged: list[Slot] = []
    for slot in sorted(slots, key=lambda slot: slot.start_seconds):
        if merged and slot.start_seconds <= merged[-1].end_seconds:
            merged[-1] = Slot(merged[-1].start_seconds, max(merged[-1].end_seconds, slot.end_seconds))
        else:
            merged.append(slot)
    return tuple(merged)


def spare_seconds(slot: Slot, speech: Sequence[Slot]) -> float:
    """Return how much of the silence after ``slot`` its take may use. ``speech`` is the result of ``merge_slots``."""
    after = bisect_right(speech, slot.start_seconds, key=lambda other: other.start_seconds)
    is_silent = after > 0 and speech[after - 1].end_seconds <= slot.end_seconds
    if not is_silent or after == len(speech):
        return 0.0
    gap = speech[after].start_seconds - slot.end_seconds
    return round(min(max(0.0, gap - _MIN_GAP_SECONDS), _MAX_SPARE_SECONDS), 3)


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """The row of an imported file from which a line was made. Updates from the file find the line with it.

    Attributes:
        source: The id of the file among the sources of the project.
        position: The place of the row among the lines of the file, or -1 for the heading above removed lines.
        key: The ID or file name of the row; empty if the file has none.
        values: The fields of the line as they were imported, before it was cast and edited.
        is_removed: Whether the file no longer contains the row.
    """

    source: str = ""
    position: int = 0
    key: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script. It is immutable: an edited line is a new value with the same ``id``.

    Attributes:
        voice: The name of a voice in the library.
        speed: The speaking rate. Takes of another speed are stretched to it.
        seed: The seed of its takes, or None to draw one for each take.
        sampling: The sampling options, or None for the defaults of the model.
        quality: The quality of new takes, or None for the quality of the project.
        is_locked: Whether the line is protected from accidental editing and speaking.
        file_name: The name of the exported file, without suffix. It may contain folders, separated by ``/``.
        character: The speaker, as named in the imported script.
        heading: Whether the line begins a chapter or scene, whose title is its text.
        is_spoken: False for notes and stage directions, which are neither spoken nor exported.
        note: The user's remark.
        slot: The time of the line in a video.
        gain_db: The change of volume in decibels.
        fade_in_seconds, fade_out_seconds: The lengths of the fades at the start and at the end.
        columns: The cells of the imported table, by column name.
        origin: The row of the imported file, or None for a line that was written here.
        language: The language tag of the text, such as ``de`` or ``en-GB``; empty to detect it.
        begins_paragraph: Whether the line is the first of a paragraph of several lines.
        is_speaker_sure: Whether it is certain who says a quotation; None if no speakers were assigned.
    """

    id: str
    text: str = ""
    voice: str | None = None
    style: LineStyle = LineStyle()
    speed: float = 1.0
    seed: int | None = None
    sampling: SamplingOptions | None = None
    pause_after_seconds: float = DEFAULT_PAUSE_SECONDS
    is_locked: bool = False
    chosen_take: str | None = None
    file_name: str | None = None
    character: str | None = None
    heading: Heading = Heading.NONE
    is_spoken: bool = True
    note: str = ""
    slot: Slot | None = None
    gain_db: float = 0.0
    fade_in_seconds: float = 0.0
    fade_out_seconds: float = 0.0
    columns: Mapping[str, str] = field(default_factory=dict)
    quality: Quality | None = None
    origin: LineOrigin | None = None
    language: str = ""
    begins_paragraph: bool = False
    is_speaker_sure: bool | None = None

    def __post_init__(self) -> None:
        _require(_SPEED, self.speed, MIN_SPEED, MAX_SPEED)
        _require(_PAUSE, self.pause_after_seconds, 0.0, MAX_PAUSE_SECONDS)
        _require(_VOLUME, self.gain_db, MIN_GAIN_DB, MAX_GAIN_DB)
        _require(_FADE, self.fade_in_seconds, 0.0, MAX_FADE_SECONDS)
        _require(_FADE, self.fade_out_seconds, 0.0, MAX_FADE_SECONDS)
        if self.seed is not None:
            _require(_SEED, self.seed, 0, MAX_SEED)
        object.__setattr__(self, "text", sanitize(self.text))


def _require(what: Message, value: float, lowest: float, highest: float) -> None:
    """Raise ``UnusableSetting`` unless ``value`` is in the range."""
    if not lowest <= value <= highest:
        raise UnusableSetting(
            "{what} is out of range: {value}.",
            remedy="Choose {lowest:g} to {highest:g}.",
            what=what,
            value=value,
            lowest=lowest,
            highest=highest,
        )


def is_removed(line: Line) -> bool:
    """Return whether the imported file no longer contains the line, or the line is the heading above such lines."""
    return line.origin is not None and line.origin.is_removed


def paragraph_ends(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the spoken lines after which a paragraph ends: each line, if no line is marked as the first of one."""
    spoken = [line for line in lines if line.is_spoken]
    if not any(line.begins_paragraph for line in spoken):
        return tuple(line for line in spoken if not line.heading)
    return tuple(
        line
        for line, following in zip(spoken, [*spoken[1:], None], strict=True)
        if not line.heading and (following is None or following.begins_paragraph or following.heading)
    )


class LineState(Enum):
    """State of a line. Only the window assigns the last three."""

    DRAFT = "draft"  # no take is chosen
    OUTDATED = "stale"  # the line was changed after the chosen take was synthesised
    CHECK = "check"  # a check found problems in the chosen take, which the user has not accepted
    READY = "ready"
    QUEUED = "queued"
    SPEAKING = "speaking"
    FAILED = "failed"


def sanitize(text: str) -> str:
    """Return ``text`` without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "ignore").decode("utf-8")
