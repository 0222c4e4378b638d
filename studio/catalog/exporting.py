"""Export of an installed model to a zip archive, for computers without a network."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

from studio.catalog.cancellation import CancelToken
from studio.catalog.contents import is_allowed_file, require_complete
from studio.catalog.disk import require_free_space, writing
from studio.catalog.installed import why_not_loadable
from studio.catalog.progress import OnProgress, Phase, ignore_progress
from studio.catalog.progress_counter import ProgressCounter
from studio.catalog.record import RECORD_NAME, read_record
from studio.errors import CannotWrite, DamagedModelFile
from studio.messages import wording
from studio.storage.atomic_file import atomic_path

EXPORT_SUFFIX = ".zip"
_BLOCK_BYTES = 1 << 20


def export_model(
    name: str, folder: Path, target: Path, *, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> None:
    """Write ``target`` atomically, comparing every file with its recorded checksum.

    Raise ``DownloadCancelled``, ``DamagedModelFile``, ``MissingModelFile``, ``DiskFull``, ``CannotWrite``.
    """
    if error := why_not_loadable(name):
        raise error
    require_complete(folder)
    record = read_record(folder)
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    exported = [path for path in paths if is_allowed_file(path) or path == RECORD_NAME]
    size = sum((folder / path).stat().st_size for path in exported)
    _require_writable_place(target)
    remedy = wording("Free some space, or choose another folder.")
    require_free_space(target.absolute().parent, size, what=target.name, remedy=remedy)
    counter = ProgressCounter(Phase.COPYING, size, stop or CancelToken(), on_progress)
    with writing(target), atomic_path(target) as part, zipfile.ZipFile(part, "x", zipfile.ZIP_STORED) as archive:
        for path in exported:
            sha256 = _add(archive, folder / path, f"{name}/{path}", counter)
            recorded = record.file(path) if record else None
            if recorded is not None and recorded.sha256 != sha256:
                raise DamagedModelFile(
                    "{file} of {name} is damaged.", remedy="Repair the model first.", file=path, name=name
                )


def _require_writable_place(target: Path) -> None:
    """Raise ``CannotWrite`` now rather than after gigabytes."""
    if os.path.exists(target) and not os.path.isfile(target):
        raise CannotWrite("{path} is not an ordinary file.", remedy="Choose another name.", path=target)
    if not os.path.isdir(target.absolute().parent):
        raise CannotWrite(
            "The folder {folder} does not exist.", remedy="Create it, or choose another folder.", folder=target.parent
        )


def _add(archive: zipfile.ZipFile, source: Path, inside: str, counter: ProgressCounter) -> str:
    """Add a file to the archive and return its SHA-256."""
    info = zipfile.ZipInfo(inside)  # without a date, so that exports of the same model are identical
    info.file_size = source.stat().st_size  # makes files over 2 GiB get a ZIP64 header
    counter.begin(source.name, info.file_size)
    digest = hashlib.sha256()
    with source.open("rb") as file, archive.open(info, "w") as packed:
        while block := file.read(_BLOCK_BYTES):
            packed.write(block)
            digest.update(block)
            counter.add(len(block))
    return digest.hexdigest()
