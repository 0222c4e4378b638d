"""Train one stage of the bundled voice: ``train.py STAGE [--corpus --work --minutes --seed --device ...]``.

    pip install -r packaging/mini/requirements.txt; apt-get install flite fortunes wamerican-small
    python3 packaging/mini/train.py all --minutes 480    # everything from scratch, on the CPU or with --device cuda

``all`` runs these steps in order: corpus (synthetic speech), speaker_encoder, f0, tokenizer, vocoder, flow, speech_lm.
It then writes the model folder, makes takes with it, trains the recogniser on them, measures the model
(``evaluate.py``) and writes its card. Each step can be run alone with ``train.py STAGE``, ``takes``, ``ship`` or
``card``. A stage is a module of ``training.trainers`` with ``train(options)``. Training may be interrupted: progress is
saved, and the same command continues from there. To continue the training of the bundled model, run
``train.py STAGE --from resources/models/studio-mini``.

The next voice learns English and Mandarin from another synthesizer. Its corpus is made by

    python3 packaging/mini/train.py teacher --to TEACHER
    python3 packaging/mini/train.py bilingual --teacher TEACHER --corpus CORPUS --hours 18 --processes 2
    python3 packaging/mini/train.py pack --from CORPUS --to PACKED    # two hours of it, for a computer with a GPU
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
    "recognizer",
    "sound_recognizer",
    "letter_sounds",
    "token_reader",
)
# Steps without training, which have separate options.
MAKERS = {
    "teacher": "training.teacher.assembly",
    "bilingual": "training.bilingual.build",
    "pack": "training.bilingual.packing",
    "corpus": "training.corpus.build",
    "takes": "training.corpus.takes",
    "voices": "training.corpus.prompt_voices",
    "ship": "training.shipping.ship",
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
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
