"""Sampling options of lines in the inspector."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QVBoxLayout, QWidget

from studio.app.widgets.number_field import NumberField
from studio.model.config import SamplingOptions

_INDENT_PIXELS = 20


class SamplingOptionsBox(QWidget):
    """Custom sampling options of lines. Unless the box is checked, the defaults of the released models apply."""

    changed = Signal(object)  # SamplingOptions or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_custom = QCheckBox(self.tr("Custom sampling"))
        self._top_p = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._top_k = NumberField(minimum=1, maximum=1000, decimals=0)
        self._window = NumberField(minimum=1, maximum=1000, decimals=0)
        self._ratio = NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2)
        self._fields = (self._top_p, self._top_k, self._window, self._ratio)
        names_and_tips = (
            (self.tr("Top p"), self.tr("Cumulative probability kept: lower is calmer, higher is livelier")),
            (self.tr("Top k"), self.tr("Maximum number of candidate tokens")),
            (self.tr("Repetition window"), self.tr("Number of recent tokens checked for repetition")),
            (self.tr("Repetition limit"), self.tr("Largest fraction of one token in the window")),
        )
        self._inside = QWidget()
        form = QFormLayout(self._inside)
        form.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        for field, (name, tip) in zip(self._fields, names_and_tips, strict=True):
            field.setAccessibleName(name)
            field.setToolTip(tip)
            field.number_changed.connect(self._on_number)
            form.addRow(name, field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._is_custom)
        column.addWidget(self._inside)
        self._is_custom.clicked.connect(self._on_clicked)
        self.show_options(None)

    def show_options(self, options: SamplingOptions | None, *, is_mixed: bool = False) -> None:
        """Show ``options``, or the defaults for None. If ``is_mixed``, the selected lines have different options."""
        state = Qt.CheckState.Checked if options is not None else Qt.CheckState.Unchecked
        self._is_custom.setTristate(is_mixed)
        self._is_custom.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._inside.setVisible(options is not None and not is_mixed)
        shown = options or SamplingOptions()
        values = (shown.top_p, shown.top_k, shown.window_tokens, shown.repetition_ratio)
        for field, value in zip(self._fields, values, strict=True):
            field.show_number(value)

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
