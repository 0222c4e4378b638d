"""A panel over the script that never stands in the way: a title, some words, a bar, buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.theme.icons import icon
from studio.app.widgets.copy_report import CopyReportButton
from studio.errors import StudioError

_STEPS = 1000
_BAR_PIXELS = 10


@dataclass(frozen=True, slots=True)
class Offer:
    """A button; the first of a page is the one that Enter presses."""

    words: str
    call: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PanelPage:
    """``share`` of None with ``is_busy``: nobody knows how far it is. ``table``: rows of words, the first its head.

    ``words_below`` the table, for what it comes to. ``error``: what ``words`` tell of, to be reported.
    """

    title: str
    words: str = ""
    role: str = ""
    is_busy: bool = False
    share: float | None = None
    table: Sequence[Sequence[str]] = ()
    words_below: str = ""
    error: StudioError | None = None
    offers: Sequence[Offer] = ()


class FirstRunPanel(QFrame):
    """Shows the page it is given. ``closed``: somebody does not want it any more."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(self.tr("First steps"))
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._words = QLabel(wordWrap=True)
        self._bar = QProgressBar(maximum=_STEPS)
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(_BAR_PIXELS)
        self._bar.setAccessibleName(self.tr("Progress"))
        self._close = QToolButton(autoRaise=True)
        self._close.setIcon(icon("close"))
        self._close.setToolTip(self.tr("Close"))
        self._close.setAccessibleName(self.tr("Close the first steps"))
        self._close.clicked.connect(self.closed)
        self._table = QWidget()
        self._words_below = QLabel(wordWrap=True)
        self._buttons = QWidget()
        self._page = PanelPage("")
        head = QHBoxLayout()
        self._copy = CopyReportButton()
        head.addWidget(self._title, 1)
        head.addWidget(self._copy)
        head.addWidget(self._close)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 8, 8, 10)
        self._column.addLayout(head)
        for widget in (self._words, self._bar, self._table, self._words_below, self._buttons):
            self._column.addWidget(widget)
        self.hide()

    @property
    def page(self) -> PanelPage:
        return self._page

    def show_page(self, page: PanelPage) -> None:
        """Buttons that stay the same keep the focus."""
        has_same_offers = [offer.words for offer in page.offers] == [offer.words for offer in self._page.offers]
        has_same_table = list(page.table) == list(self._page.table)
        self._page = page
        self._title.setText(page.title)
        self._words.setText(page.words)
        self._words.setVisible(bool(page.words))
        self._copy.offer_for(page.error)
        self._words_below.setText(page.words_below)
        self._words_below.setVisible(bool(page.words_below))
        if self._words.property("role") != page.role:
            self._words.setProperty("role", page.role)
            self._words.style().unpolish(self._words)
            self._words.style().polish(self._words)
        self._bar.setVisible(page.is_busy)
        self._bar.setMaximum(_STEPS if page.share is not None else 0)
        self._bar.setValue(round(_STEPS * page.share) if page.share is not None else 0)
        if not has_same_table:
            self._table = self._replaced(self._table, self._make_table(page.table))
        self._table.setVisible(bool(page.table))
        if not has_same_offers:
            self._buttons = self._replaced(self._buttons, self._make_buttons(page.offers))
        self.show()

    def press(self, words: str) -> None:
        """As a click on the button of these words."""
        next(button for button in self._buttons.findChildren(QPushButton) if button.text() == words).click()

    def _replaced(self, old: QWidget, new: QWidget) -> QWidget:
        self._column.replaceWidget(old, new)
        old.hide()
        old.deleteLater()
        return new

    def _make_buttons(self, offers: Sequence[Offer]) -> QWidget:
        row = QWidget(self)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        for place, offer in enumerate(offers):
            button = QPushButton(offer.words)
            button.setAutoDefault(place == 0)
            # By its place: what it does may have changed, though its words have not.
            button.clicked.connect(lambda _=False, chosen=place: self._page.offers[chosen].call())
            layout.addWidget(button)
        layout.addStretch()
        return row

    def _make_table(self, rows: Sequence[Sequence[str]]) -> QWidget:
        table = QWidget(self)
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
