"""Dialog that fits all lines to their slots. It shows the longest overruns first, the limits, and the result."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.app.dubbing.fitter import FitResult, Fitter
from studio.app.script.project_editor import ProjectEditor
from studio.app.theme.colors import theme_colors
from studio.app.translation import join_sentences
from studio.app.widgets.controls import in_column
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.number_field import NumberField
from studio.app.widgets.screen_fit import fit_to_screen
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.project.dubbing import TOLERANCE_SECONDS, FitOptions, LineFit, Retakes, faster_style, plan_fit
from studio.settings import FIT_FASTEST, FIT_SLOWEST
from studio.settings_store import Settings

_SIZE = (860, 560)
_REFRESH_MS = 120  # after an edit
_NUMBER, _TEXT, _SLOT, _TAKE, _OVERRUN, _ACTION = range(6)
_LINE_ID = Qt.ItemDataRole.UserRole


class FitDialog(QDialog):
    """Non-modal dialog for the lines of ``line_ids``, or for all lines if it is None."""

    line_wanted = Signal(str)  # show this line in the script

    def __init__(
        self,
        editor: ProjectEditor,
        fitter: Fitter,
        settings: Settings,
        style_families: Callable[[], Collection[str]],
        *,
        line_ids: Collection[str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._fitter = fitter
        self._settings = settings
        self._style_families = style_families
        self._line_ids = line_ids
        self._plan: tuple[LineFit, ...] = ()
        self.setWindowTitle(self.tr("Fit to slots"))
        self.resize(fit_to_screen(*_SIZE))
        self.summary = QLabel(wordWrap=True)
        self.table = QTreeWidget()
        self.slowest = NumberField(minimum=MIN_SPEED, maximum=1.0, step=0.05, decimals=2)
        self.fastest = NumberField(minimum=1.0, maximum=MAX_SPEED, step=0.05, decimals=2)
        self.lengthens = QCheckBox(self.tr("Also slow down short takes"))
        self.retakes = QComboBox()
        self.progress = QProgressBar()
        self.apply_button = QPushButton(self.tr("Apply"))
        self.cancel_button = QPushButton(self.tr("Cancel"))
        self._refresh_timer = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._lay_out()
        self._connect_signals()
        self.refresh()

    @property
    def options(self) -> FitOptions:
        style = faster_style(self._style_families())
        return FitOptions(
            self.slowest.value(),
            self.fastest.value(),
            lengthens=self.lengthens.isChecked(),
            retakes=Retakes.NEVER if style is None else self.retakes.currentData(),
            faster_style=style,
        )

    def refresh(self) -> None:
        """Plan again and show the plan, unless lines are being spoken."""
        if self._fitter.is_busy:
            return
        script = self._editor.script
        line_ids = [line.id for line in script.lines] if self._line_ids is None else self._line_ids
        self._plan = plan_fit(script, line_ids, self.options)
        over = sum(fit.overrun_seconds > 0 and (fit.is_stretched or fit.still_overruns) for fit in self._plan)
        unspoken = sum(
            line.slot is not None and line.is_spoken and line.chosen_take is None
            for line in script.lines
            if self._line_ids is None or line.id in self._line_ids
        )
        words = [self.tr("Longer than their slots: {over} of {count} takes.").format(over=over, count=len(self._plan))]
        if unspoken:
            words.append(self.tr("%n line(s) have not been spoken.", "", unspoken))
        self.summary.setText(join_sentences(words))
        self._fill_table()
        self.retakes.setEnabled(self.options.faster_style is not None)
        self.apply_button.setEnabled(any(fit.is_stretched or fit.is_retaken for fit in self._plan))

    def apply(self) -> None:
        for field in (self.slowest, self.fastest):
            field.commit()
        self._settings.change({FIT_SLOWEST: self.slowest.value(), FIT_FASTEST: self.fastest.value()})
        self.refresh()
        self._set_busy(True)
        self._fitter.start(self._plan, self.options)

    def done(self, result: int) -> None:
        """Close the dialog. Lines being spoken keep their current takes, which are stretched."""
        self._fitter.cancel()
        super().done(result)

    def _lay_out(self) -> None:
        self.table.setHeaderLabels(
            [
                self.tr("No."),
                self.tr("Text"),
                self.tr("Slot"),
                self.tr("Take"),
                self.tr("Overrun"),
                self.tr("Action"),
            ]
        )
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setAccessibleName(self.tr("Lines and their slots"))
        header = self.table.header()
        header.setStretchLastSection(False)
        for column in range(self.table.columnCount()):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        self.slowest.setAccessibleName(self.tr("Slowest"))
        self.fastest.setAccessibleName(self.tr("Fastest"))
        self.slowest.show_number(self._settings[FIT_SLOWEST])
        self.fastest.show_number(self._settings[FIT_FASTEST])
        limits = QHBoxLayout()
        for label, field in ((self.tr("Slowest"), self.slowest), (self.tr("Fastest"), self.fastest)):
            limits.addWidget(QLabel(label))
            limits.addWidget(field)
        limits.addWidget(self.lengthens)
        limits.addStretch(1)
        for words, rule in (
            (self.tr("Never"), Retakes.NEVER),
            (self.tr("Where stretching is not enough"), Retakes.BEYOND_LIMITS),
            (self.tr("All that are too long"), Retakes.ALWAYS),
        ):
            self.retakes.addItem(words, rule)
        self.retakes.setCurrentIndex(1)
        self.retakes.setToolTip(self.tr("A new take in a faster style of the model. It is a new reading of the line."))
        self.progress.setTextVisible(True)
        self.progress.hide()
        form = QFormLayout()
        form.addRow(self.tr("Speed limits"), limits)
        form.addRow(self.tr("Speak again faster"), self.retakes)
        buttons = QDialogButtonBox()
        buttons.addButton(self.apply_button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.cancel_button, QDialogButtonBox.ButtonRole.RejectRole)
        make_primary(self.apply_button)
        in_column(self.summary, (self.table, 1), form, self.progress, buttons, parent=self)

    def _connect_signals(self) -> None:
        self.slowest.number_changed.connect(self.refresh)
        self.fastest.number_changed.connect(self.refresh)
        self.lengthens.toggled.connect(self.refresh)
        self.retakes.currentIndexChanged.connect(self.refresh)
        self.apply_button.clicked.connect(self.apply)
        self.cancel_button.clicked.connect(self._on_cancel)
        self.table.itemActivated.connect(lambda item, _: self.line_wanted.emit(item.data(0, _LINE_ID)))
        self._refresh_timer.timeout.connect(self.refresh)
        self._editor.script_changed.connect(self._refresh_timer.start)
        self._editor.project_replaced.connect(self.reject)
        self._fitter.progressed.connect(self._on_progressed)
        self._fitter.finished.connect(self._on_finished)

    def _fill_table(self) -> None:
        script, colors = self._editor.script, theme_colors(self.palette())
        self.table.clear()
        items: list[QTreeWidgetItem] = []
        for fit in self._plan:
            overrun = round(fit.overrun_seconds, 2) + 0.0  # not -0.00
            item = QTreeWidgetItem(
                [
                    str(script.index_of[fit.line.id] + 1),
                    fit.line.text,
                    self.tr("{seconds:.2f} s").format(seconds=fit.slot.seconds),
                    self.tr("{seconds:.2f} s").format(seconds=fit.take_seconds),
                    self.tr("{seconds:+.2f} s").format(seconds=overrun),
                    self._action(fit),
                ]
            )
            item.setData(0, _LINE_ID, fit.line.id)
            for column in (_NUMBER, _SLOT, _TAKE, _OVERRUN):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if fit.still_overruns:
                for column in (_OVERRUN, _ACTION):
                    item.setForeground(column, QColor(colors.bad))
            items.append(item)
        self.table.addTopLevelItems(items)

    def _action(self, fit: LineFit) -> str:
        if fit.is_retaken:
            return self.tr("Speak again faster")
        words = self.tr("Speed up {speed:.2f}×") if fit.speed > 1 else self.tr("Slow down {speed:.2f}×")
        stretch = words.format(speed=fit.speed) if fit.is_stretched else ""
        if fit.still_overruns:
            words = self.tr("{seconds:.2f} s too long")
            if fit.spare_seconds:
                words = self.tr("{seconds:.2f} s too long, {spare:.2f} s of silence after it")
            over = words.format(seconds=fit.remaining_seconds, spare=fit.spare_seconds)
            return f"{stretch} · {over}" if stretch else over
        if fit.remaining_seconds > TOLERANCE_SECONDS:
            silence = self.tr("uses {seconds:.2f} s of the silence after it").format(seconds=fit.remaining_seconds)
            return f"{stretch or self.tr('Fits')} · {silence}"
        return stretch or self.tr("Fits")

    def _set_busy(self, is_busy: bool) -> None:
        for widget in (self.slowest, self.fastest, self.lengthens, self.retakes, self.apply_button):
            widget.setEnabled(not is_busy)
        self.progress.setVisible(is_busy)

    def _on_progressed(self, num_done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(num_done)
        self.progress.setFormat(self.tr("Take {number} of {total}").format(number=num_done, total=total))

    def _on_finished(self, result: FitResult) -> None:
        self._set_busy(False)
        self.refresh()
        words = [self.tr("%n line(s) fitted.", "", result.num_fitted)]
        if result.num_retaken:
            words.append(self.tr("%n line(s) spoken again.", "", result.num_retaken))
        if result.remaining:
            words.append(self.tr("%n line(s) remain too long; they are marked.", "", len(result.remaining)))
        self.summary.setText(join_sentences(words))
        self._refresh_timer.stop()  # the result remains visible until the next edit
        self.cancel_button.setText(self.tr("Close"))

    def _on_cancel(self) -> None:
        if self._fitter.is_busy:
            self._fitter.cancel()
        else:
            self.reject()
