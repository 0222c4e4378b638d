"""Base of the bars above and below the script."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget


class ScriptBar(QWidget):
    """Bar that Esc closes. Hidden until it is opened."""

    def close_bar(self) -> None:
        raise NotImplementedError

    def _lay_out(self, *rows: tuple[QWidget, ...]) -> None:
        """Arrange the controls in ``rows``."""
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        for widgets in rows:
            row = QHBoxLayout()
            for widget in widgets:
                row.addWidget(widget)
            column.addLayout(row)

    def event(self, event: QEvent) -> bool:
        # Esc does not trigger shortcuts of the window.
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)
