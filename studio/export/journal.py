"""What has been exported into a folder, remembered so that it need not be made again.

One JSON object a line is appended for each file, after the file is complete under its temporary name
and before it gets its own; a line torn by a crash is passed over. A file counts as made if it has the
size and the time that were written down. While a journal is open nobody else can export into its folder.
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

# A memory stick counts in steps of two seconds, which shows only once it has been taken out and put back.
_COARSEST_TIME_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Origin:
    """The script that is exported, by the names it is known by; ``part`` names its lines if they are not all of them.

    A script has two names once it has been saved: that of its file, and that of the draft it was before.
    """

    scripts: tuple[str, ...] = ()
    part: str = ""

    @property
    def script(self) -> str:
        return self.scripts[0] if self.scripts else ""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was when it was complete. ``recipe`` stands for what decided its content; levels of sound only.

    ``script`` and ``part`` are its :class:`Origin`; empty in journals of earlier versions.
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
    """Of one target folder. A context manager: open means locked. Raises ``FolderBusy``, ``CannotWrite``, ``DiskFull``."""

    def __init__(self, target: Path, *, journals: Path | None = None) -> None:
        """``journals``: where the journals of all target folders lie."""
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
                    "Another export is writing into {folder}.",
                    remedy="Wait until it is done, or choose another folder.",
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
        """The record of a file that is there and would come out the same."""
        for record in self._records.get(str(file), ()):
            if record.recipe == recipe and record.describes(self._target / file):
                return record
        return None

    def is_ours(self, file: PurePosixPath, origin: Origin) -> bool:
        """Whether the file that is there was exported from there, and has not been changed since."""
        records = self._records.get(str(file), ())
        return any(record.is_from(origin) and record.describes(self._target / file) for record in records)

    def is_used_by_others(self, origin: Origin) -> bool:
        """Whether another script was exported into the folder. Needs no lock."""
        self.read()
        return any(record.script not in origin.scripts for records in self._records.values() for record in records)

    def remember(self, record: FileRecord) -> None:
        """On the disk when this returns."""
        self._records.setdefault(record.file, []).append(record)
        with writing(self._path), self._path.open("a", encoding="utf-8", newline="\n") as journal:
            journal.write(_line_of(record))
            journal.flush()
            os.fsync(journal.fileno())

    def read(self) -> None:
        """Load the records. Needs no lock."""
        self._records = {}
        try:
            lines = self._path.read_text("utf-8", errors="replace").splitlines()
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(ValueError, TypeError):  # torn by a crash, or of a later version
                record = FileRecord(**parse_json(line))
                self._records.setdefault(record.file, []).append(record)

    def _rewrite(self) -> None:
        """Forgets files that are gone, and a torn last line, which the next one would be appended to."""
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
