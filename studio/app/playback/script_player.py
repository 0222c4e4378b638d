"""Line after line, from one to the end: stored takes, and those that are still being made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.playback.transport import NowPlaying, Transport
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
from studio.app.synthesis.take_synthesis import TakeSynthesis
from studio.audio.player import PlaybackEnd
from studio.audio.streaming_audio import StreamingAudio
from studio.errors import StudioError


class ScriptPlayer(QObject):
    """Follows the script as it is when each line's turn comes; lines with no sound and no order are passed over."""

    line_changed = Signal(str)
    ended = Signal()
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        editor: ProjectEditor,
        queue: SynthesisQueue,
        transport: Transport,
        run: Callable[[Coroutine[Any, Any, Any]], object],
        parent: QObject | None = None,
    ) -> None:
        """``run`` lets work go on beside the window (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._run = run
        self._editor = editor
        self._queue = queue
        self._transport = transport
        self._line_id: str | None = None
        self._is_waiting = False
        # What is followed while it is being made. It may be made anew: the worker died, or had no memory for it.
        self._order: SynthesisJob | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._next)
        transport.ended.connect(self._on_ended)
        queue.making_started.connect(self._on_synthesis_started)
        queue.job_finished.connect(self._on_job_finished)

    @property
    def is_active(self) -> bool:
        return self._line_id is not None

    def start(self, line_id: str) -> None:
        self.stop()
        self._take_turn(line_id)

    def stop(self) -> None:
        """Does not stop what is being heard."""
        self._pause.stop()
        self._is_waiting, self._order = False, None
        if self._line_id is not None:
            self._line_id = None
            self.ended.emit()

    def _take_turn(self, line_id: str) -> None:
        self._line_id = line_id
        self._is_waiting, self._order = False, None
        job, take = self._queue.job_of(line_id), self._editor.project.chosen_take(line_id)
        if job is not None:
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
            samples = await asyncio.to_thread(self._editor.project.samples_of, take_id)
            sample_rate = self._editor.project.take(take_id).sample_rate
        except StudioError as error:
            self.failed.emit(error)
            self.stop()
            return
        if self._line_id == line_id:
            self._transport.play(NowPlaying(line_id, take_id, StreamingAudio.of(samples, sample_rate)))

    def _on_synthesis_started(self, making: TakeSynthesis) -> None:
        is_made_anew = self._order is not None and self._order.synthesis is making
        if is_made_anew or (self._is_waiting and making.line.id == self._line_id):
            self._is_waiting = False
            self._order = next(job for job in self._queue.speaking if job.synthesis is making)
            self._transport.follow(making)

    def _on_job_finished(self, job: SynthesisJob) -> None:
        if job.line_id != self._line_id or self._transport.is_playing or self._pause.isActive():
            return
        if job is self._order and self._was_heard(job):
            self._rest()
        elif job is self._order or (self._is_waiting and self._queue.job_of(job.line_id) is None):
            self._next()  # it was never heard: it failed, or was taken back

    def _on_ended(self, end: PlaybackEnd) -> None:
        if self._line_id is None:
            return
        heard = self._transport.heard
        if end is PlaybackEnd.FINISHED and heard is not None and heard.line_id == self._line_id:
            # Else it may be that this was not all: the end of the order tells.
            if self._order is None or self._order.state.is_over:
                self._rest()
        elif end is PlaybackEnd.NO_DEVICE:
            self.stop()

    def _was_heard(self, job: SynthesisJob) -> bool:
        heard, making = self._transport.heard, job.synthesis
        return heard is not None and making is not None and heard.take_id == making.take_id

    def _rest(self) -> None:
        """Until the next line."""
        script = self._editor.script
        known = self._line_id is not None and self._line_id in script.index_of
        pause = script.line(self._line_id or "").pause_after_seconds if known else 0.0
        self._pause.start(round(1000 * pause))

    def _next(self) -> None:
        lines = self._editor.project.lines
        index = self._editor.script.index_of.get(self._line_id or "")
        if index is None or index + 1 >= len(lines):
            self.stop()
        else:
            self._take_turn(lines[index + 1].id)
