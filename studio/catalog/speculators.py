"""Trained speculators of installed models."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from studio.catalog.folders import (
    delete_model,
    install_files,
    lock_model,
    model_path,
    models_folder,
    require_base,
    speculator_name,
    staging_folder,
)
from studio.catalog.installed import installed_models
from studio.catalog.known import known_models
from studio.errors import BadModelName, ModelNotFound, StudioError
from studio.model.generations import detect_generation
from studio.model.speculator_files import (
    GENERATIONS_WITH_SPECULATORS,
    SETTINGS_FILE,
    WEIGHTS_FILE,
    generation_of,
    require_speculator,
)

# Patterns of the files that an import copies.
_ALLOWED = (SETTINGS_FILE, WEIGHTS_FILE, "*.md", "LICENSE*", "NOTICE*")


def is_speculator_file(path: str) -> bool:
    """Return whether ``path``, relative to its folder, may be part of a speculator."""
    return "/" not in path and any(fnmatchcase(path, pattern) for pattern in _ALLOWED)


def require_speculator_folder(folder: Path, model_folder: Path) -> None:
    """Check that ``folder`` contains a speculator for the model. Raise the errors of ``require_speculator``."""
    require_speculator(folder / SETTINGS_FILE, folder / WEIGHTS_FILE, model_folder)


def install_speculator(model: str, paths_in_order: Sequence[str]) -> Path:
    """Move the staged files into the folder of ``model``, which after a repair contains the other files already.

    The caller holds the lock of the speculator. Files that do not fit the model are deleted. Raise ``ModelNotFound``,
    ``ModelBusy``, and the errors of ``require_speculator`` and ``install_files``.
    """
    name = speculator_name(model)
    with lock_model(model):
        require_base(name)
        folders = (staging_folder(name), model_path(name))
        settings, weights = (
            next((folder / file for folder in folders if (folder / file).is_file()), folders[0] / file)
            for file in (SETTINGS_FILE, WEIGHTS_FILE)
        )
        try:
            require_speculator(settings, weights, models_folder() / model)
        except StudioError:
            delete_model(staging_folder(name))
            raise
        return install_files(name, paths_in_order)


def model_for(settings: Any, chosen: str | None) -> str:
    """Return the installed model for a speculator with these settings: ``chosen``, or the only one that fits.

    Raise ``ModelNotFound``, ``BadModelName``.
    """
    own = {name: folder for name, folder in installed_models().items() if folder.parent == models_folder()}
    named = generation_of(settings)
    wanted = GENERATIONS_WITH_SPECULATORS if named is None else (named,)
    fitting = [chosen] if chosen else [name for name, folder in own.items() if _generation(folder) in wanted]
    released = [name for name in fitting if name in known_models()]
    if not fitting or (chosen and chosen not in own):
        raise ModelNotFound(
            "The model that this speculator belongs to is not installed.",
            remedy="Install the model first, then import the speculator again.",
        )
    if len(fitting) > 1 and len(released) != 1:
        raise BadModelName(
            "The speculator may belong to several models: {names}.",
            remedy="Choose one: `timbre models import FOLDER --name NAME`.",
            names=fitting,
        )
    return (released or fitting)[0]


def _generation(folder: Path) -> str | None:
    try:
        return detect_generation(folder)[0].name
    except StudioError:
        return None
