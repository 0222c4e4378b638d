"""Progress of an export: bar, current line, speed, remaining time, and a cancel button."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from studio.app.export_dialog.pending_lines import PendingLines
from studio.app.translation import duration_text
from studio.app.widgets.elided_label import ElidedLabel
from studio.export.progress import ExportProgress

_STEPS = 1000


class ProgressPage(QWidget):
    """Shows one of the phases. Emits ``cancel_clicked``."""

    cancel_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setAccessibleName(self.tr("Export progress"))
        self.line = ElidedLabel()
        self.figures = QLabel()
        self.figures.setProperty("role", "quiet")
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.cancel_clicked)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addStretch(1)
        for widget in (self.title, self.bar, self.line, self.figures):
            rows.addWidget(widget)
        rows.addStretch(2)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        rows.addLayout(buttons)

    def show_checking(self) -> None:
        self.cancel.setEnabled(True)
        self.title.setText(self.tr("Checking folder"))
        self.bar.setValue(0)
        self.line.setText("")
        self.figures.setText("")

    def show_speaking(self, lines: PendingLines) -> None:
        """Show the synthesis of missing lines."""
        num_done, num_lines = lines.num_done, lines.num_lines
        self.cancel.setEnabled(True)
        self.title.setText(self.tr("Speaking line {number} of {count}").format(number=num_done + 1, count=num_lines))
        self.bar.setValue(_STEPS * num_done // max(1, num_lines))
        self.line.setText("")
        self._show_figures(lines.speed, lines.remaining_seconds)

    def show_progress(self, progress: ExportProgress) -> None:
        self.bar.setValue(round(_STEPS * progress.share))
        if progress.item is not None:
            words = self.tr("Writing line {number} of {count}")
            self.title.setText(words.format(number=progress.num_done + 1, count=progress.num_lines))
            self.line.setText(progress.item.text)
        else:
            self.title.setText(self.tr("Joining lines"))
            self.line.setText("")
        self._show_figures(progress.speed, progress.remaining_seconds)

    def show_cancelling(self) -> None:
        self.title.setText(self.tr("Cancelling…"))
        self.cancel.setEnabled(False)

    def _show_figures(self, speed: float | None, remaining_seconds: float | None) -> None:
        figures = []
        if speed is not None:
            figures.append(self.tr("{speed}x real time").format(speed=f"{speed:.1f}"))
        if remaining_seconds is not None:
            figures.append(self.tr("{time} left").format(time=duration_text(remaining_seconds)))
        self.figures.setText(" · ".join(figures))
