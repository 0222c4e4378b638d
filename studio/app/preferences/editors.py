"""Editors for each kind of setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from studio.app.preferences.ignore_wheel import ignore_wheel
from studio.setting_kinds import BoolSetting, Choice, Device, Folder, IntSetting, Number, Setting, StringSetting

_CONTEXT = "Settings"


def translated(text: str) -> str:
    """Return a text of the setting declarations in the interface language."""
    return QCoreApplication.translate(_CONTEXT, text) if text else ""


class SettingEditor(QObject):
    """``control`` is the widget. ``changed`` is not emitted by :meth:`set_value`."""

    changed = Signal()

    def __init__(self, setting: Setting[Any], control: QWidget) -> None:
        super().__init__(control)
        self.setting = setting
        self.control = control
        self._is_being_set = False
        focus = control.focusProxy() or control
        focus.setObjectName(setting.key)
        focus.setAccessibleName(translated(setting.title))
        focus.setAccessibleDescription(translated(setting.help))

    def value(self) -> Any:
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        self._is_being_set = True
        try:
            self._show(value)
        finally:
            self._is_being_set = False

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _emit_changed(self, *_: object) -> None:
        if not self._is_being_set:
            self.changed.emit()


class BoolEditor(SettingEditor):
    def __init__(self, setting: BoolSetting) -> None:
        self._box = QCheckBox(translated(setting.title))
        super().__init__(setting, self._box)
        self._box.toggled.connect(self._emit_changed)

    def value(self) -> bool:
        return self._box.isChecked()

    def _show(self, value: bool) -> None:
        self._box.setChecked(value)


class IntEditor(SettingEditor):
    def __init__(self, setting: IntSetting) -> None:
        self._box = ignore_wheel(QSpinBox())
        self._box.setRange(setting.low, setting.high)
        self._box.setSuffix(_suffix(setting.unit))
        self._box.setSpecialValueText(translated(setting.name_of_low))
        super().__init__(setting, self._box)
        self._box.valueChanged.connect(self._emit_changed)

    def value(self) -> int:
        return self._box.value()

    def _show(self, value: int) -> None:
        self._box.setValue(value)


class NumberEditor(SettingEditor):
    def __init__(self, setting: Number) -> None:
        self._box = ignore_wheel(QDoubleSpinBox())
        self._decimals = max(0, math.ceil(-math.log10(setting.step)))
        self._box.setDecimals(self._decimals)
        self._box.setRange(setting.low, setting.high)
        self._box.setSingleStep(setting.step)
        self._box.setSuffix(_suffix(setting.unit))
        super().__init__(setting, self._box)
        self._box.valueChanged.connect(self._emit_changed)

    def value(self) -> float:
        return round(self._box.value(), self._decimals)

    def _show(self, value: float) -> None:
        self._box.setValue(value)


class ChoiceEditor(SettingEditor):
    def __init__(self, setting: Choice[Any]) -> None:
        self._box = ignore_wheel(QComboBox())
        for option in setting.options:
            self._box.addItem(translated(option.title), option.value)
        super().__init__(setting, self._box)
        self._box.currentIndexChanged.connect(self._emit_changed)

    def value(self) -> Any:
        return self._box.currentData()

    def _show(self, value: Any) -> None:
        self._box.setCurrentIndex(self._box.findData(value))


class TextEditor(SettingEditor):
    def __init__(self, setting: StringSetting) -> None:
        self._field = QLineEdit()
        self._field.setMaxLength(setting.longest)
        super().__init__(setting, self._field)
        self._field.textEdited.connect(self._emit_changed)

    def value(self) -> str:
        return self._field.text()

    def _show(self, value: str) -> None:
        self._field.setText(value)


class FolderEditor(SettingEditor):
    """Path field with a button that opens a folder dialog."""

    def __init__(self, setting: Folder) -> None:
        control = QWidget()
        self._field = QLineEdit()
        self._field.setPlaceholderText(translated(setting.name_of_empty))
        self._field.setMaxLength(setting.longest)
        self._field.setClearButtonEnabled(True)
        button = QPushButton(QCoreApplication.translate("Preferences", "Choose…"))
        button.setAutoDefault(False)
        button.clicked.connect(self._choose)
        row = QHBoxLayout(control)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._field, 1)
        row.addWidget(button)
        control.setFocusProxy(self._field)
        super().__init__(setting, control)
        self._field.textChanged.connect(self._emit_changed)  # textEdited is not emitted by the clear button

    def value(self) -> str:
        return self._field.text().strip()

    def _show(self, value: str) -> None:
        self._field.setText(value)

    def _choose(self) -> None:
        title = translated(self.setting.title)
        folder = QFileDialog.getExistingDirectory(self.control, title, self._field.text())
        if folder:
            self._field.setText(folder)


class DeviceEditor(SettingEditor):
    """List of devices, including the chosen one if it is disconnected."""

    def __init__(self, setting: Device) -> None:
        self._box = ignore_wheel(QComboBox())
        self._names: tuple[str, ...] = ()
        self._are_names_known = False
        super().__init__(setting, self._box)
        self._fill("")
        self._box.currentIndexChanged.connect(self._emit_changed)

    def value(self) -> str:
        return str(self._box.currentData() or "")

    def set_names(self, names: Sequence[str]) -> None:
        self._names, self._are_names_known = tuple(names), True
        self.set_value(self.value())

    def _show(self, value: str) -> None:
        self._fill(value)

    def _fill(self, chosen: str) -> None:
        self._box.clear()
        self._box.addItem(QCoreApplication.translate("Preferences", "System default"), "")
        for name in self._names:
            self._box.addItem(name, name)
        if chosen and chosen not in self._names:
            words = QCoreApplication.translate("Preferences", "{device} (not connected)")
            self._box.addItem(words.format(device=chosen) if self._are_names_known else chosen, chosen)
        self._box.setCurrentIndex(self._box.findData(chosen))


_EDITORS: tuple[tuple[type[Setting[Any]], Callable[[Any], SettingEditor]], ...] = (
    (BoolSetting, BoolEditor),
    (IntSetting, IntEditor),
    (Number, NumberEditor),
    (Choice, ChoiceEditor),
    (Device, DeviceEditor),
    (Folder, FolderEditor),
    (StringSetting, TextEditor),
)


def editor_for(setting: Setting[Any]) -> SettingEditor:
    return next(make(setting) for kind, make in _EDITORS if isinstance(setting, kind))


def _suffix(unit: str) -> str:
    return f" {translated(unit)}" if unit else ""
