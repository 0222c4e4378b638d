"""Whole requests with the fastest verified engines: latency, real-time factors, memory, concurrency."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import psutil
import torch

from measurements.gpu.candidates import Entry, described
from studio.bench.inputs import TRANSCRIPT, write_clip
from studio.bench.request_measures import run_request
from studio.engines.candidate import AnyStage
from studio.engines.machine import free_bytes
from studio.engines.stage import Device, Stage
from studio.model.device_kind import DeviceKind
from studio.model.stages import FlowDecoder, SpeechLM, Vocoder
from studio.pipeline.loading import StageOverrides, load_synthesizer
from studio.pipeline.request import EngineOptions, VoiceReference
from studio.pipeline.synthesizer import Synthesizer

_SAMPLING_SECONDS = 0.005


@dataclass(frozen=True)
class Scope:
    """The amount of speech; the numbers of ``max_concurrent_lines`` are tried in turn."""

    clip_seconds: float = 10.0
    line_seconds: float = 10.0
    export_line_seconds: float = 5.0
    num_warm: int = 5
    max_concurrent_lines: tuple[int, ...] = (1, 4, 16, 32)


SMALL = Scope(clip_seconds=4.0, line_seconds=1.0, export_line_seconds=1.0, num_warm=2, max_concurrent_lines=(1, 2))


class PeakMemory:
    """Peak increase of ``taken()`` (bytes) during the context, sampled by a thread."""

    def __init__(self, taken: Callable[[], int]) -> None:
        self._taken = taken
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.num_bytes = 0

    def __enter__(self) -> Self:
        self._before = self._taken()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._over.wait(_SAMPLING_SECONDS)
            self.num_bytes = max(self.num_bytes, self._taken() - self._before)


def taken_bytes(place: Device) -> int:
    """Memory in use at ``place``, in bytes; on a GPU by all processes, because TensorRT, ONNX Runtime and vLLM bypass torch."""
    if place.kind is DeviceKind.CPU:
        return int(psutil.Process().memory_info().rss)
    return place.total_bytes - free_bytes(place)


@dataclass(frozen=True)
class Spoken:
    """The model and its opened stages; ``names`` are their engines."""

    folder: Path
    place: Device
    stages: Mapping[Stage, AnyStage]
    names: Mapping[Stage, str]

    def handed(self) -> StageOverrides:
        words = {stage.value.replace("-", "_"): name for stage, name in self.names.items()}
        return StageOverrides(
            cast("SpeechLM", self.stages[Stage.SPEECH_LM]),
            cast("FlowDecoder", self.stages[Stage.FLOW]),
            cast("Vocoder", self.stages[Stage.VOCODER]),
            words=words,
            names=words,
        )


def check_requests(spoken: Spoken, scratch: Path, scope: Scope = Scope()) -> Iterator[Entry]:
    """Measure whole requests; yields all results so far after each part. A failure replaces its result."""
    place = spoken.place
    options = EngineOptions(
        device=place.torch_name, num_threads=place.num_threads, speech_lm_precision="float32", engines="plain"
    )
    synthesizer = load_synthesizer(spoken.folder, options, spoken.handed())
    if place.kind is DeviceKind.CUDA:
        torch.cuda.reset_peak_memory_stats(place.torch_name)
    found: Entry = {}
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        clip = scratch / "clip.wav"
        write_clip(clip, scope.clip_seconds)
        voice = VoiceReference(clip=clip, transcript=TRANSCRIPT, name="GPU check")
        parts: dict[str, Callable[[], object]] = {
            "first_audio_seconds": lambda: _first_sounds(synthesizer, voice, scope),
            "real_time_factor_streaming": lambda: _real_time_factor(synthesizer, voice, scope, is_streaming=True),
            "real_time_factor_whole": lambda: _real_time_factor(synthesizer, voice, scope, is_streaming=False),
        }
        for name, part in parts.items():
            found[name] = _or_its_error(part)
            yield found
        if place.kind is DeviceKind.CUDA:
            found["torch_peak_bytes"] = torch.cuda.max_memory_allocated(place.torch_name)
        speeds: Entry = {}
        for count in scope.max_concurrent_lines:
            speeds[str(count)] = _or_its_error(lambda count=count: _throughput(synthesizer, voice, count, scope))  # type: ignore[misc]
            yield found | {"audio_seconds_per_second": speeds}
    finally:
        synthesizer.close()


def _or_its_error(part: Callable[[], object]) -> object:
    try:
        return part()
    except Exception as error:  # noqa: BLE001 - reported in place of the result
        return {"error": described(error)}


def _first_sounds(synthesizer: Synthesizer, voice: VoiceReference, scope: Scope) -> Entry:
    new = run_request(synthesizer, voice, 1.0).report.first_audio_seconds
    known = [run_request(synthesizer, voice, 1.0).report.first_audio_seconds for _ in range(scope.num_warm)]
    return {"new_voice": new, "known_voice": statistics.median(known), "last_over_first": known[-1] / known[0]}


def _real_time_factor(synthesizer: Synthesizer, voice: VoiceReference, scope: Scope, *, is_streaming: bool) -> float:
    """Measure the second of two equal lines: the first warms up for its length."""
    for _ in range(2):
        started = time.perf_counter()
        timing = run_request(synthesizer, voice, scope.line_seconds, is_streaming=is_streaming)
        seconds = time.perf_counter() - started
    return seconds / sum(length for _, length in timing.chunks)


def _throughput(synthesizer: Synthesizer, voice: VoiceReference, count: int, scope: Scope) -> float:
    """Seconds of audio per second with ``count`` concurrent lines, the better of two runs: the first warms up."""

    def line(_: int) -> float:
        timing = run_request(synthesizer, voice, scope.export_line_seconds, is_streaming=False, in_batch=True)
        return sum(length for _, length in timing.chunks)

    best = 0.0
    for _ in range(2):
        started = time.perf_counter()
        with ThreadPoolExecutor(count) as pool:
            lengths = list(pool.map(line, range(count)))
        best = max(best, sum(lengths) / (time.perf_counter() - started))
    return best
