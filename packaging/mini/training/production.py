"""``train.py all``: creates the bundled voice from scratch: corpus, networks, model folder, measures, card.

It can be interrupted; the same command resumes it. Training begins with the first hour of the corpus. Every step is a
separate process, so that its memory is released. A finished step is marked in the work folder (``NAME.done``) and not run
again, unless it is to have more hours or minutes, or follows such a step.
"""

from __future__ import annotations

import argparse
import ctypes.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from training.corpus.plan import SHARD_SECONDS
from training.shipping.folder import TUNED_VOCODER
from training.shipping.ship import SHIPPED_FOLDER
from training.trainers.options import BUILD_FOLDER, READINGS_FOLDER, TAKES_FOLDER

_SCRIPTS = Path(__file__).resolve().parents[1]
_SCHEMES = ("328-9-1", "328-3-3", "252-5-3", "172-9-3", "273-13-1", "410-5-1")
# One hour of speech for small networks, four hours with all voices for others.
_EARLY_SHARDS, _SOME_SHARDS = 34, 120
_POLL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ProductionOptions:
    """``minutes`` is the training time of all networks together, ``processes`` the number of steps at once."""

    teacher: Path
    corpus: Path
    work: Path
    to: Path
    minutes: float
    hours: float
    processes: int
    seed: int
    device: str


@dataclass(frozen=True, slots=True)
class Step:
    """``script`` and its ``arguments``. It begins when the steps ``after`` which it comes are done, and ``num_shards``
    of the corpus are complete. ``share`` is the share of all minutes of a training, and 0 for other steps.
    """

    name: str
    arguments: tuple[str, ...]
    share: float = 0.0
    num_shards: int = 0
    after: tuple[str, ...] = ()
    script: str = "train.py"


class Running(Protocol):
    """A started step, such as ``subprocess.Popen``."""

    def poll(self) -> int | None: ...

    def terminate(self) -> None: ...


Start = Callable[[Sequence[str]], Running]

_MALLOC_SETTINGS = "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0"
# Not a share of all minutes: more minutes must not change the tokens, with which everything else was trained.
_READER_TIME = ("--minutes", "8")
_TUNING = {"begin_with": "vocoder", "flow_share": "0.5", "adversarial_from": "0", "rate": "0.0002"}
_RECOGNIZER = {"takes_share": "0.5", "spliced_share": "0.35"}
# A different seed and other speakers make the judge independent of the model's networks.
_JUDGE, _SEED_OF_JUDGE = "judge_recognizer", 7


def steps(options: ProductionOptions) -> tuple[Step, ...]:
    """Return all steps, the most urgent first."""
    corpus, work = ("--corpus", str(options.corpus)), ("--work", str(options.work))
    teacher, to = ("--teacher", str(options.teacher)), ("--to", str(options.to))
    takes, readings = (str(options.corpus.parent / name) for name in (TAKES_FOLDER, READINGS_FOLDER))
    speech = (*teacher, "--hours", f"{options.hours:g}", "--seed", str(options.seed))
    takes_hours = f"{min(2.0, options.hours / 5):g}"
    measured = str(options.work / "measured.json")
    whole = _count_shards(options.hours)
    early, some = min(_EARLY_SHARDS, whole), min(_SOME_SHARDS, whole)
    readers = tuple(
        Step(
            f"reader-{scheme}",
            ("token_reader", "--name", f"reader-{scheme}", *_sizes(scheme), *corpus, *work, *_READER_TIME),
            0.0,
            early,
        )
        for scheme in _SCHEMES
    )
    odd = ("--speakers", "odd")
    return (
        Step("corpus", ("corpus", *corpus, *speech)),
        Step("readings", ("corpus", "--readings", "--corpus", readings, *speech)),
        Step("words", ("words", *teacher, *work)),
        *readers,
        Step("tokens", ("tokens", *corpus, *work), after=tuple(reader.name for reader in readers)),
        Step("f0", ("f0",), 0.01, early),
        Step("letter_sounds", ("letter_sounds", "--corpus", str(options.teacher)), 0.02),
        Step("speaker_encoder", ("speaker_encoder",), 0.01, some),
        Step("vocoder", ("vocoder",), 0.235, some, ("f0",)),
        Step("tokenizer", ("tokenizer",), 0.02, some, ("tokens",)),
        Step(_JUDGE, ("sound_recognizer", "--name", _JUDGE, *odd), 0.02, some),
        Step("speech_lm", ("speech_lm",), 0.29, whole, ("tokens", "words", "letter_sounds", "readings")),
        Step("flow", ("flow",), 0.3, whole, ("tokens", "speaker_encoder")),
        Step("flow_mels", ("flow_mels", *corpus, *work), after=("flow",)),
        Step(
            TUNED_VOCODER,
            ("vocoder", "--name", TUNED_VOCODER, *_settings(_TUNING)),
            0.08,
            after=("flow_mels", "vocoder"),
        ),
        Step("model", ("ship", *work, *to), after=(TUNED_VOCODER, "tokenizer", "speech_lm")),
        Step(
            "takes",
            ("takes", "--hours", takes_hours, *corpus, *work, "--to", takes, "--model", str(options.to)),
            after=("model",),
        ),
        Step("recognizer", ("sound_recognizer", "--name", "recognizer", *_settings(_RECOGNIZER)), 0.02, 0, ("takes",)),
        Step("ship", ("ship", *work, *to), after=("recognizer",)),
        Step("comparisons", ("comparisons", *to), after=("ship",)),
        Step(
            "measures",
            ("--model", str(options.to), *work, *teacher, "--json", measured),
            after=("ship", _JUDGE),
            script="evaluate.py",
        ),
        Step("card", ("card", *work, *to, "--measured", measured), after=("measures",)),
    )


def produce(options: ProductionOptions, start: Start, sleep: Callable[[float], None] = time.sleep) -> int:
    """Return the status of the first failed step, or 0. ``start`` receives a script of this folder and its arguments."""
    options.work.mkdir(parents=True, exist_ok=True)
    waiting: list[Step] = []
    for step in steps(options):
        is_done = _mark(options, step.name).is_file() and _mark(options, step.name).read_text("utf-8") == _note(
            step, options
        )
        if not is_done or {each.name for each in waiting} & set(step.after):
            waiting.append(step)
    by_name = {step.name: step for step in waiting}
    for step in waiting:
        _mark(options, step.name).unlink(missing_ok=True)
    running: dict[str, Running] = {}
    while waiting or running:
        for name, process in list(running.items()):
            status = process.poll()
            if status is None:
                continue
            del running[name]
            if status:
                for other in running.values():
                    other.terminate()  # trainings save their state
                return status
            _mark(options, name).write_text(_note(by_name[name], options), "utf-8")
        for step in list(waiting):
            if len(running) < options.processes and _is_ready(step, options):
                waiting.remove(step)
                running[step.name] = start(command(step, options))
        if running:
            sleep(_POLL_SECONDS)
        elif waiting and not any(_is_ready(step, options) for step in waiting):
            print(f"{waiting[0].name} needs more speech. Make it with more --hours.", file=sys.stderr)
            return 1
    return 0


def command(step: Step, options: ProductionOptions) -> list[str]:
    """Return the script and the arguments of a step."""
    words = [str(_SCRIPTS / step.script), *step.arguments]
    if not step.share:
        return words
    if "--corpus" not in words:
        words += ["--corpus", str(options.corpus)]
    seed = options.seed + (_SEED_OF_JUDGE if step.name == _JUDGE else 0)
    words += ["--work", str(options.work), "--minutes", f"{step.share * options.minutes:.2f}"]
    return [*words, "--seed", str(seed), "--device", options.device]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py all", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the teacher: train.py teacher --to")
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument("--to", type=Path, default=SHIPPED_FOLDER, help="the model folder to write")
    parser.add_argument("--minutes", type=float, default=2400.0, help="total training time of all networks, CPU time")
    parser.add_argument("--hours", type=float, default=20.0, help="hours of speech")
    parser.add_argument("--processes", type=int, default=2, help="number of steps that run at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda")
    return produce(ProductionOptions(**vars(parser.parse_args(arguments))), _start)


def _start(step: Sequence[str]) -> Running:
    print("+ " + " ".join(step), file=sys.stderr, flush=True)
    return subprocess.Popen([sys.executable, *step], env=_environment())


def _environment() -> dict[str, str]:
    """Return the environment of steps. On Linux, they allocate memory with jemalloc in huge pages if it is installed.

    Reason: the tensors of a training fragment the free lists of glibc's malloc, and searching these took 40 % of the time
    of the speech language model after ten minutes. With jemalloc, it trained 3 to 5 times and the flow 1.7 times as fast.
    jemalloc keeps freed memory, which the next step requests again. By default, it returns blocks above 8 MB to the system
    at once: a step of the speech language model took 1.7 times as long, because of page faults.
    """
    library = ctypes.util.find_library("jemalloc")
    if library is None or not sys.platform.startswith("linux"):
        return dict(os.environ)
    return {"LD_PRELOAD": library, "MALLOC_CONF": _MALLOC_SETTINGS, **os.environ}


def _is_ready(step: Step, options: ProductionOptions) -> bool:
    has_speech = sum(1 for _ in options.corpus.glob("shard-*.json")) >= step.num_shards
    return has_speech and all(_mark(options, name).exists() for name in step.after)


def _note(step: Step, options: ProductionOptions) -> str:
    """Return the content of the mark of a finished step."""
    return " ".join(command(step, options)[1:])


def _mark(options: ProductionOptions, name: str) -> Path:
    return options.work / f"{name}.done"


def _count_shards(hours: float) -> int:
    """Return the number of shards that are nearly all of the corpus."""
    return int(0.95 * 3600.0 * hours / SHARD_SECONDS)


def _sizes(scheme: str) -> list[str]:
    return _settings(dict(zip(("sounds", "levels", "slopes"), scheme.split("-"), strict=True)))


def _settings(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
