"""Fake speech source for export tests: short tones of different pitch, and a list of the requested lines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.export.levels import Levels
from studio.export.speech_source import ExportItem
from studio.export.standards import AudioStandard
from studio.provenance.statement import SpokenLine

RATE = 24_000
TEXTS = ("The harbour was quiet.", "Nobody spoke a word.", "Then the bell rang: once, twice.", "今天天气很好。")


def hum(seconds: float, pitch: float, *, level: float = 0.2, rate: int = RATE) -> Samples:
    """Return a voice-like waveform: harmonics, four syllables per second, some noise."""
    time_seconds = np.arange(round(seconds * rate)) / rate
    voice = sum(np.sin(2 * np.pi * pitch * k * time_seconds + k * k) / k for k in range(1, 20))
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * time_seconds)
    breath = np.random.default_rng(round(pitch)).normal(0, 0.02, len(time_seconds))
    return (level * (voice * syllables + breath)).astype(np.float32)


def items_of(texts: Sequence[str], **changes: object) -> list[ExportItem]:
    return [
        ExportItem(**({"key": f"key of {text}", "index": number, "text": text, "voice": "Anna"} | changes))
        for number, text in enumerate(texts, 1)
    ]


@dataclass
class FakeSpeechSource:
    """A source whose lines last a tenth of a second per letter.

    Attributes:
        sounds, failures: The audio or the error for a text, instead of the default audio.
        spoken_texts: The texts of the requested lines, in order.
        expected: The texts of the announced lines.
    """

    sounds: Mapping[str, Samples] = field(default_factory=dict)
    failures: Mapping[str, StudioError] = field(default_factory=dict)
    is_spoken: bool = True
    seconds_per_line: float = 0.0
    spoken_texts: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def needs_speaking(self, item: ExportItem) -> bool:
        return self.is_spoken

    def expect(self, items: Sequence[ExportItem]) -> None:
        self.expected = [item.text for item in items]

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        self.spoken_texts.append(item.text)
        time.sleep(self.seconds_per_line)
        if item.text in self.failures:
            raise self.failures[item.text]
        sound = self.sounds.get(item.text)
        return Waveform(hum(0.1 * len(item.text), 90 + 7 * item.index) if sound is None else sound, RATE)

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        return item.spoken


def is_met(standard: AudioStandard, levels: Levels) -> bool:
    return all(finding.is_met for finding in standard.check(levels))
