"""``train.py all``: creates the bundled voice from scratch: corpus, networks, model folder, measures, card.

It can be interrupted; the same command resumes it. A stage that has used its share of the minutes is skipped; a stage
that has used part of its share gets the rest. Every step is a separate process, so that its memory is released.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.shipping.ship import SHIPPED_FOLDER
from training.trainers.options import BUILD_FOLDER, TAKES_FOLDER

_SCRIPTS = Path(__file__).resolve().parents[1]
_WORTH_STARTING_MINUTES = 0.2


@dataclass(frozen=True, slots=True)
class Stage:
    """A training step. ``share`` is its share of all minutes, ``name`` the name of its checkpoint and log."""

    name: str
    share: float
    arguments: tuple[str, ...]


# Each stage follows its dependencies: the vocoder needs the pitch predictor, and the flow the speaker encoder.
STAGES = (
    Stage("speaker_encoder", 0.05, ("speaker_encoder",)),
    Stage(
        "judge_encoder",
        0.03,
        ("speaker_encoder", "--name", "judge_encoder", "--speakers", "odd"),
    ),
    Stage("f0", 0.04, ("f0",)),
    Stage("tokenizer", 0.13, ("tokenizer",)),
    Stage("vocoder", 0.30, ("vocoder",)),
    Stage("flow", 0.19, ("flow",)),
    Stage("speech_lm", 0.22, ("speech_lm",)),
)
# It learns from takes of the model, so it is trained after the others.
RECOGNIZER = Stage("recognizer", 0.04, ("recognizer",))
# A different seed and other speakers make this encoder independent of the model's.
_SEED_OF_JUDGE = 7


@dataclass(frozen=True, slots=True)
class ProductionOptions:
    corpus: Path
    work: Path
    to: Path
    minutes: float
    hours: float
    word_hours: float
    processes: int
    seed: int
    device: str


Run = Callable[[Sequence[str]], int]


def produce(options: ProductionOptions, run: Run) -> int:
    """Return the status of the first failed step, or 0. ``run`` receives a script of this folder and its arguments."""
    train = str(_SCRIPTS / "train.py")
    corpus = [train, "corpus", "--corpus", str(options.corpus), "--hours", f"{options.hours:g}"]
    corpus += ["--word-hours", f"{options.word_hours:g}", "--processes", str(options.processes)]
    if status := run([*corpus, "--seed", str(options.seed)]):
        return status
    for stage in STAGES:
        if (learn := _training(train, stage, options)) and (status := run(learn)):
            return status
    measured = str(options.work / "measured.json")
    folders = ["--work", str(options.work), "--to", str(options.to)]
    evaluate = [str(_SCRIPTS / "evaluate.py"), "--model", str(options.to), "--work", str(options.work)]
    takes = ["--corpus", str(options.corpus), "--to", str(options.corpus.parent / TAKES_FOLDER)]
    for step in (
        [train, "ship", *folders],
        [train, "takes", *takes, "--model", str(options.to), "--seed", str(options.seed)],
        _training(train, RECOGNIZER, options),
        [train, "ship", *folders],
        [*evaluate, "--json", measured],
        [train, "card", *folders, "--measured", measured],
    ):
        if step and (status := run(step)):
            return status
    return 0


def _training(train: str, stage: Stage, options: ProductionOptions) -> list[str]:
    """Return the command that trains a stage for the rest of its share, or an empty list if nothing is left."""
    trained = minutes_trained(options.work, stage.name)
    minutes = stage.share * options.minutes - trained
    if trained > 0.0 and minutes < _WORTH_STARTING_MINUTES:
        return []
    seed = options.seed + (_SEED_OF_JUDGE if stage.name == "judge_encoder" else 0)
    learn = [train, *stage.arguments, "--corpus", str(options.corpus), "--work", str(options.work)]
    return [*learn, "--minutes", f"{minutes:.2f}", "--seed", str(seed), "--device", options.device]


def minutes_trained(work: Path, name: str) -> float:
    """Return the minutes of all runs so far, from the last line of the log, or 0 without a checkpoint."""
    log = work / f"{name}.jsonl"
    if not log.is_file() or not (work / f"{name}.pt").is_file():
        return 0.0
    lines = log.read_text("utf-8").splitlines()
    return float(json.loads(lines[-1])["seconds"]) / 60.0 if lines else 0.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py all", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=BUILD_FOLDER / "corpus", help="folder of the synthetic speech")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parser.add_argument("--to", type=Path, default=SHIPPED_FOLDER, help="the model folder to write")
    parser.add_argument("--minutes", type=float, default=480.0, help="total training time of all networks")
    parser.add_argument("--hours", type=float, default=12.0, help="hours of synthetic speech")
    parser.add_argument("--word-hours", type=float, default=8.0, help="additional hours of word lists")
    parser.add_argument("--processes", type=int, default=2, help="number of processes that synthesize speech")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda")
    return produce(ProductionOptions(**vars(parser.parse_args(arguments))), _run)


def _run(step: Sequence[str]) -> int:
    print("+ " + " ".join(step), file=sys.stderr, flush=True)
    return subprocess.run([sys.executable, *step], check=False).returncode
