"""Evaluate a model folder with anchored tokens, using the program's own code. Print a table, and write JSON.

    python3 packaging/mini/evaluate.py --model FOLDER --work WORK [--quick] [--only NAME,...] [--json FILE]

Prompts and sentences were not used in training. Timbre is measured by a separate speaker encoder, trained with
``train.py speaker_encoder --seed 7 --speakers odd --name judge_encoder``, which is not distributed. Measured speed is
valid only if no other program runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# The program of this checkout, which need not be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from studio.errors import StudioError
from training.corpus.texts import test_sentences
from training.corpus.utterance import CorpusFailed
from training.judging.chain import Program
from training.judging.examination import Examination
from training.judging.measures import MEASURES, Results, examine
from training.judging.originals import Synthesizers
from training.judging.outcome import table
from training.judging.recognizer import Pocketsphinx
from training.shipping.ship import SHIPPED_FOLDER
from training.trainers.options import BUILD_FOLDER

_SENTENCES, _QUICK_SENTENCES = 24, 8
_FEW, _QUICK_FEW = 12, 4


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, default=SHIPPED_FOLDER, help="the model folder to evaluate")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder for prompts and audio")
    parser.add_argument("--judge", type=Path, help="speaker encoder that measures timbre (WORK/judge_encoder.onnx)")
    parser.add_argument("--quick", action="store_true", help="fewer sentences and speakers, for a quick estimate")
    parser.add_argument("--only", default="", metavar="NAME,...", help=f"some of: {', '.join(MEASURES)}")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parser.add_argument("--threads", type=int, help="number of CPU threads (default: chosen for this machine)")
    parsed = parser.parse_args(arguments)
    names = [name for name in parsed.only.split(",") if name] or list(MEASURES)
    if unknown := [name for name in names if name not in MEASURES]:
        print(f"Unknown measure {unknown[0]}. Choose from: {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    judging = parsed.work / "judging"
    # Voices of the evaluation must not fill the user's cache.
    os.environ["TIMBRE_CACHE"] = str(judging / "cache")
    judge = parsed.judge or parsed.work / "judge_encoder.onnx"
    try:
        examination = Examination(
            chain=Program(parsed.model, sounds=judging / "sounds", num_threads=parsed.threads),
            originals=Synthesizers(judging / "prompts"),
            recognizer=Pocketsphinx(),
            sentences=test_sentences()[: _QUICK_SENTENCES if parsed.quick else _SENTENCES],
            judge=judge if judge.is_file() else None,
            few=_QUICK_FEW if parsed.quick else _FEW,
        )
        results = examine(examination, names, report=_report)
    except (CorpusFailed, StudioError) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(table(results.outcomes))
    for name, why in results.left_out.items():
        print(f"{name} was not measured: {why}")
    if parsed.json:
        _write(parsed.json, parsed.model, results, is_quick=parsed.quick)
    return 0


def _write(path: Path, model: Path, results: Results, *, is_quick: bool) -> None:
    content = {
        "model": model.name,
        "measured": time.strftime("%Y-%m-%d"),
        "is_quick": is_quick,
        "measures": [outcome.as_json() for outcome in results.outcomes],
        "not_measured": results.left_out,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
