"""Sampling options of lines in the inspector."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QVBoxLayout, QWidget

from studio.app.widgets.focus import place_in_tab_order
from studio.app.widgets.number_field import NumberField
from studio.model.options import SamplingOptions

_INDENT_PIXELS = 20


class SamplingOptionsBox(QWidget):
    """Custom sampling options of lines. Unless the box is checked, the defaults of the released models apply."""

    changed = Signal(object)  # SamplingOptions or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_custom = QCheckBox(self.tr("Custom sampling"))
        self._inside: QWidget | None = None  # contains the fields; created when it is first shown
        self.fields: dict[str, NumberField] = {}  # by attribute of the options
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._is_custom)
        self._is_custom.clicked.connect(self._on_clicked)

    def show_options(self, options: SamplingOptions | None, *, is_mixed: bool = False) -> None:
        """Show ``options``, or the defaults for None. If ``is_mixed``, the selected lines have different options."""
        state = Qt.CheckState.Checked if options is not None else Qt.CheckState.Unchecked
        self._is_custom.setTristate(is_mixed)
        self._is_custom.setCheckState(Qt.CheckState.PartiallyChecked if is_mixed else state)
        self._show_fields(options is not None and not is_mixed)
        shown = options or SamplingOptions()
        for name, field in self.fields.items():
            field.show_number(getattr(shown, name))

    def commit(self) -> None:
        """Report unfinished edits."""
        for field in self.fields.values():
            field.commit()

    def _show_fields(self, is_shown: bool) -> None:
        if self._inside is None and is_shown:
            self._inside = self._make_fields()
            self._column.addWidget(self._inside)
            place_in_tab_order(self._is_custom, self._inside)
        if self._inside is not None:
            self._inside.setVisible(is_shown)

    def _make_fields(self) -> QWidget:
        self.fields = {
            "top_p": NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2),
            "top_k": NumberField(minimum=1, maximum=1000, decimals=0),
            "window_tokens": NumberField(minimum=1, maximum=1000, decimals=0),
            "repetition_ratio": NumberField(minimum=0.01, maximum=1.0, step=0.05, decimals=2),
        }
        names_and_tips = (
            (self.tr("Top p"), self.tr("Cumulative probability kept: lower is calmer, higher is livelier")),
            (self.tr("Top k"), self.tr("Maximum number of candidate tokens")),
            (self.tr("Repetition window"), self.tr("Number of recent tokens checked for repetition")),
            (self.tr("Repetition limit"), self.tr("Largest fraction of one token in the window")),
        )
        inside, defaults = QWidget(), SamplingOptions()
        form = QFormLayout(inside)
        form.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        for (option, field), (name, tip) in zip(self.fields.items(), names_and_tips, strict=True):
            field.setAccessibleName(name)
            field.setToolTip(tip)
            field.show_number(getattr(defaults, option))
            field.number_changed.connect(self._on_number)
            form.addRow(name, field)
        return inside

    def _on_clicked(self) -> None:
        is_custom = self._is_custom.isChecked()
        self._show_fields(is_custom)
        self.changed.emit(self._options() if is_custom else None)

    def _on_number(self) -> None:
        if self._is_custom.isChecked():
            self.changed.emit(self._options())

    def _options(self) -> SamplingOptions:
        values = {name: round(field.value(), 2) for name, field in self.fields.items()}
        return SamplingOptions(
            top_p=values["top_p"],
            top_k=round(values["top_k"]),
            window_tokens=round(values["window_tokens"]),
            repetition_ratio=values["repetition_ratio"],
        )
