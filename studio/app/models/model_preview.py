"""The same sentence with two models: what each took for it, as measured, and its sound to compare."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from studio.app.bridge import WorkerBridge
from studio.audio.streaming_audio import Samples, StreamingAudio
from studio.errors import StudioError
from studio.pipeline.request import AudioChunk, SynthesisRequest, VoiceReference
from studio.worker.request_handle import Callbacks

SENTENCE = "The harbour was quiet that morning."


@dataclass(frozen=True, slots=True)
class ModelPreview:
    """``highest_hertz``: below it lies all but a hundredth of the sound's energy."""

    model_name: str
    makes_noise: bool
    first_audio_seconds: float
    real_time_factor: float
    sample_rate: int
    highest_hertz: float
    sound: StreamingAudio


# Differences smaller than this are the chance of one measurement.
_NOTICEABLE_SHARE = 0.1


def compare(before: ModelPreview, after: ModelPreview) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures that became better and those that became worse, by the names they have in ``ModelPreview``."""
    if before.makes_noise != after.makes_noise:
        # Nothing else means anything beside it.
        return ((), ("makes_noise",)) if after.makes_noise else (("makes_noise",), ())
    gains = {
        "highest_hertz": after.highest_hertz / max(before.highest_hertz, 1e-9),
        "first_audio_seconds": before.first_audio_seconds / max(after.first_audio_seconds, 1e-9),
        "real_time_factor": before.real_time_factor / max(after.real_time_factor, 1e-9),
    }
    if before.makes_noise:  # which reaches higher than any voice
        del gains["highest_hertz"]
    better = tuple(name for name, gain in gains.items() if gain > 1 + _NOTICEABLE_SHARE)
    worse = tuple(name for name, gain in gains.items() if gain < 1 / (1 + _NOTICEABLE_SHARE))
    return better, worse


class Trials(QObject):
    """Speaks ``SENTENCE`` in a voice with whatever model the bridge has, one request at a time."""

    made = Signal(object)  # Trial
    failed = Signal(object)  # StudioError

    def __init__(self, bridge: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._task: asyncio.Task[None] | None = None

    def begin(self, voice: VoiceReference) -> None:
        """``made`` or ``failed`` follows, unless it is stopped."""
        self.stop()
        self._task = self._bridge.run(self._try(voice))

    def stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._task = None

    async def _try(self, voice: VoiceReference) -> None:
        try:
            description = await self._bridge.ready()
            # The first request prepares the voice, which is no part of what a sentence takes.
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
        highest = await asyncio.to_thread(highest_hertz, sound.all(), report.sample_rate)
        self.made.emit(
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
    """Below it lie 99 % of the energy; 0 for silence."""
    energy = np.cumsum(np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2)
    if not len(energy) or energy[-1] <= 0:
        return 0.0
    return float(np.searchsorted(energy, 0.99 * energy[-1]) * sample_rate / len(samples))
