"""Train one stage of the bundled voice: ``train.py STAGE [--corpus --work --minutes --seed --device ...]``.

    pip install -r packaging/mini/requirements.txt
    sudo apt-get install libjemalloc2                            # on Linux, for trainings up to 5 times as fast
    python3 packaging/mini/train.py teacher --to TEACHER         # Kokoro-82M, with npm and apt-get
    python3 packaging/mini/train.py all --teacher TEACHER        # everything from scratch

``all`` makes the corpus, which the teacher reads in English and Mandarin, trains all networks, writes the model folder,
measures it (``evaluate.py``) and writes its card. ``training.production`` lists the steps. Each can be run alone with
``train.py STEP``. A stage of the training is a module of ``training.trainers`` with ``train(options)``. Everything may
be interrupted: progress is saved, and the same command continues from there.

On a computer with a GPU, a stage reads a part of the corpus that is small enough to travel:

    python3 packaging/mini/train.py pack --from CORPUS --to PACKED             # two hours
    python3 packaging/mini/train.py pack --unpack --from PACKED --to CORPUS    # there
    python3 packaging/mini/train.py flow --corpus CORPUS --work WORK --device cuda --minutes 9
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

# The program and packaging/ of this checkout, which need not be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from training.corpus.utterance import CorpusFailed
from training.trainers.options import TrainingFailed, add_arguments, options_from

STAGES = (
    "speaker_encoder",
    "tokenizer",
    "f0",
    "vocoder",
    "flow",
    "speech_lm",
    "sound_recognizer",
    "letter_sounds",
    "token_reader",
)
# Steps without training, which have separate options.
MAKERS = {
    "teacher": "training.teacher.assembly",
    "corpus": "training.corpus.build",
    "pack": "training.corpus.packing",
    "words": "training.shipping.respellings",
    "tokens": "training.trainers.token_choice",
    "flow_mels": "training.trainers.flow_mels",
    "takes": "training.corpus.takes",
    "voices": "training.corpus.prompt_voices",
    "ship": "training.shipping.ship",
    "comparisons": "training.shipping.comparisons",
    "card": "training.shipping.model_card",
    "all": "training.production",
}


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in MAKERS:
        made: int = importlib.import_module(MAKERS[arguments[0]]).main(arguments[1:])
        return made
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=STAGES)
    add_arguments(parser)
    parsed = parser.parse_args(arguments)
    trainer = importlib.import_module(f"training.trainers.{parsed.stage}")
    try:
        values = trainer.train(options_from(parsed))
    except (CorpusFailed, TrainingFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    print(json.dumps(values, indent=1))
    # An interrupted run is not validated, and the stage is not finished.
    return 0 if values else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
