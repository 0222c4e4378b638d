"""How the model chooses its tokens, for those who want to choose that."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFormLayout, QSpinBox, QVBoxLayout, QWidget

from studio.model.config import SamplingOptions

_INDENT_PIXELS = 20


class SamplingBox(QWidget):
    """Checked: options of the line's own; else those of the released models."""

    changed = Signal(object)  # SamplingOptions or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._has_own = QCheckBox(self.tr("Sampling of its own"))
        self._is_showing = False
        self._top_p = QDoubleSpinBox(minimum=0.01, maximum=1.0, singleStep=0.05, decimals=2)
        self._top_k = QSpinBox(minimum=1, maximum=1000)
        self._window = QSpinBox(minimum=1, maximum=1000)
        self._ratio = QDoubleSpinBox(minimum=0.01, maximum=1.0, singleStep=0.05, decimals=2)
        self._inside = QWidget()
        form = QFormLayout(self._inside)
        form.setContentsMargins(_INDENT_PIXELS, 0, 0, 0)
        for name, tip, control in (
            (self.tr("Probability kept"), self.tr("Lower: calmer; higher: livelier (top p)"), self._top_p),
            (self.tr("Tokens kept"), self.tr("How many candidates there are at most (top k)"), self._top_k),
            (self.tr("Looks back"), self.tr("Repetition is looked for among so many tokens"), self._window),
            (self.tr("Repetition allowed"), self.tr("The share of them that may be the same token"), self._ratio),
        ):
            control.setAccessibleName(name)
            control.setToolTip(tip)
            control.valueChanged.connect(self._on_changed)
            form.addRow(name, control)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._has_own)
        column.addWidget(self._inside)
        self._has_own.toggled.connect(self._on_toggled)
        self.show_options(None)

    def show_options(self, options: SamplingOptions | None) -> None:
        self._is_showing = True
        self._has_own.setChecked(options is not None)
        self._inside.setVisible(options is not None)
        shown = options or SamplingOptions()
        self._top_p.setValue(shown.top_p)
        self._top_k.setValue(shown.top_k)
        self._window.setValue(shown.window_tokens)
        self._ratio.setValue(shown.repetition_ratio)
        self._is_showing = False

    def _on_toggled(self, has_own: bool) -> None:
        self._inside.setVisible(has_own)
        if not self._is_showing:
            self.changed.emit(self._options() if has_own else None)

    def _on_changed(self) -> None:
        if not self._is_showing and self._has_own.isChecked():
            self.changed.emit(self._options())

    def _options(self) -> SamplingOptions:
        return SamplingOptions(
            top_p=round(self._top_p.value(), 2),
            top_k=self._top_k.value(),
            window_tokens=self._window.value(),
            repetition_ratio=round(self._ratio.value(), 2),
        )
