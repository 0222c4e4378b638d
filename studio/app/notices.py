"""The one place where errors are shown: a bar over the script that stays until it is closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from studio.app.error_words import error_words
from studio.app.theme.icons import icon
from studio.app.theme.tones import tones_of
from studio.app.translation import language
from studio.app.widgets.copy_report import CopyReportButton
from studio.errors import StudioError
from studio.health.log_file import note_shown

_HINT_MILLISECONDS = 8_000
_ICON_SIDE = 20


class NoticeBar(QFrame):
    """One notice at a time: the newest. Hints go by themselves, errors when they are closed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._error: StudioError | None = None
        self._call: Callable[[], object] | None = None
        self._mark = QLabel()
        self._words = QLabel(wordWrap=True)
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._offer = QPushButton()
        self._copy = CopyReportButton()
        self._close = QToolButton(autoRaise=True)
        self._close.setIcon(icon("close"))
        self._close.setToolTip(self.tr("Close"))
        self._close.setAccessibleName(self.tr("Close the notice"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 6, 6, 6)
        layout.addWidget(self._mark)
        layout.addWidget(self._words, 1)
        for widget in (self._offer, self._copy, self._close):
            layout.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self._offer.clicked.connect(self._on_offer)
        self._close.clicked.connect(self.hide)
        language.changed.connect(self._say_anew)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._offer.hide()
        self.hide()

    @property
    def words(self) -> str:
        """What is shown; empty where nothing is."""
        return self._words.text() if not self.isHidden() else ""

    def show_error(self, error: StudioError) -> None:
        note_shown(error)
        self._show_words_of(error)

    def _show_words_of(self, error: StudioError) -> None:
        self._error = error
        self._show(error_words(error), "warning", tones_of(self.palette()).bad)
        self._copy.offer_for(error)

    def show_hint(self, words: str, *, offer: str = "", call: Callable[[], object] | None = None) -> None:
        """``offer`` is a button that does ``call``; a hint with one stays."""
        self._error = None
        self._show(words, "info", tones_of(self.palette()).accent)
        self._call = call
        self._offer.setText(offer)
        self._offer.setVisible(bool(offer))
        if not offer:
            self._timer.start(_HINT_MILLISECONDS)

    def _show(self, words: str, icon_name: str, colour: str) -> None:
        self._timer.stop()
        self._call = None
        self._offer.hide()
        self._copy.offer_for(None)
        self._words.setText(words)
        self._mark.setPixmap(icon(icon_name, colour).pixmap(_ICON_SIDE, _ICON_SIDE))
        self.setAccessibleName(words)
        self.show()

    def _say_anew(self) -> None:
        if self._error is not None and not self.isHidden():
            self._show_words_of(self._error)

    def _on_offer(self) -> None:
        call = self._call
        self.hide()
        if call is not None:
            call()
