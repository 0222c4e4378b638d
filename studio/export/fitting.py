"""Speech source that fits lines to their slots in a video."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.audio.edits import AudioEdits
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.export.speech_source import ExportItem, SpeechSource
from studio.project.dubbing import FitOptions
from studio.project.lines import Slot, merge_slots, spare_seconds
from studio.provenance.statement import SpokenLine


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A line to be fitted.

    Attributes:
        original: The line before fitting.
        spare_seconds: How much of the silence after the slot the audio may use.
        faster: The same line in a faster style of the model, or None if it is never spoken again.
        take_seconds: The length of its take in the project, or None if the line is newly spoken. Such a take is already
            stretched, and is spoken again if there is a ``faster`` line.
    """

    original: ExportItem
    slot: Slot
    spare_seconds: float = 0.0
    faster: ExportItem | None = None
    take_seconds: float | None = None

    @property
    def key(self) -> str:
        faster = "" if self.faster is None else f":{self.faster.key}"
        return f"{self.original.key}:fit:{self.slot.seconds:.4f}+{self.spare_seconds:.4f}{faster}"


def fitted_items(
    items: Sequence[ExportItem],
    keys: Collection[str],
    options: FitOptions,
    *,
    faster: Mapping[str, ExportItem] | None = None,
    seconds_of_takes: Mapping[str, float] | None = None,
) -> tuple[tuple[ExportItem, ...], dict[str, FittedLine]]:
    """Return ``items`` with the keys of their fitted audio, and the fitted lines by key.

    The same words in slots of different lengths have different keys, because their audio differs.

    ``keys`` are the keys of the lines to speak. ``faster`` and ``seconds_of_takes`` map keys to the lines in a faster style,
    and to the lengths of the takes to be spoken again.
    """
    faster, seconds_of_takes = faster or {}, seconds_of_takes or {}
    fitted: list[ExportItem] = []
    speech = merge_slots(item.slot for item in items if item.slot is not None)
    lines: dict[str, FittedLine] = {}
    limits = f"{options.slowest:g}:{options.fastest:g}:{options.lengthens}:{options.retakes.value}"
    for item in items:
        key = item.key
        if item.slot is not None and (key in keys or key in seconds_of_takes):
            line = FittedLine(
                item, item.slot, spare_seconds(item.slot, speech), faster.get(key), seconds_of_takes.get(key)
            )
            key = f"{line.key}:{limits}"
            lines[key] = line
        fitted.append(replace(item, key=key))
    return tuple(fitted), lines


class FittingSource:
    """A ``SpeechSource`` that fits the audio of ``source``. ``lines`` comes from ``fitted_items``.

    ``retaken`` contains the lines that were spoken again in a faster style, by number.
    """

    def __init__(self, source: SpeechSource, lines: Mapping[str, FittedLine], options: FitOptions) -> None:
        self._source = source
        self._lines = lines
        self._options = options
        self.retaken: dict[int, ExportItem] = {}
        # What was spoken for each line, and its speed, by key.
        self._fitted: dict[str, tuple[ExportItem, float | None]] = {}

    def needs_speaking(self, item: ExportItem) -> bool:
        return any(self._source.needs_speaking(each) for each in self._required_items(item))

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._source.expect([each for item in items for each in self._required_items(item)])

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        line = self._lines.get(item.key)
        if line is None:
            return self._source.synthesize_waveform(item)
        waveform = self._source.synthesize_waveform(line.original)
        quicker = self._retake(line, waveform)
        if quicker is not None:
            assert line.faster is not None
            self.retaken[item.index] = item
            return self._stretched(item, quicker, line, line.faster)
        return waveform if line.take_seconds is not None else self._stretched(item, waveform, line, line.original)

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        line = self._lines.get(item.key)
        original, speed = self._fitted.get(item.key, (item if line is None else line.original, None))
        found = self._source.spoken(original)
        return found if found is None or speed is None else found.edited(AudioEdits(speed=speed))

    def _required_items(self, item: ExportItem) -> list[ExportItem]:
        """Return the lines that are certainly needed for ``item``."""
        line = self._lines.get(item.key)
        if line is None:
            return [item]
        is_retaken = line.take_seconds is not None and line.faster is not None
        return [line.original, line.faster] if is_retaken and line.faster is not None else [line.original]

    def _retake(self, line: FittedLine, waveform: Waveform) -> Waveform | None:
        """Return shorter speech in the faster style, or None if it is not needed or not shorter."""
        seconds = waveform.seconds
        if line.faster is None:
            return None
        if line.take_seconds is not None:
            seconds = line.take_seconds
        else:
            fitted_seconds = seconds / self._speed(line, seconds)
            if not self._options.wants_retake(seconds, line.slot.seconds + line.spare_seconds, fitted_seconds):
                return None
        try:
            quicker = self._source.synthesize_waveform(line.faster)
        except StudioError:
            return None  # the line keeps its first reading, and is reported if that is too long
        return quicker if quicker.seconds < seconds else None

    def _speed(self, line: FittedLine, seconds: float) -> float:
        return self._options.stretch(seconds, line.slot.seconds, spare=line.spare_seconds)

    def _stretched(self, item: ExportItem, waveform: Waveform, line: FittedLine, spoken: ExportItem) -> Waveform:
        speed = self._speed(line, waveform.seconds)
        self._fitted[item.key] = spoken, speed
        return Waveform(AudioEdits(speed=speed).apply(waveform.samples, waveform.sample_rate), waveform.sample_rate)
