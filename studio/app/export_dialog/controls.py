"""One control for one setting: what its declaration says about it is its title, its help and its range."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QWidget

from studio.setting_kinds import Choice, Number, Setting, Text, Truth

_CONTEXT = "Settings"


class Control(QObject):
    """``widget`` shows ``value``; ``changed`` tells when a person, or somebody else, has changed it."""

    changed = Signal()

    def __init__(self, setting: Setting[Any], widget: QWidget) -> None:
        super().__init__(widget)
        self.setting = setting
        self.widget = widget
        widget.setAccessibleName(self.title)
        widget.setToolTip(translated(setting.help))
        widget.setObjectName(setting.key)

    @property
    def title(self) -> str:
        return translated(self.setting.title)

    @property
    def value(self) -> Any:
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        raise NotImplementedError


class TruthControl(Control):
    def __init__(self, setting: Truth) -> None:
        self._box = QCheckBox(translated(setting.title))
        super().__init__(setting, self._box)
        self._box.toggled.connect(self.changed)

    @property
    def value(self) -> bool:
        return self._box.isChecked()

    def show_value(self, value: bool) -> None:
        self._box.setChecked(value)


class ChoiceControl(Control):
    def __init__(self, setting: Choice[Any]) -> None:
        self._box = QComboBox()
        super().__init__(setting, self._box)
        for option in setting.options:
            self._box.addItem(translated(option.title), option.value)
        self._box.currentIndexChanged.connect(self.changed)

    @property
    def value(self) -> Any:
        return self._box.currentData()

    def show_value(self, value: Any) -> None:
        self._box.setCurrentIndex(max(0, self._box.findData(value)))


class NumberControl(Control):
    def __init__(self, setting: Number) -> None:
        self._box = QDoubleSpinBox()
        super().__init__(setting, self._box)
        self._box.setRange(setting.low, setting.high)
        self._box.setSingleStep(setting.step)
        self._box.setDecimals(1)
        if setting.unit:
            self._box.setSuffix(f" {translated(setting.unit)}")
        self._box.valueChanged.connect(self.changed)

    @property
    def value(self) -> float:
        return self._box.value()

    def show_value(self, value: float) -> None:
        self._box.setValue(value)


class TextControl(Control):
    def __init__(self, setting: Text) -> None:
        self.field = QLineEdit()
        super().__init__(setting, self.field)
        self.field.setMaxLength(setting.longest)
        self.field.textChanged.connect(self.changed)

    @property
    def value(self) -> str:
        return self.field.text()

    def show_value(self, value: str) -> None:
        self.field.setText(value)


def control_for(setting: Setting[Any]) -> Control:
    match setting:
        case Truth():
            return TruthControl(setting)
        case Choice():
            return ChoiceControl(setting)
        case Number():
            return NumberControl(setting)
        case Text():
            return TextControl(setting)
    raise AssertionError(f"no control shows {setting.key}")


def translated(text: str) -> str:
    """Words of a declaration; Qt translates an empty text to information about the file."""
    return QCoreApplication.translate(_CONTEXT, text) if text else ""
