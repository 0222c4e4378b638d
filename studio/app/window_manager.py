"""Builds the window in two stages around one session, and rebuilds it when the language changes.

Decision: when the language changes, the window is replaced; queue, worker, playback, project and undo stack belong to
the session and continue. Reason: widgets set their texts once, when they are created; updating the texts of an existing
widget would need a second method in each. Alternative: restarting the program, which interrupts synthesis and playback.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from studio.app.background import run_in_background
from studio.app.log_panel import LogHandler
from studio.app.session import Session
from studio.app.translation import chosen_locale, use_language
from studio.app.window import MainWindow
from studio.settings import LANGUAGE, SERVES_AT_START

if TYPE_CHECKING:
    from studio.app.deferred_parts import DeferredParts

_DEFERRED_MODULES = ("studio.worker.client", "studio.worker.process", "studio.app.deferred_parts")


class WindowManager(QObject):
    """Owner of the main window and its deferred parts.

    ``closed`` is emitted when the window is closed and the session has ended.
    """

    closed = Signal()

    def __init__(self, session: Session, log: LogHandler, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._log = log
        self.window = self._build_window()
        self.parts: DeferredParts | None = None  # until the first paint
        session.settings_changed.connect(self._on_settings_changed)

    def import_parts(self, then: Callable[[], object]) -> None:
        """Import what ``start_working`` needs, in the background, then call ``then``. Call after the first paint.

        Without this, the window would not respond to the first keys and clicks for a third of a second.
        """

        def proceed(_: object) -> None:  # after a failed import too: ``then`` reports the error
            then()

        run_in_background(self, _import_parts, done=proceed, failed=proceed)

    def start_working(self, path: Path | None) -> None:
        """Build the deferred parts, load the model, open ``path`` and offer recovery, all after the first paint."""
        self._session.begin()
        parts = self.build_parts()
        self._session.model_selection.load_styles()
        parts.pronunciation.load()
        self._session.bridge.start_loading()
        parts.models.begin()
        if self._session.settings[SERVES_AT_START]:
            self._session.parts.serving.switch(is_on=True)
        if path is not None:
            self.open_file(path)
        self.window.documents.offer_recovery()
        parts.export_resuming.begin()

    def open_file(self, path: Path) -> None:
        """Open a file that was double-clicked or named on the command line. Call after ``start_working``."""
        assert self.parts is not None, "work has started"
        self.parts.drops.open(path)

    def build_parts(self) -> DeferredParts:
        from studio.app.deferred_parts import DeferredParts  # noqa: PLC0415 - see its module docstring

        self.parts = DeferredParts(self.window)
        return self.parts

    def _build_window(self) -> MainWindow:
        window = MainWindow(self._session, self._log)
        window.closed.connect(self.closed)
        return window

    def _on_settings_changed(self, changed: Container[object]) -> None:
        if LANGUAGE in changed:
            self._session.bridge.run(self._follow_language())

    async def _follow_language(self) -> None:
        """Replace the window once it has finished opening or saving files."""
        await self.window.documents.finished()
        application = cast("QApplication", QApplication.instance())
        if not self.window.is_closing and use_language(application, chosen_locale(self._session.settings)):
            self._replace_window()

    def _replace_window(self) -> None:
        old, old_parts = self.window, self.parts
        assert old_parts is not None, "settings are changed after the first paint"
        old.release()
        old_parts.release()
        self._clear_step_names()
        self.window = self._build_window()
        self._session.model_selection.load_styles()
        self.window.take_over(old)
        parts = self.build_parts()
        parts.models.begin()
        self.window.show()
        parts.open_pages_of(old_parts)
        old.hide()
        old.deleteLater()

    def _clear_step_names(self) -> None:
        """Remove the names of undo steps, which are in the previous language."""
        stack = self._session.editor.undo_stack
        for number in range(stack.count()):
            stack.command(number).setText("")


def _import_parts() -> None:
    for name in _DEFERRED_MODULES:
        import_module(name)
