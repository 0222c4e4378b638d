"""Recording of a take during synthesis: the audio is written to the working copy as it arrives."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from studio.audio.resampling import Samples
from studio.errors import StudioError
from studio.pipeline.request import SentenceEvidence, SynthesisReport
from studio.project.check_records import evidence_json
from studio.project.storage import Storage
from studio.project.takes import Take

_log = logging.getLogger(__name__)


class TakeRecorder:
    """A recording from ``Project.begin_take`` until ``finish``, ``stop`` or ``discard``.

    ``AddTake`` adds the resulting take to the script. Until then, only recovery of the draft finds it. Audio
    that cannot be written because the disk is full is kept in memory. It is written at the end of the recording, or
    with the next change of the project that can be written.
    """

    def __init__(
        self, take: Take, storage: Storage, writer: ThreadPoolExecutor, on_end: Callable[[TakeRecorder], None]
    ) -> None:
        self._take = take
        self._storage = storage
        self._writer = writer
        self._on_end = on_end
        self._lock = threading.Lock()
        self._unwritten: deque[tuple[int, Samples]] = deque()
        self._num_blocks = 0
        self._num_samples = 0
        self._is_open = True
        self._has_write_error = False
        self._ended_take: Take | None = None
        self._evidence: tuple[SentenceEvidence, ...] = ()
        self._is_waiting = False

    @property
    def take_id(self) -> str:
        return self._take.id

    @property
    def number(self) -> int:
        """The number of the take within its line."""
        return self._take.number

    @property
    def line_id(self) -> str:
        return self._take.line_id

    @property
    def audio_seconds(self) -> float:
        return self._num_samples / self._take.sample_rate

    @property
    def is_waiting(self) -> bool:
        """Whether the recording has ended but could not be written."""
        return self._is_open and self._is_waiting

    def append(self, samples: Samples) -> None:
        """Append ``samples`` (n,) at the sample rate of the take, without waiting for the disk. Thread-safe."""
        block = np.array(samples, np.float32)  # the caller may reuse the memory
        with self._lock:
            if not self._is_open or not len(block):
                return
            self._unwritten.append((self._num_blocks, block))
            self._num_blocks += 1
            self._num_samples += len(block)
        self._writer.submit(self._write_pending)

    def finish(self, report: SynthesisReport | None = None, *, num_underruns: int | None = None) -> Take:
        """Return the complete take. Raise ``DiskFull`` or ``CannotWrite``, after which the call can be repeated."""
        return self._end(is_complete=True, report=report, num_underruns=num_underruns)

    def stop(self, *, num_underruns: int | None = None) -> Take | None:
        """Return an incomplete take of the audio so far, or None if there is no audio.

        Raises the errors of ``finish``.
        """
        if not self._num_samples:
            self.discard()
            return None
        return self._end(is_complete=False, report=None, num_underruns=num_underruns)

    def discard(self) -> None:
        """End the recording without a take, and delete its audio."""
        with self._lock:
            if not self._is_open:
                return
            self._is_open = False
            self._unwritten.clear()
        try:
            self._writer.submit(self._storage.drop_recording, self.take_id).result()
        finally:
            self._on_end(self)

    def _end(self, *, is_complete: bool, report: SynthesisReport | None, num_underruns: int | None) -> Take:
        assert self._is_open, "a recording ends once"
        take = replace(
            self._take, audio_seconds=self.audio_seconds, is_complete=is_complete, num_underruns=num_underruns
        )
        if report is not None:
            parameters = replace(
                take.parameters,
                spoken_text="".join(report.spoken_text) or take.parameters.spoken_text,
                mode=report.mode.value,
                engine=report.engine,
                odd_length=report.odd_lengths[0].verdict if report.odd_lengths else None,
                quality=report.quality.quality,
                quality_distortion_db=report.quality.distortion_db,
            )
            take = replace(
                take,
                parameters=parameters,
                first_audio_seconds=report.first_audio_seconds,
                real_time_factor=report.real_time_factor,
                network=report.network,
            )
        self._ended_take, self._is_waiting = take, False
        self._evidence = report.evidence if report is not None else ()
        try:
            return self.retry_finish()
        except StudioError:
            self._is_waiting = True  # set last, so that no other thread retries at the same time
            raise

    def retry_finish(self) -> Take:
        """Write and return a take that could not be written before. Raises the errors of ``finish``."""
        assert self._ended_take is not None, "the recording has not ended"
        self._writer.submit(self._write).result()
        if self._evidence:
            self._storage.put_evidence(self.take_id, evidence_json(self._evidence))
        self._storage.put_recording(self._ended_take)
        with self._lock:
            self._is_open = False
        self._on_end(self)
        return self._ended_take

    def _write_pending(self) -> None:
        if self._has_write_error:
            return
        try:
            self._write()
        except StudioError as error:
            self._has_write_error = True  # ``_end`` writes it again
            _log.warning("audio of take %s is kept in memory: %s", self.take_id, error)

    def _write(self) -> None:
        """Write all pending blocks. Runs on the writer thread."""
        with self._lock:
            blocks = list(self._unwritten)
        if blocks:
            self._storage.add_sound(self.take_id, blocks)
            with self._lock:
                for _ in blocks:
                    self._unwritten.popleft()
