"""A panel over the script while faster engines are looked for: what, how far, how long; you can work."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from studio.app.engines.engine_words import panel_title, work_words
from studio.app.theme.icons import icon
from studio.engines.overview import EngineAction, Overview

_STEPS = 1000


class BuildPanel(QFrame):
    """There while something is tried, unless a person has closed it. ``action_wanted`` is an ``EngineAction``."""

    action_wanted = Signal(object)
    details_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, *, can_be_closed: bool = True) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(self.tr("Looking for faster engines"))
        self._is_closed = False
        self._can_be_closed = can_be_closed
        self._is_paused = False
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._words = QLabel(wordWrap=True)
        self._words.setProperty("role", "quiet")
        self._bar = QProgressBar(maximum=_STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress"))
        self._pause = QPushButton(self.tr("Pause"))
        self._stop = QPushButton(self.tr("Stop"))
        self._details = QPushButton(self.tr("Details…"))
        self._close = QToolButton(autoRaise=True)
        self._close.setIcon(icon("close"))
        self._close.setToolTip(self.tr("Close; it goes on"))
        self._close.setAccessibleName(self.tr("Close the panel; it goes on"))
        self._lay_out()
        self._pause.clicked.connect(
            lambda: self.action_wanted.emit(EngineAction.RESUME if self._is_paused else EngineAction.PAUSE)
        )
        self._stop.clicked.connect(lambda: self.action_wanted.emit(EngineAction.CANCEL))
        self._details.clicked.connect(self.details_wanted)
        self._close.clicked.connect(self._on_close)
        self.hide()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._close)
        foot = QHBoxLayout()
        foot.addWidget(self._bar, 1)
        for button in (self._pause, self._stop, self._details):
            button.setAutoDefault(False)
            foot.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 8, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._words)
        column.addLayout(foot)
        self._close.setVisible(self._can_be_closed)
        self._details.setVisible(self._can_be_closed)

    @property
    def words(self) -> str:
        return f"{self._title.text()}\n{self._words.text()}"

    def show_overview(self, overview: Overview) -> None:
        work = overview.work
        if work is None:
            self._is_closed = False
            self.hide()
            return
        self._is_paused = overview.is_paused
        self._title.setText(panel_title(overview))
        meanwhile = self.tr("Paused") if overview.is_paused else self.tr("You can work and speak meanwhile")
        self._words.setText(f"{work_words(overview)} · {meanwhile}")
        self._bar.setValue(round(_STEPS * (work.index - 1 + work.share) / work.total))
        self._pause.setText(self.tr("Go on") if overview.is_paused else self.tr("Pause"))
        self.setVisible(not self._is_closed)

    def _on_close(self) -> None:
        self._is_closed = True
        self.hide()
