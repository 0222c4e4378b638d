"""Panel above the script that can be collapsed to one row in a small window."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFont, QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from studio.app.theme.icons import icon
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.focus import holds_focus

_STEPS = 1000
_BAR_PIXELS = 10
_SMALL_BAR_PIXELS = 72
_SIDES = (12, 8)  # left and right
# Above and below.
_WHOLE_MARGINS = (6, 8)
_FOLDED_MARGINS = (1, 1)
_SPACING = 6
_LEAST_TITLE_LETTERS = 8


class CollapsiblePanel(QFrame):
    """Panel with a title, a progress bar and its contents in ``body``."""

    more_wanted = Signal()  # show the contents of the collapsed panel
    close_wanted = Signal()
    focus_left = Signal()  # the panel was hidden while it had the keyboard focus

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_folded = False
        self._is_busy = False
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.body = QWidget()
        self._title = ElidedLabel()
        font = self._title.font()
        font.setWeight(QFont.Weight.DemiBold)
        self._title.setFont(font)
        self._bar, self._small_bar = self._make_bar(), self._make_bar()
        self._small_bar.setFixedWidth(_SMALL_BAR_PIXELS)
        self._more = QToolButton(autoRaise=True)
        self._more.setText(self.tr("More…"))
        self._more.clicked.connect(self.more_wanted)
        self._close = QToolButton(autoRaise=True)
        self._close.setIcon(icon("close"))
        self._close.clicked.connect(self.close_wanted)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        for widget in (self._small_bar, self._more, self._close):
            head.addWidget(widget)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(_SPACING)
        self._column.addLayout(head)
        self._column.addWidget(self.body)
        self._show_fold()
        self.hide()

    @property
    def is_folded(self) -> bool:
        return self._is_folded

    def set_folded(self, is_folded: bool) -> None:
        if is_folded != self._is_folded:
            self._is_folded = is_folded
            self._show_fold()

    def show_title(self, words: str) -> None:
        self._title.setText(words)

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

    @property
    def folded_size(self) -> QSize:
        """Minimum size of the collapsed panel."""
        buttons = self._small_bar.sizeHint().width() + self._more.sizeHint().width() + self._close.sizeHint().width()
        words = _LEAST_TITLE_LETTERS * self.fontMetrics().averageCharWidth()
        height = self._height_of_head + sum(_FOLDED_MARGINS) + self._frame
        return QSize(words + buttons + 4 * _SPACING + sum(_SIDES), height)

    def whole_size(self, width: int) -> QSize:
        """Return the minimum width of the expanded panel, and its height at ``width``."""
        around = sum(_SIDES) + self._frame
        least_width = self.body.minimumSizeHint().width() + around
        body_height = self.body.heightForWidth(max(width, least_width) - around)
        if body_height < 0:
            body_height = self.body.sizeHint().height()
        return QSize(least_width, self._height_of_head + _SPACING + body_height + sum(_WHOLE_MARGINS) + self._frame)

    @property
    def _height_of_head(self) -> int:
        return max(part.sizeHint().height() for part in (self._title, self._more, self._close))

    @property
    def _frame(self) -> int:
        return 2 * self.frameWidth()

    def _show_fold(self) -> None:
        above, below = _FOLDED_MARGINS if self._is_folded else _WHOLE_MARGINS
        self._column.setContentsMargins(_SIDES[0], above, _SIDES[1], below)
        self.body.setVisible(not self._is_folded)
        self._more.setVisible(self._is_folded)
        self._small_bar.setVisible(self._is_busy and self._is_folded)

    def _make_bar(self) -> QProgressBar:
        bar = QProgressBar(maximum=_STEPS, textVisible=False)
        bar.setMaximumHeight(_BAR_PIXELS)
        bar.setAccessibleName(self.tr("Progress"))
        return bar
