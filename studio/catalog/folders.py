"""Where models lie: those that ship with the program, the user's own, and those on their way here.

``<models>/NAME`` is complete, or was; what is being downloaded or copied lies in ``<models>/.incoming/NAME``
and gets its place when it is whole. A lock beside it keeps two programs from working on the same model.
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
    """Of the user's own: where the settings say, a larger disk for instance."""
    chosen = Settings()[MODELS_FOLDER]
    return Path(chosen) if chosen else paths.data_folder() / "models"


def staging_folder(name: str) -> Path:
    """What has arrived of ``name`` so far."""
    return models_folder() / _INCOMING / name


@contextlib.contextmanager
def lock_model(name: str) -> Iterator[None]:
    """Nobody else installs, repairs or removes ``name`` meanwhile. Raises ``ModelBusy``, ``CannotWrite``, ``BadModelName``."""
    check_model_name(name)
    place = models_folder() / _INCOMING / ".locks"
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(place / f"{name}.lock")
    except BlockingIOError as error:
        raise ModelBusy(
            "{name} is being worked on by another program, or in another window.",
            remedy="Wait until that is done, or end it there.",
            name=name,
        ) from error
    try:
        yield
    finally:
        lock.release(removes_file=True)


def install_files(name: str, paths_in_order: Sequence[str]) -> Path:
    """What arrived becomes the model, or mends it: whole files only, each by renaming. Held under ``lock_model``."""
    incoming, place = staging_folder(name), models_folder() / name
    with writing(place):
        for path in paths_in_order:
            if (incoming / path).is_file():
                sync_folder((incoming / path).parent)
        if not place.exists():
            incoming.replace(place)
        else:
            for path in paths_in_order:
                if (incoming / path).is_file():
                    (place / path).parent.mkdir(parents=True, exist_ok=True)
                    (incoming / path).replace(place / path)
                    sync_folder((place / path).parent)
            shutil.rmtree(incoming)
        sync_folder(place.parent)
    return place


def delete_model(folder: Path) -> None:
    """All of it, in one step as others see it. Raises ``CannotWrite``."""
    if not folder.exists():
        return
    doomed = models_folder() / _INCOMING / f".removed-{secrets.token_hex(4)}"
    with writing(folder):
        doomed.parent.mkdir(parents=True, exist_ok=True)
        folder.replace(doomed)
        shutil.rmtree(doomed)
