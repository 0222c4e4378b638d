"""The benchmark of one model, from loading to the last measurement."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studio.bench.inputs import BenchSize
from studio.bench.measurements import BenchReport, Decision, Measurement, describe_machine, peak_memory_bytes
from studio.bench.request_measures import measure_requests
from studio.bench.stage_measures import measure_flow, measure_lengths, measure_speech_lm, measure_vocoder
from studio.model.measurements import Record, Records
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions
from studio.pipeline.synthesizer import Synthesizer

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class BenchRequest:
    folder: Path
    options: EngineOptions
    extent: BenchSize
    progress: Callable[[str], None]  # called with a description of each step


def run_bench(request: BenchRequest) -> BenchReport:
    """Run all measurements of ``request.extent``, the slowest last. Raise any error of loading the model.

    The voice cache must be empty for measurements of new voices; ``__main__`` ensures that.
    """
    extent, progress = request.extent, request.progress
    memory_before = peak_memory_bytes()
    progress("loading the model")
    synthesizer, load_seconds = _open(request)
    first_seconds, peak_loading = load_seconds, peak_memory_bytes()
    if "loading" in extent.parts:
        synthesizer.close()
        del synthesizer  # or memory would be counted twice
        synthesizer, load_seconds = _open(request)
    checkpoint, stages = synthesizer.checkpoint, synthesizer.stages
    description = synthesizer.description
    report = BenchReport(
        model={"model": description.model_name, "generation": description.generation, "folder": description.folder}
        | description.stages,
        machine=describe_machine(),
    )
    num_tokens, generation = checkpoint.speech_lm.layout.num_speech_tokens, checkpoint.generation
    if "loading" in extent.parts:
        weights = sum(path.stat().st_size for path in checkpoint.weight_files())
        report.figures += [
            Measurement("loading.time", load_seconds, "s", "Loading the model in a running process."),
            Measurement(
                "loading.first_time",
                first_seconds,
                "s",
                "Loading time of a model that is new to this machine, including the choice of its precision.",
            ),
            Measurement("loading.weight_files", weights / _GIB, "GiB", "Size of llm.pt, flow.pt and hift.pt."),
            Measurement("loading.memory_before", memory_before / _GIB, "GiB", "Peak memory of the libraries alone."),
            Measurement("loading.peak_memory", peak_loading / _GIB, "GiB", "Peak memory until the model was ready."),
        ]
    if "speech_lm" in extent.parts:
        progress("the speech language model")
        report.figures += measure_speech_lm(stages.speech_lm, num_tokens, generation, extent)
    if "flow" in extent.parts:
        progress("the flow")
        report.figures += measure_flow(stages.flow, num_tokens, generation, extent)
    if "vocoder" in extent.parts:
        progress("the vocoder")
        report.figures += measure_vocoder(stages.vocoder, extent)
    if "requests" in extent.parts:
        with tempfile.TemporaryDirectory(prefix="timbre-bench-") as clips:
            progress("whole requests")
            report.figures += measure_requests(synthesizer, extent, Path(clips))
    report.choices = [
        Decision("speech LM", description.stages["speech_lm"], "; ".join(description.notes)),
        *(_decision(record) for record in Records().all()),
    ]
    if "lengths" in extent.parts:
        for seconds, figures in zip(
            extent.cost_seconds,
            measure_lengths(stages.flow, stages.vocoder, num_tokens, generation, extent),
            strict=True,
        ):
            progress(f"measured a line of {seconds:.0f} s")
            report.figures += figures
    report.figures.append(
        Measurement("memory.peak", peak_memory_bytes() / _GIB, "GiB", "Peak memory of the whole benchmark.")
    )
    synthesizer.close()
    return report


def _decision(record: Record) -> Decision:
    """Describe a comparison with float32 that loading the model or a request has made."""
    found, timing = record.verification, record.timing
    name = f"{record.facts['stage']}.{record.facts['name']}"
    figures = [Measurement(f"{name}_error", found.relative_error, "", "Relative error of the output.")]
    if found.mel_distance_db is not None:
        figures.append(Measurement(f"{name}_distance", found.mel_distance_db, "dB", "Mel-cepstral distance."))
    if found.divergence_nats is not None:
        figures.append(Measurement(f"{name}_divergence", found.divergence_nats, "nats", "Next token."))
    if timing is not None:
        figures.append(Measurement(f"{name}_speedup", timing.speedup, "", "Time of float32 divided by its time."))
    return Decision(f"{record.facts['stage']} compared", record.facts["name"], "it was measured here", tuple(figures))


def _open(request: BenchRequest) -> tuple[Synthesizer, float]:
    started = time.perf_counter()
    synthesizer = load_synthesizer(request.folder, request.options)
    return synthesizer, time.perf_counter() - started
