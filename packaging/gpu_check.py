"""Everything about engines that only a graphics card can tell, as one JSON: no window, no network.

    python3 packaging/gpu_check.py --folder SCRATCH --out gpu.json
    ... --minutes 9                                     ends by itself; the same command again goes on from there
    ... --model FOLDER                                  a model that is there, instead of random ones
    ... --official CosyVoice --matcha Matcha-TTS        checkouts to compare with, in the same run
    ... --official-python PYTHON --official-site FOLDER     what runs them, and their packages
    ... --device cpu --small --model FOLDER             the check itself, tried without a card

Writes Fun-CosyVoice3 and CosyVoice2 of full size with random weights into SCRATCH (9 GB), records what plain float32
makes of a line, and takes step after step, those of most worth first: every engine that is usable here through probe,
build, time and verify; with the fastest that are right the peak memory, first sounds, real-time factors and lines at
once; long lines in reduced precision; and, where the official implementation is there, measure by measure in turns
with it. Each step is asked of a process that may die or hang, and is written down before the next begins. What fails
is a line of the JSON, not the end of the run.

Runs on the Pythons of the program, with torch 2.6 or later; beside torch it wants ``PACKAGES``, nothing else of the program's.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_validation.asked_process import AskedProcess
from gpu_validation.fastest import fastest_in_words
from gpu_validation.plan import Course, Form, Notes, again, early, late, preparing, write_json

import studio  # noqa: F401 - it decides how threads of OpenMP wait, in the processes that are started here as well

GENERATIONS = ("cosyvoice3", "cosyvoice2")
# As they are imported, where that is not their name.
PACKAGES = (
    *("torch", "numpy", "onnx", "onnxruntime", "platformdirs", "psutil"),
    *("regex", "safetensors", "soundfile", "soxr", "tokenizers", "yaml"),
)
_CHILD = Path(__file__).with_name("gpu_validation") / "model_check.py"
# Kept for ending a process and for writing down.
_LAST_SECONDS = 15.0


def main(arguments: Sequence[str]) -> int:
    begun = time.monotonic()
    asked = _parsed(arguments)
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        _say(f"This Python lacks {', '.join(missing)}: install them, or put wheels of them on the path.")
        return 20
    asked.folder.mkdir(parents=True, exist_ok=True)
    most_seconds = math.inf if asked.minutes is None else 60 * asked.minutes - _LAST_SECONDS
    facts = {"device": asked.device, "is_small": asked.small, "tokens": asked.tokens, "rounds": _rounds(asked)}
    facts |= {"modules": asked.modules, "model": None if asked.model is None else str(asked.model.resolve())}
    notes = Notes(asked.folder / "check.json", facts)

    def write() -> None:
        if asked.out is not None:
            write_json(asked.out, notes.result() | {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())})

    def start(model: str, seconds: float) -> AskedProcess:
        settings = json.dumps(_settings(asked, model))
        command = [sys.executable, str(_CHILD), settings]
        return AskedProcess(command, log=asked.folder / f"check-{model}.log", most_seconds=seconds)

    course = Course(notes, start, most_seconds=most_seconds - (time.monotonic() - begun), on_change=write)
    try:
        _take_all(course, asked)
    finally:
        course.close()
        write()
    result = notes.result()
    print(json.dumps(result, indent=1))
    left_out = sum("left_out" in entry for name in _names(asked) for entry in notes.of(name).values())
    if left_out:
        _say(f"{left_out} steps were left out for want of time: the same command takes them up.")
    return 0 if all("error" not in entry for name in _names(asked) for entry in notes.of(name).values()) else 1


def _take_all(course: Course, asked: argparse.Namespace) -> None:
    precisions: tuple[str, ...] = ()
    if asked.official is not None:
        precisions = ("float32",) if asked.device == "cpu" else ("float32", "float16")
    for model in _names(asked):
        generation = model if asked.model is None else None
        course.take(model, preparing(generation, for_official=bool(precisions)))
        course.take(model, early(_forms(course.notes, model), precisions))
    for model in _names(asked):
        course.take(model, late(_forms(course.notes, model)))
        if _has_changed(course.notes, model):
            course.take(model, again(precisions))


def _has_changed(notes: Notes, model: str) -> bool:
    """Whether something that was tried late is the fastest of its stage."""
    engines = notes.of(model).get("requests", {}).get("engines")
    return engines is not None and engines != {**engines, **fastest_in_words(notes.candidates(model))}


def _forms(notes: Notes, model: str) -> list[Form]:
    return [Form(**form) for form in notes.of(model).get("forms", {}).get("forms", [])]


def _names(asked: argparse.Namespace) -> list[str]:
    return [asked.model.resolve().name] if asked.model else list(asked.generations)


def _settings(asked: argparse.Namespace, model: str) -> dict[str, Any]:
    """What ``model_check`` is told; paths whole, as it may stand elsewhere."""
    official = None
    if asked.official is not None:
        official = {"official": asked.official, "matcha": asked.matcha, "site": asked.official_site}
        official = {name: path and str(path.resolve()) for name, path in official.items()}
        official["python"] = asked.official_python
    return {
        "folder": str(asked.model.resolve() if asked.model else (asked.folder / model).resolve()),
        "scratch": str(asked.folder.resolve()),
        "device": asked.device,
        "threads": asked.threads,
        "small": asked.small,
        "tokens": asked.tokens,
        "rounds": _rounds(asked),
        "modules": asked.modules,
        "official": official,
    }


def _rounds(asked: argparse.Namespace) -> int:
    return int(asked.rounds or (2 if asked.small else 7))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="room for random models, built things and notes")
    parser.add_argument("--minutes", type=float, help="end after so many; what is left is for the next command")
    parser.add_argument("--model", type=Path, help="a model folder to check instead of random ones")
    parser.add_argument("--generations", nargs="+", default=GENERATIONS, choices=GENERATIONS)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, part of a card's name, or cpu")
    parser.add_argument("--threads", type=int, help="of a processor, for both sides (default: one for each core)")
    parser.add_argument("--small", action="store_true", help="a course of seconds; its figures say nothing")
    parser.add_argument("--tokens", type=int, help="speech tokens to compare and time with (default: 10 s)")
    parser.add_argument("--rounds", type=int, help="most turns of each ratio (default: 7)")
    parser.add_argument("--modules", nargs="+", help="where candidates are taken from, if not all")
    parser.add_argument("--official", type=Path, help="a checkout of the official implementation")
    parser.add_argument("--matcha", type=Path, help="a checkout of Matcha-TTS, which that needs")
    parser.add_argument("--official-python", default=sys.executable, help="a Python with what they need")
    parser.add_argument("--official-site", type=Path, help="a folder of packages for that Python")
    parser.add_argument("--out", type=Path, help="also write the JSON there, after each step")
    asked = parser.parse_args(arguments)
    if bool(asked.official) != bool(asked.matcha):
        parser.error("--official and --matcha belong together")
    return asked


if __name__ == "__main__":
    # Told to end, it ends what it has started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
