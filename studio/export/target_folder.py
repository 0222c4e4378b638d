"""Target folder of an export, and the journal of the files that were exported into it.

The journal is a file in the data folder with one JSON object per line. A line is appended for each exported file, after
its part file is complete but before the part file is renamed. A line that a crash left incomplete is ignored. A recorded file
counts as up to date if its size and time match the record. While a journal is open, no other process can export into
its folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from studio import paths
from studio.audio.encoding import SoundEncoding
from studio.audio.files import AudioWriter
from studio.audio.m4b import AudiobookWriter, BookFacts, write_m4b
from studio.audio.resampling import Samples
from studio.errors import CannotWrite, FolderBusy
from studio.messages import message
from studio.storage.atomic_file import atomic_path, new_part
from studio.storage.disk import disk_errors
from studio.storage.file_lock import FileLock
from studio.storage.json_input import parse_json

# FAT file systems round times to two seconds, but only after they are mounted again.
_COARSEST_TIME_NS = 2_000_000_000


def writing(path: Path) -> contextlib.AbstractContextManager[None]:
    """Translate ``OSError`` in the block into ``DiskFull`` or ``CannotWrite`` about ``path``."""
    return disk_errors(
        path,
        if_full=message("Free some space and export again; finished files are kept."),
        if_refused=message("Choose another folder, or change its permissions."),
    )


@dataclass(frozen=True, slots=True)
class Origin:
    """The script that an exported file comes from.

    Attributes:
        scripts: The names of the script. A saved script has two names: one from its file, then one from its draft.
        part: A name for the exported lines, empty if all lines are exported.
    """

    scripts: tuple[str, ...] = ()
    part: str = ""

    @property
    def script(self) -> str:
        return self.scripts[0] if self.scripts else ""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Journal record of a complete file.

    Attributes:
        recipe: A digest of everything that affects the content of the file.
        num_samples, sample_rate, loudness_lufs, true_peak_dbtp: For audio files only.
        script, part: The :class:`Origin` of the file, empty in journals of earlier versions.
    """

    file: str
    recipe: str
    num_bytes: int
    modified_ns: int
    num_samples: int = 0
    sample_rate: int = 0
    loudness_lufs: float | None = None
    true_peak_dbtp: float | None = None
    script: str = ""
    part: str = ""

    def is_from(self, origin: Origin) -> bool:
        return (self.script in origin.scripts or self.script == origin.script) and self.part == origin.part

    def describes(self, path: Path) -> bool:
        """Whether the file at ``path`` exists with the recorded size and time."""
        try:
            found = path.stat()
        except OSError:
            return False
        is_of_that_time = abs(found.st_mtime_ns - self.modified_ns) <= _COARSEST_TIME_NS
        return found.st_size == self.num_bytes and is_of_that_time


class Journal:
    """Journal of one target folder, locked while open. Raises ``FolderBusy``, ``CannotWrite`` and ``DiskFull``."""

    def __init__(self, target: Path, *, journals: Path | None = None) -> None:
        """``journals`` is the folder of all journals."""
        self._target = target
        key = hashlib.sha256(os.path.normcase(target.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path = (journals or paths.data_folder() / "exports") / f"{key}.jsonl"
        self._lock: FileLock | None = None
        self._records: dict[str, list[FileRecord]] = {}

    def __enter__(self) -> Self:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock = FileLock(self._path.with_suffix(".lock"))
            except BlockingIOError:
                raise FolderBusy(
                    "Another export is writing to {folder}.",
                    remedy="Wait until it is finished, or choose another folder.",
                    folder=self._target,
                ) from None
        try:
            self.read()
            self._rewrite()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def current_record(self, file: PurePosixPath, recipe: str) -> FileRecord | None:
        """Return the record of ``file`` if it exists and another export with ``recipe`` would not change it."""
        for record in self._records.get(str(file), ()):
            if record.recipe == recipe and record.describes(self._target / file):
                return record
        return None

    def is_ours(self, file: PurePosixPath, origin: Origin) -> bool:
        """Whether ``file`` was exported from ``origin`` and not changed since."""
        records = self._records.get(str(file), ())
        return any(record.is_from(origin) and record.describes(self._target / file) for record in records)

    def is_used_by_others(self, origin: Origin) -> bool:
        """Return whether another script was exported into the folder. Requires no lock."""
        self.read()
        return any(record.script not in origin.scripts for records in self._records.values() for record in records)

    def files_of(self, origin: Origin) -> list[PurePosixPath]:
        """Return the files of ``origin`` that exist and were not changed since their export, in order of name."""
        return sorted(
            PurePosixPath(file)
            for file, records in self._records.items()
            if any(each.script in origin.scripts and each.describes(self._target / file) for each in records)
        )

    def append(self, record: FileRecord) -> None:
        """Append ``record`` and sync the journal to disk."""
        self._records.setdefault(record.file, []).append(record)
        with writing(self._path), self._path.open("a", encoding="utf-8", newline="\n") as journal:
            journal.write(_json_line(record))
            journal.flush()
            os.fsync(journal.fileno())

    def read(self) -> None:
        """Load the records. Requires no lock."""
        self._records = {}
        try:
            lines = self._path.read_text("utf-8", errors="replace").split("\n")  # JSON contains other line separators
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):  # incomplete after a crash, or of a later version
                record = FileRecord(**parse_json(line))
                self._records.setdefault(record.file, []).append(record)

    def _rewrite(self) -> None:
        """Drop records of missing files, and an incomplete last line, to which the next record would be appended."""
        self._records = {
            file: kept
            for file, records in self._records.items()
            if (kept := [record for record in records if record.describes(self._target / file)])
        }
        content = "".join(_json_line(each) for kept in self._records.values() for each in kept)
        with writing(self._path), atomic_path(self._path) as part:
            part.write_text(content, "utf-8")


def _json_line(record: FileRecord) -> str:
    return json.dumps(asdict(record), ensure_ascii=False) + "\n"


def foreign_files(folder: Path, journal: Journal, origins: Mapping[PurePosixPath, Origin]) -> tuple[PurePosixPath, ...]:
    """Return files of ``origins`` that exist in ``folder`` with another origin or with changes since their export."""
    return tuple(
        file for file, origin in origins.items() if os.path.lexists(folder / file) and not journal.is_ours(file, origin)
    )


def require_writable(folder: Path) -> None:
    """Raise ``CannotWrite`` or ``DiskFull`` if a file cannot be written into ``folder`` or its nearest existing parent."""
    folder = folder.absolute()
    existing = next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)
    with writing(folder):
        probe = new_part(existing)
        try:
            probe.write_bytes(b"test of free space")
        finally:
            probe.unlink(missing_ok=True)


class TargetFolder:
    """Writer of files into ``folder``. Records them in ``journal``, which is open. Files appear only when complete."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal
        self.conflicting_files: tuple[PurePosixPath, ...] = ()

    def open(self, origins: Mapping[PurePosixPath, Origin], *, replaces_files: bool) -> None:
        """Create the folders and check that all files can be written, before lines are spoken.

        ``origins`` maps each file to its origin. Raise ``CannotWrite`` or ``DiskFull``. ``conflicting_files`` then lists the
        files of other scripts or programs, if these are the reason.
        """
        for folder in {self._folder, *((self._folder / file).parent for file in origins)}:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            require_writable(folder)
        foreign = foreign_files(self._folder, self._journal, origins)
        for file in foreign:
            if not (self._folder / file).is_file():
                raise CannotWrite(
                    "{path} is not an ordinary file.", remedy="Choose another folder.", path=self._folder / file
                )
        if foreign and not replaces_files:
            self.conflicting_files = foreign
            raise CannotWrite(
                "{file} already exists in {folder}. It is from another script or other lines, or was changed."
                if len(foreign) == 1
                else "{file} and {others} more files already exist in {folder}. They are from another script or other "
                "lines, or were changed.",
                remedy="Choose another folder, or allow overwriting these files.",
                file=foreign[0],
                others=len(foreign) - 1,
                folder=self._folder,
            )

    def path(self, file: PurePosixPath) -> Path:
        return self._folder / file

    @contextlib.contextmanager
    def sound_file(
        self, file: PurePosixPath, sample_rate: int, encoding: SoundEncoding, tags: dict[str, str], origin: Origin
    ) -> Iterator[SoundFile]:
        """Yield an audio file, which is deleted at the end of the block unless ``SoundFile.complete`` was called."""
        writer = AudioWriter(self._folder / file, sample_rate, encoding=encoding, tags=tags)
        try:
            yield SoundFile(file, writer, sample_rate, self._journal, origin)
        finally:
            writer.discard()

    @contextlib.contextmanager
    def audiobook(
        self,
        file: PurePosixPath,
        sample_rate: int,
        facts: BookFacts,
        recipe: str,
        origin: Origin,
        *,
        seal: Callable[[Path], None] | None = None,
    ) -> Iterator[AudiobookWriter]:
        """Yield a writer. The audiobook appears complete at the end of the block, or not at all if the block raises.

        ``seal`` is called with the path of the complete part file, which it may change.
        """
        path = self._folder / file
        with contextlib.ExitStack() as whole, contextlib.ExitStack() as content:
            with writing(path):
                part = whole.enter_context(atomic_path(path))
                book = content.enter_context(write_m4b(part, sample_rate, facts))
            yield _Audiobook(book, path)
            with writing(path):
                content.close()
                if seal is not None:
                    seal(part)
                found = part.stat()
                num_samples = facts.chapters[-1].end_samples
                self._journal.append(
                    FileRecord(
                        str(file),
                        recipe,
                        found.st_size,
                        found.st_mtime_ns,
                        num_samples,
                        sample_rate,
                        script=origin.script,
                        part=origin.part,
                    )
                )
                whole.close()

    def write_text(
        self, file: PurePosixPath, text: str, recipe: str, origin: Origin, *, encoding: str = "utf-8"
    ) -> None:
        """Write ``text`` without converting its line endings."""
        path = self._folder / file
        with writing(path), atomic_path(path) as part:
            part.write_text(text, encoding=encoding, newline="")
            found = part.stat()
            self._journal.append(
                FileRecord(str(file), recipe, found.st_size, found.st_mtime_ns, script=origin.script, part=origin.part)
            )


@dataclass(frozen=True, slots=True)
class _Audiobook:
    """An audiobook being written. Only its own errors are errors of its file, not those of the audio's source."""

    _book: AudiobookWriter
    _path: Path

    def write(self, samples: Samples) -> None:
        with writing(self._path):
            self._book.write(samples)


@dataclass(slots=True)
class SoundFile:
    """An audio file being written. It appears under its name once ``complete`` is called."""

    _file: PurePosixPath
    _writer: AudioWriter
    _sample_rate: int
    _journal: Journal
    _origin: Origin
    num_samples: int = 0

    def write(self, samples: Samples) -> None:
        self._writer.write(samples)
        self.num_samples += len(samples)

    def complete(
        self,
        recipe: str,
        *,
        loudness_lufs: float | None,
        true_peak_dbtp: float | None,
        seal: Callable[[Path], None] | None = None,
    ) -> FileRecord:
        """Record the file in the journal, then rename it. A crash in between leaves a harmless record.

        ``seal`` is called with the path of the complete part file, which it may change.
        """
        found = self._writer.finish(seal)
        record = FileRecord(
            file=str(self._file),
            recipe=recipe,
            num_bytes=found.st_size,
            modified_ns=found.st_mtime_ns,
            num_samples=self.num_samples,
            sample_rate=self._sample_rate,
            loudness_lufs=loudness_lufs,
            true_peak_dbtp=true_peak_dbtp,
            script=self._origin.script,
            part=self._origin.part,
        )
        self._journal.append(record)
        self._writer.close()
        return record
