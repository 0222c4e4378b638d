"""Synthesis of a test sentence with the current model, and comparison of the results of two models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.app.background import run_in_thread
from studio.app.bridge import WorkerBridge
from studio.audio.player import Samples, StreamingAudio
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.worker.request_handle import Callbacks

SENTENCE = "The harbour was quiet that morning."
# Smaller relative differences are within the noise of a single measurement.
_NOTICEABLE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class ModelPreview:
    """Test sentence spoken by one model, with its measurements."""

    model_name: str
    makes_noise: bool
    first_audio_seconds: float
    real_time_factor: float
    highest_hertz: float  # 99 % of the energy is below this frequency
    audio: StreamingAudio


def compare(before: ModelPreview, after: ModelPreview) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the ``ModelPreview`` fields that improved, and of those that became worse."""
    if before.makes_noise != after.makes_noise:
        # The other figures are meaningless for noise.
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


async def synthesize_preview(bridge: WorkerBridge, voice: VoiceReference) -> ModelPreview | None:
    """Speak ``SENTENCE`` with the model of ``bridge``, or return None if the request is cancelled.

    Raises ``StudioError``.
    """
    description = await bridge.load()
    # Prepared beforehand, so that the measured time does not include it.
    await bridge.prepare_voice(voice)
    audio = StreamingAudio(description.sample_rate)
    request = bridge.synthesize(
        SynthesisRequest(SENTENCE, voice, seed=1, trims_leading_silence=True),
        hooks=Callbacks(lambda chunk: audio.append(chunk.samples)),
    )
    report = await request.finished()
    audio.complete()
    if report is None:
        return None
    return ModelPreview(
        description.model_name,
        description.makes_noise,
        report.first_audio_seconds,
        report.real_time_factor,
        await run_in_thread(highest_hertz, audio.all(), report.sample_rate),
        audio,
    )


def highest_hertz(samples: Samples, sample_rate: int) -> float:
    """Return the frequency below which 99 % of the energy is, or 0 for silence."""
    energy = np.cumsum(np.abs(np.fft.rfft(samples.astype(np.float64))) ** 2)
    if not len(energy) or energy[-1] <= 0:
        return 0.0
    return float(np.searchsorted(energy, 0.99 * energy[-1]) * sample_rate / len(samples))
