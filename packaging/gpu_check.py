"""Measures all engines on a GPU and writes one JSON. Needs no window and no network.

    python3 packaging/gpu_check.py --folder SCRATCH --out gpu.json
    ... --quick                                         a quick check of four minutes, without a model
    ... --minutes 9                                     stop after that time; the same command resumes
    ... --model FOLDER                                  an existing model instead of random ones
    ... --official CosyVoice --matcha Matcha-TTS        checkouts of the official implementation to compare with
    ... --official-python PYTHON --official-site FOLDER     the Python that runs them, and its packages
    ... --device cpu --small --model FOLDER             a test of this program without a GPU

Writes full-size Fun-CosyVoice3 and CosyVoice2 models with random weights into SCRATCH (9 GB) and records the float32
reference. Then it works through the steps, most important first: probe, build, time and verify every usable engine;
peak memory, latency, real-time factors and concurrency of the fastest verified engines; long lines in reduced
precision; and comparisons with the official implementation, if given. Each step runs in a process that may crash or
hang, and its result is saved before the next. A failed step is an entry of the JSON and does not end the run.

Needs a Python supported by the program, torch 2.6 or later, and ``PACKAGES``; the program need not be installed.
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

import studio  # noqa: F401 - configures how OpenMP threads wait, including in child processes
from measurements.gpu.fastest import fastest_in_words
from measurements.gpu.json_process import JsonProcess
from measurements.gpu.plan import CheckRun, Form, Notes, again, early, late, preparing, quick, write_json

GENERATIONS = ("cosyvoice3", "cosyvoice2")
# Import names.
PACKAGES = (
    *("torch", "numpy", "onnx", "onnxruntime", "platformdirs", "psutil"),
    *("regex", "safetensors", "soundfile", "soxr", "tokenizers", "yaml"),
)
_CHILD = Path(__file__).with_name("measurements") / "gpu" / "model_check.py"
# Reserved for ending a process and saving the results.
_LAST_SECONDS = 15.0
_QUICK_MINUTES = 4.0


def main(arguments: Sequence[str]) -> int:
    begun = time.monotonic()
    asked = _parsed(arguments)
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        _say(f"Missing packages: {', '.join(missing)}. Install them, or add their wheels to the path.")
        return 20
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.quick and asked.minutes is None:
        asked.minutes = _QUICK_MINUTES
    most_seconds = math.inf if asked.minutes is None else 60 * asked.minutes - _LAST_SECONDS
    facts = {"device": asked.device, "is_small": asked.small, "tokens": asked.tokens, "rounds": _rounds(asked)}
    facts |= {"modules": asked.modules, "model": None if asked.model is None else str(asked.model.resolve())}
    notes = Notes(asked.folder / "check.json", facts)

    def write() -> None:
        if asked.out is not None:
            write_json(asked.out, notes.result() | {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())})

    def start(model: str, seconds: float) -> JsonProcess:
        settings = json.dumps(_settings(asked, model))
        command = [sys.executable, str(_CHILD), settings]
        return JsonProcess(command, log=asked.folder / f"check-{model}.log", most_seconds=seconds)

    check_run = CheckRun(notes, start, most_seconds=most_seconds - (time.monotonic() - begun), on_change=write)
    try:
        _take_all(check_run, asked)
    finally:
        check_run.close()
        write()
    result = notes.result()
    print(json.dumps(result, indent=1))
    left_out = sum("left_out" in entry for name in _names(asked) for entry in notes.of(name).values())
    if left_out:
        _say(f"{left_out} steps were skipped for lack of time; run the same command to resume.")
    return 0 if all("error" not in entry for name in _names(asked) for entry in notes.of(name).values()) else 1


def _take_all(check_run: CheckRun, asked: argparse.Namespace) -> None:
    if asked.quick:
        check_run.take(_names(asked)[0], quick())
        return
    precisions: tuple[str, ...] = ()
    if asked.official is not None:
        precisions = ("float32",) if asked.device == "cpu" else ("float32", "float16")
    for model in _names(asked):
        generation = model if asked.model is None else None
        check_run.take(model, preparing(generation, for_official=bool(precisions)))
        check_run.take(model, early(_forms(check_run.notes, model), precisions))
    for model in _names(asked):
        check_run.take(model, late(_forms(check_run.notes, model)))
        if _has_changed(check_run.notes, model):
            check_run.take(model, again(precisions))


def _has_changed(notes: Notes, model: str) -> bool:
    """Return whether a late candidate is the fastest of its stage."""
    engines = notes.of(model).get("requests", {}).get("engines")
    return engines is not None and engines != {**engines, **fastest_in_words(notes.candidates(model))}


def _forms(notes: Notes, model: str) -> list[Form]:
    return [Form(**form) for form in notes.of(model).get("forms", {}).get("forms", [])]


def _names(asked: argparse.Namespace) -> list[str]:
    return [asked.model.resolve().name] if asked.model else list(asked.generations)


def _settings(asked: argparse.Namespace, model: str) -> dict[str, Any]:
    """Return the settings of ``model_check``, with absolute paths."""
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
    parser.add_argument(
        "--folder", type=Path, required=True, help="folder for random models, built engines and results"
    )
    parser.add_argument("--minutes", type=float, help="stop after this time; the same command resumes")
    parser.add_argument(
        "--quick", action="store_true", help="only see whether each part runs and how fast, in 4 minutes"
    )
    parser.add_argument("--model", type=Path, help="a model folder to check instead of random ones")
    parser.add_argument("--generations", nargs="+", default=GENERATIONS, choices=GENERATIONS)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, part of a GPU's name, or cpu")
    parser.add_argument("--threads", type=int, help="CPU threads of both programs (default: one per core)")
    parser.add_argument(
        "--small", action="store_true", help="a run of seconds, to test this program; its figures are meaningless"
    )
    parser.add_argument("--tokens", type=int, help="speech tokens to compare and time with (default: 10 s)")
    parser.add_argument("--rounds", type=int, help="maximum repetitions of each comparison (default: 7)")
    parser.add_argument("--modules", nargs="+", help="modules of candidates (default: all)")
    parser.add_argument("--official", type=Path, help="a checkout of the official implementation")
    parser.add_argument("--matcha", type=Path, help="a checkout of Matcha-TTS, which it needs")
    parser.add_argument("--official-python", default=sys.executable, help="a Python with their dependencies")
    parser.add_argument("--official-site", type=Path, help="a folder of additional packages for that Python")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file, after each step")
    asked = parser.parse_args(arguments)
    if bool(asked.official) != bool(asked.matcha):
        parser.error("--official and --matcha must be given together")
    return asked


if __name__ == "__main__":
    # On SIGTERM, child processes are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
