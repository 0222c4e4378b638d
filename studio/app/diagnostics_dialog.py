"""Diagnostics of this computer and the program, with remedies; can be copied for a bug report."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.error_text import words_of
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.health.check import Verdict
from studio.health.redaction import redact
from studio.health.report import HealthReport

_BAR_PIXELS = 10
_GAP_PIXELS = 4
_TALLEST_PIXELS = 10_000


@paints_safely
class _WholeText(QStyledItemDelegate):
    """Delegate whose rows are as high as their wrapped text. The default size hint only counts line breaks."""

    def __init__(self, view: QTreeWidget) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        width = self._view.columnWidth(index.column())
        margin = self._view.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        room = QRect(0, 0, width - 2 * margin, _TALLEST_PIXELS)
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        metrics = QFontMetrics(self._view.font())
        height = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()
        return QSize(width, max(height + _GAP_PIXELS, super().sizeHint(option, index).height()))


class DiagnosticsDialog(QDialog):
    """Non-modal. ``look`` takes seconds and runs on a background thread."""

    def __init__(self, look: Callable[[], HealthReport], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Diagnostics"))
        self._look = look
        self._report: HealthReport | None = None
        self._verdict = QLabel(wordWrap=True)
        self._verdict.setProperty("role", "title")
        self._problem = ErrorLine()
        self._bar = QProgressBar(maximum=0)
        self._bar.setTextVisible(False)
        self._bar.setMaximumHeight(_BAR_PIXELS)
        self._bar.setAccessibleName(self.tr("Checking"))
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("Results"))
        self._list.setHeaderLabels([self.tr("Component"), self.tr("Result and remedy")])
        self._list.setRootIsDecorated(False)
        self._list.setWordWrap(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setItemDelegateForColumn(1, _WholeText(self._list))
        self._list.header().sectionResized.connect(lambda *_: self._list.scheduleDelayedItemsLayout())
        self._copy = QPushButton(self.tr("Copy report"))
        self._copy.setToolTip(self.tr("For a bug report; contains no texts, voices or personal data"))
        self._again = QPushButton(self.tr("Check again"))
        self._codes = QPushButton(self.tr("Error reference…"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self._copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self._again, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self._codes, QDialogButtonBox.ButtonRole.ActionRole)
        column = QVBoxLayout(self)
        for widget in (self._verdict, self._problem, self._bar, self._list, buttons):
            column.addWidget(widget)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(125 * width, 90 * width))
        self._copy.clicked.connect(self._copy_report)
        self._again.clicked.connect(self.look)
        self._codes.clicked.connect(self._explain_codes)
        buttons.rejected.connect(self.reject)
        self.look()

    def look(self) -> None:
        """Run all checks again."""
        self._verdict.setText(self.tr("Checking everything the program needs…"))
        self._problem.clear()
        self._bar.show()
        for button in (self._copy, self._again):
            button.setEnabled(False)
        run_in_background(self, self._look, done=self._show, failed=self._show_error)

    @property
    def verdict(self) -> str:
        return self._verdict.text()

    def _show(self, report: HealthReport) -> None:
        self._report = report
        if not report.can_speak:
            words = self.tr("Speech does not work until the marked problems are fixed.")
        elif report.num_limited:
            words = self.tr("Speech works. %n item(s) can be improved.", "", report.num_limited)
        else:
            words = self.tr("Everything works.")
        self._end_look(words)
        colors = theme_colors(self.palette())
        marks = {
            Verdict.FINE: ("state-ready", colors.good, self.tr("OK")),
            Verdict.LIMITED: ("info", colors.warn, self.tr("Limited")),
            Verdict.BROKEN: ("warning", colors.bad, self.tr("Failed")),
        }
        self._list.clear()
        for check in report.checks:
            shape, tone, verdict = marks[check.verdict]
            finding = redact(words_of(check.finding))
            remedy = redact(words_of(check.remedy)) if check.remedy.template else ""
            item = QTreeWidgetItem([words_of(check.subject), f"{finding}\n{remedy}".rstrip()])
            item.setIcon(0, icon(shape, tone))
            item.setToolTip(0, verdict)
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{words_of(check.subject)}: {verdict}")
            self._list.addTopLevelItem(item)

    def _show_error(self, error: StudioError) -> None:
        self._problem.show_error(error)
        self._end_look("")

    def _end_look(self, words: str) -> None:
        self._verdict.setText(words)
        self._bar.hide()
        self._copy.setEnabled(self._report is not None)
        self._again.setEnabled(True)

    def _copy_report(self) -> None:
        if self._report is not None:
            QGuiApplication.clipboard().setText(self._report.as_text())

    def _explain_codes(self) -> None:
        from studio.app.error_codes_dialog import ErrorCodesDialog  # noqa: PLC0415 - rarely used

        ErrorCodesDialog(self).show()
