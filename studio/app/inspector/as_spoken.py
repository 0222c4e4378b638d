"""What the model will really read: the text with numbers and signs in words, worked out in the worker."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.bridge import WorkerBridge
from studio.app.error_words import error_words
from studio.errors import StudioError

_PATIENCE_MILLISECONDS = 300


class AsSpoken(QObject):
    """``show`` asks, ``ready`` answers, for the last text only."""

    ready = Signal(str)

    def __init__(self, bridge: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._wanted = ""
        self._working: asyncio.Task[None] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MILLISECONDS)
        self._patience.timeout.connect(self._begin)

    def show(self, text: str) -> None:
        """Answers a moment after the last key."""
        self._wanted = text
        self._patience.start()

    def _begin(self) -> None:
        if self._working is None:
            self._working = self._bridge.run(self._work())
            self._working.add_done_callback(self._rest)

    def _rest(self, _: object) -> None:
        self._working = None

    async def _work(self) -> None:
        while True:
            text = self._wanted
            try:
                words = await self._bridge.spell_out(text) if text.strip() else ""
            except StudioError as error:
                words = error_words(error)
            if text == self._wanted:
                self.ready.emit(words)
                return
