"""Log of the session, for bug reports."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from studio import paths
from studio.app.widgets.controls import in_column, in_row
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.screen_fit import MIN_LIST_PIXELS

_MAX_LINES = 2_000


class _Messenger(QObject):
    """Passes records from any thread to the GUI thread."""

    written = Signal(str)


class LogHandler(logging.Handler):
    """Logging handler that keeps the last lines for panels opened later."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.messenger = _Messenger()
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(asctime)s  %(levelname)s  %(name)s: %(message)s", "%H:%M:%S"))

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        self.lines = [*self.lines[-_MAX_LINES:], line]
        self.messenger.written.emit(line)


class LogPanel(QWidget):
    """Shows the log and copies it."""

    def __init__(self, handler: LogHandler, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName(self.tr("Log"))
        self._text.setMinimumHeight(MIN_LIST_PIXELS)
        self._text.setMaximumBlockCount(_MAX_LINES)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlainText("\n".join(handler.lines))
        words = self.tr("For bug reports (always in English). Saved in {folder}").format(folder=paths.log_folder())
        folder = ElidedLabel(words, mode=Qt.TextElideMode.ElideMiddle)
        folder.setProperty("role", "quiet")
        copy = QPushButton(self.tr("Copy all"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text.toPlainText()))
        foot = in_row((folder, 1), copy)
        in_column((self._text, 1), foot, parent=self, margins=8)
        handler.messenger.written.connect(self._text.appendPlainText)
