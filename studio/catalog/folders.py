"""Model folders: bundled models, the user's models, and downloads in progress.

``<models>/NAME`` is an installed model. Downloads and copies go to ``<models>/.incoming/NAME`` and are moved when
complete. A lock file keeps two programs from changing the same model.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from studio import paths
from studio.catalog.disk import writing
from studio.catalog.file_names import check_model_name
from studio.errors import ModelBusy
from studio.settings import MODELS_FOLDER
from studio.settings_store import Settings
from studio.storage.atomic_file import sync_folder
from studio.storage.file_lock import FileLock

_INCOMING = ".incoming"


def bundled_folder() -> Path:
    return paths.resources() / "models"


def models_folder() -> Path:
    """Return the folder of the user's models, which the settings may put on another disk."""
    chosen = Settings()[MODELS_FOLDER]
    return Path(chosen) if chosen else paths.data_folder() / "models"


def staging_folder(name: str) -> Path:
    """Return the folder of the unfinished download or copy of ``name``."""
    return models_folder() / _INCOMING / name


@contextlib.contextmanager
def lock_model(name: str) -> Iterator[None]:
    """Keep other programs from changing ``name``. Raise ``ModelBusy``, ``CannotWrite``, ``BadModelName``."""
    check_model_name(name)
    locks = models_folder() / _INCOMING / ".locks"
    with writing(locks):
        locks.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(locks / f"{name}.lock")
    except BlockingIOError as error:
        raise ModelBusy(
            "{name} is being changed by another program or another window.",
            remedy="Wait until it has finished, or cancel it there.",
            name=name,
        ) from error
    try:
        yield
    finally:
        lock.release(removes_file=True)


def install_files(name: str, paths_in_order: Sequence[str]) -> Path:
    """Move staged files into the model folder, replacing damaged ones, each atomically. Call under ``lock_model``."""
    staging, target = staging_folder(name), models_folder() / name
    with writing(target):
        for path in paths_in_order:
            if (staging / path).is_file():
                sync_folder((staging / path).parent)
        if not target.exists():
            staging.replace(target)
        else:
            for path in paths_in_order:
                if (staging / path).is_file():
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    (staging / path).replace(target / path)
                    sync_folder((target / path).parent)
            shutil.rmtree(staging)
        sync_folder(target.parent)
    return target


def delete_model(folder: Path) -> None:
    """Remove ``folder`` in one step as seen by other programs. Raise ``CannotWrite``."""
    if not folder.exists():
        return
    trash = models_folder() / _INCOMING / f".removed-{secrets.token_hex(4)}"
    with writing(folder):
        trash.parent.mkdir(parents=True, exist_ok=True)
        folder.replace(trash)
        shutil.rmtree(trash)
