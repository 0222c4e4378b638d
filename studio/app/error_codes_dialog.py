"""A list of all error codes with their causes and remedies."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QTextBrowser, QVBoxLayout, QWidget

from studio.app.error_text import words_of
from studio.app.widgets.screen_fit import fit_to_screen
from studio.health.error_reference import code_meanings


class ErrorCodesDialog(QDialog):
    """Non-modal list of error codes with a search field."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Error reference"))
        self._meanings = [
            (meaning.code, words_of(meaning.cause), words_of(meaning.remedy)) for meaning in code_meanings()
        ]
        self._search = QLineEdit()
        self._search.setPlaceholderText(self.tr("Search codes and words"))
        self._search.setAccessibleName(self.tr("Search codes and words"))
        self._search.setClearButtonEnabled(True)
        self._page = QTextBrowser()
        self._page.setAccessibleName(self.tr("Error codes"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        column = QVBoxLayout(self)
        for widget in (self._search, self._page, buttons):
            column.addWidget(widget)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(100 * width, 80 * width))
        self._search.textChanged.connect(self._show_only)
        buttons.rejected.connect(self.reject)
        self._show_only("")

    @property
    def shown_codes(self) -> list[str]:
        return [code for code, *_ in self._found]

    def _show_only(self, wanted: str) -> None:
        words = wanted.casefold().split()
        self._found = [
            meaning for meaning in self._meanings if all(word in " ".join(meaning).casefold() for word in words)
        ]
        self._page.setHtml(
            "".join(
                f"<p><b>{escape(code)}</b><br/>{escape(cause)}<br/>{escape(remedy)}</p>"
                for code, cause, remedy in self._found
            )
        )
