"""What the window has besides its first picture, made when that has been seen.

Decided: the desks of models and engines, the dictionary and what takes dropped files are imported and made after
the first paint, because their imports took as long as the rest of the start; nobody can ask for them earlier.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QVBoxLayout

from studio.app.background import run_in_background
from studio.app.dictionary.pronunciation import Pronunciation
from studio.app.drop_handler import DropHandler
from studio.app.engines.engines_controller import EnginesController
from studio.app.models.models_controller import ModelsController
from studio.app.panel_stack import PanelStack
from studio.app.synthesis.length_notices import LengthNotices
from studio.app.synthesis.voice_conversion import VoiceConversionController
from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.project.requests import library_versions

if TYPE_CHECKING:
    from studio.app.window import MainWindow

_WANTED_SOON = ("studio.worker.request_handle", "studio.voices.clip_intake", "studio.project.importing.script_file")


class DeferredParts(QObject):
    """Connects all it makes with what is there already; the map of the rest is in ``window.py``."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        session, script = window.session, window.script
        self._script = script
        self.pronunciation = Pronunciation(session, window)
        self.models = ModelsController(session, window.pages, window.notices, window.tasks, window)
        self.engines = EnginesController(session.bridge, window)
        self.recordings = VoiceConversionController(session, script, window)
        self.length_notices = LengthNotices(session, window.notices, window)
        self.drops = DropHandler(window.documents, window.voices.voice_importer, script, self.recordings, window)
        self._put_over_script(self.models.panel, self.engines.panel)
        self._connect_signals(window)
        run_in_background(self, _prepare_for_the_first_line, done=lambda _: None, failed=lambda _: None)

    def _put_over_script(self, *panels: CollapsiblePanel) -> None:
        centre = self._script.parentWidget()
        column = centre.layout() if centre is not None else None
        assert centre is not None, "the script stands in the centre"
        assert isinstance(column, QVBoxLayout), "of which it is a row"
        column.insertWidget(column.indexOf(self._script), PanelStack(panels, self._script, centre))
        for panel in panels:
            panel.focus_left.connect(self._script.view.setFocus)

    def _connect_signals(self, window: MainWindow) -> None:
        actions = window.actions_by_id
        actions["edit.pronunciation"].triggered.connect(self._open_pronunciation)
        actions["file.models"].triggered.connect(self.models.open_page)
        actions["file.engines"].triggered.connect(self.engines.open_page)
        actions["speak.recording"].triggered.connect(self.recordings.choose_file)
        window.status.engine_clicked.connect(lambda: self.models.open_engine_menu(window.status))
        self.models.model_chosen.connect(window.use_model)
        self.recordings.failed.connect(window.notices.show_error)
        self.pronunciation.failed.connect(window.notices.show_error)

    def _open_pronunciation(self) -> None:
        line, field = self._script.current_line, self._script.view.writing_field
        selected = field.textCursor().selectedText() if field is not None else ""
        self.pronunciation.open(line.voice if line else None, selected)


def _prepare_for_the_first_line() -> None:
    """On a thread of its own: on the window's, these imports would be a stall when somebody speaks or imports."""
    for name in _WANTED_SOON:
        import_module(name)
    library_versions()
