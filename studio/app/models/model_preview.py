"""Synthesis of a test sentence with the current model, and comparison of two such previews."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from studio.app.background import in_background
from studio.app.bridge import WorkerBridge
from studio.audio.streaming_audio import Samples, StreamingAudio
from studio.errors import StudioError
from studio.pipeline.request import AudioChunk, SynthesisRequest, VoiceReference
from studio.worker.request_handle import Callbacks

SENTENCE = "The harbour was quiet that morning."


@dataclass(frozen=True, slots=True)
class ModelPreview:
    """Result of one synthesis. ``highest_hertz``: 99 % of the energy is below this frequency."""

    model_name: str
    makes_noise: bool
    first_audio_seconds: float
    real_time_factor: float
    sample_rate: int
    highest_hertz: float
    sound: StreamingAudio


# Smaller relative differences are within the noise of a single measurement.
_NOTICEABLE_SHARE = 0.1


def compare(before: ModelPreview, after: ModelPreview) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ``ModelPreview`` fields that improved, and those that became worse, by name."""
    if before.makes_noise != after.makes_noise:
        # The other figures are then meaningless.
        return ((), ("makes_noise",)) if after.makes_noise else (("makes_noise",), ())
    gains = {
        "highest_hertz": after.highest_hertz / max(before.highest_hertz, 1e-9),
        "first_audio_seconds": before.first_audio_seconds / max(after.first_audio_seconds, 1e-9),
        "real_time_factor": before.real_time_factor / max(after.real_time_factor, 1e-9),
    }
    if before.makes_noise:  # noise has more high frequencies than any voice
        del gains["highest_hertz"]
    better = tuple(name for name, gain in gains.items() if gain > 1 + _NOTICEABLE_SHARE)
    worse = tuple(name for name, gain in gains.items() if gain < 1 / (1 + _NOTICEABLE_SHARE))
    return better, worse


class PreviewRunner(QObject):
    """Synthesises ``SENTENCE`` with the model of the bridge, one request at a time."""

    finished = Signal(object)  # ModelPreview
    failed = Signal(object)  # StudioError

    def __init__(self, bridge: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._task: asyncio.Task[None] | None = None

    def begin(self, voice: VoiceReference) -> None:
        """Start a preview. ``finished`` or ``failed`` follows, unless it is stopped."""
        self.stop()
        self._task = self._bridge.run(self._synthesize(voice))

    def stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._task = None

    async def _synthesize(self, voice: VoiceReference) -> None:
        try:
            description = await self._bridge.ready()
            # Prepared beforehand, so that the measured time does not include it.
            await self._bridge.prepare_voice(voice)
            sound = StreamingAudio(description.sample_rate)

            def on_audio(chunk: AudioChunk) -> None:
                sound.append(chunk.samples)

            request = self._bridge.speak(
                SynthesisRequest(SENTENCE, voice, seed=1, trims_leading_silence=True), Callbacks(on_audio)
            )
            report = await request.finished()
            sound.complete()
        except StudioError as error:
            self.failed.emit(error)
            return
        if report is None:
            return
        highest = await in_background(highest_hertz, sound.all(), report.sample_rate)
        self.finished.emit(
            ModelPreview(
                description.model_name,
                description.makes_noise,
                report.first_audio_seconds,
                report.real_time_factor,
                report.sample_rate,
                highest,
                sound,
            )
        )


def highest_hertz(samples: Samples, sample_rate: int) -> float:
    """Return the frequency below which 99 % of the energy is, 0 for silence."""
    energy = np.cumsum(np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2)
    if not len(energy) or energy[-1] <= 0:
        return 0.0
    return float(np.searchsorted(energy, 0.99 * energy[-1]) * sample_rate / len(samples))
