"""Card of one stage of the model on the Engines page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QWidget,
)

from studio.app.engines.engine_text import (
    engine_title,
    kept_text,
    proof_text,
    reason_text,
    speed_text,
    stage_task,
    stage_title,
    status_icon,
    status_text,
)
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.controls import STRETCH, in_column, in_row, text_label
from studio.engines.overview import CandidateView, StageView, Status

_ICON_SIZE = QSize(16, 16)


class StageCard(QFrame):
    """Card of one stage: the engine in use, its speed and accuracy, and why the others are not used.

    ``again_wanted`` carries the keys of failed candidates to try again.
    """

    again_wanted = Signal(tuple)

    def __init__(self, view: StageView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._view = view
        self._title = text_label("", "title", wraps=False)
        self._task = text_label("", "quiet", wraps=False)
        self._engine = QLabel()
        self._facts = QLabel(wordWrap=True)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._why = QToolButton(autoRaise=True)
        self._why.setCheckable(True)
        self._why.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._why.setIcon(icon("down"))
        self._why.toggled.connect(self._show_others)
        self._again = QPushButton()
        self._again.setAutoDefault(False)
        self._again.clicked.connect(lambda: self.again_wanted.emit(self._failed_keys()))
        self._others = QWidget()
        self._grid = QGridLayout(self._others)
        self._grid.setContentsMargins(4, 0, 0, 0)
        self._grid.setColumnStretch(2, 1)
        self._grid.setHorizontalSpacing(12)
        self._others.hide()
        self._lay_out()
        self.show_view(view)

    def _lay_out(self) -> None:
        head = in_row(self._title, (self._task, 1), self._engine)
        foot = in_row(self._why, STRETCH, self._again)
        in_column(head, self._facts, foot, self._others, parent=self, margins=(12, 8, 12, 8))

    def show_view(self, view: StageView) -> None:
        self._view = view
        current = view.current
        self._title.setText(stage_title(view.stage))
        self._task.setText(stage_task(view.stage))
        self._engine.setText(engine_title(current))
        facts = [speed_text(current), proof_text(current), kept_text(current)]
        if view.switches_at_next_line:
            facts.append(self.tr("{engine} from the next line on").format(engine=engine_title(view.choice)))
        self._facts.setText(" · ".join(fact for fact in facts if fact))
        shown = view.choice if view.switches_at_next_line else current
        others = [candidate for candidate in view.candidates if candidate.key != shown.key]
        self._why.setText(self.tr("Why not faster? (%n other engine(s))", "", len(others)))
        self._why.setAccessibleName(self.tr("{stage}: why not faster").format(stage=stage_title(view.stage)))
        self._why.setVisible(bool(others))
        self._again.setText(self.tr("Try again"))
        self._again.setToolTip(self.tr("Tries the failed engines again"))
        self._again.setVisible(bool(self._failed_keys()))
        self._fill(others)

    def _show_others(self, is_shown: bool) -> None:
        self._why.setIcon(icon("up" if is_shown else "down"))
        self._others.setVisible(is_shown)

    def _failed_keys(self) -> tuple[str, ...]:
        failed = (Status.BACKED_OFF, Status.FAILED)
        return tuple(candidate.key for candidate in self._view.candidates if candidate.status in failed)

    def _fill(self, others: list[CandidateView]) -> None:
        """Fill the table. It is updated several times a second during a build, so existing labels are reused."""
        colors = theme_colors(self.palette())
        for row, view in enumerate(others):
            name, tone = status_icon(view.status)
            mark = self._label(row, 0)
            mark.setPixmap(icon(name, getattr(colors, tone)).pixmap(_ICON_SIZE))
            status = status_text(view)
            mark.setAccessibleName(status)
            mark.setToolTip(status)
            self._label(row, 1).setText(f"{engine_title(view)}\n{status}")
            reason = self._label(row, 2)
            reason.setText(reason_text(view, self._view))
            reason.setWordWrap(True)
        for row in range(self._grid.rowCount()):
            for column in range(3):
                if (item := self._grid.itemAtPosition(row, column)) and (widget := item.widget()):
                    widget.setVisible(row < len(others))

    def _label(self, row: int, column: int) -> QLabel:
        item = self._grid.itemAtPosition(row, column)
        widget = item.widget() if item is not None else None
        if isinstance(widget, QLabel):
            return widget
        label = QLabel()
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(label, row, column)
        return label
