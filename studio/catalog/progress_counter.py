"""Progress of hashing and copying, where the total size is known in advance."""

from __future__ import annotations

from studio.catalog.cancellation import CancelToken
from studio.catalog.progress import OnProgress, Phase, Progress, SpeedMeter


class ProgressCounter:
    """Counts processed bytes, reports them, and checks for cancellation."""

    def __init__(self, phase: Phase, total_bytes: int, stop: CancelToken, on_progress: OnProgress) -> None:
        self._phase = phase
        self._total_bytes = total_bytes
        self._stop = stop
        self._on_progress = on_progress
        self._speed = SpeedMeter()
        self._done_bytes = 0
        self._file, self._file_bytes, self._file_size_bytes = "", 0, 0

    def begin(self, file: str, size_bytes: int) -> None:
        self._file, self._file_bytes, self._file_size_bytes = file, 0, size_bytes
        self.add(0)

    def add(self, num_bytes: int) -> None:
        """Count and report bytes. Raise ``DownloadCancelled``."""
        self._stop.check()
        self._speed.add(num_bytes)
        self._done_bytes += num_bytes
        self._file_bytes += num_bytes
        remaining_bytes = self._total_bytes - self._done_bytes
        self._on_progress(
            Progress(
                self._phase,
                self._file,
                self._file_bytes,
                self._file_size_bytes,
                self._done_bytes,
                self._total_bytes,
                self._speed.bytes_per_second,
                self._speed.remaining_seconds(remaining_bytes),
            )
        )
