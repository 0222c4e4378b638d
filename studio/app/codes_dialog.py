"""What every error means and what to do about it, by its code: a page to look things up on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.error_words import words_of
from studio.health.error_guide import code_meanings


class CodesDialog(QDialog):
    """Stays open beside the window; the field on top finds codes and words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("What errors mean"))
        self._search = QLineEdit()
        self._search.setPlaceholderText(self.tr("Find a code or a word"))
        self._search.setAccessibleName(self.tr("Find a code or a word"))
        self._search.setClearButtonEnabled(True)
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("Codes of errors"))
        self._list.setHeaderLabels([self.tr("Code"), self.tr("What it means, and what to do")])
        self._list.setRootIsDecorated(False)
        self._list.setWordWrap(True)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._items: list[tuple[QTreeWidgetItem, str]] = []
        for meaning in code_meanings():
            words = f"{words_of(meaning.cause)}\n{words_of(meaning.remedy)}"
            item = QTreeWidgetItem([meaning.code, words])
            self._list.addTopLevelItem(item)
            self._items.append((item, f"{meaning.code} {words}".casefold()))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        column = QVBoxLayout(self)
        for widget in (self._search, self._list, buttons):
            column.addWidget(widget)
        width = self.fontMetrics().averageCharWidth()
        self.resize(110 * width, 75 * width)
        self._search.textChanged.connect(self._show_only)
        buttons.rejected.connect(self.reject)

    def _show_only(self, wanted: str) -> None:
        for item, found in self._items:
            item.setHidden(not all(word in found for word in wanted.casefold().split()))
