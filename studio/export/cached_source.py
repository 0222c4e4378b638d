"""On-disk cache of speech made for exports, so that an interrupted or repeated export does not speak it again."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from studio import paths
from studio.audio.files import AudioWriter, read_audio
from studio.audio.waveform import Waveform
from studio.errors import CannotWrite, DiskFull, UnreadableClip
from studio.export.disk import writing
from studio.export.speech_source import ExportItem, SpeechSource

_MOST_BYTES = 4 * 2**30


class CachedSource:
    """A ``SpeechSource`` that caches the waveforms of another one. Deletes the least recently used at its limit."""

    def __init__(self, source: SpeechSource, *, folder: Path | None = None, most_bytes: int = _MOST_BYTES) -> None:
        self._source = source
        self._folder = folder or paths.cache_folder() / "exported-speech"
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._clear(most_bytes)

    def needs_speaking(self, item: ExportItem) -> bool:
        return self._source.needs_speaking(item) and not self._path(item).is_file()

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._source.expect([item for item in items if self.needs_speaking(item)])

    def waveform_of(self, item: ExportItem) -> Waveform:
        if not self._source.needs_speaking(item):
            return self._source.waveform_of(item)
        path = self._path(item)
        with contextlib.suppress(UnreadableClip):  # missing or damaged
            kept = read_audio(path)
            os.utime(path)
            return kept
        spoken = self._source.waveform_of(item)
        self._keep(path, spoken)
        return spoken

    def _keep(self, path: Path, spoken: Waveform) -> None:
        try:
            with AudioWriter(path, spoken.sample_rate, is_float=True) as writer:
                writer.write(spoken.samples)
        except (DiskFull, CannotWrite) as error:
            # Without the cache, a joined file or a resumed export would speak all lines again.
            raise type(error)(
                "The speech for this export cannot be stored in {folder}: the disk is full or write-protected.",
                remedy="Free some space and export again; finished files are kept.",
                folder=self._folder,
            ) from error

    def _path(self, item: ExportItem) -> Path:
        return self._folder / f"{hashlib.sha256(item.key.encode('utf-8')).hexdigest()}.wav"

    def _clear(self, most_bytes: int) -> None:
        with contextlib.suppress(OSError):
            found = sorted(((path.stat(), path) for path in self._folder.iterdir()), key=lambda pair: -pair[0].st_mtime)
            total = 0
            for stat, path in found:
                total += stat.st_size
                if total > most_bytes:
                    path.unlink()
