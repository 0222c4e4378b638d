"""Line above the script that shows the steps of the first-run assistant. A dialog shows the whole step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.controls import STRETCH, in_column
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.focus import holds_focus
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.errors import StudioError

_DIALOG_PIXELS = 560


@dataclass(frozen=True, slots=True)
class PanelButton:
    """A button of a page and its action. The first button of a page is the default one."""

    text: str
    call: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PanelPage:
    """Content of the panel."""

    title: str
    text: str = ""
    is_busy: bool = False
    share: float | None = None  # progress (0..1) if it is known
    table: Sequence[Sequence[str]] = ()  # rows of text; the first row is the header
    text_below: str = ""  # text below the table
    error: StudioError | None = None  # shown below the text
    buttons: Sequence[PanelButton] = ()


class FirstRunPanel(CollapsiblePanel):
    """Shows a page. Emits ``closed`` when the user closes it."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, is_folded=True)
        self.setAccessibleName(self.tr("First steps"))
        self._more.setAccessibleName(self.tr("More first steps"))
        self._close.setToolTip(self.tr("Close"))
        self._close.setAccessibleName(self.tr("Close first steps"))
        self._text = QLabel(wordWrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._error = ErrorLine()
        self._table = QWidget()
        self._text_below = QLabel(wordWrap=True)
        self._buttons = QWidget()
        self._page = PanelPage("")
        self._dialog: QDialog | None = None
        self._rows = in_column(
            self._text,
            self._error,
            self._bar,
            self._table,
            self._text_below,
            self._buttons,
            parent=self.body,
            margins=0,
        )
        self.close_wanted.connect(self.closed)
        self.more_wanted.connect(self._open_dialog)
        self.offer_taken.connect(self._take_offer)

    @property
    def page(self) -> PanelPage:
        return self._page

    def show_page(self, page: PanelPage) -> None:
        """Show ``page``. Buttons with the same texts are kept, so that they keep the focus."""
        has_same_buttons = [button.text for button in page.buttons] == [button.text for button in self._page.buttons]
        has_same_table = list(page.table) == list(self._page.table)
        self._page = page
        self.show_title(page.title)
        if self._dialog is not None:
            self._dialog.setWindowTitle(page.title)
        self._text.setText(page.text)
        self._text.setVisible(bool(page.text))
        self._error.show_error(page.error)
        self._text_below.setText(page.text_below)
        self._text_below.setVisible(bool(page.text_below))
        self.show_progress(page.is_busy, page.share)
        if not has_same_table:
            self._table = self._replaced(self._table, self._make_table(page.table))
        self._table.setVisible(bool(page.table))
        if not has_same_buttons:
            self._buttons = self._replaced(self._buttons, self._make_buttons(page.buttons))
        self.show_offer(page.buttons[0].text if page.buttons else "")
        self.show()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        if self._dialog is not None and self.isHidden():  # hidden, not minimised with the window
            self._dialog.accept()
        super().hideEvent(event)

    def _take_offer(self) -> None:
        self._page.buttons[0].call()

    def _open_dialog(self) -> None:
        """Show the folded content in a dialog."""
        if self._dialog is not None:
            return
        self._dialog = QDialog(self)
        self._dialog.setWindowTitle(self._page.title)
        page = QWidget()
        in_column(self.body, STRETCH, parent=page)
        in_column(ScrolledPage(page), parent=self._dialog, margins=0)
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

    def _make_buttons(self, buttons: Sequence[PanelButton]) -> QWidget:
        row = QWidget(self.body)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        for index, each in enumerate(buttons):
            button = QPushButton(each.text)
            button.setAutoDefault(index == 0)
            # Looked up by position, because the callback may change while the text stays the same.
            button.clicked.connect(lambda _=False, chosen=index: self._page.buttons[chosen].call())
            layout.addWidget(button)
        layout.addStretch()
        return row

    def _make_table(self, rows: Sequence[Sequence[str]]) -> QWidget:
        table = QWidget(self.body)
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(24)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                label = QLabel(text)
                label.setProperty("role", "title" if row == 0 else "quiet" if column == 0 else "")
                grid.addWidget(label, row, column)
        grid.setColumnStretch(len(rows[0]) if rows else 0, 1)
        return table
