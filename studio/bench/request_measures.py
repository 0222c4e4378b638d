"""Whole requests, as a person meets them: from text and voice to sound."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from studio.bench.bench_size import BenchSize
from studio.bench.inputs import SENTENCE, TOKENS_PER_SECOND, TRANSCRIPT, write_clip
from studio.bench.measurements import Measurement
from studio.pipeline.control import RequestControl
from studio.pipeline.request import SynthesisReport, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer

_STAGES = {
    "text": "normaliser and text tokenizer",
    "voice": "finding the prepared voice",
    "speech_lm": "the speech language model",
    "flow": "the flow",
    "vocoder": "the vocoder",
}


@dataclass(frozen=True, slots=True)
class Course:
    """How one request went. ``chunks``: (seconds since the request, seconds of sound), in order."""

    report: SynthesisReport
    chunks: tuple[tuple[float, float], ...]
    announced_start_seconds: float | None

    @property
    def earliest_gapless_start(self) -> float:
        """The earliest start of play from which no chunk would have come too late."""
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
) -> Course:
    """One sentence of forced length."""
    announced: list[float] = []
    control = RequestControl(on_estimate=announced.append)
    request = SynthesisRequest(
        text=SENTENCE,
        voice=voice,
        is_streaming=is_streaming,
        forced_tokens=round(speech_seconds * TOKENS_PER_SECOND),
    )
    started = time.perf_counter()
    stream = synthesizer.stream(request, control=control, in_batch=in_batch)
    chunks: list[tuple[float, float]] = []
    while True:
        try:
            chunk = next(stream)
        except StopIteration as end:
            return Course(end.value, tuple(chunks), announced[0] if announced else None)
        chunks.append((time.perf_counter() - started, chunk.seconds))


def measure_requests(synthesizer: Synthesizer, extent: BenchSize, folder: Path) -> list[Measurement]:
    """First sound with a new and a known voice, and real-time factors; ``folder`` takes the clips."""
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
    length = f"one sentence of {extent.speech_seconds:.0f} s, its number of tokens forced, known voice"
    figures += [
        Measurement(
            "request.real_time_factor_streaming",
            streamed.report.real_time_factor,
            "s/s",
            f"Seconds from request to last sample over seconds of sound; {length}.",
        ),
        Measurement(
            "request.real_time_factor_whole",
            whole.report.real_time_factor,
            "s/s",
            f"The same in whole-utterance mode, where sound comes only at the end; {length}.",
        ),
        Measurement(
            "request.needed_start",
            streamed.earliest_gapless_start,
            "s",
            "When play of that streamed sentence could have begun without ever waiting for a chunk.",
        ),
    ]
    if streamed.announced_start_seconds is not None:
        figures.append(
            Measurement(
                "request.announced_start",
                streamed.announced_start_seconds,
                "s",
                "When the program said, after its first chunk, that play could begin without a gap.",
            )
        )
    return figures + [
        Measurement(
            f"request.in_{stage}", seconds, "s", f"Of that streamed request: seconds in {_STAGES.get(stage, stage)}."
        )
        for stage, seconds in streamed.report.stages.items()
    ]


def _first_sound(prompt_seconds: float, cold: Course, warm: Sequence[Course]) -> list[Measurement]:
    name = f"{prompt_seconds:.0f}_s_prompt"
    first = [course.report.first_audio_seconds for course in warm]
    return [
        Measurement(
            f"request.first_sound_new_voice_{name}",
            cold.report.first_audio_seconds,
            "s",
            f"Request to first samples with a clip of {prompt_seconds:.0f} s never seen before: read, checked, "
            "turned into features, and the flow's state built.",
        ),
        Measurement(
            f"request.first_sound_known_voice_{name}",
            statistics.median(first),
            "s",
            f"The same with a voice used before; median of {len(first)}.",
        ),
        Measurement(
            f"request.last_over_first_{name}",
            first[-1] / first[0],
            "",
            "The last of these over the first: 1 where requests leave nothing behind.",
        ),
    ]
