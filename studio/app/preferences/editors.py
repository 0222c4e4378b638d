"""Editors of settings, one for each kind of setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from studio.app.models.model_text import memory_text
from studio.app.voices.voice_importer import AUDIO_SUFFIXES
from studio.app.widgets.controls import in_row
from studio.catalog.machine import Gpu
from studio.setting_kinds import (
    AudioFileSetting,
    BoolSetting,
    ChoiceSetting,
    DeviceSetting,
    FolderSetting,
    IntSetting,
    NumberSetting,
    ProcessorSetting,
    Setting,
    StringSetting,
)

_CONTEXT = "Settings"
_Control = TypeVar("_Control", bound=QWidget)


def translated(text: str) -> str:
    """Return a text of the setting declarations in the interface language."""
    return QCoreApplication.translate(_CONTEXT, text) if text else ""


class SettingEditor(QObject):
    """Editor of ``setting`` with the widget ``control``.

    ``value`` returns the value in the widget. ``changed`` is emitted when the user changes it.
    """

    changed = Signal()

    def __init__(
        self,
        setting: Setting[Any],
        control: QWidget,
        *,
        value: Callable[[], Any],
        show: Callable[[Any], object],
        edited: SignalInstance,
    ) -> None:
        """``show`` puts a value into the widget, which emits ``edited`` when its value changes."""
        super().__init__(control)
        self.setting = setting
        self.control = control
        self.value = value
        self._show = show
        self._is_being_set = False
        focus = control.focusProxy() or control
        focus.setObjectName(setting.key)
        focus.setAccessibleName(translated(setting.title))
        focus.setAccessibleDescription(translated(setting.help))
        edited.connect(self._on_edited)

    def set_value(self, value: Any) -> None:
        """Show ``value`` without emitting ``changed``."""
        self._is_being_set = True
        try:
            self._show(value)
        finally:
            self._is_being_set = False

    def _on_edited(self) -> None:
        if not self._is_being_set:
            self.changed.emit()


def editor_for(setting: Setting[Any]) -> SettingEditor:
    """Create the editor for the kind of ``setting``."""
    return _EDITORS[type(setting)](setting)


def _bool_editor(setting: BoolSetting) -> SettingEditor:
    box = QCheckBox(translated(setting.title))
    return SettingEditor(setting, box, value=box.isChecked, show=box.setChecked, edited=box.toggled)


def _int_editor(setting: IntSetting) -> SettingEditor:
    box = _ignore_wheel(QSpinBox())
    box.setRange(setting.low, setting.high)
    box.setSuffix(_suffix(setting.unit))
    box.setSpecialValueText(translated(setting.name_of_low))
    return SettingEditor(setting, box, value=box.value, show=box.setValue, edited=box.valueChanged)


def _number_editor(setting: NumberSetting) -> SettingEditor:
    decimals = max(0, math.ceil(-math.log10(setting.step)))
    box = _ignore_wheel(QDoubleSpinBox(decimals=decimals, singleStep=setting.step))
    box.setRange(setting.low, setting.high)
    box.setSuffix(_suffix(setting.unit))

    def value() -> float:
        return round(box.value(), decimals)

    return SettingEditor(setting, box, value=value, show=box.setValue, edited=box.valueChanged)


def _choice_editor(setting: ChoiceSetting[Any]) -> SettingEditor:
    box = _ignore_wheel(QComboBox())
    for option in setting.options:
        box.addItem(translated(option.title), option.value)

    def show(value: object) -> None:
        box.setCurrentIndex(box.findData(value))

    return SettingEditor(setting, box, value=box.currentData, show=show, edited=box.currentIndexChanged)


def _text_editor(setting: StringSetting) -> SettingEditor:
    field = QLineEdit(maxLength=setting.longest)
    return SettingEditor(setting, field, value=field.text, show=field.setText, edited=field.textEdited)


def _folder_editor(setting: FolderSetting) -> SettingEditor:
    """Create a field for a path, with a button that opens a folder dialog."""
    title = translated(setting.title)
    return _path_editor(setting, lambda parent, path: QFileDialog.getExistingDirectory(parent, title, path))


def _audio_file_editor(setting: AudioFileSetting) -> SettingEditor:
    """Create a field for the path of an audio file, with a button that opens a file dialog."""
    kinds = " ".join(f"*{suffix}" for suffix in sorted(AUDIO_SUFFIXES))
    title = translated(setting.title)
    return _path_editor(setting, lambda parent, path: QFileDialog.getOpenFileName(parent, title, path, kinds)[0])


def _path_editor(setting: FolderSetting | AudioFileSetting, ask: Callable[[QWidget, str], str]) -> SettingEditor:
    """Create a field for a path, with a button that calls ``ask`` for another one."""
    control = QWidget()
    field = QLineEdit(maxLength=setting.longest, clearButtonEnabled=True)
    field.setPlaceholderText(translated(setting.name_of_empty))
    button = QPushButton(QCoreApplication.translate("Preferences", "Choose…"), autoDefault=False)
    in_row((field, 1), button, parent=control, margins=0)
    control.setFocusProxy(field)

    def choose() -> None:
        path = ask(control, field.text())
        if path:
            field.setText(path)

    def value() -> str:
        return field.text().strip()

    button.clicked.connect(choose)
    # The clear button emits only textChanged.
    return SettingEditor(setting, control, value=value, show=field.setText, edited=field.textChanged)


class DeviceEditor(SettingEditor):
    """List of the audio devices. It contains the chosen device even if that is not connected."""

    def __init__(self, setting: DeviceSetting) -> None:
        self._box = _ignore_wheel(QComboBox())
        self._names: Sequence[str] | None = None  # None until ``set_names`` is called
        self._fill("")
        super().__init__(setting, self._box, value=self._chosen, show=self._fill, edited=self._box.currentIndexChanged)

    def set_names(self, names: Sequence[str]) -> None:
        """List the devices that are connected."""
        self._names = names
        self.set_value(self._chosen())

    def _chosen(self) -> str:
        return str(self._box.currentData() or "")

    def _fill(self, chosen: str) -> None:
        names = self._names or ()
        self._box.clear()
        self._box.addItem(QCoreApplication.translate("Preferences", "System default"), "")
        for name in names:
            self._box.addItem(name, name)
        if chosen and chosen not in names:
            words = QCoreApplication.translate("Preferences", "{device} (not connected)")
            self._box.addItem(chosen if self._names is None else words.format(device=chosen), chosen)
        self._box.setCurrentIndex(self._box.findData(chosen))


class ProcessorEditor(SettingEditor):
    """List of the devices that can run the model. A value typed in an earlier version is kept."""

    def __init__(self, setting: ProcessorSetting) -> None:
        self._box = _ignore_wheel(QComboBox())
        self._gpus: Sequence[Gpu] = ()
        self._fill(setting.default)
        super().__init__(setting, self._box, value=self._chosen, show=self._fill, edited=self._box.currentIndexChanged)

    def set_gpus(self, gpus: Sequence[Gpu]) -> None:
        """List the GPUs of this computer."""
        self._gpus = gpus
        self.set_value(self._chosen())

    def _chosen(self) -> str:
        return str(self._box.currentData())

    def _fill(self, chosen: str) -> None:
        self._box.clear()
        self._box.addItem(QCoreApplication.translate("Preferences", "Automatic"), "auto")
        names = [gpu.name for gpu in self._gpus]
        for index, gpu in enumerate(self._gpus):
            words = QCoreApplication.translate("Preferences", "{name} ({free} of {all} free)")
            free, total = (memory_text(size) for size in (gpu.free_bytes, gpu.memory_bytes))
            # A name is still valid after a restart, and so is the number among GPUs of the same name.
            value = gpu.name if names.count(gpu.name) == 1 else f"cuda:{index}"
            self._box.addItem(words.format(name=gpu.name, free=free, all=total), value)
        self._box.addItem(QCoreApplication.translate("Preferences", "CPU"), "cpu")
        if self._box.findData(chosen) < 0:
            self._box.addItem(chosen, chosen)
        self._box.setCurrentIndex(self._box.findData(chosen))


_EDITORS: dict[type[Setting[Any]], Callable[[Any], SettingEditor]] = {
    BoolSetting: _bool_editor,
    IntSetting: _int_editor,
    NumberSetting: _number_editor,
    ChoiceSetting: _choice_editor,
    DeviceSetting: DeviceEditor,
    ProcessorSetting: ProcessorEditor,
    AudioFileSetting: _audio_file_editor,
    FolderSetting: _folder_editor,
    StringSetting: _text_editor,
}


def _suffix(unit: str) -> str:
    return f" {translated(unit)}" if unit else ""


def _ignore_wheel(control: _Control) -> _Control:
    """Make ``control`` pass wheel events to the page unless it has the focus; return it."""
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    control.installEventFilter(_WheelGuard(control))
    return control


class _WheelGuard(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        assert isinstance(watched, QWidget)
        if event.type() != QEvent.Type.Wheel or watched.hasFocus():
            return False
        event.ignore()  # Qt then passes it to the parent
        return True
