"""Train one stage of the bundled voice: ``train.py STAGE [--corpus --work --minutes --seed --device ...]``.

A stage is a module of ``recipe.trainers`` with ``train(options)``. Interrupting is safe: what was learned is
saved, and the same command goes on from there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

# The program itself, from the checkout this file lies in, installed or not.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipe.corpus.utterance import CorpusFailed
from recipe.trainers.options import TrainingFailed, add_arguments, options_from

STAGES = ("speaker_encoder", "tokenizer", "f0", "vocoder", "flow", "speech_lm")
# What is made rather than trained: commands with options of their own.
MAKERS = {
    "corpus": "recipe.corpus.build",
    "voices": "recipe.corpus.prompt_voices",
    "ship": "recipe.shipping.ship",
}


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in MAKERS:
        made: int = importlib.import_module(MAKERS[arguments[0]]).main(arguments[1:])
        return made
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stage", choices=STAGES)
    add_arguments(parser)
    parsed = parser.parse_args(arguments)
    trainer = importlib.import_module(f"recipe.trainers.{parsed.stage}")
    try:
        values = trainer.train(options_from(parsed))
    except (CorpusFailed, TrainingFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(json.dumps(values, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
