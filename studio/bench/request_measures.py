"""Measurements of whole requests, from text and voice to audio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from studio.bench.inputs import SENTENCE, TRANSCRIPT, BenchSize, write_clip
from studio.bench.measurements import Measurement
from studio.pipeline.request import RequestControl, SynthesisReport, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer

_STAGES = {
    "text": "the normaliser and the text tokenizer",
    "voice": "loading the prepared voice",
    "speech_lm": "the speech language model",
    "flow": "the flow",
    "vocoder": "the vocoder",
}


@dataclass(frozen=True, slots=True)
class RequestTiming:
    """Timing of one request. ``chunks``: (seconds since the request, seconds of audio), in order."""

    report: SynthesisReport
    chunks: tuple[tuple[float, float], ...]
    announced_start_seconds: float | None

    @property
    def earliest_gapless_start(self) -> float:
        """The earliest start of playback for which every chunk arrives in time, in seconds after the request."""
        start, position = 0.0, 0.0
        for arrived, audio_seconds in self.chunks:
            start = max(start, arrived - position)
            position += audio_seconds
        return start


def run_request(
    synthesizer: Synthesizer,
    voice: VoiceReference,
    speech_seconds: float,
    *,
    is_streaming: bool = True,
    in_batch: bool = False,
) -> RequestTiming:
    """Run a request of one sentence with a forced length."""
    announced: list[float] = []
    control = RequestControl(on_estimate=announced.append)
    request = SynthesisRequest(
        text=SENTENCE,
        voice=voice,
        is_streaming=is_streaming,
        forced_tokens=synthesizer.checkpoint.generation.tokens_of_seconds(speech_seconds),
    )
    started = time.perf_counter()
    stream = synthesizer.stream(request, control=control, in_batch=in_batch)
    chunks: list[tuple[float, float]] = []
    while True:
        try:
            chunk = next(stream)
        except StopIteration as end:
            return RequestTiming(end.value, tuple(chunks), announced[0] if announced else None)
        chunks.append((time.perf_counter() - started, chunk.seconds))


def measure_requests(synthesizer: Synthesizer, extent: BenchSize, folder: Path) -> list[Measurement]:
    """Measure latency with new and known voices, and real-time factors. Clips are written to ``folder``."""
    figures: list[Measurement] = []
    for seconds in extent.prompt_seconds:
        clip = folder / f"clip-{seconds:.0f}s.wav"
        write_clip(clip, seconds)
        voice = VoiceReference(clip=clip, transcript=TRANSCRIPT, name="bench")
        cold = run_request(synthesizer, voice, 1.0)
        warm = [run_request(synthesizer, voice, 1.0) for _ in range(max(2, extent.num_repeats))]
        figures += _first_sound(seconds, cold, warm)
    streamed = run_request(synthesizer, voice, extent.speech_seconds)
    whole = run_request(synthesizer, voice, extent.speech_seconds, is_streaming=False)
    length = f"one sentence of {extent.speech_seconds:.0f} s, with a forced number of tokens and a known voice"
    figures += [
        Measurement(
            "request.real_time_factor_streaming",
            streamed.report.real_time_factor,
            "s/s",
            f"Seconds from request to last sample per second of audio; {length}.",
        ),
        Measurement(
            "request.real_time_factor_whole",
            whole.report.real_time_factor,
            "s/s",
            f"The same in whole-utterance mode, without streaming; {length}.",
        ),
        Measurement(
            "request.needed_start",
            streamed.earliest_gapless_start,
            "s",
            "Earliest start of playback of that streamed sentence without a gap.",
        ),
    ]
    if streamed.announced_start_seconds is not None:
        figures.append(
            Measurement(
                "request.announced_start",
                streamed.announced_start_seconds,
                "s",
                "Start of playback without a gap, as predicted after the first chunk.",
            )
        )
    return figures + [
        Measurement(
            f"request.in_{stage}", seconds, "s", f"Seconds of that streamed request in {_STAGES.get(stage, stage)}."
        )
        for stage, seconds in streamed.report.stages.items()
    ]


def _first_sound(prompt_seconds: float, cold: RequestTiming, warm: Sequence[RequestTiming]) -> list[Measurement]:
    name = f"{prompt_seconds:.0f}_s_prompt"
    first = [timing.report.first_audio_seconds for timing in warm]
    return [
        Measurement(
            f"request.first_sound_new_voice_{name}",
            cold.report.first_audio_seconds,
            "s",
            f"Request to first samples with a new clip of {prompt_seconds:.0f} s: reading, checking, feature extraction "
            "and the flow's prompt state.",
        ),
        Measurement(
            f"request.first_sound_known_voice_{name}",
            statistics.median(first),
            "s",
            f"The same with a voice that was used before; median of {len(first)}.",
        ),
        Measurement(
            f"request.last_over_first_{name}",
            first[-1] / first[0],
            "",
            "Latency of the last of these requests divided by that of the first; 1 if it does not grow.",
        ),
    ]
