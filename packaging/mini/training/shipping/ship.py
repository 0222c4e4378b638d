"""``train.py ship``: writes the bundled model folder, and its checksums, from the checkpoints of a work folder."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from training.shipping.folder import write_model_folder
from training.trainers.options import BUILD_FOLDER, TrainingFailed

_RESOURCES = Path(__file__).resolve().parents[4] / "resources"
SHIPPED_FOLDER = _RESOURCES / "models" / "studio-mini"
_CATALOG_FILE = _RESOURCES / "catalog" / "studio-mini.json"
_CHECKED_SUFFIXES = (".onnx", ".pt", ".npz")


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
    if parsed.to.resolve() == SHIPPED_FOLDER:
        list_files(parsed.to, _CATALOG_FILE)
    print(f"{parsed.to}: {num_bytes / 1e6:.1f} MB")
    return 0


def list_files(folder: Path, catalog: Path) -> None:
    """Write the sizes and checksums of the weights in ``folder`` to a file of ``resources/catalog``."""
    files = [
        {
            "path": path.relative_to(folder).as_posix(),
            "size_bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.suffix in _CHECKED_SUFFIXES
    ]
    before = catalog.read_text("utf-8").partition('"files"')[0]
    lines = ",\n".join(f"    {json.dumps(file)}" for file in files)
    catalog.write_text(f'{before}"files": [\n{lines}\n  ]\n}}\n', "utf-8")
