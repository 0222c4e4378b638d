"""A model as one file, for a computer without a network: a plain zip archive that any system opens."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

from studio.catalog.cancellation import CancelToken
from studio.catalog.contents import is_allowed_file, require_complete
from studio.catalog.disk import require_room, writing
from studio.catalog.installed import why_not_loadable
from studio.catalog.progress import OnProgress, Phase, ignore_progress
from studio.catalog.progress_reader import ProgressReader
from studio.catalog.record import RECORD_NAME, read_record
from studio.errors import CannotWrite, DamagedModelFile
from studio.storage.atomic_file import atomic_path
from studio.wording import wording

EXPORT_SUFFIX = ".zip"
_BLOCK_BYTES = 1 << 20


def export_model(
    name: str, folder: Path, target: Path, *, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> None:
    """Writes ``target``, complete or not at all; every file is checked on the way.

    Raises ``Stopped``, ``DamagedModelFile``, ``MissingModelFile``, ``DiskFull``, ``CannotWrite``.
    """
    if error := why_not_loadable(name):
        raise error
    require_complete(folder)
    record = read_record(folder)
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    paths = [path.relative_to(folder).as_posix() for path in found]
    taken = [path for path in paths if is_allowed_file(path) or path == RECORD_NAME]
    size = sum((folder / path).stat().st_size for path in taken)
    _require_place(target)
    remedy = wording("Free some space, or name another folder.")
    require_room(target.absolute().parent, size, what=target.name, remedy=remedy)
    counter = ProgressReader(Phase.COPYING, size, stop or CancelToken(), on_progress)
    with writing(target), atomic_path(target) as part, zipfile.ZipFile(part, "x", zipfile.ZIP_STORED) as archive:
        for path in taken:
            sha256 = _add(archive, folder / path, f"{name}/{path}", counter)
            recorded = record.file(path) if record else None
            if recorded is not None and recorded.sha256 != sha256:
                raise DamagedModelFile(
                    "{file} of {name} is damaged.", remedy="Verify and mend the model first.", file=path, name=name
                )


def _require_place(target: Path) -> None:
    """Now rather than after gigabytes."""
    if os.path.exists(target) and not os.path.isfile(target):
        raise CannotWrite("{path} is not an ordinary file.", remedy="Choose another name.", path=target)
    if not os.path.isdir(target.absolute().parent):
        raise CannotWrite("There is no folder {folder}.", remedy="Make it, or choose another.", folder=target.parent)


def _add(archive: zipfile.ZipFile, source: Path, inside: str, counter: ProgressReader) -> str:
    """The SHA-256 of what was packed."""
    info = zipfile.ZipInfo(inside)  # without a date: the same model makes the same file
    info.file_size = source.stat().st_size  # so that large files get the long form of a header
    counter.begin(source.name, info.file_size)
    digest = hashlib.sha256()
    with source.open("rb") as file, archive.open(info, "w") as packed:
        while block := file.read(_BLOCK_BYTES):
            packed.write(block)
            digest.update(block)
            counter.add(len(block))
    return digest.hexdigest()
