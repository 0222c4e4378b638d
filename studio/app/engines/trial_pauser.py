"""Pauses the trials of engines while the user writes, listens or downloads a model."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer

from studio.app.bridge import EngineState
from studio.app.session import Session
from studio.engines.overview import EngineAction

_QUIET_MILLISECONDS = 10_000


class TrialPauser(QObject):
    """Tells the worker when the user becomes active, and when nothing has happened for a while."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._is_aside = False
        self._timer = QTimer(self, singleShot=True, interval=_QUIET_MILLISECONDS)
        self._timer.timeout.connect(self._on_quiet)
        session.editor.script_changed.connect(self._on_activity)
        session.playback.player.started.connect(self._on_activity)
        session.parts.models.task_changed.connect(self._on_task_changed)

    def _on_activity(self) -> None:
        self._timer.start()
        self._send(is_aside=True)

    def _on_task_changed(self) -> None:
        if self._session.parts.models.current is not None:
            self._on_activity()

    def _on_quiet(self) -> None:
        if self._session.parts.models.current is not None or self._session.playback.player.is_playing:
            self._timer.start()
        else:
            self._send(is_aside=False)

    def _send(self, *, is_aside: bool) -> None:
        """Send the state if it changed. Does not load a model."""
        bridge = self._session.bridge
        if bridge.engine.state is not EngineState.READY:
            self._is_aside = False  # a newly loaded model has not received the state
        elif is_aside != self._is_aside:
            self._is_aside = is_aside
            if asyncio._get_running_loop() is None:  # the program is ending
                return
            action = EngineAction.SUSPEND_FOR_USER if is_aside else EngineAction.RESUME_AFTER_USER
            bridge.run(bridge.manage_engines(action))
