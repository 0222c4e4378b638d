"""Import a model from a folder, an archive, or an export made on another computer."""

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
_MAX_RECORD_BYTES = 1 << 20


def import_model(
    path: Path, *, name: str | None = None, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> Path:
    """Copy the model in ``path`` to the user's models and return its folder. A failed import leaves no files.

    ``name`` defaults to the name recorded in the export, else to the release with the same file sizes, else to the
    folder's name.
    Raise ``DownloadCancelled``, ``ModelNotFound``, ``BadModelArchive``, ``BadModelName``, ``MissingModelFile``,
    ``DamagedModelFile``, ``UnknownGeneration``, ``BadModelSettings``, ``ModelBusy``, ``DiskFull``, ``CannotWrite``.
    """
    stop = stop or CancelToken()
    with OpenArchive(path, stop) as archive:
        root = _root_of(archive.sizes, path)
        members = {member: member.removeprefix(root) for member in archive.sizes if member.startswith(root)}
        members = {member: target for member, target in members.items() if is_allowed_file(target)}
        record = _record_in(archive, root)
        sizes = {target: archive.sizes[member] for member, target in members.items()}
        chosen = check_model_name(name or _default_name(record, sizes, root, path))
        _require_unused_name(chosen)
        staging, size = staging_folder(chosen), sum(sizes.values())
        with lock_model(chosen):
            delete_model(staging)
            require_free_space(models_folder(), size, what=chosen)
            try:
                files = _copy(archive, members, staging, ProgressCounter(Phase.COPYING, size, stop, on_progress))
                require_complete(staging)
                _compare(files, record, known_models().get(chosen))
                origin = record.origin if record else str(path)
                revision = record.revision if record else ""
                write_record(staging, InstallRecord(chosen, origin, revision, tuple(files.values())))
                return install_files(chosen, [*files, RECORD_NAME])
            except BaseException:
                delete_model(staging)
                raise


def _root_of(sizes: Mapping[str, int], path: Path) -> str:
    """Return the shallowest folder in the archive with a ``cosyvoice*.yaml``, with a slash at its end."""
    found = [name for name in sizes if PurePosixPath(name).match("cosyvoice*.yaml")]
    if not found:
        raise BadModelArchive(
            "{path} does not contain a model: cosyvoice*.yaml is missing.",
            remedy="Choose the folder that contains llm.pt, flow.pt and hift.pt, or an archive of it.",
            path=path,
        )
    shallowest = min(found, key=lambda name: (name.count("/"), name))
    return shallowest[: shallowest.rfind("/") + 1]


def _record_in(archive: OpenArchive, root: str) -> InstallRecord | None:
    name = root + RECORD_NAME
    if archive.sizes.get(name, _MAX_RECORD_BYTES + 1) > _MAX_RECORD_BYTES:
        return None
    with archive.reading(), archive.open(name) as file:
        return parse_record(file.read(_MAX_RECORD_BYTES))


def _default_name(record: InstallRecord | None, sizes: Mapping[str, int], root: str, path: Path) -> str:
    if record is not None:
        return record.name
    for model in known_models().values():
        if model.files and all(sizes.get(file.path) == file.size_bytes for file in model.files_of() if file.size_bytes):
            return model.name
    folder = PurePosixPath(root).name
    return folder or (path.resolve().name if path.is_dir() else path.name.split(".")[0])


def _require_unused_name(name: str) -> None:
    if (models_folder() / name).exists() or (bundled_folder() / name).exists():
        raise BadModelName(
            "A model named {name} already exists.",
            remedy="Choose another name, or remove the existing model first.",
            name=name,
        )


def _copy(
    archive: OpenArchive, members: Mapping[str, str], folder: Path, counter: ProgressCounter
) -> dict[str, RecordedFile]:
    files: dict[str, RecordedFile] = {}
    for member, target in members.items():
        counter.begin(target, archive.sizes[member])
        files[target] = _copy_file(archive, member, target, folder, counter)
    return files


def _copy_file(archive: OpenArchive, member: str, target: str, folder: Path, counter: ProgressCounter) -> RecordedFile:
    path = folder / target
    digest, copied, size = hashlib.sha256(), 0, archive.sizes[member]
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    with file, archive.open(member) as source:
        # At most the announced size: the check for free space relied on it.
        while copied < size:
            with archive.reading():
                block = source.read(min(_BLOCK_BYTES, size - copied))
            if not block:
                break
            with writing(path):
                file.write(block)
            digest.update(block)
            copied += len(block)
            counter.add(len(block))
    return RecordedFile(target, copied, digest.hexdigest())


def _compare(files: Mapping[str, RecordedFile], record: InstallRecord | None, release: KnownModel | None) -> None:
    """Compare the copied files with the record of the export, and with the release of the same name."""
    for file in record.files if record else ():
        if is_allowed_file(file.path) and (file.path not in files or files[file.path].sha256 != file.sha256):
            raise DamagedModelFile(
                "{file} was damaged after the export.", remedy="Export the model again.", file=file.path
            )
    for published in release.files if release else ():
        if published.sha256 and published.path in files and files[published.path].sha256 != published.sha256:
            raise BadModelName(
                "{file} differs from the release {name}.",
                remedy="Choose another name if this is intended; otherwise download the model again.",
                file=published.path,
                name=release.name if release else "",
            )
