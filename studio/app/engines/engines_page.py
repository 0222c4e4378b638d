"""Engines page: the engine of each stage, its measurements and the alternatives."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.app.engines.engine_text import (
    device_text,
    disk_text,
    note_text,
)
from studio.app.engines.stage_card import StageCard
from studio.app.engines.stage_chart import StageChart
from studio.app.engines.tuning_panel import EngineTuningPanel
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons, open_dialog
from studio.app.widgets.screen_fit import fit_to_screen
from studio.engines.overview import EngineAction, EngineStatus
from studio.engines.stage import Stage


class EnginesPage(QDialog):
    """Non-modal dialog with the engine of each stage, its measurements and the alternatives.

    ``action_wanted`` carries an ``EngineAction`` and the keys of candidates; without keys it applies to all.
    """

    action_wanted = Signal(object, tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Engines"))
        self._overview: EngineStatus | None = None
        self.cards: dict[Stage, StageCard] = {}
        self._subject = text_label("", "title")
        self._intro = text_label(
            self.tr(
                "A faster engine is used only if its output matches float32 closely enough on this computer and with "
                "this model. The fastest one that passes is used. Until then, the model runs in the precision in which it "
                "was loaded."
            ),
            "quiet",
        )
        self.chart = StageChart()
        self.panel = EngineTuningPanel()
        self._notes = QLabel(wordWrap=True)
        self._notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._empty = QLabel(self.tr("The engines of a model are shown when it is loaded."), wordWrap=True)
        self._disk = text_label("", "quiet", wraps=False)
        self._improve = QPushButton(self.tr("Find faster engines"))
        self._verify = QPushButton(self.tr("Verify again"))
        self._verify.setToolTip(self.tr("Compares and measures the verified engines again, without rebuilding them"))
        self._rebuild = QPushButton(self.tr("Rebuild all…"))
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        self._buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)
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
        in_column(self._subject, self._intro, (scroll, 1), self._disk, foot, parent=self)
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
        self.chart.setVisible(any(view.current.timing for view in overview.stages))
        self._show_stages(overview)

    def _show_stages(self, overview: EngineStatus) -> None:
        for stage in set(self.cards) - {view.stage for view in overview.stages}:
            self.cards.pop(stage).deleteLater()
        for view in overview.stages:
            if view.stage in self.cards:
                self.cards[view.stage].show_view(view)
                continue
            card = StageCard(view)
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
        open_dialog(question)
