"""Output of a synthesizer: audio at its native sample rate, and the times of its phones."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from training.corpus.utterance import FloatArray, LabelArray
from training.synthesizers.phones import SILENCE, STOPS, Timed

HALF_FRAME_SECONDS = 0.02
# A shorter phone may be lost between two half-frames. A longer one is audible and must get a label.
_MIN_SECONDS = 0.008
_CLOSURE_DB = -40.0  # level relative to the loud parts; within speech, only the closure of a stop is this quiet
_CLOSURE_STEP_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Segment:
    label: int
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """``samples`` (n,) float32 at ``sample_rate``, and contiguous segments from 0 to the end."""

    samples: FloatArray = field(repr=False)
    sample_rate: int
    segments: tuple[Segment, ...]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate


def segments_of(phones: list[tuple[Timed, float]], end_seconds: float) -> tuple[Segment, ...]:
    """Return segments from the labels and start of each phone. There is silence before the first phone."""
    starts = [start for _, start in phones]
    found: list[Segment] = []
    if not phones or starts[0] > 0:
        found.append(Segment(SILENCE, 0.0, starts[0] if phones else end_seconds))
    for (labels, start), end in zip(phones, [*starts[1:], end_seconds], strict=True):
        position = start
        for label, share in labels:
            following = position + share * (end - start)
            found.append(Segment(label, position, following))
            position = following
    return tuple(segment for segment in found if segment.end_seconds > segment.start_seconds)


def with_closures(spoken: Spoken) -> Spoken:
    """Move the closure of a stop to the stop. eSpeak counts it as the quiet end of the previous phone."""
    step = round(_CLOSURE_STEP_SECONDS * spoken.sample_rate)
    num_steps = len(spoken.samples) // step
    power = (spoken.samples[: num_steps * step].astype(np.float64) ** 2).reshape(num_steps, step).mean(axis=1)
    if num_steps == 0 or power.max() == 0.0:
        return spoken
    is_quiet = power < np.percentile(power, 95) * 10 ** (_CLOSURE_DB / 10)
    segments = list(spoken.segments)
    for number, (before, after) in enumerate(pairwise(spoken.segments)):
        if after.label not in STOPS or before.label == SILENCE:
            continue
        start = segments[number].start_seconds
        border = after.start_seconds
        while border - _CLOSURE_STEP_SECONDS > start and is_quiet[_step_before(border, num_steps)]:
            border -= _CLOSURE_STEP_SECONDS
        segments[number] = Segment(before.label, start, border)
        segments[number + 1] = Segment(after.label, border, after.end_seconds)
    return Spoken(spoken.samples, spoken.sample_rate, tuple(segments))


def _step_before(seconds: float, num_steps: int) -> int:
    return max(0, min(num_steps - 1, round(seconds / _CLOSURE_STEP_SECONDS) - 1))


def labels_on_grid(segments: tuple[Segment, ...], num_half_frames: int, *, offset_seconds: float) -> LabelArray:
    """Return the label at the middle of each 20 ms, (half-frames,). The first begins at ``offset_seconds``.

    There is silence before and after. A phone between two middles gets the half-frame that contains it, unless that
    half-frame is the only one of another phone.
    """
    starts = np.array([segment.start_seconds for segment in segments])
    ends = np.array([segment.end_seconds for segment in segments])
    middles = offset_seconds + (np.arange(num_half_frames) + 0.5) * HALF_FRAME_SECONDS
    owner = np.searchsorted(starts, middles, side="right") - 1
    owner[(owner < 0) | (middles >= ends[-1])] = -1
    counts = np.bincount(owner[owner >= 0], minlength=len(segments))
    for number in np.flatnonzero((counts == 0) & (ends - starts >= _MIN_SECONDS)):
        place = int(((starts[number] + ends[number]) / 2 - offset_seconds) / HALF_FRAME_SECONDS)
        if 0 <= place < num_half_frames and owner[place] >= 0 and counts[owner[place]] >= 2:
            counts[owner[place]] -= 1
            owner[place] = number
            counts[number] = 1
    label_of_segment: npt.NDArray[np.uint8] = np.array([segment.label for segment in segments], np.uint8)
    return np.where(owner < 0, np.uint8(SILENCE), label_of_segment[owner]).astype(np.uint8)
