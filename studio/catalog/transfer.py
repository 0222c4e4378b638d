"""Import of a model from a folder or an archive, and export to a zip archive for computers without a network."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from studio.catalog.archives import Archive, open_archive
from studio.catalog.checking import is_allowed_file, require_complete
from studio.catalog.folders import (
    base_model,
    bundled_folder,
    check_model_name,
    delete_model,
    files_in,
    install_files,
    lock_model,
    model_path,
    models_folder,
    require_free_space,
    speculator_name,
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
from studio.catalog.speculators import install_speculator, is_speculator_file, model_for, require_speculator_folder
from studio.errors import BadModelArchive, BadModelName, CannotWrite, DamagedModelFile
from studio.messages import wording
from studio.model.speculator_files import SETTINGS_FILE, is_speculator
from studio.paths import SPECULATOR_FOLDER
from studio.storage.atomic_file import atomic_path
from studio.storage.json_input import parse_json
from studio.take_checks.recognizers.sense_voice_files import NETWORK_FILES

EXPORT_SUFFIX = ".zip"
_BLOCK_BYTES = 1 << 20
_MAX_RECORD_BYTES = 1 << 20


def import_model(
    path: Path, *, name: str | None = None, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> Path:
    """Copy the model in ``path`` to the user's models and return its folder. A failed import leaves no files.

    ``name`` defaults to the name recorded in the export, or to that of the release with the same file sizes, or to
    the name of the folder or archive. A trained speculator is copied into the folder of the model ``name``, by
    default the installed model that it was trained for.

    Raise ``DownloadCancelled``, ``ModelNotFound``, ``BadModelArchive``, ``BadModelName``, ``MissingModelFile``,
    ``DamagedModelFile``, ``UnknownGeneration``, ``BadModelSettings``, ``WrongTensors``, ``ModelBusy``, ``DiskFull``,
    ``CannotWrite``.
    """
    stop = stop or CancelToken()
    with open_archive(path, stop) as archive:
        root = _root_of(archive.sizes)
        if root is not None:
            return _import_model(archive, root, name, stop, on_progress)
        if (found := _speculator_in(archive)) is not None:
            root, settings = found
            return _import_speculator(archive, root, settings, name=name, stop=stop, on_progress=on_progress)
    raise BadModelArchive(
        "{path} does not contain a model: cosyvoice*.yaml is missing.",
        remedy="Choose the folder that contains llm.pt, flow.pt and hift.pt, or an archive of it.",
        path=path,
    )


def _import_model(archive: Archive, root: str, name: str | None, stop: CancelToken, on_progress: OnProgress) -> Path:
    members = _members(archive, root, is_allowed_file)
    record = _record_in(archive, root)
    sizes = {target: archive.sizes[member] for target, member in members.items()}
    chosen = check_model_name(name or _default_name(record, sizes, root, archive.path))
    if base_model(chosen) is not None:
        raise BadModelName(
            "The name {name} is reserved for the speculator of a model.", remedy="Choose another name.", name=chosen
        )
    _require_unused_name(chosen)
    with lock_model(chosen), _staging(chosen) as staging:
        files = _copy_files(archive, members, chosen, stop, on_progress)
        require_complete(staging)
        prefix = f"{SPECULATOR_FOLDER}/"
        own = {target: file for target, file in files.items() if not target.startswith(prefix)}
        _record_files(staging, chosen, own, record, path=archive.path, is_allowed=is_allowed_file)
        if len(own) < len(files):
            require_speculator_folder(staging / SPECULATOR_FOLDER, staging)
            others = [replace(file, path=path.removeprefix(prefix)) for path, file in files.items() if path not in own]
            record = _record_in(archive, root + prefix)
            _record_files(
                staging / SPECULATOR_FOLDER,
                speculator_name(chosen),
                {file.path: file for file in others},
                record,
                path=archive.path,
                is_allowed=is_speculator_file,
            )
        return install_files(chosen, [*files, RECORD_NAME])


def _import_speculator(
    archive: Archive, root: str, settings: Any, *, name: str | None, stop: CancelToken, on_progress: OnProgress
) -> Path:
    record = _record_in(archive, root)
    recorded = base_model(record.name) if record else None
    if name is None and recorded and (models_folder() / recorded).is_dir():
        name = recorded
    model = model_for(settings, name)
    chosen = check_model_name(speculator_name(model))
    _require_unused_name(chosen)
    with lock_model(chosen), _staging(chosen) as staging:
        files = _copy_files(archive, _members(archive, root, is_speculator_file), chosen, stop, on_progress)
        _record_files(staging, chosen, files, record, path=archive.path, is_allowed=is_speculator_file)
        return install_speculator(model, [*files, RECORD_NAME])


@contextlib.contextmanager
def _staging(name: str) -> Iterator[Path]:
    """Provide an empty folder for the copy, and delete it after a failure."""
    staging = staging_folder(name)
    delete_model(staging)
    try:
        yield staging
    except BaseException:
        delete_model(staging)
        raise


def _members(archive: Archive, root: str, is_allowed: Callable[[str], bool]) -> dict[str, str]:
    """Return the members to copy, by their paths in the model."""
    members = {member.removeprefix(root): member for member in archive.sizes if member.startswith(root)}
    return {target: member for target, member in members.items() if is_allowed(target)}


def _copy_files(
    archive: Archive, members: Mapping[str, str], name: str, stop: CancelToken, on_progress: OnProgress
) -> dict[str, RecordedFile]:
    size = sum(archive.sizes[member] for member in members.values())
    require_free_space(models_folder(), size, what=name)
    counter = ProgressCounter(Phase.COPYING, size, stop, on_progress)
    folder = staging_folder(name)
    return {target: _copy_file(archive, member, target, folder, counter) for target, member in members.items()}


def _record_files(
    folder: Path,
    name: str,
    files: Mapping[str, RecordedFile],
    record: InstallRecord | None,
    *,
    path: Path,
    is_allowed: Callable[[str], bool],
) -> None:
    """Compare the copied files with the ``record`` of the export and with the release, and write a record for them."""
    _compare_checksums(files, record, known_models().get(name), is_allowed)
    origin = record.origin if record else str(path)
    revision = record.revision if record else ""
    write_record(folder, InstallRecord(name, origin, revision, tuple(files.values())))


def _root_of(sizes: Mapping[str, int]) -> str | None:
    """Return the shallowest folder in the archive with a model or a recogniser, with a slash at its end."""
    found = [name for name in sizes if PurePosixPath(name).match("cosyvoice*.yaml")]
    found = found or [name for name in sizes if PurePosixPath(name).name in NETWORK_FILES]
    return _folder_of(min(found, key=_depth)) if found else None


def _speculator_in(archive: Archive) -> tuple[str, Any] | None:
    """Return the shallowest folder with a speculator, ending with a slash, and the settings of the speculator."""
    for name in sorted(archive.sizes, key=_depth):
        if PurePosixPath(name).name == SETTINGS_FILE and archive.sizes[name] <= _MAX_RECORD_BYTES:
            with archive.reading(), archive.open(name) as file:
                content = file.read(_MAX_RECORD_BYTES)
            try:
                settings = parse_json(content)
            except ValueError:
                continue
            if is_speculator(settings):
                return _folder_of(name), settings
    return None


def _depth(name: str) -> tuple[int, str]:
    return name.count("/"), name


def _folder_of(name: str) -> str:
    return name[: name.rfind("/") + 1]


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
        if (
            model.files
            and not model.is_speculator
            and all(sizes.get(file.path) == file.size_bytes for file in model.files_of() if file.size_bytes)
        ):
            return model.name
    folder = PurePosixPath(root).name
    return folder or (path.resolve().name if path.is_dir() else path.name.split(".")[0])


def _require_unused_name(name: str) -> None:
    if model_path(name).exists() or (bundled_folder() / name).exists():
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
    files: Mapping[str, RecordedFile],
    record: InstallRecord | None,
    release: KnownModel | None,
    is_allowed: Callable[[str], bool],
) -> None:
    """Compare the copied files with the record of the export, and with the release of the same name."""
    for file in record.files if record else ():
        if is_allowed(file.path) and (file.path not in files or files[file.path].sha256 != file.sha256):
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
    base = base_model(name)
    if base is None:
        require_complete(folder)
    else:
        require_speculator_folder(folder, models_folder() / base)
    is_exported = is_allowed_file if base is None else is_speculator_file
    prefix = f"{SPECULATOR_FOLDER}/"
    records = (RECORD_NAME, prefix + RECORD_NAME)
    exported = [path for path in files_in(folder) if is_exported(path) or path in records]
    if base is None and any(path.startswith(prefix) for path in exported):
        require_speculator_folder(folder / SPECULATOR_FOLDER, folder)
    recorded = _recorded_checksums(folder) | _recorded_checksums(folder / SPECULATOR_FOLDER, prefix)
    size = sum((folder / path).stat().st_size for path in exported)
    _require_writable_place(target)
    remedy = wording("Free some space, or choose another folder.")
    require_free_space(target.absolute().parent, size, what=target.name, remedy=remedy)
    counter = ProgressCounter(Phase.COPYING, size, stop or CancelToken(), on_progress)
    with writing(target), atomic_path(target) as part, zipfile.ZipFile(part, "x", zipfile.ZIP_STORED) as archive:
        for path in exported:
            sha256 = _add_file(archive, folder / path, f"{name}/{path}", counter)
            if recorded.get(path, sha256) != sha256:
                raise DamagedModelFile(
                    "{file} of {name} is damaged.", remedy="Repair the model first.", file=path, name=name
                )


def _recorded_checksums(folder: Path, prefix: str = "") -> dict[str, str]:
    record = read_record(folder)
    return {prefix + file.path: file.sha256 for file in record.files} if record else {}


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
