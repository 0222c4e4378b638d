"""Journal of a target folder: which files were exported into it, so that they need not be made again.

A JSON object per line is appended for each file, after its part file is complete and before it is renamed. A line that a
crash left incomplete is ignored. A file counts as made if its size and time match the record. While a journal is open,
no other process can export into its folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from studio import paths
from studio.errors import FolderBusy
from studio.export.disk import writing
from studio.storage.atomic_file import atomic_path
from studio.storage.file_lock import FileLock
from studio.storage.json_input import parse_json

# FAT file systems store times in steps of two seconds, which shows only after mounting them again.
_COARSEST_TIME_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Origin:
    """The exported script, by the names of its file and its draft. ``part`` names its lines unless all are exported.

    A saved script has two names: that of its file, and that of the draft it was created as.
    """

    scripts: tuple[str, ...] = ()
    part: str = ""

    @property
    def script(self) -> str:
        return self.scripts[0] if self.scripts else ""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was when complete. ``recipe`` is a digest of everything that affects its content.

    Levels are set for audio files only. ``script`` and ``part`` are its :class:`Origin`, empty in journals of earlier
    versions.
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
        self.key = hashlib.sha256(os.path.normcase(target.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[
            :16
        ]
        folder = journals or paths.data_folder() / "exports"
        self._path = folder / f"{self.key}.jsonl"
        self._lock_path = folder / f"{self.key}.lock"
        self._lock: FileLock | None = None
        self._records: dict[str, list[FileRecord]] = {}

    def __enter__(self) -> Self:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock = FileLock(self._lock_path)
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.release()

    def made(self, file: PurePosixPath, recipe: str) -> FileRecord | None:
        """Return the record of an existing file that would be made identically, or None."""
        for record in self._records.get(str(file), ()):
            if record.recipe == recipe and record.describes(self._target / file):
                return record
        return None

    def is_ours(self, file: PurePosixPath, origin: Origin) -> bool:
        """Whether the existing file was exported from ``origin`` and not changed since."""
        records = self._records.get(str(file), ())
        return any(record.is_from(origin) and record.describes(self._target / file) for record in records)

    def is_used_by_others(self, origin: Origin) -> bool:
        """Whether another script was exported into the folder. Requires no lock."""
        self.read()
        return any(record.script not in origin.scripts for records in self._records.values() for record in records)

    def remember(self, record: FileRecord) -> None:
        """Append ``record`` and sync the journal to disk."""
        self._records.setdefault(record.file, []).append(record)
        with writing(self._path), self._path.open("a", encoding="utf-8", newline="\n") as journal:
            journal.write(_line_of(record))
            journal.flush()
            os.fsync(journal.fileno())

    def read(self) -> None:
        """Load the records. Requires no lock."""
        self._records = {}
        try:
            lines = self._path.read_text("utf-8", errors="replace").splitlines()
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
        content = "".join(_line_of(each) for kept in self._records.values() for each in kept)
        with writing(self._path), atomic_path(self._path) as part:
            part.write_text(content, "utf-8")


def _line_of(record: FileRecord) -> str:
    return json.dumps(asdict(record), ensure_ascii=False) + "\n"
