"""Small models with random weights, one per generation."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "models"
V1, V2, V3 = (FOLDER / f"noise-cosyvoice{number}" for number in (1, 2, 3))


def install_in(models_folder: Path) -> None:
    """Install both models under their names, as the user would."""
    models_folder.mkdir(parents=True, exist_ok=True)
    for model in (V2, V3):
        try:
            os.symlink(model, models_folder / model.name, target_is_directory=True)
        except OSError:  # on Windows, only administrators may create links
            shutil.copytree(model, models_folder / model.name)
