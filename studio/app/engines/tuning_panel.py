"""Panel of the Engines page that shows the progress of engine tuning."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from studio.app.engines.engine_text import panel_title, trial_text
from studio.app.widgets.collapsible_panel import CollapsiblePanel
from studio.app.widgets.controls import in_column, text_label
from studio.engines.overview import EngineAction, EngineStatus

_MAX_LINES = 2


class EngineTuningPanel(CollapsiblePanel):
    """Panel that is visible during tuning. ``action_wanted`` carries an ``EngineAction``."""

    action_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Optimising for this computer"))
        self._is_paused = False
        self._text = text_label("", "quiet")
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._pause = QPushButton(self.tr("Pause"))
        self._stop = QPushButton(self.tr("Stop"))
        self._stop.setToolTip(self.tr("Resumes at the next start, unless disabled in the settings"))
        self._close.hide()
        self._lay_out()
        self._pause.clicked.connect(
            lambda: self.action_wanted.emit(EngineAction.RESUME if self._is_paused else EngineAction.PAUSE)
        )
        self._stop.clicked.connect(lambda: self.action_wanted.emit(EngineAction.CANCEL))

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.addWidget(self._bar, 1)
        for button in (self._pause, self._stop):
            button.setAutoDefault(False)
            foot.addWidget(button)
        in_column(self._text, foot, parent=self.body, margins=0, spacing=4)

    def show_overview(self, overview: EngineStatus) -> None:
        work = overview.work
        if work is None:
            self.hide()
            return
        self._is_paused = overview.is_paused
        self.show_title(panel_title(overview))
        note = self.tr("Paused") if overview.is_paused else self.tr("You can keep working")
        self._text.setText(f"{trial_text(overview)} · {note}")
        self.show_progress(True, (work.index - 1 + work.share) / work.total)
        self._pause.setText(self.tr("Continue") if overview.is_paused else self.tr("Pause"))
        self.show()

    def event(self, event: QEvent) -> bool:
        """Reserve space for two lines, so that the buttons stay in place while the text length changes."""
        if event.type() in (QEvent.Type.Polish, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._text.setMinimumHeight(_MAX_LINES * self._text.fontMetrics().lineSpacing())
        return super().event(event)
