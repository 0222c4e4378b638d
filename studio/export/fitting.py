"""Speech source that fits newly spoken lines to their slots in a video."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from studio.audio.edits import AudioEdits
from studio.audio.waveform import Waveform
from studio.export.speech_source import ExportItem, SpeechSource
from studio.project.dubbing import FitOptions


def fitted_items(
    items: Sequence[ExportItem], keys: Collection[str], options: FitOptions
) -> tuple[tuple[ExportItem, ...], dict[str, ExportItem]]:
    """Return ``items``, of which those with ``keys`` and a slot are fitted, and the original items by the new keys.

    The same words in a slot of another length have another key, because their audio differs.
    """
    fitted: list[ExportItem] = []
    originals: dict[str, ExportItem] = {}
    limits = f"{options.slowest:g}:{options.fastest:g}:{options.lengthens}"
    for item in items:
        key = item.key
        if item.slot is not None and key in keys:
            key = f"{key}:fit:{item.slot.seconds:.4f}:{limits}"
            originals[key] = item
        fitted.append(replace(item, key=key))
    return tuple(fitted), originals


class FittingSource:
    """A ``SpeechSource`` that stretches the audio of ``source``. ``originals`` comes from ``fitted_items``."""

    def __init__(self, source: SpeechSource, originals: Mapping[str, ExportItem], options: FitOptions) -> None:
        self._source = source
        self._originals = originals
        self._options = options

    def needs_speaking(self, item: ExportItem) -> bool:
        return self._source.needs_speaking(self._originals.get(item.key, item))

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._source.expect([self._originals.get(item.key, item) for item in items])

    def waveform_of(self, item: ExportItem) -> Waveform:
        original = self._originals.get(item.key)
        if original is None or original.slot is None:
            return self._source.waveform_of(item)
        waveform = self._source.waveform_of(original)
        speed = self._options.stretch(waveform.seconds, original.slot.seconds)
        return Waveform(AudioEdits(speed=speed).apply(waveform.samples, waveform.sample_rate), waveform.sample_rate)
