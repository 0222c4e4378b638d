"""Line after line, from one to the end: stored takes, and those that are still being made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.script.project_editor import ProjectEditor
from studio.app.speaking.playback import PlaybackEnd
from studio.app.speaking.queue import Order, SpeakQueue
from studio.app.speaking.sound import GrowingSound
from studio.app.speaking.take_making import TakeMaking
from studio.app.speaking.transport import Heard, Transport
from studio.errors import StudioError


class PlayAll(QObject):
    """Follows the script as it is when each line's turn comes; lines with no sound and no order are passed over."""

    line_changed = Signal(str)
    ended = Signal()
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        editor: ProjectEditor,
        queue: SpeakQueue,
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
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._next)
        transport.ended.connect(self._on_ended)
        queue.making_started.connect(self._on_making_started)
        queue.order_ended.connect(self._on_order_ended)

    @property
    def is_active(self) -> bool:
        return self._line_id is not None

    def start(self, line_id: str) -> None:
        self.stop()
        self._take_turn(line_id)

    def stop(self) -> None:
        """Does not stop what is being heard."""
        self._pause.stop()
        self._is_waiting = False
        if self._line_id is not None:
            self._line_id = None
            self.ended.emit()

    def _take_turn(self, line_id: str) -> None:
        self._line_id = line_id
        self._is_waiting = False
        order, take = self._queue.order_of(line_id), self._editor.project.chosen_take(line_id)
        if order is not None:
            self._is_waiting = True
            if order.making is not None:
                self._on_making_started(order.making)
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
            self._transport.play(Heard(line_id, take_id, GrowingSound.of(samples, sample_rate)))

    def _on_making_started(self, making: TakeMaking) -> None:
        if self._is_waiting and making.line.id == self._line_id:
            self._is_waiting = False
            self._transport.follow(making)

    def _on_order_ended(self, order: Order) -> None:
        """One that was never heard: it failed, or was taken back."""
        if order.line_id == self._line_id and not self._transport.is_playing and not self._pause.isActive():
            self._next()

    def _on_ended(self, end: PlaybackEnd) -> None:
        if self._line_id is None:
            return
        heard = self._transport.heard
        if end is PlaybackEnd.HEARD and heard is not None and heard.line_id == self._line_id:
            script = self._editor.script
            pause = script.line(self._line_id).pause_after_seconds if self._line_id in script.index_of else 0.0
            self._pause.start(round(1000 * pause))
        elif end is PlaybackEnd.NO_DEVICE:
            self.stop()

    def _next(self) -> None:
        lines = self._editor.project.lines
        index = self._editor.script.index_of.get(self._line_id or "")
        if index is None or index + 1 >= len(lines):
            self.stop()
        else:
            self._take_turn(lines[index + 1].id)
