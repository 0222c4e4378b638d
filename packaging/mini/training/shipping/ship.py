"""``train.py ship``: writes the bundled model folder from the checkpoints of a work folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from training.shipping.folder import write_model_folder
from training.trainers.options import BUILD_FOLDER, TrainingFailed

SHIPPED_FOLDER = Path(__file__).resolve().parents[4] / "resources" / "models" / "studio-mini"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py ship", description="Write the model folder that ships.")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of the trainers' checkpoints")
    parser.add_argument("--to", type=Path, default=SHIPPED_FOLDER, help="the model folder to write")
    parsed = parser.parse_args(arguments)
    try:
        num_bytes = write_model_folder(parsed.work, parsed.to)
    except TrainingFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"{parsed.to}: {num_bytes / 1e6:.1f} MB")
    return 0
