"""What the model will really read: the words of the dictionary in their places, numbers and signs in words."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.bridge import Engine, EngineState, WorkerBridge
from studio.app.inspector.script_support import unsupported_script_hint
from studio.errors import StudioError
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line
from studio.project.requests import request_text

_PATIENCE_MILLISECONDS = 300


class NormalizedTextPreview(QObject):
    """``show`` asks, ``ready`` answers, for the last text only: the words, or why there are none; and what to doubt."""

    ready = Signal(object, str)  # str or StudioError; a sentence or nothing

    def __init__(self, bridge: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._line: Line | None = None
        self._dictionary = PronunciationDictionary()
        self._working: asyncio.Task[None] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MILLISECONDS)
        self._patience.timeout.connect(self._begin)
        bridge.engine_changed.connect(self._on_engine_changed)

    def show(self, line: Line | None, dictionary: PronunciationDictionary) -> None:
        """Answers a moment after the last key."""
        self._line, self._dictionary = line, dictionary
        self._patience.start()

    def stop(self) -> None:
        """Nothing is asked for any more: the window closes."""
        self._patience.stop()
        if self._working is not None:
            self._working.cancel()

    def _on_engine_changed(self, engine: Engine) -> None:
        """Another model may be told otherwise; for one that goes to sleep no process is woken."""
        if engine.state is EngineState.READY:
            self._patience.start()

    @property
    def _wanted(self) -> str:
        engine = self._bridge.engine.description
        generation = engine.generation if engine is not None else ""
        return "" if self._line is None else request_text(self._line, self._dictionary, generation)

    def _begin(self) -> None:
        if self._working is None:
            self._working = self._bridge.run(self._work())
            self._working.add_done_callback(self._rest)

    def _rest(self, _: object) -> None:
        self._working = None

    async def _work(self) -> None:
        while True:
            text = self._wanted
            answer: str | StudioError
            try:
                answer = await self._bridge.spell_out(text) if text.strip() else ""
            except StudioError as error:
                answer = error
            if text == self._wanted:
                self._show(answer)
                return

    def _show(self, answer: str | StudioError) -> None:
        engine = self._bridge.engine.description
        doubt = (
            unsupported_script_hint(engine.model_name, answer) if engine is not None and isinstance(answer, str) else ""
        )
        self.ready.emit(answer, doubt)
