"""Two small models with random weights, one per generation."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "models"
V2, V3 = FOLDER / "noise-cosyvoice2", FOLDER / "noise-cosyvoice3"


def install_in(models_folder: Path) -> None:
    """Both under their names, as models a person has installed."""
    models_folder.mkdir(parents=True, exist_ok=True)
    for model in (V2, V3):
        try:
            os.symlink(model, models_folder / model.name, target_is_directory=True)
        except OSError:  # Windows gives links to administrators only
            shutil.copytree(model, models_folder / model.name)
