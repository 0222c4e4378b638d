"""What an export makes of a book: cover, title, author, narrator and chapters."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QListWidget, QPushButton, QWidget

from studio.app.translation import duration_text, join_phrases
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.export.book import BookDetails, plan_chapters
from studio.export.checks import expected_seconds
from studio.export.speech_source import ExportItem

_COVER_SIZE = 72


class BookSummary(QWidget):
    """Details and chapters of the book, with a button to edit the details."""

    details_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cover = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.cover.setFixedSize(_COVER_SIZE, _COVER_SIZE)
        self.cover.setAccessibleName(self.tr("Cover"))
        self.cover.setWordWrap(True)
        self.words = text_label("")
        self.edit_button = QPushButton(self.tr("Book details…"))
        self.edit_button.setAutoDefault(False)
        self.edit_button.clicked.connect(self.details_wanted)
        self.chapters = QListWidget()
        self.chapters.setAccessibleName(self.tr("Chapters"))
        self.chapters.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        facts = in_column(self.words, in_row(self.edit_button, STRETCH), STRETCH)
        in_column(in_row(self.cover, (facts, 1)), (self.chapters, 1), parent=self, margins=0)

    def show_book(self, book: BookDetails, name: str, items: Sequence[ExportItem]) -> None:
        """Show the ``book`` that is made of ``items``; ``name`` is the title of a book that has none."""
        rows = [join_phrases(filter(None, (book.title or name, book.author)))]
        if book.narrator:
            rows.append(self.tr("Read by {narrator}").format(narrator=book.narrator))
        else:
            rows.append(self.tr("No narrator named"))
        chapters = plan_chapters(items, book.title or name)
        lengths = [
            sum(expected_seconds(items[at].text) + items[at].pause_after_seconds for at in chapter.positions)
            for chapter in chapters
        ]
        length = self.tr("about {time}").format(time=duration_text(sum(lengths)))
        rows.append(self.tr("%n chapter(s), {length}", "", len(chapters)).format(length=length))
        self.words.setText("\n".join(rows))
        self.chapters.clear()
        self.chapters.addItems(
            [
                self.tr("{title} ({time})").format(title=chapter.title, time=duration_text(seconds))
                for chapter, seconds in zip(chapters, lengths, strict=True)
            ]
        )
        picture = QPixmap()
        if book.cover is None or not picture.loadFromData(book.cover):
            self.cover.setText(self.tr("No cover"))
        else:
            self.cover.setPixmap(
                picture.scaled(
                    self.cover.size(),
                    Qt.AspectRatioMode.KeepAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
            )
