"""Notification bars below the script: errors and hints, and changes that cannot be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.error_text import format_error
from studio.app.script.project_editor import ProjectEditor
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.controls import icon_button, text_label
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.focus import holds_focus
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError
from studio.health.log_file import note_shown
from studio.project.draft_writer import PendingChanges

_HINT_MILLISECONDS = 8_000
_RETRY_MILLISECONDS = 3_000
_ICON_SIDE = 20
_TEXT_LETTERS = 36
_MAX_FOLDED_LINES = 2


class NotificationBar(QFrame):
    """Shows one notice at a time, folded to two lines.

    Hints disappear after a while; errors, and hints with a button, stay until closed. While an error is shown, other
    notices wait. A hint is replaced at once by the next notice, and a hint with a button returns after it.
    """

    focus_left = Signal()  # emitted if the bar is hidden while it has the keyboard focus

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._error: StudioError | None = None
        self._call: Callable[[], object] | None = None
        # shows the current notice again; None if it is shown once
        self._shows_again: Callable[[], None] | None = None
        self._about_script: set[str] = set()  # texts of the hints about the script
        self._waiting: dict[str, Callable[[], None]] = {}  # functions that show a notice, by its text
        self._more = text_label("", "meta", wraps=False)
        self._more.hide()
        self._mark = QLabel()
        self._words = QLabel(wordWrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._unfold: QPushButton | None = None  # created for the first long notice
        self._offer = QPushButton()
        self._others: list[QPushButton] = []
        self._copy = CopyReportButton()
        self._close = icon_button("close", self.tr("Close"), self.hide, name=self.tr("Close notice"))
        self._buttons = buttons = QHBoxLayout()
        buttons.addWidget(self._offer)
        buttons.addWidget(self._copy)
        buttons.addStretch()
        # Buttons are beside the text, or below it in a narrow window. Without the alignment, the layout would limit
        # the row to the height of the buttons.
        self._column = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._text_area = _TextArea(self._words)
        self._text_area.measured.connect(self._show_unfold)
        self._column.addWidget(self._text_area, 1)
        self._column.addLayout(buttons)
        self._column.setAlignment(buttons, Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 8, 4)
        layout.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(self._column, 1)
        layout.addWidget(self._more, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignVCenter)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hide)
        self._offer.clicked.connect(self._on_offer)
        self.setProperty("role", "card")
        self._offer.hide()
        self._fold(True)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._place_buttons()
        super().resizeEvent(event)

    def _place_buttons(self) -> None:
        """Place the buttons beside the text, or below it if the text would have too little width."""
        direction = QBoxLayout.Direction
        unfold = 0 if self._unfold is None else self._unfold.sizeHint().width() + self._buttons.spacing()
        beside = self.width() - self._buttons.sizeHint().width() - 4 * _ICON_SIDE
        if self._unfold is not None and not self._unfold.isHidden():
            beside += unfold  # counted below, so that the result does not depend on what is shown now
        if not self._more.isHidden():
            beside -= self._more.sizeHint().width()
        if self._text_area.is_long_at(beside):
            beside -= unfold
        text = self._words.text()
        letter = self._words.fontMetrics().horizontalAdvance(text) / max(1, len(text))  # East Asian ones are wide
        needed = min(self._words.sizeHint().width(), _TEXT_LETTERS * letter)
        self._column.setDirection(direction.TopToBottom if beside < needed else direction.LeftToRight)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802
        if self.isHidden() and holds_focus(self):  # the bar itself is hidden, not the minimised window
            self.focus_left.emit()
        if self.isHidden() and self._waiting:
            QTimer.singleShot(0, self, self._show_next)
        super().hideEvent(event)

    @property
    def error(self) -> StudioError | None:
        """The error that is shown, or None."""
        return self._error if not self.isHidden() else None

    @property
    def words(self) -> str:
        """The text that is shown; empty if the bar is hidden."""
        return self._words.text() if not self.isHidden() else ""

    def show_error(self, error: StudioError, *, offer: str = "", call: Callable[[], object] | None = None) -> None:
        """Show ``error``. ``offer`` labels a button that runs ``call``."""
        note_shown(error)
        if self._waits(format_error(error), lambda: self.show_error(error, offer=offer, call=call)):
            return
        self._shows_again = None
        self._error = error
        self._show(format_error(error), "warning", theme_colors(self.palette()).bad, offer=offer, call=call)
        self._copy.offer_for(error)

    def show_hint(
        self,
        words: str,
        *,
        offer: str = "",
        call: Callable[[], object] | None = None,
        others: Sequence[tuple[str, Callable[[], object]]] = (),
        is_about_script: bool = False,
    ) -> None:
        """Show a hint. ``offer`` labels a button that runs ``call``; such a hint stays until closed.

        ``others`` are the labels and actions of more buttons. If ``is_about_script``, ``forget_script`` removes it.
        """
        if is_about_script:
            self._about_script.add(words)

        def show() -> None:
            self.show_hint(words, offer=offer, call=call, others=others)

        if self._waits(words, show):
            return
        self._shows_again = show if offer else None
        self._error = None
        self._show(words, "info", theme_colors(self.palette()).accent, offer=offer, call=call)
        for label, other_call in others:
            button = QPushButton(label)
            button.clicked.connect(lambda _=False, chosen=other_call: self._run(chosen))
            self._buttons.insertWidget(1 + len(self._others), button)
            self._others.append(button)
        self._place_buttons()
        if not offer:
            self._timer.start(_HINT_MILLISECONDS)

    def _show(self, words: str, icon_name: str, colour: str, *, offer: str, call: Callable[[], object] | None) -> None:
        self._timer.stop()
        for button in self._others:
            button.hide()
            button.deleteLater()
        self._others = []
        self._call = call
        self._offer.setText(offer)
        self._offer.setVisible(bool(offer))
        self._copy.offer_for(None)
        self._words.setText(words)
        self._fold(True)
        self._mark.setPixmap(icon(icon_name, colour).pixmap(_ICON_SIDE, _ICON_SIDE))
        self.setAccessibleName(words)
        self._place_buttons()
        self.show()

    def _fold(self, is_folded: bool) -> None:
        self._text_area.fold(is_folded)
        self._show_unfold()
        if not is_folded:
            self._timer.stop()  # it is being read

    def _show_unfold(self) -> None:
        is_long = self._text_area.is_long
        if self._unfold is None:
            if not is_long:
                return
            self._unfold = QPushButton()
            self._unfold.clicked.connect(lambda: self._fold(not self._text_area.is_folded))
            self._buttons.insertWidget(self._buttons.count() - 1, self._unfold)
        self._unfold.setText(self.tr("More…") if self._text_area.is_folded else self.tr("Less"))
        self._unfold.setVisible(is_long)
        self._place_buttons()

    def withdraw(self, words: str) -> None:
        """Remove the notice with this text, shown or waiting, because it no longer applies."""
        if words and self.words == words:
            self.hide()
        elif self._waiting.pop(words, None) is not None:
            self._show_num_waiting()

    def forget_script(self) -> None:
        """Remove the hints about the script, because another one replaces it."""
        for words in self._about_script:
            self.withdraw(words)
        self._about_script.clear()

    def _waits(self, words: str, show: Callable[[], None]) -> bool:
        """Return whether a notice waits for the current one.

        If not, and the current one is a hint with a button, that hint waits.
        """
        if self.isHidden() or words == self._words.text():
            return False
        if self._error is not None:
            self._waiting.setdefault(words, show)
        else:
            self._waiting.pop(words, None)
            if self._shows_again is not None:
                self._waiting = {self._words.text(): self._shows_again, **self._waiting}
        self._show_num_waiting()
        return self._error is not None

    def _show_next(self) -> None:
        if self._waiting and self.isHidden():
            self._waiting.pop(next(iter(self._waiting)))()
            self._show_num_waiting()

    def _show_num_waiting(self) -> None:
        self._more.setText(self.tr("%n more", "", len(self._waiting)))
        self._more.setVisible(bool(self._waiting))
        self._place_buttons()

    def _on_offer(self) -> None:
        self._run(self._call)

    def _run(self, call: Callable[[], object] | None) -> None:
        self.hide()
        if call is not None:
            call()


@paints_safely
class _TextArea(QScrollArea):
    """Scroll area as high as its wrapped text, but at most two lines if folded; at least two lines in a low window."""

    measured = Signal()  # the width or the text changed, and perhaps ``is_long``

    def __init__(self, words: QLabel) -> None:
        super().__init__()
        self._words = words
        self.is_folded = True
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setWidget(words)

    def sizeHint(self) -> QSize:  # noqa: N802
        height = self._text_height
        if self.is_folded:
            height = min(height, self._folded_height)
        return QSize(self._words.sizeHint().width(), height)

    def fold(self, is_folded: bool) -> None:
        self.is_folded = is_folded
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOff if is_folded else policy.ScrollBarAsNeeded)
        self.verticalScrollBar().setValue(0)
        self.updateGeometry()

    @property
    def is_long(self) -> bool:
        """Whether the text is higher than two lines."""
        return self.is_long_at(self.width())

    def is_long_at(self, width: int) -> bool:
        """Return whether the text would be higher than two lines at ``width`` pixels."""
        return self._words.heightForWidth(max(1, width)) > self._folded_height

    @property
    def _text_height(self) -> int:
        return self._words.heightForWidth(max(1, self.width()))

    @property
    def _folded_height(self) -> int:
        return _MAX_FOLDED_LINES * self.fontMetrics().lineSpacing()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(16 * metrics.averageCharWidth(), min(self._folded_height, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
            self.measured.emit()

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:  # the text changed
            self.updateGeometry()
            self.measured.emit()
        return super().viewportEvent(event)


class UnwrittenBar(NotificationBar):
    """Notice that changes are only in memory because they cannot be written.

    Retries in the background every few seconds until all changes are written. A closed notice reappears with the next
    change that cannot be written.
    """

    written = Signal(str)  # message for the status bar

    def __init__(self, editor: ProjectEditor, save_elsewhere: Callable[[], object], parent: QWidget | None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._save_elsewhere = save_elsewhere
        self._retry = QTimer(self, interval=_RETRY_MILLISECONDS)
        self._retry.timeout.connect(self._write_again)
        editor.unwritten_changed.connect(self._on_unwritten)
        if editor.project.unwritten is not None:
            self._on_unwritten(editor.project.unwritten)

    def _waits(self, words: str, show: Callable[[], None]) -> bool:  # noqa: ARG002
        """Update the number of changes at once."""
        return False

    def _on_unwritten(self, unwritten: PendingChanges | None) -> None:
        if unwritten is None:
            self._retry.stop()
            self.hide()
            self.written.emit(self.tr("All changes are saved."))
            return
        self._retry.start()
        error = type(unwritten.error)(
            "Your changes are not being saved. {reason} Changes that are only in memory: {count}.",
            remedy="Free some space; the changes are then saved at once. Alternatively, save the script to another disk.",
            reason=unwritten.error.problem,
            count=unwritten.num_changes,
        )
        self.show_error(error, offer=self.tr("Save elsewhere…"), call=self._save_elsewhere)

    def _write_again(self) -> None:
        project, before = self._editor.project, self._editor.script

        def done(_: object) -> None:
            if project is self._editor.project:
                self._editor.refresh(before)

        run_in_background(self, project.write_again, done=done, failed=self._editor.failed.emit)
