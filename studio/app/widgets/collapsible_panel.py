"""Panel with a title, progress and contents.

Above the script it is folded to its title, with a button for its contents.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QHideEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.app.theme.icons import icon
from studio.app.widgets.controls import in_column, in_row
from studio.app.widgets.elided_label import ElidedPushButton
from studio.app.widgets.focus import holds_focus

_STEPS = 1000
_BAR_PIXELS = 10
_SMALL_BAR_PIXELS = 36
_SIDES = (12, 8)  # left and right
# top and bottom
_WHOLE_MARGINS = (6, 8)
_FOLDED_MARGINS = (4, 4)
_SPACING = 8


class CollapsiblePanel(QFrame):
    """Panel with a title, a progress bar and its contents in ``body``.

    A folded panel shows only a title and a button.
    """

    more_wanted = Signal()  # asks to show the contents of the folded panel
    close_wanted = Signal()
    offer_taken = Signal()  # the folded panel's button was pressed
    focus_left = Signal()  # the panel was hidden while it had the keyboard focus

    def __init__(self, parent: QWidget | None = None, *, is_folded: bool = False) -> None:
        super().__init__(parent)
        self._is_folded = is_folded
        self._is_busy = False
        self.setProperty("role", "card")
        self.body = QWidget()
        self._title = QLabel(wordWrap=True)
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        font = self._title.font()
        font.setWeight(QFont.Weight.DemiBold)
        self._title.setFont(font)
        self._bar, self._small_bar = self._make_bar(), self._make_bar()
        self._small_bar.setFixedWidth(_SMALL_BAR_PIXELS)
        self._offer = ElidedPushButton()
        self._offer.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._offer.clicked.connect(self.offer_taken)
        self._more = QToolButton(autoRaise=True)
        self._more.setText(self.tr("More…"))
        self._more.clicked.connect(self.more_wanted)
        self._close = QToolButton(autoRaise=True)
        self._close.setIcon(icon("close"))
        self._close.clicked.connect(self.close_wanted)
        head = in_row((self._title, 1), self._small_bar, self._offer, self._more, self._close)
        self._column = in_column(head, self.body, parent=self, spacing=_SPACING)
        above, below = _FOLDED_MARGINS if is_folded else _WHOLE_MARGINS
        self._column.setContentsMargins(_SIDES[0], above, _SIDES[1], below)
        self.body.setVisible(not is_folded)
        self._more.setVisible(is_folded)
        self._small_bar.hide()
        self._offer.hide()
        self.hide()

    def show_title(self, words: str) -> None:
        self._title.setText(words)

    def show_offer(self, words: str) -> None:
        """Label the button of a folded panel, or hide it if ``words`` is empty."""
        if self._offer.text() and not words and holds_focus(self._offer):
            self.focus_left.emit()
        self._offer.setText(words)
        self._offer.setVisible(self._is_folded and bool(words))

    def show_progress(self, is_busy: bool, share: float | None = None) -> None:
        """Show the finished ``share`` of the work, from 0 to 1. None means that it is unknown."""
        self._is_busy = is_busy
        for bar in (self._bar, self._small_bar):
            bar.setMaximum(_STEPS if share is not None else 0)
            bar.setValue(round(_STEPS * share) if share is not None else 0)
        self._bar.setVisible(is_busy)
        self._small_bar.setVisible(is_busy and self._is_folded)

    def put_back(self, body: QWidget) -> None:
        """Show ``body`` in the panel again, after it was shown elsewhere."""
        self._column.addWidget(body)
        body.setVisible(not self._is_folded)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        if self.isHidden() and holds_focus(self):  # the panel itself is hidden; the window is not minimised
            self.focus_left.emit()
        super().hideEvent(event)

    def _make_bar(self) -> QProgressBar:
        bar = QProgressBar(maximum=_STEPS, textVisible=False)
        bar.setMaximumHeight(_BAR_PIXELS)
        bar.setAccessibleName(self.tr("Progress"))
        return bar
