"""The folder that is exported into: files appear in it only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from studio.audio.encoding import SoundEncoding
from studio.audio.files import AudioWriter
from studio.audio.resampling import Samples
from studio.errors import CannotWrite
from studio.export.disk import writing
from studio.export.journal import FileRecord, Journal, Origin
from studio.storage.atomic_file import atomic_path, new_part


def foreign_files(folder: Path, journal: Journal, origins: Mapping[PurePosixPath, Origin]) -> tuple[PurePosixPath, ...]:
    """Return the keys of `origins` that exist in `folder` and come from another script or program, or were changed."""
    return tuple(
        file for file, origin in origins.items() if os.path.lexists(folder / file) and not journal.is_ours(file, origin)
    )


class TargetFolder:
    """Writes files into ``folder`` and records them in ``journal``, which is open."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal
        self.in_the_way: tuple[PurePosixPath, ...] = ()

    def open(self, origins: Mapping[PurePosixPath, Origin], *, replaces_files: bool) -> None:
        """Make the folders, clear what an interrupted export left, and check whether all files may be written.

        ``origins`` has an entry for each file. Raises ``CannotWrite`` and ``DiskFull`` now rather than after an hour
        of speaking; ``in_the_way`` are then files of other scripts and programs, if that is the reason.
        """
        files = tuple(origins)
        for folder in {self._folder, *((self._folder / file).parent for file in files)}:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
                probe = new_part(folder)
                try:
                    probe.write_bytes(b"test of free space")
                finally:
                    probe.unlink(missing_ok=True)
        foreign = foreign_files(self._folder, self._journal, origins)
        for file in foreign:
            if not (self._folder / file).is_file():
                raise CannotWrite(
                    "{path} is not an ordinary file.", remedy="Choose another folder.", path=self._folder / file
                )
        if foreign and not replaces_files:
            self.in_the_way = foreign
            raise CannotWrite(
                "{file} is in {folder} already: from another script, from other lines, or changed since."
                if len(foreign) == 1
                else "{file} and {others} more files are in {folder} already: from another script, from other lines, "
                "or changed since.",
                remedy="Choose another folder, or allow these files to be replaced.",
                file=foreign[0],
                others=len(foreign) - 1,
                folder=self._folder,
            )

    def path(self, file: PurePosixPath) -> Path:
        return self._folder / file

    def sound_file(
        self, file: PurePosixPath, sample_rate: int, encoding: SoundEncoding, tags: dict[str, str], origin: Origin
    ) -> SoundFile:
        writer = AudioWriter(self._folder / file, sample_rate, encoding=encoding, tags=tags)
        return SoundFile(file, writer, sample_rate, self._journal, origin)

    def write_text(
        self, file: PurePosixPath, text: str, recipe: str, origin: Origin, *, encoding: str = "utf-8"
    ) -> None:
        """Line ends as they are in ``text``."""
        path = self._folder / file
        with writing(path), atomic_path(path) as part:
            part.write_text(text, encoding=encoding, newline="")
            found = part.stat()
            record = FileRecord(
                str(file), recipe, found.st_size, found.st_mtime_ns, script=origin.script, part=origin.part
            )
            self._journal.remember(record)


class SoundFile:
    """A sound file that is being written; it has no name of its own until ``complete``. ``discard`` else."""

    def __init__(
        self, file: PurePosixPath, writer: AudioWriter, sample_rate: int, journal: Journal, origin: Origin
    ) -> None:
        self._file = file
        self._origin = origin
        self._writer = writer
        self._sample_rate = sample_rate
        self._journal = journal
        self._num_samples = 0

    def write(self, samples: Samples) -> None:
        self._writer.write(samples)
        self._num_samples += len(samples)

    def complete(self, recipe: str, *, loudness_lufs: float | None, true_peak_dbtp: float | None) -> FileRecord:
        """Written down first, named then: a crash between leaves a record of a file that is not there."""
        found = self._writer.finish()
        record = FileRecord(
            file=str(self._file),
            recipe=recipe,
            num_bytes=found.st_size,
            modified_ns=found.st_mtime_ns,
            num_samples=self._num_samples,
            sample_rate=self._sample_rate,
            loudness_lufs=loudness_lufs,
            true_peak_dbtp=true_peak_dbtp,
            script=self._origin.script,
            part=self._origin.part,
        )
        self._journal.remember(record)
        self._writer.close()
        return record

    def discard(self) -> None:
        """Leaves nothing behind, unless it is complete."""
        self._writer.discard()
