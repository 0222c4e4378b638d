"""Commands on the quality of the script and on drafts."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.quality.quality_dialog import QualityDialog
from studio.app.script.script_page import ScriptPage
from studio.app.session import Session
from studio.app.widgets.dialogs import open_dialog


class DraftsController(QObject):
    """Runs the commands for the script and its selected lines."""

    message = Signal(str)  # for the status bar

    def __init__(self, session: Session, script: ScriptPage, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._script = script
        self._window = window

    def make_final(self) -> None:
        """Speak the chosen takes of the selected lines exactly, if they are drafts."""
        if not self._session.synthesis.finish_drafts(self._script.selected_line_ids):
            self.message.emit(self.tr("The selected lines have no draft that can be made final."))

    def open_quality(self) -> None:
        dialog = QualityDialog(self._session.editor, self._window)
        open_dialog(dialog)
