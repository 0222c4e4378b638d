"""Composition root of the window: builds it in two stages around one session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.app.log_panel import LogHandler
from studio.app.session import Session
from studio.app.window import MainWindow

if TYPE_CHECKING:
    from studio.app.deferred_parts import DeferredParts


class WindowManager(QObject):
    """Own the main window and its deferred parts.

    ``closed`` is emitted when the window is closed and the session has ended.
    """

    closed = Signal()

    def __init__(self, session: Session, log: LogHandler, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._log = log
        self.window = self._build_window()
        self.parts: DeferredParts | None = None  # until the first paint

    def start_working(self, path: Path | None) -> None:
        """After the first paint: build the deferred parts, load the model, open ``path``, offer recovery."""
        self.build_parts()
        self._session.wake()
        self._session.bridge.load()
        assert self.parts is not None, "they have just been built"
        self.parts.pronunciation.load()
        self.parts.models.begin()
        if path is not None:
            self.open_file(path)
        self._session.bridge.run(self.window.documents.offer_recovery())

    def open_file(self, path: Path) -> None:
        """Open a file that was double-clicked or named on the command line. Call after ``start_working``."""
        assert self.parts is not None, "work has started"
        self.parts.drops.open(path)

    def build_parts(self) -> None:
        from studio.app.deferred_parts import DeferredParts  # noqa: PLC0415 - see its module docstring

        window = self.window
        parts = DeferredParts(
            self._session,
            actions=window.actions_by_id,
            pages=window.pages,
            documents=window.documents,
            script=window.script,
            voice_importer=window.voices.voice_importer,
            notices=window.notices,
            tasks=window.tasks,
            window=window,
        )
        window.add_panels(parts.models.panel, parts.engines.panel)
        window.status.engine_clicked.connect(lambda: parts.models.open_engine_menu(window.status))
        parts.models.model_chosen.connect(window.use_model)
        self.parts = parts

    def _build_window(self) -> MainWindow:
        window = MainWindow(self._session, self._log)
        window.closed.connect(self.closed)
        return window
