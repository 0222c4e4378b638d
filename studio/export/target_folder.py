"""Target folder of an export. Files appear in it only when complete."""

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
    """Return the files of ``origins`` that exist in ``folder`` and come from another script or program, or were changed."""
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
        """Create the folders and check that all files can be written.

        ``origins`` has an entry for each file. Raise ``CannotWrite`` or ``DiskFull`` before the long work of speaking.
        If files of other scripts or programs are the reason, ``in_the_way`` lists them.
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
                "{file} already exists in {folder}: from another script or other lines, or changed since."
                if len(foreign) == 1
                else "{file} and {others} more files already exist in {folder}: from another script or other lines, "
                "or changed since.",
                remedy="Choose another folder, or allow overwriting these files.",
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
        """Write ``text`` with its line ends."""
        path = self._folder / file
        with writing(path), atomic_path(path) as part:
            part.write_text(text, encoding=encoding, newline="")
            found = part.stat()
            record = FileRecord(
                str(file), recipe, found.st_size, found.st_mtime_ns, script=origin.script, part=origin.part
            )
            self._journal.remember(record)


class SoundFile:
    """An audio file being written. It appears under its name on ``complete``."""

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
        """Record the file in the journal, then rename it. A crash in between leaves a harmless record."""
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
        """Delete the file unless it is complete."""
        self._writer.discard()
