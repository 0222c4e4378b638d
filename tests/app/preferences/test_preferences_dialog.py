"""Settings dialog: values, saving, errors, defaults, audio devices and the keyboard."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.app.preferences.dialog import PreferencesDialog
from studio.catalog.machine import parse_gpus
from studio.errors import NoAudioDevice
from studio.setting_kinds import Page
from studio.settings import (
    AUTOSAVE_MINUTES,
    COLOUR_SCHEME,
    DEVICE,
    EXPORT_FOLDER,
    EXPORT_IS_TRIMMED,
    EXPORT_LUFS,
    EXPORT_MATCHES_LOUDNESS,
    EXPORT_PATTERN,
    EXPORT_SAMPLE_RATE,
    LANGUAGE,
    NUM_THREADS,
    OUTPUT_DEVICE,
    PAUSE_AFTER_SECONDS,
    SETTINGS,
)
from studio.settings_store import Settings

W = TypeVar("W", bound=QWidget)


def no_devices(_direction: str) -> tuple[str, ...]:
    return ()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def dialog(settings: Settings, qtbot: QtBot) -> PreferencesDialog:
    dialog = PreferencesDialog(settings, no_devices)
    qtbot.addWidget(dialog)
    return dialog


def control(dialog: PreferencesDialog, kind: type[W], key: str) -> W:
    found = dialog.findChild(kind, key)
    assert isinstance(found, kind)
    return found


def press(dialog: PreferencesDialog, button: QDialogButtonBox.StandardButton) -> None:
    box = dialog.findChild(QDialogButtonBox)
    assert isinstance(box, QDialogButtonBox)
    box.button(button).click()


def test_every_setting_with_a_page_has_one_control_with_a_name(dialog: PreferencesDialog) -> None:
    for setting in SETTINGS:
        controls = dialog.findChildren(QWidget, setting.key)
        assert len(controls) == (setting.page is not None), setting.key
        for each in controls:
            assert each.accessibleName() == setting.title
            assert each.accessibleDescription() == setting.help


def test_values_are_shown_and_accepting_them_changes_nothing(settings: Settings, qtbot: QtBot) -> None:
    settings.change(
        {
            LANGUAGE: "zh_CN",
            AUTOSAVE_MINUTES: 7,
            EXPORT_LUFS: -19.5,
            EXPORT_IS_TRIMMED: True,
            EXPORT_FOLDER: "/some/folder",
            OUTPUT_DEVICE: "Headphones",
            EXPORT_SAMPLE_RATE: 48_000,
        }
    )
    content = settings.path.read_bytes()
    dialog = PreferencesDialog(settings, no_devices)
    qtbot.addWidget(dialog)
    assert control(dialog, QComboBox, "language").currentText() == "简体中文"
    assert control(dialog, QSpinBox, "autosave-minutes").value() == 7
    assert control(dialog, QDoubleSpinBox, "export-loudness").value() == -19.5
    assert control(dialog, QCheckBox, "export-trims").isChecked()
    assert control(dialog, QLineEdit, "export-folder").text() == "/some/folder"
    assert control(dialog, QComboBox, "output-device").currentText() == "Headphones"
    assert control(dialog, QComboBox, "export-sample-rate").currentText() == "48 kHz"
    assert dialog.changes() == {}
    dialog.accept()
    assert settings.path.read_bytes() == content


def test_changes_are_saved_when_accepted(dialog: PreferencesDialog, settings: Settings) -> None:
    notifications: list[object] = []
    settings.watch(notifications.append)
    combo = control(dialog, QComboBox, "colour-scheme")
    combo.setCurrentIndex(combo.findText("Dark"))
    control(dialog, QSpinBox, "threads").setValue(2)
    control(dialog, QDoubleSpinBox, "pause-after").setValue(0.7)
    control(dialog, QCheckBox, "export-trims").click()
    control(dialog, QLineEdit, "export-folder").setText("  /a/b ")
    assert settings[COLOUR_SCHEME] == "system"
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    assert dialog.result() == PreferencesDialog.DialogCode.Accepted
    saved = Settings(settings.path)
    assert (saved[COLOUR_SCHEME], saved[NUM_THREADS], saved[PAUSE_AFTER_SECONDS]) == ("dark", 2, 0.7)
    assert (saved[EXPORT_IS_TRIMMED], saved[EXPORT_FOLDER]) == (True, "/a/b")
    assert notifications == [{COLOUR_SCHEME, NUM_THREADS, PAUSE_AFTER_SECONDS, EXPORT_IS_TRIMMED, EXPORT_FOLDER}]


def test_cancelling_changes_nothing(dialog: PreferencesDialog, settings: Settings) -> None:
    control(dialog, QSpinBox, "threads").setValue(2)
    press(dialog, QDialogButtonBox.StandardButton.Cancel)
    assert settings[NUM_THREADS] == 0
    assert not settings.path.exists()


def test_an_invalid_value_is_reported_and_the_dialog_stays_open(
    dialog: PreferencesDialog, settings: Settings, qtbot: QtBot
) -> None:
    dialog.show()
    field = control(dialog, QLineEdit, "export-pattern")
    control(dialog, QSpinBox, "threads").setValue(2)
    field.setText("  ")
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    errors = [
        label.text() for label in dialog.findChildren(QLabel) if label.isVisible() and label.property("role") == "bad"
    ]
    assert len(errors) == 1
    assert "is not a valid value of “File name pattern”" in errors[0]
    assert dialog.isVisible()
    assert settings[NUM_THREADS] == 0
    dialog.open_page(Page.EXPORT)
    field.setFocus()
    qtbot.keyClicks(field, "{index}")
    assert not any(label.isVisible() for label in dialog.findChildren(QLabel) if label.property("role") == "bad")
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    assert settings[EXPORT_PATTERN].strip() == "{index}"
    assert settings[NUM_THREADS] == 2


def test_a_failed_write_is_reported(tmp_path: Path, qtbot: QtBot, report_of: Callable[[QWidget], str]) -> None:
    (tmp_path / "file").touch()
    dialog = PreferencesDialog(Settings(tmp_path / "file" / "settings.json"), no_devices)
    qtbot.addWidget(dialog)
    dialog.show()
    control(dialog, QSpinBox, "threads").setValue(2)
    dialog.accept()
    assert dialog.isVisible()
    assert any("cannot be written" in label.text() for label in dialog.findChildren(QLabel))
    assert report_of(dialog).startswith("error: cannot-write\n")


def test_the_defaults_of_a_page_can_be_restored(settings: Settings, dialog: PreferencesDialog, qtbot: QtBot) -> None:
    settings.change({LANGUAGE: "en", NUM_THREADS: 3})
    dialog = PreferencesDialog(settings, no_devices)
    qtbot.addWidget(dialog)
    dialog.open_page(Page.SPEAKING)
    dialog.defaults_button.click()
    dialog.accept()
    assert (settings[NUM_THREADS], settings[LANGUAGE]) == (0, "en")


def test_special_numbers_have_names(dialog: PreferencesDialog) -> None:
    box = control(dialog, QSpinBox, "autosave-minutes")
    assert box.text() == "Never"
    box.setValue(5)
    assert box.text() == "5 min"


def test_a_dependent_setting_is_disabled_without_its_condition(dialog: PreferencesDialog) -> None:
    loudness = control(dialog, QDoubleSpinBox, "export-loudness")
    assert not loudness.isEnabled()
    control(dialog, QCheckBox, EXPORT_MATCHES_LOUDNESS.key).click()
    assert loudness.isEnabled()


def test_devices_are_found_on_another_thread(settings: Settings, qtbot: QtBot) -> None:
    settings[OUTPUT_DEVICE] = "Headphones"
    threads: list[threading.Thread] = []

    def names(kind: str) -> tuple[str, ...]:
        assert kind == "output"
        threads.append(threading.current_thread())
        return ("Speakers", "Screen")

    dialog = PreferencesDialog(settings, names)
    qtbot.addWidget(dialog)
    outputs = control(dialog, QComboBox, "output-device")
    assert outputs.currentText() == "Headphones"
    dialog.show()
    qtbot.waitUntil(lambda: outputs.count() == 4)
    assert threading.main_thread() not in threads
    assert [outputs.itemText(row) for row in range(outputs.count())] == [
        "System default",
        "Speakers",
        "Screen",
        "Headphones (not connected)",
    ]
    assert outputs.currentText() == "Headphones (not connected)"
    assert dialog.changes() == {}
    outputs.setCurrentIndex(1)
    dialog.accept()
    assert settings[OUTPUT_DEVICE] == "Speakers"


def test_the_dialog_opens_without_audio_devices(settings: Settings, qtbot: QtBot) -> None:
    is_asked = threading.Event()

    def names(direction: str) -> tuple[str, ...]:
        is_asked.set()
        raise NoAudioDevice("There is no sound card.", remedy="Connect one.")

    dialog = PreferencesDialog(settings, names)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(is_asked.is_set)
    qtbot.wait(100)
    assert control(dialog, QComboBox, "output-device").count() == 1


def test_the_model_runs_on_a_device_from_a_list(
    settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = parse_gpus("12288, 11000, 580.1, NVIDIA GeForce RTX 4070\n[N/A], 1, 580.1, broken\n")
    monkeypatch.setattr("studio.app.preferences.dialog.list_gpus", lambda: gpus)
    settings[DEVICE] = "cuda:1"  # typed in an earlier version
    dialog = PreferencesDialog(settings, lambda _: ())
    qtbot.addWidget(dialog)
    dialog.show()
    box = control(dialog, QComboBox, "place")
    qtbot.waitUntil(lambda: box.count() == 4)
    assert [box.itemText(row) for row in range(4)] == [
        "Automatic", "NVIDIA GeForce RTX 4070 (10.7 GB of 12.0 GB free)", "CPU", "cuda:1",
    ]  # fmt: skip
    assert box.currentText() == "cuda:1"
    assert dialog.changes() == {}
    box.setCurrentIndex(1)
    dialog.accept()
    assert settings[DEVICE] == "NVIDIA GeForce RTX 4070"


def test_a_folder_can_be_chosen(dialog: PreferencesDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    field = control(dialog, QLineEdit, "export-folder")
    assert field.placeholderText() == "Next to the script"
    parent = field.parentWidget()
    assert parent is not None
    next(each for each in parent.findChildren(QWidget) if each.metaObject().className() == "QPushButton").click()  # type: ignore[attr-defined]
    assert dialog.changes() == {EXPORT_FOLDER: str(tmp_path)}


def test_scrolling_a_page_changes_no_value(dialog: PreferencesDialog, qtbot: QtBot) -> None:
    with qtbot.waitActive(dialog):
        dialog.show()
        dialog.activateWindow()
    dialog.open_page(Page.SPEAKING)
    box = control(dialog, QSpinBox, "threads")

    def scroll() -> None:
        wheel = QWheelEvent(
            QPointF(5, 5), QPointF(box.mapToGlobal(QPoint(5, 5))), QPoint(0, 0), QPoint(0, 120),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(box, wheel)

    box.clearFocus()
    scroll()
    assert box.value() == 0
    box.setFocus()
    scroll()
    assert box.value() == 1


def test_pages_of_another_kind_can_be_added(dialog: PreferencesDialog) -> None:
    page = QWidget()
    dialog.add_page("Shortcuts", page)
    dialog.show()
    assert dialog.defaults_button.isVisible()
    dialog.open_page("Shortcuts")
    assert page.isVisible()
    assert not dialog.defaults_button.isVisible()


def test_the_tab_key_reaches_the_pages_before_the_buttons(dialog: PreferencesDialog, qtbot: QtBot) -> None:
    added = QWidget()
    field = QLineEdit(added)
    dialog.add_page("Shortcuts", added)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)

    def controls_in_tab_order() -> list[QWidget]:
        dialog._list.setFocus()
        reached: list[QWidget] = []
        while (control := QApplication.focusWidget()) is not None and control not in reached:
            reached.append(control)
            qtbot.keyClick(control, Qt.Key.Key_Tab)
        return reached

    buttons = dialog.findChild(QDialogButtonBox)
    ok, cancel = (buttons.button(kind) for kind in (buttons.StandardButton.Ok, buttons.StandardButton.Cancel))
    reached = controls_in_tab_order()
    assert reached[0] is dialog._list
    assert reached[-3:] == [dialog.defaults_button, ok, cancel]
    assert len(reached) > 6
    dialog.open_page("Shortcuts")
    assert controls_in_tab_order() == [dialog._list, field, ok, cancel]
