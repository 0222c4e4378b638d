"""Whether every byte of a model is what it should be; and forgetting a model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from studio.catalog.cancellation import CancelToken
from studio.catalog.contents import require_complete
from studio.catalog.folders import bundled_folder, delete_model, lock_model, models_folder, staging_folder
from studio.catalog.installed import model_not_found
from studio.catalog.known import known_models
from studio.catalog.progress import OnProgress, Phase, ignore_progress
from studio.catalog.progress_counter import ProgressCounter
from studio.catalog.record import InstallRecord, RecordedFile, read_record, write_record
from studio.errors import ModelNotFound

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``damaged``: files that are missing or not what they should be. ``is_learned``: there was nothing to compare with."""

    name: str
    num_files: int
    damaged: tuple[str, ...]
    is_learned: bool

    @property
    def is_intact(self) -> bool:
        return not self.damaged


def check_model(
    name: str, *, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> CheckResult:
    """Reads all of it, and remembers what is broken: such a model is not loaded any more.

    A folder that somebody put there is compared with the release of its name, if there is one; else its sums are
    learned, so that the next check can tell. Raises ``Stopped``, ``ModelNotFound``, ``ModelBusy``, ``MissingModelFile``.
    """
    stop = stop or CancelToken()
    own = models_folder() / name
    if not own.is_dir() and (bundled_folder() / name).is_dir():
        require_complete(bundled_folder() / name)
        files = _sums(bundled_folder() / name, _files_of(bundled_folder() / name), stop, on_progress)
        return CheckResult(name, len(files), (), is_learned=True)
    if not own.is_dir():
        raise model_not_found(name)
    with lock_model(name):
        record = read_record(own)
        expected = _expected(name, own, record)
        sums = _sums(own, tuple(expected), stop, on_progress)
        damaged = tuple(
            path for path, wanted in expected.items() if path not in sums or wanted not in (None, sums[path].sha256)
        )
        if record is None:
            require_complete(own)
            record = InstallRecord(name, str(own), "", tuple(sums.values()))
        write_record(own, record.with_damaged(damaged))
        is_learned = not any(expected.values())
        return CheckResult(name, len(expected), tuple(sorted(damaged)), is_learned)


def remove_model(name: str) -> bool:
    """Forgets it, and what has arrived of it; whether there was anything.

    Raises ``ModelBusy``, ``CannotWrite``, and ``ModelNotFound`` for one that ships with the program.
    """
    own = models_folder() / name
    if not own.is_dir() and (bundled_folder() / name).is_dir():
        raise ModelNotFound(
            "{name} comes with the program and stays.", remedy="Choose one that was installed.", name=name
        )
    with lock_model(name):
        found = [folder for folder in (own, staging_folder(name)) if folder.is_dir()]
        for folder in found:
            delete_model(folder)
    return bool(found)


def discard_download(name: str) -> None:
    """What has arrived of it, and is not complete. Raises ``ModelBusy``, ``CannotWrite``."""
    with lock_model(name):
        delete_model(staging_folder(name))


def _expected(name: str, folder: Path, record: InstallRecord | None) -> dict[str, str | None]:
    """The SHA-256 of each file, as far as it is known."""
    if record is not None:
        return {file.path: file.sha256 for file in record.files}
    release = known_models().get(name)
    expected: dict[str, str | None] = dict.fromkeys(_files_of(folder))
    if release is not None:
        here = [file for file in release.files if file.variant is None or file.path in expected]
        expected.update({file.path: file.sha256 for file in here})
    return expected


def _files_of(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))


def _sums(folder: Path, paths: tuple[str, ...], stop: CancelToken, on_progress: OnProgress) -> dict[str, RecordedFile]:
    """Of those that can be read."""
    sizes = {path: (folder / path).stat().st_size for path in paths if (folder / path).is_file()}
    counter = ProgressCounter(Phase.CHECKING, sum(sizes.values()), stop, on_progress)
    sums: dict[str, RecordedFile] = {}
    for path, size in sizes.items():
        counter.begin(path, size)
        try:
            sums[path] = RecordedFile(path, size, _sha256_of(folder / path, counter))
        except OSError:  # a disk that cannot read it back: as good as damaged
            continue
    return sums


def _sha256_of(path: Path, counter: ProgressCounter) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            counter.add(len(block))
    return digest.hexdigest()
