"""Shortcuts, inspector, takes and status bar in the main window."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QLocale, QObject, QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
)
from window_bench import Bench

from studio.app.bridge import Engine, EngineState
from studio.app.layout import restore_layout, save_layout
from studio.app.playback.audio_player import PlaybackStats
from studio.app.shortcuts_page import ShortcutsPage
from studio.app.translation import use_language
from studio.app.window import MainWindow
from studio.errors import ModelNotFound
from studio.project.changes import EditDictionary
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.settings import SHORTCUTS, WINDOW_LAYOUT


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    return bench.open_window()


def test_no_two_actions_share_a_key(window: MainWindow) -> None:
    actions = window.actions_by_id
    for action_id in actions:
        assert actions.users_of(actions.keys(action_id)) <= {action_id}


@pytest.mark.parametrize("name", ["en_US", "zh_CN"])
def test_every_menu_has_a_letter_that_opens_it(bench: Bench, qapp: QApplication, name: str) -> None:
    try:
        use_language(qapp, QLocale(name))
        window = bench.open_window()
        keys = [QKeySequence.mnemonic(menu.text()).toString() for menu in window.menuBar().actions()]
        assert sorted(keys) == sorted(f"Alt+{letter}" for letter in "FESPTOVH")
        assert not any(window.actions_by_id.users_of((key,)) for key in keys)
    finally:
        use_language(qapp, QLocale("en_US"))


def test_every_menu_fits_a_screen_of_800_pixels(window: MainWindow) -> None:
    """An entry needs 25 pixels with a Chinese font. Qt splits a longer menu into two columns."""
    for action in window.menuBar().actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        assert sum(not entry.isSeparator() for entry in menu.actions()) <= 29, action.text()


def test_the_shortcut_list_in_chinese(bench: Bench, qapp: QApplication) -> None:
    """Qt has the same Chinese name for Return and Enter."""
    try:
        use_language(qapp, QLocale("zh_CN"))
        page = ShortcutsPage(bench.open_window().actions_by_id)
        page.choose("edit.new_line")
        item = page._list.currentItem()
        assert item is not None
        assert item.text(1) == "Shift+回车"
        page._keys.clear()
        assert page._keys.findChild(QLineEdit).placeholderText() == "请按下快捷键"
    finally:
        use_language(qapp, QLocale("en_US"))


def test_keys_are_assigned_removed_and_saved(bench: Bench, window: MainWindow) -> None:
    page = ShortcutsPage(window.actions_by_id)
    page.choose("edit.duplicate")
    page._keys.setKeySequence(QKeySequence("Ctrl+L"))
    assert "Lock line" in page._warning.text()
    page._set.click()
    assert window.actions_by_id["edit.duplicate"].shortcut() == QKeySequence("Ctrl+L")
    assert window.actions_by_id["edit.lock"].shortcut().isEmpty()
    assert bench.settings[SHORTCUTS] == {"edit.duplicate": ("Ctrl+L",), "edit.lock": ()}
    page._reset_all.click()
    assert window.actions_by_id["edit.lock"].shortcut() == QKeySequence("Ctrl+L")
    assert bench.settings[SHORTCUTS] == {}


def test_alt_and_down_opens_a_list_and_moves_lines_elsewhere(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("The first line.\n\nThe second line.")
    window.script.view.go_to(bench.lines[0].id)
    box = window.inspector.form.findChildren(QComboBox)[-1]
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert bench.texts == ["The first line.", "The second line."]
    assert box.view().isVisible()
    box.hidePopup()
    window.script.view.setFocus()
    QTest.keyClick(window.script.view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert bench.texts == ["The second line.", "The first line."]


def test_space_presses_a_button_and_plays_elsewhere(bench: Bench, window: MainWindow) -> None:
    pressed: list[bool] = []
    window.docks.toggle_tab(0)
    button = window.queue_panel._clear
    button.setEnabled(True)
    button.clicked.connect(lambda: pressed.append(True))
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert pressed == [True]
    triggered: list[bool] = []
    window.actions_by_id["play.toggle"].triggered.connect(lambda: triggered.append(True))
    window.script.view.setFocus()
    QTest.keyClick(window.script.view, Qt.Key.Key_Space)
    assert triggered == [True]


def test_the_inspector_edits_the_current_line_and_undo_reverts_it(bench: Bench, window: MainWindow) -> None:
    form = window.inspector.form
    form._speed.setValue(1.5)
    form._pause.setValue(1.2)
    form._is_seed_fixed.click()
    QTest.keyClicks(form._seed, "42")
    line = bench.lines[0]
    assert (line.speed, line.pause_after_seconds, line.seed) == (1.5, 1.2, 42)
    while bench.session.editor.undo_stack.canUndo():
        bench.trigger("edit.undo")
    line = bench.lines[0]
    assert (line.speed, line.seed) == (1.0, None)
    assert form._speed.value() == 1.0
    assert not form._is_seed_fixed.isChecked()


@pytest.mark.slow
def test_a_described_style_selects_instruct_mode(bench: Bench, window: MainWindow) -> None:
    form = window.inspector.form
    assert "Best likeness" in form._mode.text()
    form.edit_instruction()
    form._instruction.setPlainText("with great joy")
    assert bench.lines[0].style.instruct == "with great joy"
    assert form._mode.text() == "The model follows your instruction."


def test_a_missing_voice_is_named_in_the_inspector(bench: Bench, window: MainWindow) -> None:
    form = window.inspector.form
    window.script.assign_voice("Bob")
    assert form._voice.currentIndex() == -1
    assert form._voice.placeholderText() == "Bob"
    assert "Voice Bob not found" in form._mode.text()
    window.script.assign_voice("Anna")
    assert form._voice.currentText() == "Anna"
    assert "Best likeness" in form._mode.text()


@pytest.mark.slow
def test_the_normalized_text_is_shown(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "It is 3 o'clock.", "Edit")
    bench.until(lambda: "three" in window.inspector.spoken_words, 60)


@pytest.mark.slow
def test_the_normalized_text_follows_the_dictionary(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "He lives in Leominster.", "Edit")
    bench.until(lambda: "Leominster" in window.inspector.spoken_words, 60)
    entry = DictionaryEntry("Leominster", alias="Lemster")
    bench.session.editor.push(EditDictionary(PronunciationDictionary((entry,))), "Pronunciation")
    bench.until(lambda: "Lemster" in window.inspector.spoken_words, 60)
    bench.trigger("edit.undo")
    bench.until(lambda: "Leominster" in window.inspector.spoken_words, 60)


def test_undo_and_redo_are_reported_in_the_status_bar(bench: Bench, window: MainWindow) -> None:
    bench.until(lambda: bench.session.is_ready)  # otherwise the status bar would show the task
    window.script.set_field("text", "Words.", "Edit")
    bench.trigger("edit.undo")
    assert window.status.task_text == "Undo Edit"
    bench.trigger("edit.redo")
    assert window.status.task_text == "Redo Edit"


@pytest.mark.slow
def test_takes_are_compared_kept_and_removed(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "one two", "Edit")
    for count in (1, 2):
        bench.trigger("speak.line")
        bench.until(lambda n=count: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == n)
        bench.until(lambda: not bench.session.playback.player.is_playing and bench.session.queue.current is None)
    first, second = (take.id for take in bench.session.editor.project.takes_of(bench.lines[0].id))
    for expected in (first, second):
        bench.trigger("play.compare")
        assert bench.lines[0].chosen_take == expected
        bench.until(lambda: bench.session.playback.player.is_playing)
    bench.trigger("play.keep")
    assert bench.session.editor.project.take(second).is_kept
    bench.trigger("play.remove_take")
    assert [take.id for take in bench.session.editor.project.takes_of(bench.lines[0].id)] == [first]
    bench.trigger("edit.undo")
    assert len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 2
    assert bench.lines[0].chosen_take == second


def test_the_status_bar_shows_the_engine_state(bench: Bench, window: MainWindow) -> None:
    bench.until(lambda: bench.session.is_ready)
    assert "noise-cosyvoice3" in window.status.engine_text
    error = ModelNotFound("There is no model.", remedy="Choose another.")
    window.status.show_engine(Engine(bench.folder, EngineState.FAILED, error=error))
    assert "could not be loaded" in window.status.engine_text
    window.transport_bar.show_meters(PlaybackStats(0.5, 1.25, 3.0, 2))
    assert window.transport_bar._figures.text().split("\n") == ["Latency 0.50 s", "RTF 1.25 · Dropouts 2"]


def test_the_status_bar_shows_the_comparison_of_precisions(bench: Bench, window: MainWindow) -> None:
    bench.until(lambda: bench.session.is_ready)
    bridge = bench.session.bridge
    loop: Any = SimpleNamespace(call_soon_threadsafe=lambda call: call())
    bridge._on_load_progress(loop, "precision", 0.5)
    assert "choosing" not in window.status.engine_text, "the model is loaded already"
    bridge._show(Engine(bench.folder, EngineState.LOADING))
    bridge._on_load_progress(loop, "precision", 0.5)
    assert "choosing the fastest precision" in window.status.engine_text


@pytest.mark.parametrize(("device", "name"), [("cpu", "CPU"), ("cuda", "GPU"), ("cuda:1", "GPU 1"), ("mps", "mps")])
def test_the_status_bar_names_the_device(bench: Bench, window: MainWindow, device: str, name: str) -> None:
    bench.until(lambda: bench.session.is_ready)
    engine = bench.session.bridge.engine
    assert engine.description is not None
    window.status.show_engine(replace(engine, description=replace(engine.description, device=device)))
    assert window.status._engine_mark.text().split(" · ")[1] == name


def test_an_error_stays_until_it_is_closed_and_can_be_copied(bench: Bench, window: MainWindow) -> None:
    window.notices.show_error(ModelNotFound("There is no model.", remedy="Choose another."))
    assert window.notices.words == "There is no model. Choose another."
    assert window.notices._copy.isVisible()
    window.notices._close.click()
    assert window.notices.words == ""


def test_the_layout_is_restored(bench: Bench, window: MainWindow) -> None:
    window.docks.voices.hide()
    save_layout(window, bench.settings)
    window.docks.voices.show()
    restore_layout(window, window.docks, bench.settings)
    assert window.docks.voices.isHidden()
    bench.trigger("view.reset")
    assert not window.docks.voices.isHidden()


def test_the_tab_key_goes_from_the_script_to_voices_line_and_take(window: MainWindow) -> None:
    order, control = [], window.nextInFocusChain()
    while control is not None and control is not window:
        if control.isVisibleTo(window) and control.focusPolicy() & Qt.FocusPolicy.TabFocus:
            order.append(control.accessibleName())
        control = control.nextInFocusChain()
    wanted = [
        "Script",
        "Search voices",
        "Voices",
        "Inspector",
        "Voice",
        "Speed",
        "Speak",
        "Model",
    ]
    assert [name for name in order if name in wanted] == wanted


@pytest.mark.slow
def test_the_window_fits_960_by_540(window: MainWindow) -> None:
    """A laptop screen at 200 % has 960 by 540 of Qt's points."""
    window.resize(QSize(960, 540))
    assert window.width() <= 960
    assert window.height() <= 540


def test_a_layout_of_the_earlier_version_is_restored(bench: Bench, window: MainWindow) -> None:
    """It showed the take in the dock below the script, which is now hidden until asked for."""
    window.docks.voices.hide()
    window.docks.bottom.show()
    earlier = bytes(window.saveState(1).toBase64().data()).decode()
    bench.settings.change({WINDOW_LAYOUT: earlier})
    bench.trigger("view.reset")
    restore_layout(window, window.docks, bench.settings)
    assert window.docks.voices.isHidden()
    assert window.docks.bottom.isHidden()


def test_the_status_bar_opens_and_hides_the_queue_and_the_log(window: MainWindow) -> None:
    assert not window.docks.bottom.isVisible()
    window.status._log.click()
    assert window.docks.bottom.isVisible()
    assert window.docks.tabs.currentIndex() == 1
    window.status._queue.click()
    assert window.queue_panel.isVisible()
    window.status._queue.click()
    assert not window.docks.bottom.isVisible()


def test_a_task_in_the_status_bar_does_not_paint_the_transport_bar(bench: Bench, window: MainWindow) -> None:
    painted: list[QObject] = []

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            if event.type() == QEvent.Type.Paint:
                painted.append(watched)
            return False

    watcher, waveform = Watcher(), window.transport_bar.waveform
    window.resize(1280, 800)
    bench.live(0.05)
    waveform.installEventFilter(watcher)
    window.status.installEventFilter(watcher)
    window.status.show_task("Speaking line 1", 0.5, True)
    bench.live(0.05)
    window.status.show_task("", None, False)
    bench.live(0.05)
    assert window.status in painted
    assert waveform not in painted
