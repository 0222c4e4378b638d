"""Inspector: settings, normalized text and takes of the current line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.inspector.line_settings_form import LineSettingsForm
from studio.app.inspector.takes_list import TakesList
from studio.app.script.style_list import StyleList
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.peaks import WaveformPeaks
from studio.errors import StudioError
from studio.project.lines import Line
from studio.project.takes import Take


class Inspector(QWidget):
    """Displays the current line. Its parts ``form`` and ``takes`` report the user's actions as signals."""

    def __init__(
        self, styles: StyleList, outline_of: Callable[[str], WaveformPeaks | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.form = LineSettingsForm(styles)
        self.takes = TakesList(outline_of)
        self._normalized_text = QLabel(wordWrap=True)
        self._normalized_text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._normalized_text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._normalized_text.setContentsMargins(10, 0, 10, 8)
        self._normalized_text.setAccessibleName(self.tr("As spoken"))
        self._hint = QLabel(wordWrap=True)
        self._hint.setProperty("role", "warn")
        self._hint.setContentsMargins(10, 0, 10, 8)
        self._hint.hide()
        self._problem = ErrorLine()
        self._problem.setContentsMargins(10, 0, 10, 8)
        self._takes_title = _title(self.tr("Takes"))
        upper = QWidget()
        column = QVBoxLayout(upper)
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
        scroll.setWidget(upper)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it scrolls to the focused field anyway
        # As there is no horizontal scrolling, controls that are cut off at the side could not be reached.
        scroll.setMinimumWidth(upper.minimumSizeHint().width() + scroll.verticalScrollBar().sizeHint().width())
        lower = QWidget()
        rows = QVBoxLayout(lower)
        rows.setContentsMargins(0, 0, 0, 0)
        self._takes_head = QHBoxLayout()
        self._takes_head.addWidget(self._takes_title, 1)
        rows.addLayout(self._takes_head)
        rows.addWidget(self.takes, 1)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(scroll)
        splitter.addWidget(lower)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 2)
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)

    def add_takes_action(self, action: QAction) -> None:
        """Add a button next to the number of takes."""
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        button.setAccessibleName(action.text())
        self._takes_head.addWidget(button)

    def show_line(
        self, line: Line | None, selected: Sequence[Line], takes: tuple[Take, ...], *, has_transcript: bool
    ) -> None:
        """Show the current ``line`` and its takes; the form edits the ``selected`` lines."""
        self.form.show_lines(line, selected, has_transcript=has_transcript)
        self.takes.show_takes(takes, line.chosen_take if line else None)
        self._takes_title.setText(self.tr("Takes") if not takes else self.tr("%n take(s)", "", len(takes)))

    def show_normalized_text(self, text: str | StudioError, hint: str = "") -> None:
        """Show the normalized text or its error; ``hint`` is a warning to show before the line is spoken."""
        self._normalized_text.setText(text if isinstance(text, str) else "")
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._problem.show_error(text if isinstance(text, StudioError) else None)

    @property
    def spoken_words(self) -> str:
        return self._normalized_text.text()


def _title(words: str) -> QLabel:
    label = QLabel(words)
    label.setProperty("role", "title")
    label.setContentsMargins(10, 6, 10, 2)
    return label
