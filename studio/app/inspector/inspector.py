"""Inspector of the current line, with two pages: its settings and normalized text, and its takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.inspector.line_settings_form import LineSettingsForm
from studio.app.inspector.normalized_text import mark_changes
from studio.app.inspector.take_rows import TakeRow
from studio.app.inspector.takes_list import TakesList
from studio.app.script.style_list import StyleList
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.peaks import WaveformPeaks
from studio.errors import StudioError
from studio.project.lines import Line


class Inspector(QWidget):
    """Displays the current line. Its parts ``form`` and ``takes`` report the user's actions as signals."""

    def __init__(
        self, styles: StyleList, outline_of: Callable[[str], WaveformPeaks | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.form = LineSettingsForm(styles)
        self.takes = TakesList(outline_of)
        self._spoken_words = ""
        self._normalized_text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.RichText)
        self._normalized_text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._normalized_text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._normalized_text.setContentsMargins(12, 0, 12, 8)
        self._normalized_text.setAccessibleName(self.tr("As spoken"))
        self._hint = text_label("", "warn")
        self._hint.setContentsMargins(12, 0, 12, 8)
        self._hint.hide()
        self._problem = ErrorLine()
        self._problem.setContentsMargins(12, 0, 12, 8)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setAccessibleName(self.tr("Line and takes"))
        self.tabs.tabBar().setAccessibleName(self.tr("Inspector"))
        self.tabs.tabBar().setExpanding(True)
        self._takes_head = QHBoxLayout()
        self._no_takes = text_label(self.tr("This line has not been spoken yet."), "quiet")
        self._no_takes.setContentsMargins(GRID, GRID, GRID, GRID)
        self._no_takes.hide()
        self.tabs.addTab(self._line_page(), self.tr("Line"))
        self.tabs.addTab(self._takes_page(), self.tr("Takes"))
        in_column(self.tabs, parent=self, margins=0)

    def _line_page(self) -> QWidget:
        page = QWidget()
        column = self._line_column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.form)
        column.addWidget(_title(self.tr("As spoken")))
        column.addWidget(self._normalized_text)
        column.addWidget(self._hint)
        column.addWidget(self._problem)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the scroll area already scrolls to the focused field
        # Without horizontal scrolling, controls beyond the edge could not be reached.
        scroll.setMinimumWidth(page.minimumSizeHint().width() + scroll.verticalScrollBar().sizeHint().width())
        return scroll

    def _takes_page(self) -> QWidget:
        page = QWidget()
        self.takes.setFrameShape(QFrame.Shape.NoFrame)
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        self._takes_head.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self._takes_head.addStretch(1)
        rows.addLayout(self._takes_head)
        rows.addWidget(self._no_takes)
        rows.addWidget(self.takes, 1)
        return page

    def add_line_part(self, part: QWidget) -> None:
        """Add a widget below the form."""
        self._line_column.insertWidget(self._line_column.indexOf(self.form) + 1, part)

    def show_takes_page(self) -> None:
        self.tabs.setCurrentIndex(1)

    def add_takes_action(self, action: QAction) -> None:
        """Add a button above the takes."""
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        button.setAccessibleName(action.text())
        self._takes_head.addWidget(button)

    def show_line(self, line: Line | None, selected: Sequence[Line], takes: Sequence[TakeRow]) -> None:
        """Show the current ``line`` and its takes; the form edits the ``selected`` lines."""
        self.form.show_lines(line, selected)
        self.form.show_speed_note(_speed_note(line, takes))
        self.takes.show_takes(takes, line.chosen_take if line else None)
        self._no_takes.setVisible(not takes)
        num_lines = len(selected)
        self.tabs.setTabText(0, self.tr("%n line(s)", "", num_lines) if num_lines > 1 else self.tr("Line"))
        self.tabs.setTabText(1, self.tr("Takes") if not takes else self.tr("Takes {count}").format(count=len(takes)))

    def show_normalized_text(self, text: str | StudioError, hint: str = "", written: str = "") -> None:
        """Show the normalized text or its error; ``hint`` is a warning to show before the line is spoken.

        Words that differ from the text as ``written`` are underlined.
        """
        self._spoken_words = text if isinstance(text, str) else ""
        self._normalized_text.setText(mark_changes(written or self._spoken_words, self._spoken_words))
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._problem.show_error(text if isinstance(text, StudioError) else None)

    @property
    def spoken_words(self) -> str:
        return self._spoken_words


def _speed_note(line: Line | None, takes: Sequence[TakeRow]) -> str:
    """Return a warning if the chosen take cannot be stretched to the speed of the line."""
    chosen = next((row for row in takes if line is not None and row.take.id == line.chosen_take), None)
    if chosen is None or chosen.has_line_speed:
        return ""
    words = QCoreApplication.translate(
        "Inspector", "The take was spoken at {speed:.2f}× and cannot be stretched this far. Speak it again."
    )
    return words.format(speed=chosen.take.parameters.speed)


def _title(words: str) -> QLabel:
    label = text_label(words, "title", wraps=False)
    label.setContentsMargins(12, 8, 12, 2)
    return label
