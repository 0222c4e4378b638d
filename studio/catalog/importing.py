"""A model from a folder, an archive, or another computer's export."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from studio.catalog.archives import OpenArchive
from studio.catalog.cancellation import CancelToken
from studio.catalog.contents import is_allowed_file, require_complete
from studio.catalog.disk import require_free_space, writing
from studio.catalog.file_names import check_model_name
from studio.catalog.folders import (
    bundled_folder,
    delete_model,
    install_files,
    lock_model,
    models_folder,
    staging_folder,
)
from studio.catalog.known import KnownModel, known_models
from studio.catalog.progress import OnProgress, Phase, ignore_progress
from studio.catalog.progress_counter import ProgressCounter
from studio.catalog.record import RECORD_NAME, InstallRecord, RecordedFile, parse_record, write_record
from studio.errors import BadModelArchive, BadModelName, DamagedModelFile

_BLOCK_BYTES = 1 << 20
_LARGEST_RECORD_BYTES = 1 << 20


def import_model(
    path: Path, *, name: str | None = None, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> Path:
    """Copies the model in ``path`` to the user's own and returns its folder; ``path`` stays as it is.

    ``name`` is by default the one in the export, that of the release whose sizes it has, or the folder's. Raises
    ``Stopped``, ``ModelNotFound``, ``BadModelArchive``, ``BadModelName``, ``MissingModelFile``, ``DamagedModelFile``,
    ``UnknownGeneration``, ``BadModelSettings``, ``ModelBusy``, ``DiskFull``, ``CannotWrite``. Only a whole, sound model
    comes into being.
    """
    stop = stop or CancelToken()
    with OpenArchive(path, stop) as box:
        root = _root_of(box.sizes, path)
        inside = {name_in: name_in.removeprefix(root) for name_in in box.sizes if name_in.startswith(root)}
        taken = {name_in: short for name_in, short in inside.items() if is_allowed_file(short)}
        record = _record_in(box, root)
        chosen = check_model_name(name or _name_of(record, {taken[n]: box.sizes[n] for n in taken}, root, path))
        _require_free(chosen)
        with lock_model(chosen):
            delete_model(staging_folder(chosen))
            size = sum(box.sizes[name_in] for name_in in taken)
            require_free_space(models_folder(), size, what=chosen)
            try:
                sums = _copy(
                    box, taken, staging_folder(chosen), ProgressCounter(Phase.COPYING, size, stop, on_progress)
                )
                require_complete(staging_folder(chosen))
                _compare(sums, record, known_models().get(chosen))
                origin = record.origin if record else str(path)
                revision = record.revision if record else ""
                write_record(staging_folder(chosen), InstallRecord(chosen, origin, revision, tuple(sums.values())))
                return install_files(chosen, [*sums, RECORD_NAME])
            except BaseException:
                delete_model(staging_folder(chosen))
                raise


def _root_of(sizes: Mapping[str, int], path: Path) -> str:
    """The folder in the box that holds the yaml, with its slash; the shallowest."""
    found = [name for name in sizes if PurePosixPath(name).match("cosyvoice*.yaml")]
    if not found:
        raise BadModelArchive(
            "There is no model in {path}: no cosyvoice*.yaml.",
            remedy="Give the folder that holds llm.pt, flow.pt and hift.pt, or an archive of it.",
            path=path,
        )
    shallowest = min(found, key=lambda name: (name.count("/"), name))
    return shallowest[: shallowest.rfind("/") + 1]


def _record_in(box: OpenArchive, root: str) -> InstallRecord | None:
    name = root + RECORD_NAME
    if box.sizes.get(name, _LARGEST_RECORD_BYTES + 1) > _LARGEST_RECORD_BYTES:
        return None
    with box.reading(), box.open(name) as file:
        return parse_record(file.read(_LARGEST_RECORD_BYTES))


def _name_of(record: InstallRecord | None, sizes: Mapping[str, int], root: str, path: Path) -> str:
    if record is not None:
        return record.name
    for model in known_models().values():
        if model.files and all(sizes.get(file.path) == file.size_bytes for file in model.files_of() if file.size_bytes):
            return model.name
    folder = PurePosixPath(root).name
    return folder or (path.resolve().name if path.is_dir() else path.name.split(".")[0])


def _require_free(name: str) -> None:
    if (models_folder() / name).exists() or (bundled_folder() / name).exists():
        raise BadModelName(
            "There is a model {name} already.",
            remedy="Give this one another name, or remove that one first.",
            name=name,
        )


def _copy(
    box: OpenArchive, taken: Mapping[str, str], folder: Path, counter: ProgressCounter
) -> dict[str, RecordedFile]:
    sums: dict[str, RecordedFile] = {}
    for name_in, short in taken.items():
        counter.begin(short, box.sizes[name_in])
        sums[short] = _copy_file(box, name_in, short, folder, counter)
    return sums


def _copy_file(box: OpenArchive, name_in: str, short: str, folder: Path, counter: ProgressCounter) -> RecordedFile:
    digest, copied, size = hashlib.sha256(), 0, box.sizes[name_in]
    with writing(folder / short):
        (folder / short).parent.mkdir(parents=True, exist_ok=True)
        target = (folder / short).open("wb")
    with target, box.open(name_in) as source:
        # No more than was announced: room was asked for that much.
        while copied < size:
            with box.reading():
                block = source.read(min(_BLOCK_BYTES, size - copied))
            if not block:
                break
            with writing(folder / short):
                target.write(block)
            digest.update(block)
            copied += len(block)
            counter.add(len(block))
    return RecordedFile(short, copied, digest.hexdigest())


def _compare(sums: Mapping[str, RecordedFile], record: InstallRecord | None, release: KnownModel | None) -> None:
    """With what an export says of itself, and with the release whose name it takes."""
    for file in record.files if record else ():
        if is_allowed_file(file.path) and (file.path not in sums or sums[file.path].sha256 != file.sha256):
            raise DamagedModelFile(
                "{file} was damaged on its way here.", remedy="Export the model again there.", file=file.path
            )
    for published in release.files if release else ():
        if published.sha256 and published.path in sums and sums[published.path].sha256 != published.sha256:
            raise BadModelName(
                "{file} is not the one of the release {name}.",
                remedy="Give the model another name if it is meant to differ, else download it again.",
                file=published.path,
                name=release.name if release else "",
            )
