"""Everything about engines that only a graphics card can tell, as one JSON: no window, no network.

    python3 packaging/gpu_check.py --folder SCRATCH --out gpu.json
    python3 packaging/gpu_check.py --folder SCRATCH --model FOLDER      a model that is there, instead of random ones
    ... --official CosyVoice --matcha Matcha-TTS                        checkouts to compare with, in the same run
    ... --official-python PYTHON --official-site FOLDER                 what runs them, and their packages
    ... --device cpu --small --model FOLDER                             the check itself, tried without a card

Writes CosyVoice2 and Fun-CosyVoice3 of full size with random weights into SCRATCH (5 GB), records what plain
float32 makes of a line, and puts every candidate that is usable here through probe, build, verify and time.
The fastest verified ones then speak: first sound cold and warm, real-time factors, memory, lines at once; and,
where the official implementation is there, measure by measure in turns with it. What fails is a line of the JSON,
not the end of the run. Runs on Python 3.11 to 3.13 with torch 2.6 or later.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from card_check.candidates import Entry, Exam, described, fastest, forget, reduced_precision
from card_check.official import OfficialFailed, OfficialProcess, Whereabouts
from card_check.our_side import OurSide, material_of
from card_check.ratios import ROWS, compare, small
from card_check.requests import SMALL, PeakMemory, Scope, Spoken, check_requests

from studio.bench.random_checkpoint import write_random_checkpoint
from studio.engines.candidate import Subject
from studio.engines.extent import Extent, usual_extent
from studio.engines.machine import place_named
from studio.engines.recording import record
from studio.engines.registry import MODULES, all_candidates
from studio.engines.stage import Place, Stage
from studio.engines.trying import references_of
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision

GENERATIONS = ("cosyvoice2", "cosyvoice3")
_SMALL_EXTENT = Extent(num_tokens=26, num_seeds=1, num_rounds=2, timing_seconds=20.0)
# Peak memory is that of a line of 20 s with a voice of 10 s.
_MEMORY_LINE = {"prompt": 250, "count": 500}
# What the official implementation computes in, and which of our language models that is comparable with.
_OFFICIAL_PRECISIONS = {
    "float32": (Precision.FLOAT32,),
    "float16": (Precision.FLOAT16, Precision.BFLOAT16),
}


@dataclass(frozen=True)
class Plan:
    """What is asked of every model. ``official`` of None: there is nothing to compare with."""

    place: Place
    extent: Extent
    scratch: Path
    modules: tuple[str, ...]
    is_small: bool
    rounds: int
    official: Whereabouts | None
    with_official_half: bool


def main(arguments: Sequence[str]) -> int:
    asked = _parsed(arguments)
    plan = _plan(asked)
    _set_up_torch(plan.place)
    result: Entry = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "machine": _machine(plan.place)}
    result |= {"is_small": plan.is_small, "extent": asdict(plan.extent), "models": {}}
    for name in [asked.model.name] if asked.model else asked.generations:
        folder = asked.model or asked.folder / name
        found: Entry = {}
        result["models"][name] = found
        try:
            if asked.model is None:
                write_random_checkpoint(folder, name, for_official=plan.official is not None)
            check_model(folder, plan, found)
        except Exception as error:  # noqa: BLE001 - the other model is checked all the same
            found["error"] = described(error)
        _write(asked.out, result)
    print(json.dumps(result, indent=1))
    return 0 if all("error" not in found for found in result["models"].values()) else 1


def check_model(folder: Path, plan: Plan, found: Entry) -> None:
    """Fills ``found``: every candidate, what the fastest verified ones make of whole requests, and the ratios."""
    subject = Subject(open_checkpoint(folder), plan.place)
    candidates = all_candidates(plan.modules)
    recording = record(subject, references_of(candidates), plan.extent)
    plan.scratch.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="built-", dir=plan.scratch) as built:
        exam = Exam(subject, candidates, recording, plan.extent, Path(built))
        entries = found["candidates"] = [exam.entry(candidate) for candidate in candidates]
        found["E9"] = reduced_precision(entries, plan.extent)
        names = fastest(entries)
        found["chosen"] = {stage.value: name for stage, name in names.items()}
        forget()
        with PeakMemory(plan.place) as peak:
            stages = exam.opened_by_name(names)
            side = OurSide(stages, subject.checkpoint, plan.place, material_of(subject.checkpoint))
            side.warm()
            line = _MEMORY_LINE if not plan.is_small else {"prompt": 30, "count": 32}
            side.ask("stream", line)
        found["R13"] = {"peak_bytes": peak.num_bytes, **line}
        scope = SMALL if plan.is_small else Scope()
        found["requests"] = check_requests(Spoken(folder, plan.place, stages, names), plan.scratch, scope)
        if plan.official is not None:
            found["against_official"] = ratios = {}
            for precision in _OFFICIAL_PRECISIONS if plan.with_official_half else ("float32",):
                like_official = _with_comparable_lm(side, exam, entries, precision)
                ratios[precision] = _against(plan, folder, side, like_official, precision)


def _with_comparable_lm(side: OurSide, exam: Exam, entries: Sequence[Entry], precision: str) -> OurSide:
    """``side`` with the fastest verified language model of the precision the official one has, where there is one."""
    name = fastest(entries, precisions=_OFFICIAL_PRECISIONS[precision]).get(Stage.SPEECH_LM)
    if name is None:
        return side
    return replace(side, stages={**side.stages, **exam.opened_by_name({Stage.SPEECH_LM: name})})


def _against(plan: Plan, folder: Path, ours: OurSide, ours_like_official: OurSide, precision: str) -> Entry:
    """Every row against the official implementation in ``precision``; R3 with our language model of that precision."""
    assert plan.official is not None
    found: Entry = {"rows": []}
    try:
        with OfficialProcess(
            plan.official,
            folder,
            ours.checkpoint.generation.name,
            ours.material,
            is_half=precision != "float32",
            log=plan.scratch / f"official-{precision}.log",
        ) as official:
            official.ask("warm", {})
            for row in map(small, ROWS) if plan.is_small else ROWS:
                side = ours_like_official if row.measure == "llm_decode" else ours
                found["rows"].append(compare(row, official, side, rounds=plan.rounds))
    except OfficialFailed as failure:
        found["error"] = str(failure)
    return found


def _plan(asked: argparse.Namespace) -> Plan:
    place = place_named(asked.device, num_threads=asked.threads)
    extent = _SMALL_EXTENT if asked.small else usual_extent(place)
    official = None
    if asked.official:
        num_threads = None if place.device != "cpu" else place.num_threads
        official = Whereabouts(asked.official, asked.matcha, asked.official_python, asked.official_site, num_threads)
    return Plan(
        place=place,
        extent=replace(extent, num_tokens=asked.tokens) if asked.tokens else extent,
        scratch=asked.folder,
        modules=tuple(asked.modules),
        is_small=asked.small,
        rounds=asked.rounds or (2 if asked.small else 7),
        official=official,
        with_official_half=place.device != "cpu",
    )


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
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, part of a card's name, or cpu")
    parser.add_argument("--threads", type=int, help="of a processor, for both sides (default: one for each core)")
    parser.add_argument("--small", action="store_true", help="a course of seconds; its figures say nothing")
    parser.add_argument("--tokens", type=int, help="speech tokens to compare and time with (default: 30 s, 20 seeds)")
    parser.add_argument("--rounds", type=int, help="turns of each ratio (default: 7)")
    parser.add_argument("--modules", nargs="+", default=MODULES, help="where candidates are taken from")
    parser.add_argument("--official", type=Path, help="a checkout of the official implementation")
    parser.add_argument("--matcha", type=Path, help="a checkout of Matcha-TTS, which that needs")
    parser.add_argument("--official-python", default=sys.executable, help="a Python with what they need")
    parser.add_argument("--official-site", type=Path, help="a folder of packages for that Python")
    parser.add_argument("--out", type=Path, help="also write the JSON there, after each model")
    asked = parser.parse_args(arguments)
    if bool(asked.official) != bool(asked.matcha):
        parser.error("--official and --matcha belong together")
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
