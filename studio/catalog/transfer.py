"""Import of a model from a folder or an archive, and export to a zip archive for computers without a network."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from studio.catalog.archives import Archive, open_archive
from studio.catalog.checking import is_allowed_file, require_complete
from studio.catalog.folders import (
    bundled_folder,
    check_model_name,
    delete_model,
    files_in,
    install_files,
    lock_model,
    models_folder,
    require_free_space,
    staging_folder,
    writing,
)
from studio.catalog.installed import (
    RECORD_NAME,
    InstallRecord,
    RecordedFile,
    parse_record,
    read_record,
    why_not_loadable,
    write_record,
)
from studio.catalog.known import KnownModel, known_models
from studio.catalog.progress import CancelToken, OnProgress, Phase, ProgressCounter, ignore_progress
from studio.errors import BadModelArchive, BadModelName, CannotWrite, DamagedModelFile
from studio.messages import message
from studio.storage.atomic_file import atomic_path
from studio.take_checks.recognizers.sense_voice_files import NETWORK_FILES

EXPORT_SUFFIX = ".zip"
_BLOCK_BYTES = 1 << 20
_MAX_RECORD_BYTES = 1 << 20


def import_model(
    path: Path, *, name: str | None = None, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> Path:
    """Copy the model in ``path`` to the user's models and return its folder. A failed import leaves no files.

    ``name`` defaults to the name recorded in the export, or to the name of the release with the same file sizes, or to
    the name of the folder or archive.

    Raise ``DownloadCancelled``, ``ModelNotFound``, ``BadModelArchive``, ``BadModelName``, ``MissingModelFile``,
    ``DamagedModelFile``, ``UnknownGeneration``, ``BadModelSettings``, ``ModelBusy``, ``DiskFull``, ``CannotWrite``.
    """
    stop = stop or CancelToken()
    with open_archive(path, stop) as archive:
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
                counter = ProgressCounter(Phase.COPYING, size, stop, on_progress)
                files = {
                    target: _copy_file(archive, member, target, staging, counter) for member, target in members.items()
                }
                require_complete(staging)
                _compare_checksums(files, record, known_models().get(chosen))
                origin = record.origin if record else str(path)
                revision = record.revision if record else ""
                write_record(staging, InstallRecord(chosen, origin, revision, tuple(files.values())))
                return install_files(chosen, [*files, RECORD_NAME])
            except BaseException:
                delete_model(staging)
                raise


def _root_of(sizes: Mapping[str, int], path: Path) -> str:
    """Return the shallowest folder in the archive with a model or a recogniser, with a slash at its end."""
    found = [name for name in sizes if PurePosixPath(name).match("cosyvoice*.yaml")]
    found = found or [name for name in sizes if PurePosixPath(name).name in NETWORK_FILES]
    if not found:
        raise BadModelArchive(
            "{path} does not contain a model: cosyvoice*.yaml is missing.",
            remedy="Choose the folder that contains llm.pt, flow.pt and hift.pt, or an archive of it.",
            path=path,
        )
    shallowest = min(found, key=lambda name: (name.count("/"), name))
    return shallowest[: shallowest.rfind("/") + 1]


def _record_in(archive: Archive, root: str) -> InstallRecord | None:
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


def _copy_file(archive: Archive, member: str, target: str, folder: Path, counter: ProgressCounter) -> RecordedFile:
    path = folder / target
    digest, copied, size = hashlib.sha256(), 0, archive.sizes[member]
    counter.begin(target, size)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    with file, archive.open(member) as source:
        # At most the announced size, because the check for free space relied on it.
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


def _compare_checksums(
    files: Mapping[str, RecordedFile], record: InstallRecord | None, release: KnownModel | None
) -> None:
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
    exported = [path for path in files_in(folder) if is_allowed_file(path) or path == RECORD_NAME]
    size = sum((folder / path).stat().st_size for path in exported)
    _require_writable_place(target)
    remedy = message("Free some space, or choose another folder.")
    require_free_space(target.absolute().parent, size, what=target.name, remedy=remedy)
    counter = ProgressCounter(Phase.COPYING, size, stop or CancelToken(), on_progress)
    with writing(target), atomic_path(target) as part, zipfile.ZipFile(part, "x", zipfile.ZIP_STORED) as archive:
        for path in exported:
            sha256 = _add_file(archive, folder / path, f"{name}/{path}", counter)
            recorded = record.file(path) if record else None
            if recorded is not None and recorded.sha256 != sha256:
                raise DamagedModelFile(
                    "{file} of {name} is damaged.", remedy="Repair the model first.", file=path, name=name
                )


def _require_writable_place(target: Path) -> None:
    """Raise ``CannotWrite`` if ``target`` cannot be created. Call this before gigabytes are read."""
    if os.path.exists(target) and not os.path.isfile(target):
        raise CannotWrite("{path} is not an ordinary file.", remedy="Choose another name.", path=target)
    if not os.path.isdir(target.absolute().parent):
        raise CannotWrite(
            "The folder {folder} does not exist.", remedy="Create it, or choose another folder.", folder=target.parent
        )


def _add_file(archive: zipfile.ZipFile, source: Path, inside: str, counter: ProgressCounter) -> str:
    """Add a file to the archive and return its SHA-256."""
    info = zipfile.ZipInfo(inside)  # no date, so that exports of the same model are identical
    info.file_size = source.stat().st_size  # makes files over 2 GiB get a ZIP64 header
    counter.begin(source.name, info.file_size)
    digest = hashlib.sha256()
    with source.open("rb") as file, archive.open(info, "w") as packed:
        while block := file.read(_BLOCK_BYTES):
            packed.write(block)
            digest.update(block)
            counter.add(len(block))
    return digest.hexdigest()
