"""Playback of the script line by line: stored takes, and takes that are being generated."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.playback.audio_player import AudioPlayer
from studio.app.playback.take_audio import read_take
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
from studio.app.synthesis.take_synthesis import TakeSynthesis
from studio.audio.player import PlaybackEnd
from studio.errors import StudioError


class ScriptPlayer(QObject):
    """Plays the lines in the current order of the script, skipping notes and lines without a take or a job."""

    line_changed = Signal(str)
    ended = Signal()
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        editor: ProjectEditor,
        queue: SynthesisQueue,
        transport: AudioPlayer,
        run: Callable[[Coroutine[Any, Any, Any]], object],
        parent: QObject | None = None,
    ) -> None:
        """``run`` starts a coroutine, like ``WorkerBridge.run``."""
        super().__init__(parent)
        self._run = run
        self._editor = editor
        self._queue = queue
        self._transport = transport
        self._line_id: str | None = None
        self._only: frozenset[str] | None = None  # ids of the lines to play, or None for all
        self._is_waiting = False
        # The running job whose audio is played. It may be retried if the worker ends or runs out of memory.
        self._job: SynthesisJob | None = None
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._next)
        transport.ended.connect(self._on_ended)
        queue.synthesis_started.connect(self._on_synthesis_started)
        queue.job_finished.connect(self._on_job_finished)

    @property
    def is_active(self) -> bool:
        return self._line_id is not None

    def start(self, line_id: str, *, only: frozenset[str] | None = None) -> None:
        """Play from ``line_id`` on: all lines, or ``only`` these."""
        self.stop()
        self._only = only
        self._play_line(line_id)

    def continue_after(self, line_id: str) -> None:
        """Play the next line after the audio of ``line_id``, which the caller plays."""
        self.stop()
        self._line_id = line_id

    def stop(self) -> None:
        """Stop after the current line, whose playback continues."""
        self._pause.stop()
        self._is_waiting, self._job = False, None
        if self._line_id is not None:
            self._line_id = None
            self.ended.emit()

    def _play_line(self, line_id: str) -> None:
        self._line_id = line_id
        self._is_waiting, self._job = False, None
        job, take = self._queue.job_of(line_id), self._editor.project.chosen_take(line_id)
        if not self._editor.project.line(line_id).is_spoken:
            self._next()
        elif job is not None:
            self._is_waiting = True
            if job.state is JobState.SPEAKING and job.synthesis is not None:
                self._on_synthesis_started(job.synthesis)
            self.line_changed.emit(line_id)
        elif take is not None:
            self.line_changed.emit(line_id)
            self._run(self._play(line_id, take.id))
        else:
            self._next()

    async def _play(self, line_id: str, take_id: str) -> None:
        try:
            take = await read_take(self._editor.project, take_id)
        except StudioError as error:
            self.failed.emit(error)
            self.stop()
            return
        if self._line_id == line_id:
            self._transport.play(take)

    def _on_synthesis_started(self, synthesis: TakeSynthesis) -> None:
        is_retry = self._job is not None and self._job.synthesis is synthesis
        if is_retry or (self._is_waiting and synthesis.line.id == self._line_id):
            self._is_waiting = False
            self._job = next(job for job in self._queue.running if job.synthesis is synthesis)
            self._transport.follow(synthesis)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.line_id != self._line_id or self._transport.is_playing or self._pause.isActive():
            return
        if job is self._job and self._was_played(job):
            self._start_pause()
        elif job is self._job or (self._is_waiting and self._queue.job_of(job.line_id) is None):
            self._next()  # the job failed or was cancelled before its audio was played

    def _on_ended(self, end: PlaybackEnd) -> None:
        if self._line_id is None:
            return
        playing = self._transport.now_playing
        if end is PlaybackEnd.FINISHED and playing is not None and playing.line_id == self._line_id:
            # An unfinished job may be retried, so wait for its end.
            if self._job is None or self._job.state.is_over:
                self._start_pause()
        elif end is PlaybackEnd.NO_DEVICE:
            self.stop()

    def _was_played(self, job: SynthesisJob) -> bool:
        playing, synthesis = self._transport.now_playing, job.synthesis
        return playing is not None and synthesis is not None and playing.take_id == synthesis.take_id

    def _start_pause(self) -> None:
        """Wait for the pause after the current line."""
        script = self._editor.script
        known = self._line_id is not None and self._line_id in script.index_of
        pause = script.line(self._line_id or "").pause_after_seconds if known else 0.0
        self._pause.start(round(1000 * pause))

    def _next(self) -> None:
        index = self._editor.script.index_of.get(self._line_id or "")
        below = () if index is None else self._editor.project.lines[index + 1 :]
        line = next((line for line in below if self._only is None or line.id in self._only), None)
        if line is None:
            self.stop()
        else:
            self._play_line(line.id)
