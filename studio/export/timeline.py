"""Timing of each line in the joined audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from studio.export.plan import ExportSettings
from studio.export.speech_source import ExportItem
from studio.export.subtitles import Cue


@dataclass(frozen=True, slots=True)
class LineTiming:
    """``item`` begins at ``start_samples`` and is followed by ``pause_samples`` of silence."""

    item: ExportItem
    start_samples: int
    num_samples: int
    pause_samples: int
    sample_rate: int

    @property
    def start_seconds(self) -> float:
        return self.start_samples / self.sample_rate

    @property
    def seconds(self) -> float:
        return self.num_samples / self.sample_rate

    @property
    def end_samples(self) -> int:
        return self.start_samples + self.num_samples + self.pause_samples

    @property
    def cue(self) -> Cue:
        return Cue(self.start_seconds, self.start_seconds + self.seconds, self.item.text, self.item.voice)


def timeline(lines: Sequence[tuple[ExportItem, int]], settings: ExportSettings) -> tuple[LineTiming, ...]:
    """Return the timing of ``lines`` (item, number of samples). No pause follows the last line."""
    spans: list[LineTiming] = []
    for position, (item, num_samples) in enumerate(lines):
        start = spans[-1].end_samples if spans else 0
        is_last = position == len(lines) - 1
        pause = 0 if is_last else settings.pause_samples_after(item)
        spans.append(LineTiming(item, start, num_samples, pause, settings.sample_rate))
    return tuple(spans)
