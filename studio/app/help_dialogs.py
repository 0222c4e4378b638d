"""Dialogs of the Help menu: keyboard shortcuts, diagnostics and error reference."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QMargins, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.actions import Actions
from studio.app.background import run_in_background
from studio.app.error_text import message_text
from studio.app.shortcuts_page import ShortcutsPage
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.translation import with_label
from studio.app.widgets.controls import text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError, type_of_code
from studio.health.checks import Check, CheckVerdict
from studio.health.redaction import redact
from studio.health.report import HealthReport

_BAR_PIXELS = 10
_ARRIVAL_MILLISECONDS = 100
_GAP_PIXELS = 4
_TALLEST_PIXELS = 10_000


class _HelpDialog(QDialog):
    """Dialog with a Close button, deleted when it is closed."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)

    def fill(self, title: str, size: tuple[int, int], *widgets: QWidget) -> None:
        """Set title and size, and stack ``widgets`` above the buttons."""
        self.setWindowTitle(title)
        self.resize(fit_to_screen(*size))
        column = QVBoxLayout(self)
        for widget in (*widgets, self.buttons):
            column.addWidget(widget)


class ShortcutsDialog(_HelpDialog):
    """Keyboard shortcuts; the settings dialog has the same page."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.page = ShortcutsPage(actions)
        self.fill(self.tr("Keyboard shortcuts"), (640, 620), self.page)


@paints_safely
class _WrappedTextDelegate(QStyledItemDelegate):
    """Delegate whose rows are as high as their wrapped text. The default size hint only counts line breaks."""

    def __init__(self, view: QTreeWidget) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: N802
        wide = QStyleOptionViewItem(option)
        wide.rect = QRect(0, 0, self._view.columnWidth(index.column()), _TALLEST_PIXELS)
        return super().sizeHint(wide, index).grownBy(QMargins(0, 0, 0, _GAP_PIXELS))


class DiagnosticsDialog(_HelpDialog):
    """Checks of this computer and the program, with remedies; can be copied for a bug report.

    ``examine`` takes seconds and runs on a background thread. It passes each result to its argument at once.
    """

    def __init__(
        self, examine: Callable[[Callable[[Check], None]], HealthReport], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._examine = examine
        self._report: HealthReport | None = None
        self._arrived: list[Check] = []  # appended by the background thread
        self._arrivals = QTimer(self, interval=_ARRIVAL_MILLISECONDS)
        self._arrivals.timeout.connect(self._show_arrived)
        self._verdict = text_label("", "title")
        self._problem = ErrorLine()
        self._bar = QProgressBar(maximum=0, textVisible=False)
        self._bar.setMaximumHeight(_BAR_PIXELS)
        self._bar.setAccessibleName(self.tr("Checking"))
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("Results"))
        self._list.setHeaderLabels([self.tr("Component"), self.tr("Result and remedy")])
        self._list.setRootIsDecorated(False)
        self._list.setWordWrap(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setItemDelegateForColumn(1, _WrappedTextDelegate(self._list))
        self._list.header().sectionResized.connect(lambda *_: self._list.scheduleDelayedItemsLayout())
        self._copy = QPushButton(self.tr("Copy report"))
        self._copy.setToolTip(self.tr("For a bug report; contains no texts, voices or personal data"))
        self._again = QPushButton(self.tr("Check again"))
        self._codes = QPushButton(self.tr("Error reference…"))
        for button in (self._copy, self._again, self._codes):
            self.buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        width = self.fontMetrics().averageCharWidth()
        size = (125 * width, 90 * width)
        self.fill(self.tr("Diagnostics"), size, self._verdict, self._problem, self._bar, self._list)
        self._copy.clicked.connect(self._copy_report)
        self._again.clicked.connect(self.check)
        self._codes.clicked.connect(lambda: ErrorCodesDialog(self).show())
        self.check()

    def check(self) -> None:
        """Run all checks again."""
        self._verdict.setText(self.tr("Checking everything the program needs…"))
        self._problem.clear()
        self._bar.show()
        self._list.clear()
        for button in (self._copy, self._again):
            button.setEnabled(False)
        arrived = self._arrived = []
        self._arrivals.start()
        run_in_background(self, lambda: self._examine(arrived.append), done=self._show, failed=self._show_error)

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
        self._end_check(words)
        self._arrived = list(report.checks)
        self._show_arrived()

    def _show_arrived(self) -> None:
        """Add the results that have arrived since the last call."""
        colors = theme_colors(self.palette())
        marks = {
            CheckVerdict.FINE: ("state-ready", colors.good, self.tr("OK")),
            CheckVerdict.LIMITED: ("info", colors.warn, self.tr("Limited")),
            CheckVerdict.BROKEN: ("warning", colors.bad, self.tr("Failed")),
        }
        absent = ("state-draft", colors.quiet, self.tr("Not installed"))
        for check in self._arrived[self._list.topLevelItemCount() :]:
            shape, tone, verdict = absent if check.is_absent else marks[check.verdict]
            subject = message_text(check.subject)
            finding = redact(message_text(check.finding))
            remedy = redact(message_text(check.remedy)) if check.remedy.template else ""
            item = QTreeWidgetItem([subject[:1].upper() + subject[1:], f"{finding}\n{remedy}".rstrip()])
            item.setIcon(0, icon(shape, tone))
            item.setToolTip(0, verdict)
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, with_label(subject, verdict))
            self._list.addTopLevelItem(item)

    def _show_error(self, error: StudioError) -> None:
        self._problem.show_error(error)
        self._end_check("")

    def _end_check(self, words: str) -> None:
        self._arrivals.stop()
        self._verdict.setText(words)
        self._bar.hide()
        self._copy.setEnabled(self._report is not None)
        self._again.setEnabled(True)

    def _copy_report(self) -> None:
        if self._report is not None:
            QGuiApplication.clipboard().setText(self._report.as_text())


class ErrorCodesDialog(_HelpDialog):
    """Error codes with causes and remedies, and a search field."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._meanings = [
            (code, message_text(error.cause), message_text(error.usual_remedy)) for code, error in type_of_code.items()
        ]
        self._search = QLineEdit(clearButtonEnabled=True)
        self._search.setPlaceholderText(self.tr("Search codes and words"))
        self._search.setAccessibleName(self.tr("Search codes and words"))
        self._page = QTextBrowser()
        self._page.setAccessibleName(self.tr("Error codes"))
        width = self.fontMetrics().averageCharWidth()
        self.fill(self.tr("Error reference"), (100 * width, 80 * width), self._search, self._page)
        self._search.textChanged.connect(self._show_only)
        self._show_only("")

    def _show_only(self, wanted: str) -> None:
        words = wanted.casefold().split()
        self._page.setHtml(
            "".join(
                f"<p><b>{escape(code)}</b><br/>{escape(cause)}<br/>{escape(remedy)}</p>"
                for code, cause, remedy in self._meanings
                if all(word in f"{code} {cause} {remedy}".casefold() for word in words)
            )
        )
