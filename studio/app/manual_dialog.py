"""Dialog with the manual: topics, a search field and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QLocale, Qt, QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QTextBrowser, QWidget

from studio.app.widgets.controls import in_column, in_row
from studio.app.widgets.screen_fit import fit_to_screen
from studio.manual import read_topics

_LIST_CHARACTERS = 28


class ManualDialog(QDialog):
    """The manual in the language of the window. The search field hides topics that do not contain its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Manual"))
        self.resize(fit_to_screen(1000, 760))
        self._topics = read_topics(QLocale().name())
        self.search = QLineEdit(clearButtonEnabled=True)
        self.search.setPlaceholderText(self.tr("Search the manual"))
        self.search.setAccessibleName(self.tr("Search the manual"))
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Topics"))
        self.list.addItems([topic.title for topic in self._topics])
        self.page = _ManualPage()
        self.page.setAccessibleName(self.tr("Manual"))
        left = in_column(self.search, self.list)
        row = in_row(left, (self.page, 1), parent=self)
        self.list.setFixedWidth(_LIST_CHARACTERS * self.fontMetrics().averageCharWidth())
        self.search.setFixedWidth(self.list.width())
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._find_next)
        self.list.currentRowChanged.connect(self._show)
        self.page.sourceChanged.connect(self._select)
        row.activate()  # gives the page its width, which pictures need
        self.list.setCurrentRow(next(row for row, topic in enumerate(self._topics) if topic.name == "window"))

    def _filter(self, words: str) -> None:
        found = [row for row, topic in enumerate(self._topics) if topic.contains(words)]
        for row in range(len(self._topics)):
            self.list.item(row).setHidden(row not in found)
        if found and self.list.currentRow() not in found:
            self.list.setCurrentRow(found[0])
        else:
            self._find_first()

    def _show(self, row: int) -> None:
        url = QUrl.fromLocalFile(str(self._topics[row].path))
        if url != self.page.source():
            self.page.setSource(url, QTextDocument.ResourceType.MarkdownResource)
        self._find_first()

    def _select(self, url: QUrl) -> None:
        """Select the topic whose page a link has opened."""
        opened = Path(url.toLocalFile())
        for row, topic in enumerate(self._topics):
            if topic.path == opened:
                self.list.setCurrentRow(row)

    def _find_first(self) -> None:
        self.page.moveCursor(self.page.textCursor().MoveOperation.Start)
        self._find_next()

    def _find_next(self) -> None:
        words = self.search.text().split()
        if words:
            self.page.find(words[0])


class _ManualPage(QTextBrowser):
    """Browser that scales pictures down to its width and opens web addresses in the user's browser."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenExternalLinks(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # the width for pictures stays the same

    def loadResource(self, kind: int, name: QUrl | str) -> Any:  # noqa: N802
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, name)
        image = QImage(QUrl(name).toLocalFile())
        width = min(image.width(), self.viewport().width() - 2 * round(self.document().documentMargin()))
        return image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
