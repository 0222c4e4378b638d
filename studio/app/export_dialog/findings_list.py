"""List of the findings of the check before an export."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QPushButton, QWidget

from studio.app.error_text import message_text
from studio.app.export_dialog.export_options import ExportCheck
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.translation import join_names
from studio.app.widgets.controls import STRETCH, in_column, in_row
from studio.app.widgets.copy_report import CopyReportButton
from studio.export.checks import Finding, number_ranges

_ROWS = 4


class FindingsList(QWidget):
    """Problems and notes, hidden while there are none. Lines that would fail can be skipped or shown in the script."""

    skip_toggled = Signal()
    lines_wanted = Signal(list)  # numbers of lines

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._check = ExportCheck()
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setAccessibleName(self.tr("Check before export"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.skip = QCheckBox()
        self.show_lines = QPushButton(self.tr("Show lines"))
        self.show_lines.setAutoDefault(False)
        self.copy_report = CopyReportButton()
        buttons = in_row(self.skip, STRETCH, self.copy_report, self.show_lines)
        in_column(self.list, buttons, parent=self, margins=0)
        self.skip.toggled.connect(self.skip_toggled)
        self.show_lines.clicked.connect(lambda: self.lines_wanted.emit(list(self._current_numbers)))
        self.list.currentRowChanged.connect(self._show_buttons)
        self.show_check(self._check)

    def show_check(self, check: ExportCheck) -> None:
        self._check = check
        colors = theme_colors(self.palette())
        self.list.clear()
        for finding in check.findings:
            item = QListWidgetItem(self._text(finding))
            item.setIcon(icon("warning", colors.bad) if finding.is_blocking else icon("info", colors.quiet))
            self.list.addItem(item)
        row_height = max(self.list.sizeHintForRow(0), 2 * self.fontMetrics().lineSpacing())
        self.list.setFixedHeight(min(_ROWS, max(1, len(check.findings))) * row_height + 2 * self.list.frameWidth())
        self.skip.setVisible(bool(check.failing_numbers))
        self.skip.setText(self.tr("Skip %n line(s) that would fail", "", len(check.failing_numbers)))
        self.list.setCurrentRow(0)
        self._show_buttons()
        self.setVisible(bool(check.findings))

    @property
    def skips_lines(self) -> bool:
        """Whether to skip the lines that would fail."""
        return self.skip.isChecked() and bool(self._check.failing_numbers)

    @property
    def texts(self) -> list[str]:
        return [self.list.item(row).text() for row in range(self.list.count())]

    def _text(self, finding: Finding) -> str:
        words = message_text(finding.message)
        numbers = finding.line_numbers
        if not numbers:
            return words
        template = self.tr("Line {numbers}: {words}") if len(numbers) == 1 else self.tr("Lines {numbers}: {words}")
        return template.format(numbers=join_names(number_ranges(numbers)), words=words)

    @property
    def _current(self) -> Finding | None:
        row = self.list.currentRow()
        return self._check.findings[row] if 0 <= row < len(self._check.findings) else None

    @property
    def _current_numbers(self) -> tuple[int, ...]:
        return self._current.line_numbers if self._current else ()

    def _show_buttons(self) -> None:
        self.show_lines.setEnabled(bool(self._current_numbers))
        self.copy_report.offer_for(self._current.error if self._current else None)
