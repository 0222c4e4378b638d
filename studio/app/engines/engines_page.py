"""Engines page with its stage cards and its controller."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.bridge import WorkerBridge
from studio.app.engines.engine_text import (
    device_text,
    disk_text,
    engine_title,
    kept_text,
    note_text,
    panel_title,
    progress_text,
    proof_text,
    reason_text,
    speed_text,
    stage_task,
    stage_title,
    status_icon,
    status_text,
    trial_text,
)
from studio.app.engines.stage_chart import StageChart
from studio.app.engines.tuning_panel import EngineTuningPanel
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.screen_fit import fit_to_screen
from studio.engines.overview import CandidateView, EngineAction, EngineStatus, StageView, Status, wanted_by_stage
from studio.engines.stage import Stage
from studio.settings import WANTED_ENGINES
from studio.settings_store import Settings

_ICON_SIZE = QSize(16, 16)


class StageCard(QFrame):
    """Card of one stage: the engine in use, its speed and accuracy, and why the others are not used.

    ``again_wanted`` carries the keys of failed candidates to try again.
    """

    again_wanted = Signal(tuple)
    engine_wanted = Signal(str)  # name of the engine that the user chose; empty for the automatic choice

    def __init__(self, view: StageView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._view = view
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._task = QLabel()
        self._task.setProperty("role", "quiet")
        self._engine = QLabel()
        self._choice = QComboBox()
        self._choice.activated.connect(lambda _: self.engine_wanted.emit(self._choice.currentData()))
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
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addWidget(self._task, 1)
        head.addWidget(self._engine)
        head.addWidget(self._choice)
        foot = QHBoxLayout()
        foot.addWidget(self._why)
        foot.addStretch()
        foot.addWidget(self._again)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.addLayout(head)
        column.addWidget(self._facts)
        column.addLayout(foot)
        column.addWidget(self._others)

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
        self._show_choice(view)

    def _show_choice(self, view: StageView) -> None:
        """List the verified engines. Engines that would produce wrong audio cannot be chosen."""
        entries = [(self.tr("Automatic"), "")]
        entries += [(engine_title(each), each.name) for each in view.candidates if each.status is Status.VERIFIED]
        if view.wanted and view.wanted not in (name for _, name in entries):
            entries.append((view.wanted, view.wanted))
        shown = [(self._choice.itemText(row), self._choice.itemData(row)) for row in range(self._choice.count())]
        if shown != entries:
            self._choice.clear()
            for title, name in entries:
                self._choice.addItem(title, name)
        self._choice.setCurrentIndex([name for _, name in entries].index(view.wanted))
        self._choice.setAccessibleName(self.tr("{stage}: engine").format(stage=stage_title(view.stage)))

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
            mark.setAccessibleName(status_text(view.status))
            mark.setToolTip(status_text(view.status))
            self._label(row, 1).setText(f"{engine_title(view)}\n{status_text(view.status)}")
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


class EnginesPage(QDialog):
    """Non-modal dialog with the engine of each stage, its measurements and the alternatives.

    ``action_wanted`` carries an ``EngineAction`` and the keys of candidates; without keys it applies to all.
    """

    action_wanted = Signal(object, tuple)
    engine_wanted = Signal(object, str)  # Stage and the name of its engine; empty for the automatic choice

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Engines"))
        self._overview: EngineStatus | None = None
        self.cards: dict[Stage, StageCard] = {}
        self._subject = QLabel(wordWrap=True)
        self._subject.setProperty("role", "title")
        self._intro = QLabel(
            self.tr(
                "An engine is used only if its output matches float32 closely enough, on this computer and with this "
                "model. The fastest one that passes is used."
            ),
            wordWrap=True,
        )
        self._intro.setProperty("role", "quiet")
        self.chart = StageChart()
        self.panel = EngineTuningPanel()
        self._notes = QLabel(wordWrap=True)
        self._notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._empty = QLabel(self.tr("Load a model to see its engines."), wordWrap=True)
        self._disk = QLabel()
        self._disk.setProperty("role", "quiet")
        self._improve = QPushButton(self.tr("Find faster engines"))
        self._verify = QPushButton(self.tr("Verify again"))
        self._verify.setToolTip(self.tr("Compares and measures the verified engines again, without rebuilding them"))
        self._rebuild = QPushButton(self.tr("Rebuild all…"))
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._lay_out()
        self._connect_signals()
        self._show_text()

    def _lay_out(self) -> None:
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        for widget in (self.panel, self.chart, self._notes, self._empty):
            self._column.addWidget(widget)
        self._column.addStretch()
        scroll = QScrollArea()
        scroll.setWidget(self._list)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        foot = QHBoxLayout()
        for button in (self._improve, self._verify, self._rebuild):
            button.setAutoDefault(False)
            foot.addWidget(button)
        foot.addStretch(1)
        foot.addWidget(self._buttons)
        column = QVBoxLayout(self)
        column.addWidget(self._subject)
        column.addWidget(self._intro)
        column.addWidget(scroll, 1)
        column.addWidget(self._disk)
        column.addLayout(foot)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(120 * width, 105 * width))

    def _connect_signals(self) -> None:
        self._buttons.rejected.connect(self.hide)
        self._improve.clicked.connect(lambda: self.action_wanted.emit(EngineAction.IMPROVE, ()))
        self._verify.clicked.connect(lambda: self.action_wanted.emit(EngineAction.IMPROVE, self._measured_keys()))
        self._rebuild.clicked.connect(self._ask_to_rebuild)
        self.panel.action_wanted.connect(lambda action: self.action_wanted.emit(action, ()))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._show_text()

    def show_overview(self, overview: EngineStatus | None) -> None:
        """Show ``overview``, which is None if no model is loaded."""
        self._overview = overview
        if self.isVisible():
            self._show_text()

    def _show_text(self) -> None:
        overview = self._overview
        self._empty.setVisible(overview is None)
        for widget in (self.chart, self._disk, self._improve, self._verify, self._rebuild):
            widget.setVisible(overview is not None)
        if overview is None:
            self._subject.setText(self.tr("Engines"))
            self._notes.hide()
            self.panel.hide()
            return
        self._subject.setText(f"{overview.model_name} · {device_text(overview.device)}")
        self._disk.setText(disk_text(overview))
        self._notes.setText(note_text(overview))
        self._notes.setVisible(bool(overview.notes))
        self._improve.setEnabled(overview.work is None)
        self._verify.setEnabled(overview.work is None and bool(self._measured_keys()))
        self._rebuild.setEnabled(overview.work is None)
        self.panel.show_overview(overview)
        self.chart.show_overview(overview)
        self._show_stages(overview)

    def _show_stages(self, overview: EngineStatus) -> None:
        for stage in set(self.cards) - {view.stage for view in overview.stages}:
            self.cards.pop(stage).deleteLater()
        for view in overview.stages:
            if view.stage in self.cards:
                self.cards[view.stage].show_view(view)
                continue
            card = StageCard(view)
            card.engine_wanted.connect(lambda name, stage=view.stage: self.engine_wanted.emit(stage, name))
            card.again_wanted.connect(lambda keys: self.action_wanted.emit(EngineAction.IMPROVE, keys))
            self.cards[view.stage] = card
            self._column.insertWidget(self._column.count() - 1, card)

    def _measured_keys(self) -> tuple[str, ...]:
        stages = self._overview.stages if self._overview else ()
        return tuple(view.key for stage in stages for view in stage.candidates if view.speedup)

    def _ask_to_rebuild(self) -> None:
        question = QMessageBox(
            QMessageBox.Icon.Question,
            self.tr("Rebuild all engines"),
            self.tr(
                "All engines built for this model are deleted, then built and measured again. "
                "Until then the reference engines are used."
            ),
            QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.Cancel,
            self,
        )
        question.accepted.connect(lambda: self.action_wanted.emit(EngineAction.REBUILD, ()))
        question.finished.connect(question.deleteLater)
        question.open()


class EnginesController(QObject):
    """Shows the engine status that the worker sends, and sends the user's actions to the worker.

    ``progress_changed`` carries a short text and a longer one about the current tuning, and its finished share. The
    texts are empty when there is no tuning.
    """

    progress_changed = Signal(str, str, object)

    def __init__(self, bridge: WorkerBridge, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._settings = settings
        self._window = window
        self.page: EnginesPage | None = None  # created when it is first opened
        self._overview: EngineStatus | None = None
        bridge.engines_changed.connect(self.show)

    def begin(self) -> None:
        """Show the current status, once ``progress_changed`` is connected."""
        self.show(self._bridge.engine_status)

    def open_page(self) -> None:
        """Open the page, or bring it to the front."""
        if self.page is None:
            self.page = EnginesPage(self._window)
            self.page.action_wanted.connect(self._manage)
            self.page.engine_wanted.connect(self._choose_engine)
        self.page.show_overview(self._overview)
        self.page.show()
        self.page.raise_()
        self.page.activateWindow()

    def show(self, overview: EngineStatus | None) -> None:
        """Show ``overview``, which is None if no model is loaded."""
        self._overview = overview
        work = overview.work if overview is not None else None
        if overview is None or work is None:
            self.progress_changed.emit("", "", None)
        else:
            share = (work.index - 1 + work.share) / work.total
            details = f"{panel_title(overview)}\n{trial_text(overview)}"
            self.progress_changed.emit(progress_text(overview), details, share)
        if self.page is not None:
            self.page.show_overview(overview)

    def _choose_engine(self, stage: Stage, name: str) -> None:
        """Store the choice, which reloads the model."""
        entries: tuple[str, ...] = self._settings[WANTED_ENGINES]
        wanted = wanted_by_stage(entries)
        wanted.pop(stage.value, None)
        if name:
            wanted[stage.value] = name
        self._settings[WANTED_ENGINES] = tuple(f"{key}:{engine}" for key, engine in wanted.items())

    def _manage(self, action: EngineAction, keys: tuple[str, ...]) -> None:
        self._bridge.run(self._bridge.manage_engines(action, keys))
