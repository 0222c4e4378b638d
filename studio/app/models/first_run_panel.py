"""Non-modal panel above the script with a title, text, progress bar, table and buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.focus import holds_focus
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.errors import StudioError

_DIALOG_PIXELS = 560


@dataclass(frozen=True, slots=True)
class SetupSuggestion:
    """A button of a page. The first one is the default button."""

    words: str
    call: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PanelPage:
    """Content of the panel.

    ``share``: progress from 0 to 1, None with ``is_busy`` if unknown. ``table``: rows of text, the first is the header.
    ``words_below``: text below the table. ``error``: the error described by ``words``, for "Copy report".
    """

    title: str
    words: str = ""
    role: str = ""
    is_busy: bool = False
    share: float | None = None
    table: Sequence[Sequence[str]] = ()
    words_below: str = ""
    error: StudioError | None = None
    offers: Sequence[SetupSuggestion] = ()


class FirstRunPanel(CollapsiblePanel):
    """Shows a page. Emits ``closed`` when the user closes it."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("First steps"))
        self._more.setAccessibleName(self.tr("More first steps"))
        self._close.setToolTip(self.tr("Close"))
        self._close.setAccessibleName(self.tr("Close first steps"))
        self._words = QLabel(wordWrap=True)
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._copy = CopyReportButton()
        self._table = QWidget()
        self._words_below = QLabel(wordWrap=True)
        self._buttons = QWidget()
        self._page = PanelPage("")
        self._dialog: QDialog | None = None
        text_row = QHBoxLayout()
        text_row.addWidget(self._words)
        text_row.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        self._rows = QVBoxLayout(self.body)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.addLayout(text_row)
        for widget in (self._bar, self._table, self._words_below, self._buttons):
            self._rows.addWidget(widget)
        self.close_wanted.connect(self.closed)
        self.more_wanted.connect(self._open_dialog)

    @property
    def page(self) -> PanelPage:
        return self._page

    def show_page(self, page: PanelPage) -> None:
        """Show ``page``. Unchanged buttons are kept, so that they keep the focus."""
        has_same_offers = [offer.words for offer in page.offers] == [offer.words for offer in self._page.offers]
        has_same_table = list(page.table) == list(self._page.table)
        self._page = page
        self.show_title(page.title)
        if self._dialog is not None:
            self._dialog.setWindowTitle(page.title)
        self._words.setText(page.words)
        self._words.setVisible(bool(page.words))
        self._copy.offer_for(page.error)
        self._words_below.setText(page.words_below)
        self._words_below.setVisible(bool(page.words_below))
        if self._words.property("role") != page.role:
            self._words.setProperty("role", page.role)
            self._words.style().unpolish(self._words)
            self._words.style().polish(self._words)
        self.show_progress(page.is_busy, page.share)
        if not has_same_table:
            self._table = self._replaced(self._table, self._make_table(page.table))
        self._table.setVisible(bool(page.table))
        if not has_same_offers:
            self._buttons = self._replaced(self._buttons, self._make_buttons(page.offers))
        self.show()

    def press(self, words: str) -> None:
        """Click the button with the text ``words``."""
        next(button for button in self._buttons.findChildren(QPushButton) if button.text() == words).click()

    def set_folded(self, is_folded: bool) -> None:
        """Also close the dialog with the content once the content fits in the window."""
        if not is_folded and self._dialog is not None:
            self._dialog.accept()
        super().set_folded(is_folded)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        if self._dialog is not None and self.isHidden():  # not merely minimised with the window
            self._dialog.accept()
        super().hideEvent(event)

    def _open_dialog(self) -> None:
        """Show the folded content in a dialog."""
        if self._dialog is not None:
            return
        self._dialog = QDialog(self)
        self._dialog.setWindowTitle(self._page.title)
        page = QWidget()
        rows = QVBoxLayout(page)
        rows.addWidget(self.body)
        rows.addStretch(1)
        column = QVBoxLayout(self._dialog)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(ScrolledPage(page))
        self.body.show()
        self._dialog.resize(fit_to_screen(_DIALOG_PIXELS, page.heightForWidth(_DIALOG_PIXELS)))
        self._dialog.finished.connect(lambda _: self._take_back())
        self._dialog.open()

    def _take_back(self) -> None:
        dialog, self._dialog = self._dialog, None
        self.put_back(self.body)
        if dialog is not None:
            dialog.deleteLater()

    def _replaced(self, old: QWidget, new: QWidget) -> QWidget:
        self._rows.replaceWidget(old, new)
        if holds_focus(old):
            self.focus_left.emit()
        old.hide()
        old.deleteLater()
        return new

    def _make_buttons(self, offers: Sequence[SetupSuggestion]) -> QWidget:
        row = QWidget(self.body)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        for place, offer in enumerate(offers):
            button = QPushButton(offer.words)
            button.setAutoDefault(place == 0)
            # Looked up by position: the callback may change while the text stays the same.
            button.clicked.connect(lambda _=False, chosen=place: self._page.offers[chosen].call())
            layout.addWidget(button)
        layout.addStretch()
        return row

    def _make_table(self, rows: Sequence[Sequence[str]]) -> QWidget:
        table = QWidget(self.body)
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(24)
        for row, cells in enumerate(rows):
            for column, words in enumerate(cells):
                label = QLabel(words)
                label.setProperty("role", "title" if row == 0 else "quiet" if column == 0 else "")
                grid.addWidget(label, row, column)
        grid.setColumnStretch(len(rows[0]) if rows else 0, 1)
        return table
