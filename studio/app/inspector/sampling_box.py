"""The inspector's sampling options."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QVBoxLayout, QWidget

from studio.app.widgets.number_field import NumberField
from studio.model.config import SamplingOptions

_INDENT_PIXELS = 20


class SamplingOptionsBox(QWidget):
    """Custom sampling options of a line; unchecked, the defaults of the released models apply."""

    changed = Signal(object)  # SamplingOptions or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_custom = QCheckBox(self.tr("Custom sampling"))
        self._top_p = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._top_k = NumberField(minimum=1, maximum=1000, decimals=0)
        self._window = NumberField(minimum=1, maximum=1000, decimals=0)
        self._ratio = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._fields = (self._top_p, self._top_k, self._window, self._ratio)
        self._inside = QWidget()
        form = QFormLayout(self._inside)
        form.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        for name, tip, control in (
            (
                self.tr("Top p"),
                self.tr("Cumulative probability kept: lower is calmer, higher is livelier"),
                self._top_p,
            ),
            (self.tr("Top k"), self.tr("Maximum number of candidate tokens"), self._top_k),
            (self.tr("Repetition window"), self.tr("Number of recent tokens checked for repetition"), self._window),
            (self.tr("Repetition limit"), self.tr("Largest share of one token in the window"), self._ratio),
        ):
            control.setAccessibleName(name)
            control.setToolTip(tip)
            control.number_changed.connect(self._on_number)
            form.addRow(name, control)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._is_custom)
        column.addWidget(self._inside)
        self._is_custom.clicked.connect(self._on_clicked)
        self.show_options(None)

    def show_options(self, options: SamplingOptions | None, *, is_mixed: bool = False) -> None:
        """Show ``options``; None stands for the defaults. ``is_mixed``: the selected lines differ."""
        state = Qt.CheckState.Checked if options is not None else Qt.CheckState.Unchecked
        self._is_custom.setTristate(is_mixed)
        self._is_custom.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._inside.setVisible(options is not None and not is_mixed)
        shown = options or SamplingOptions()
        self._top_p.show_number(shown.top_p)
        self._top_k.show_number(shown.top_k)
        self._window.show_number(shown.window_tokens)
        self._ratio.show_number(shown.repetition_ratio)

    def commit(self) -> None:
        """Report unfinished edits."""
        for field in self._fields:
            field.commit()

    def _on_clicked(self) -> None:
        is_custom = self._is_custom.isChecked()
        self._inside.setVisible(is_custom)
        self.changed.emit(self._options() if is_custom else None)

    def _on_number(self) -> None:
        if self._is_custom.isChecked():
            self.changed.emit(self._options())

    def _options(self) -> SamplingOptions:
        return SamplingOptions(
            top_p=round(self._top_p.value(), 2),
            top_k=round(self._top_k.value()),
            window_tokens=round(self._window.value()),
            repetition_ratio=round(self._ratio.value(), 2),
        )
