"""Model folders: bundled models, the user's models, and downloads in progress; also valid names and free space.

``<models>/NAME`` is an installed model. Downloads and copies go to ``<models>/.incoming/NAME`` and are moved when they
are complete. A lock file keeps two programs from changing the same model.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath

from studio import paths
from studio.errors import BadModelName, DiskFull, ModelBusy
from studio.messages import Message, message
from studio.settings import MODELS_FOLDER
from studio.settings_store import Settings
from studio.storage.atomic_file import sync_folder
from studio.storage.disk import disk_errors, free_bytes
from studio.storage.file_lock import FileLock

_INCOMING = ".incoming"
_MAX_NAME_LENGTH = 80
# Allowed as a folder name on every system: begins with a letter or digit, and does not end with a dot or space.
_MODEL_NAME = re.compile(r"[^\W_](?:[\w.+ -]*[\w+-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[\d¹²³]) *(\..*)?", re.IGNORECASE)  # Windows devices
_SPARE_BYTES = 256 << 20  # left free for the rest of the system
_MEGABYTE, _GIGABYTE = 1e6, 1e9  # decimal, as model hubs and disk vendors count
_MIN_IN_GIGABYTES = 0.1 * _GIGABYTE
_KEEP_ELSEWHERE = message("Free some space, or keep models on a larger disk (Settings, Models).")


def bundled_folder() -> Path:
    return paths.resources() / "models"


def models_folder() -> Path:
    """Return the folder of the user's models, which the settings may put on another disk."""
    chosen = Settings()[MODELS_FOLDER]
    return Path(chosen) if chosen else paths.data_folder() / "models"


def staging_folder(name: str) -> Path:
    """Return the folder of the unfinished download or copy of ``name``."""
    return models_folder() / _INCOMING / name


def check_model_name(name: str) -> str:
    """Return ``name``. Raise ``BadModelName`` if some system forbids it as a folder name."""
    if len(name) > _MAX_NAME_LENGTH or not _MODEL_NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise BadModelName(
            "“{name}” cannot be used as a model name.",
            remedy="Use letters, digits, spaces, dots, hyphens and underscores.",
            name=name,
        )
    return name


def is_safe_path(path: str) -> bool:
    """Return whether an untrusted ``path`` stays inside the folder it is joined to, on every system."""
    parts = PurePosixPath(path).parts
    is_plain = path == "/".join(parts) and not re.search(r'[\\:*?"<>|\x00-\x1f]', path)
    return is_plain and bool(parts) and all(map(_is_safe_name, parts))


def _is_safe_name(name: str) -> bool:
    return name not in ("..", ".", "/") and name == name.rstrip(". ") and not _RESERVED.fullmatch(name)


def is_bundled(name: str) -> bool:
    """Return whether the model ``name`` is part of the program, and no installed model replaces it."""
    return not (models_folder() / name).is_dir() and (bundled_folder() / name).is_dir()


def files_in(folder: Path) -> list[str]:
    """Return the paths of all files in ``folder``, relative to it, with slashes and sorted."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


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
    staged = [path for path in paths_in_order if (staging / path).is_file()]
    with writing(target):
        for path in staged:
            sync_folder((staging / path).parent)
        if not target.exists():
            staging.replace(target)
        else:
            for path in staged:
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (staging / path).replace(target / path)
                sync_folder((target / path).parent)
            shutil.rmtree(staging)
        sync_folder(target.parent)
    return target


def delete_model(folder: Path) -> None:
    """Remove ``folder`` in one step, as seen by other programs. Raise ``CannotWrite``."""
    if not folder.exists():
        return
    trash = models_folder() / _INCOMING / f".removed-{secrets.token_hex(4)}"
    with writing(folder):
        trash.parent.mkdir(parents=True, exist_ok=True)
        folder.replace(trash)
        shutil.rmtree(trash)


def in_gigabytes(num_bytes: int) -> str:
    """Return a size such as ``3.09 GB``, or in MB below 0.1 GB."""
    if num_bytes < _MIN_IN_GIGABYTES:
        return f"{num_bytes / _MEGABYTE:.0f} MB"
    return f"{num_bytes / _GIGABYTE:.2f} GB"


def require_free_space(folder: Path, num_bytes: int, *, what: str, remedy: Message = _KEEP_ELSEWHERE) -> None:
    """Raise ``DiskFull`` if the disk is too small. Call this before hours of downloading."""
    free = free_bytes(folder)
    if num_bytes and num_bytes + _SPARE_BYTES > free:
        raise DiskFull(
            "{what} needs {needed} of disk space, but only {free} are free in {folder}.",
            remedy=remedy,
            what=what,
            needed=in_gigabytes(num_bytes + _SPARE_BYTES),
            free=in_gigabytes(free),
            folder=folder,
        )


def writing(path: Path) -> AbstractContextManager[None]:
    """Translate ``OSError`` in the block into ``DiskFull`` or ``CannotWrite`` about ``path``."""
    return disk_errors(
        path,
        if_full=message("Free some space and start again; downloaded data is kept."),
        if_refused=message("Check the permissions of its folder."),
    )
