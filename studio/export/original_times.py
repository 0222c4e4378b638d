"""Audio at the original times of a video: the start of each line, overlaps, and the mix of all lines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from studio.audio.resampling import Samples
from studio.export.speech_source import ExportItem
from studio.export.subtitles import LineTiming
from studio.project.dubbing import overrun_seconds
from studio.project.lines import merge_slots

# Silence is written in blocks of this size, so that an hour without speech needs no memory.
_BLOCK_SAMPLES = 1 << 20


@dataclass(frozen=True, slots=True)
class Overrun:
    """A line that is longer than its slot and the silence after it that it may use."""

    item: ExportItem
    seconds: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """A line whose audio overlaps a later line, although their times do not overlap."""

    item: ExportItem
    next_item: ExportItem
    seconds: float


def timings_at_slots(
    lines: Sequence[tuple[ExportItem, int]], sample_rate: int, pause_samples_after: Callable[[ExportItem], int]
) -> tuple[LineTiming, ...]:
    """Return the timing of each of ``lines`` (item, number of samples), in the same order.

    A line with a time begins exactly then; other lines follow the line before and its pause.
    """
    timings: list[LineTiming] = []
    following = 0  # where a line without a time begins
    for item, num_samples in lines:
        start = following if item.slot is None else round(item.slot.start_seconds * sample_rate)
        timings.append(LineTiming(item, start, num_samples, 0, sample_rate))
        following = start + num_samples + pause_samples_after(item)
    return tuple(timings)


def in_order_of_time(timings: Iterable[LineTiming]) -> list[LineTiming]:
    return sorted(timings, key=lambda timing: timing.start_samples)


def overruns(timings: Sequence[LineTiming]) -> tuple[Overrun, ...]:
    """Return the lines that are too long for their slots, the longest overrun first."""
    speech = merge_slots(timing.item.slot for timing in timings if timing.item.slot is not None)
    found = [Overrun(timing.item, overrun_seconds(timing.item.slot, timing.seconds, speech)) for timing in timings]
    return tuple(sorted((each for each in found if each.seconds), key=lambda overrun: -overrun.seconds))


def overlaps(timings: Iterable[LineTiming]) -> tuple[Overlap, ...]:
    """Return the lines that overlap a later line, unless their times in the video overlap too."""
    found: list[Overlap] = []
    ordered = in_order_of_time(timings)
    for position, timing in enumerate(ordered):
        slot = timing.item.slot
        for later in ordered[position + 1 :]:
            common = timing.start_samples + timing.num_samples - later.start_samples
            if common <= 0:
                break
            is_of_video = slot is not None and round(slot.end_seconds * timing.sample_rate) > later.start_samples
            if not is_of_video:
                found.append(Overlap(timing.item, later.item, common / timing.sample_rate))
    return tuple(found)


def mix_lines(
    timings: Sequence[LineTiming], audio: Iterator[Samples], num_samples: int, limited: Callable[[Samples], Samples]
) -> Iterator[Samples]:
    """Yield the mix of ``audio``: pairs of the sound and the pause of each line, in the order of ``timings``."""
    starts = [timing.start_samples for timing in timings]
    return mix(zip(starts, itertools.islice(audio, 0, None, 2), strict=True), num_samples, limited)


def mix(
    parts: Iterable[tuple[int, Samples]], num_samples: int, limited: Callable[[Samples], Samples]
) -> Iterator[Samples]:
    """Yield blocks of audio in which each of ``parts`` (start, samples) begins at its start, with silence between.

    ``parts`` are in the order of their starts. Overlapping parts are added, and ``limited`` limits the sum. The blocks
    have ``num_samples`` samples in total, or more if the parts end later.
    """
    position = 0  # position of the next sample to yield
    sum_start, sum_samples, num_parts = 0, np.zeros(0, np.float32), 0
    for start, samples in parts:
        offset = start - sum_start
        if num_parts and offset < len(sum_samples):  # overlaps the parts that are waiting
            longer = np.zeros(max(len(sum_samples), offset + len(samples)), np.float32)
            longer[: len(sum_samples)] = sum_samples
            longer[offset : offset + len(samples)] += samples
            sum_samples, num_parts = longer, num_parts + 1
            continue
        if num_parts:
            yield limited(sum_samples) if num_parts > 1 else sum_samples
        position += len(sum_samples)
        yield from _silence(start - position)
        position = max(position, start)
        sum_start, sum_samples, num_parts = start, samples, 1
    if num_parts:
        yield limited(sum_samples) if num_parts > 1 else sum_samples
    yield from _silence(num_samples - position - len(sum_samples))


def _silence(num_samples: int) -> Iterator[Samples]:
    while num_samples > 0:
        block = min(num_samples, _BLOCK_SAMPLES)
        yield np.zeros(block, np.float32)
        num_samples -= block
