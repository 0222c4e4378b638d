"""Everything about engines that only a graphics card can tell, as one JSON: no window, no network.

    python3 packaging/gpu_check.py --folder SCRATCH --out gpu.json
    python3 packaging/gpu_check.py --folder SCRATCH --model FOLDER      a model that is there, instead of random ones

Writes CosyVoice2 and Fun-CosyVoice3 of full size with random weights into SCRATCH (5 GB), records what plain
float32 makes of a line, and puts every candidate that is usable here through probe, build, verify and time.
The fastest verified ones then speak: first sound cold and warm, real-time factors, memory, lines at once.
What fails is a line of the JSON, not the end of the run. Runs on Python 3.11 to 3.13 with torch 2.6 or later.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from studio.bench.material import TOKENS_PER_SECOND, TRANSCRIPT, write_clip
from studio.bench.random_checkpoint import write_random_checkpoint
from studio.bench.request_measures import run_request
from studio.engines.candidate import Candidate, Subject, Unusable
from studio.engines.extent import Extent, usual_extent
from studio.engines.machine import budget_bytes, free_bytes, place_named
from studio.engines.recording import Recording, record
from studio.engines.registry import MODULES, all_candidates
from studio.engines.stage import Place, Stage
from studio.engines.trials import TRIALS, time_in_turns
from studio.engines.trying import references_of
from studio.model.checkpoint import open_checkpoint
from studio.pipeline.opening import HandedStages, open_synthesizer
from studio.pipeline.request import EngineOptions, VoiceReference

GENERATIONS = ("cosyvoice2", "cosyvoice3")
LINES_AT_ONCE = (1, 4, 16, 32)
_CLIP_SECONDS, _LINE_SECONDS, _EXPORT_LINE_SECONDS = 10.0, 10.0, 5.0
_NUM_WARM = 5

Entry = dict[str, Any]


@dataclass
class Job:
    """A build that nobody cancels; what it reports is counted."""

    subject: Subject
    workspace: Path
    timing_cache: Path
    memory_bytes: int
    num_reports: int = 0

    def report(self, phase: str, done: float, total: float) -> None:
        self.num_reports += 1
        print(f"\r{phase} {done:.2f}/{total:g}   ", end="", file=sys.stderr, flush=True)

    def may_go_on(self) -> bool:
        return True


@dataclass(frozen=True)
class Exam:
    """What every candidate of a model is put through."""

    subject: Subject
    references: dict[Stage, Candidate]
    recording: Recording
    extent: Extent
    built: Path


def main(arguments: Sequence[str]) -> int:
    asked = _parsed(arguments)
    place = place_named(asked.place)
    _set_up_torch(place)
    extent = Extent(asked.tokens, 1, 2, 20.0) if asked.tokens else usual_extent(place)
    result: Entry = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "machine": _machine(place)}
    result |= {"extent": asdict(extent), "models": {}}
    for name in [asked.model.name] if asked.model else asked.generations:
        folder = asked.model or asked.folder / name
        models: Entry = {}
        result["models"][name] = models
        try:
            if asked.model is None:
                write_random_checkpoint(folder, name)
            check_model(folder, place, extent, asked.folder, models, modules=tuple(asked.modules))
        except Exception as error:  # noqa: BLE001 - the other model is checked all the same
            models["error"] = _described(error)
        _write(asked.out, result)
    print(json.dumps(result, indent=1))
    return 0 if all("error" not in models for models in result["models"].values()) else 1


def check_model(
    folder: Path, place: Place, extent: Extent, scratch: Path, found: Entry, *, modules: tuple[str, ...] = MODULES
) -> None:
    """Fills ``found``: every candidate, and what the fastest verified ones make of whole requests."""
    subject = Subject(open_checkpoint(folder), place)
    candidates = all_candidates(modules)
    references = references_of(candidates)
    recording = record(subject, references, extent)
    scratch.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="built-", dir=scratch) as built:
        exam = Exam(subject, references, recording, extent, Path(built))
        entries = [check_candidate(candidate, exam) for candidate in candidates]
        found["candidates"] = entries
        best = _fastest(entries)
        found["chosen"] = {stage.value: name for stage, name in best.items()}
        by_name = {(candidate.stage, candidate.name): candidate for candidate in candidates}
        chosen = [by_name[item] for item in best.items()]
        found["requests"] = check_requests(folder, subject, chosen, Path(built), scratch)


def check_candidate(candidate: Candidate, exam: Exam) -> Entry:
    """Probe, build, verify, time; whatever goes wrong is said in the entry."""
    subject, references = exam.subject, exam.references
    entry: Entry = {
        "stage": candidate.stage.value,
        "name": candidate.name,
        "engine": candidate.engine,
        "precision": candidate.precision.value,
    }
    _forget()
    free_before = free_bytes(subject.place)
    try:
        usable = candidate.probe(subject)
        if isinstance(usable, Unusable):
            return entry | {"unusable": str(usable.reason)}
        workspace = _workspace(exam.built, candidate)
        if candidate.phases:
            workspace.mkdir()
            started = time.perf_counter()
            job = Job(subject, workspace, exam.built / "timing-cache", budget_bytes(subject.place))
            candidate.build(job)
            entry["build_seconds"] = time.perf_counter() - started
            entry["built_bytes"] = sum(path.stat().st_size for path in workspace.iterdir())
        started = time.perf_counter()
        engine = candidate.open(workspace if candidate.phases else None, subject)
        entry["open_seconds"] = time.perf_counter() - started
        trial = TRIALS[candidate.stage](exam.recording, subject.checkpoint, exam.extent)
        verification = trial.verify(engine, candidate.precision)
        complaint = verification.complaint
        entry["verification"] = asdict(verification) | {"complaint": None if complaint is None else str(complaint)}
        is_reference = candidate is references[candidate.stage]
        reference = engine if is_reference else references[candidate.stage].open(None, subject)
        timing = time_in_turns(trial, engine, reference)
        entry["timing"] = asdict(timing) | {"speedup": timing.speedup}
        if candidate.stage is Stage.SPEECH_LM:
            entry["tokens_per_second"] = TOKENS_PER_SECOND / timing.seconds_per_audio_second
        entry["memory_bytes_with_reference"] = free_before - free_bytes(subject.place)
    except Exception as error:  # noqa: BLE001 - the next candidate is tried all the same
        entry["error"] = _described(error)
    return entry


def check_requests(folder: Path, subject: Subject, chosen: Sequence[Candidate], built: Path, scratch: Path) -> Entry:
    """First sound, real-time factors, memory, and how much speech is made when several lines are at work."""
    _forget()
    if subject.place.device != "cpu":
        torch.cuda.reset_peak_memory_stats(subject.place.device)
    free_before = free_bytes(subject.place)
    opened = {
        candidate.stage: candidate.open(_workspace(built, candidate) if candidate.phases else None, subject)
        for candidate in chosen
    }
    handed: Any = {stage: opened[stage] for stage in (Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER)}
    names = {candidate.stage.value.replace("-", "_"): candidate.name for candidate in chosen}
    options = EngineOptions(device=subject.place.device, speech_lm_precision="float32", engines="plain")
    synthesizer = open_synthesizer(
        folder,
        options,
        HandedStages(handed[Stage.SPEECH_LM], handed[Stage.FLOW], handed[Stage.VOCODER], words=names, names=names),
    )
    try:
        clip = scratch / "clip.wav"
        write_clip(clip, _CLIP_SECONDS)
        voice = VoiceReference(clip=clip, transcript=TRANSCRIPT, name="gpu check")
        cold = run_request(synthesizer, voice, 1.0).report.first_audio_seconds
        warm = [run_request(synthesizer, voice, 1.0).report.first_audio_seconds for _ in range(_NUM_WARM)]
        found: Entry = {
            "first_audio_seconds_new_voice": cold,
            "first_audio_seconds_known_voice": statistics.median(warm),
            "last_over_first_request": warm[-1] / warm[0],
        }
        for key, is_streaming in (("streaming", True), ("whole", False)):
            started = time.perf_counter()
            course = run_request(synthesizer, voice, _LINE_SECONDS, is_streaming=is_streaming)
            seconds = time.perf_counter() - started
            found[f"real_time_factor_{key}"] = seconds / sum(length for _, length in course.chunks)
        found["memory_bytes"] = free_before - free_bytes(subject.place)
        if subject.place.device != "cpu":
            found["torch_peak_bytes"] = torch.cuda.max_memory_allocated(subject.place.device)
        found["audio_seconds_per_second"] = {
            str(count): _throughput(synthesizer, voice, count) for count in LINES_AT_ONCE
        }
        return found
    finally:
        synthesizer.close()


def _throughput(synthesizer: Any, voice: VoiceReference, count: int) -> float | str:
    """``count`` lines at once, each in a thread of its own."""
    lengths: list[float] = []
    errors: list[BaseException] = []

    def line() -> None:
        try:
            course = run_request(synthesizer, voice, _EXPORT_LINE_SECONDS, is_streaming=False)
            lengths.append(sum(length for _, length in course.chunks))
        except Exception as error:  # noqa: BLE001 - said instead of a figure
            errors.append(error)

    threads = [threading.Thread(target=line) for _ in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return _described(errors[0])["message"] if errors else sum(lengths) / (time.perf_counter() - started)


def _fastest(entries: Sequence[Entry]) -> dict[Stage, str]:
    """Of each stage the fastest that was verified."""
    best: dict[Stage, Entry] = {}
    for entry in entries:
        if "timing" not in entry or entry["verification"]["complaint"] is not None:
            continue
        stage, seconds = Stage(entry["stage"]), entry["timing"]["seconds_per_audio_second"]
        if stage not in best or seconds < best[stage]["timing"]["seconds_per_audio_second"]:
            best[stage] = entry
    return {stage: entry["name"] for stage, entry in best.items()}


def _workspace(built: Path, candidate: Candidate) -> Path:
    return built / f"{candidate.stage.value}-{candidate.name}"


def _set_up_torch(place: Place) -> None:
    """As where the program tries engines: float32 means float32."""
    torch.set_num_threads(place.num_threads)
    torch.set_flush_denormal(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _machine(place: Place) -> Entry:
    return {
        "place": asdict(place) | {"kind": place.kind.value},
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "system": platform.platform(),
    }


def _described(error: BaseException) -> Entry:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return {
        "kind": type(error).__name__,
        "message": str(error)[:500],
        "at": f"{Path(last.filename).name}:{last.lineno}",
    }


def _forget() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _write(path: Path | None, result: Entry) -> None:
    """After each model: a machine that is taken away leaves what it had found."""
    if path is not None:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result, indent=1), "utf-8")
        part.replace(path)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="room for random models, plans and clips")
    parser.add_argument("--model", type=Path, help="a model folder to check instead of random ones")
    parser.add_argument("--generations", nargs="+", default=GENERATIONS, choices=GENERATIONS)
    parser.add_argument("--place", default="cuda", help="cuda, cuda:1, part of a card's name, or cpu")
    parser.add_argument("--tokens", type=int, help="speech tokens to compare and time with (default: 30 s, 20 seeds)")
    parser.add_argument("--modules", nargs="+", default=MODULES, help="where candidates are taken from")
    parser.add_argument("--out", type=Path, help="also write the JSON there, after each model")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
