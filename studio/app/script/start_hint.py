"""Hint in an empty script: what to type, drop and paste, and buttons that import a text or open the sample."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label


class StartHint(QWidget):
    """A hint with a button for each of ``actions``. The mouse reaches the script beside the buttons."""

    def __init__(self, actions: Iterable[QAction], parent: QWidget) -> None:
        super().__init__(parent)
        words = text_label(
            self.tr(
                "Write a line and press Ctrl+Enter to hear it.\n\n"
                "Paste a text to split it into lines.\n"
                "Drop a recording here to create a voice."
            ),
            "quiet",
        )
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.buttons = [self._button(action) for action in actions]
        row = in_row(STRETCH, *self.buttons, STRETCH)
        in_column(words, row, parent=self, spacing=2 * GRID)

    def _button(self, action: QAction) -> QPushButton:
        button = QPushButton(action.icon(), action.text(), autoDefault=False)
        button.setToolTip(action.toolTip())
        button.clicked.connect(action.trigger)
        return button
