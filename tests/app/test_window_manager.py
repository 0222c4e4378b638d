"""A change of the language replaces the window; session, user data and running work continue."""

from __future__ import annotations

import gc
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QAbstractListModel, QLocale, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QTabBar, QTreeWidget, QWidget
from window_bench import Bench, write_on

from studio.app.preferences.dialog import PreferencesDialog
from studio.app.preferences.editors import DeviceEditor
from studio.app.translation import use_language
from studio.app.window import MainWindow
from studio.errors import CannotWrite
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.setting_kinds import Page
from studio.settings import LANGUAGE, OUTPUT_DEVICE

ENGLISH, CHINESE = QLocale("en_US"), QLocale("zh_CN")


@pytest.fixture(autouse=True)
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    use_language(qapp, ENGLISH)


def switch(bench: Bench, language: str) -> None:
    """Choose ``language`` in the settings and wait for the window in it."""
    old = bench.window
    bench.settings[LANGUAGE] = language
    bench.until(lambda: bench.window is not old)
    bench.until(lambda: bench.window.voices.is_loaded)
    bench.live(0.1)
    gc.collect()  # on the GUI thread


_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}(?: [AP]M)?")


def texts_of(window: QWidget) -> list[str]:
    """Return the texts of all widgets in ``window`` with their places, and without the time of day."""
    if isinstance(window, MainWindow):
        window.docks.fill_tabs()
    return [
        f"{type(part).__name__} {part.objectName()} {what}: {_TIME_OF_DAY.sub('-', text)}"
        for part in (window, *window.findChildren(QObject))
        if isinstance(part, QWidget | QAction)
        for what, text in _texts_of(part)
        if text
    ]


def _texts_of(part: QWidget | QAction) -> Iterator[tuple[str, str]]:
    for name in ("text", "toolTip", "accessibleName", "windowTitle", "placeholderText", "title", "empty_text"):
        shown = getattr(part, name, None)
        if shown is not None:
            yield name, str(shown() if callable(shown) else shown)
    if isinstance(part, QComboBox):
        yield from (("item", part.itemText(index)) for index in range(part.count()))
    if isinstance(part, QTabBar):
        yield from (("tab", part.tabText(index)) for index in range(part.count()))
    if isinstance(part, QTreeWidget):
        yield from (("header", part.headerItem().text(column)) for column in range(part.columnCount()))
    if isinstance(part, QAbstractItemView) and part.model() is not None:
        model = part.model()
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount()):
            yield "header", str(model.headerData(column, Qt.Orientation.Horizontal))
            for row in range(model.rowCount()):
                index = model.index(row, column)
                for role in (
                    Qt.ItemDataRole.DisplayRole,
                    Qt.ItemDataRole.ToolTipRole,
                    Qt.ItemDataRole.AccessibleTextRole,
                ):
                    yield f"cell {row} {column}", str(model.data(index, role))


def used_bench(make_bench: Callable[..., Bench]) -> Bench:
    """A window with a voice, lines, a take, a paused queue and an error."""
    bench = make_bench()
    if not bench.library.voices():
        bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("One line.\n\nAnother line.")
    bench.add_take(np.full(24_000, 0.1, np.float32))
    bench.trigger("speak.pause")
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.is_ready)
    bench.session.editor.undo_stack.clear()
    window.tasks.clear_message()
    window.notices.show_error(
        CannotWrite("{path} cannot be written ({reason}).", remedy="Choose another folder.", path="a", reason="b")
    )
    bench.live(0.3)
    return bench


@pytest.mark.slow
def test_the_replaced_window_shows_what_one_opened_in_that_language_shows(
    make_bench: Callable[..., Bench], qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = used_bench(make_bench)
    switch(bench, "zh_CN")
    bench.live(0.5)
    changed = texts_of(bench.window)
    bench.close()
    monkeypatch.setattr("window_bench.use_language", lambda *_: None)
    opened_bench = used_bench(make_bench)
    assert opened_bench.window.actions_by_id["speak.line"].text() == "生成此行"
    opened_bench.live(0.5)
    opened = texts_of(opened_bench.window)
    assert (Counter(changed) - Counter(opened), Counter(opened) - Counter(changed)) == (Counter(), Counter())


@pytest.mark.slow
def test_a_language_accepted_in_the_settings_replaces_the_window_and_its_open_pages(bench: Bench) -> None:
    old = bench.open_window()
    bench.trigger("file.models")
    bench.trigger("file.engines")
    old.dialogs.open_settings(Page.WINDOW)
    (dialog,) = old.findChildren(PreferencesDialog)
    page = next(page for page in dialog.pages.values() if LANGUAGE in page.editors)
    page.editors[LANGUAGE].set_value("zh_CN")
    old.docks.voices.hide()
    bench.loop.call_soon(dialog.accept)
    bench.until(lambda: bench.window is not old)
    assert bench.window.actions_by_id["speak.line"].text() == "生成此行"
    assert bench.window.menuBar().actions()[0].text() == "文件(&F)"
    assert bench.window.isVisible()
    assert not bench.window.docks.voices.isVisible()
    assert bench.window.docks.inspector.isVisible()
    assert bench.parts.models.page.isVisible()
    assert bench.parts.engines.page.isVisible()
    assert not bench.window.findChildren(PreferencesDialog)
    bench.live(0.1)


@pytest.mark.slow
def test_the_old_window_is_freed(bench: Bench) -> None:
    """No connection of the session keeps a widget of the old window, or calls one that is deleted."""
    bench.open_window().script.paste_text("One line.\n\nAnother line.")
    bench.until(lambda: bench.session.is_ready)
    parts = [bench.window, *bench.window.findChildren(QObject)]
    ours = [weakref.ref(part) for part in parts if type(part).__module__.startswith("studio.")]
    assert len(ours) > 50
    del parts
    switch(bench, "zh_CN")
    bench.live(0.5)
    gc.collect()
    assert sorted({type(part()).__name__ for part in ours if part() is not None}) == []
    bench.add_voice()
    bench.window.script.assign_voice("Anna")
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.editor.script.takes)
    bench.until(lambda: not bench.session.playback.player.is_playing)


@pytest.mark.slow
def test_typing_selection_playback_and_synthesis_continue(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("One line.\n\nAnother line.\n\nA third line.")
    take = bench.add_take(np.full(24_000 * 30, 0.1, np.float32), line=2)
    window.script.view.go_to(bench.lines[2].id)
    bench.session.playback.play_take(take.id)
    bench.until(lambda: bench.session.playback.player.is_playing)
    bench.session.synthesis.speak([bench.lines[1].id], plays=False)
    write_on(window).setPlainText("Typed just now.")
    window.docks.toggle_tab(1)
    switch(bench, "zh_CN")
    assert bench.texts == ["One line.", "Another line.", "Typed just now."]
    assert bench.window.script.current_line.text == "Typed just now."
    assert bench.window.docks.tabs.currentIndex() == 1
    assert bench.session.playback.player.is_playing
    assert bench.window.transport_bar.sound is bench.session.playback.player.now_playing.audio
    bench.until(lambda: bench.session.editor.project.takes_of(bench.lines[1].id))
    bench.session.playback.stop_and_cancel()


@pytest.mark.slow
def test_undo_and_removed_takes_survive(bench: Bench) -> None:
    """Their objects belong to the session and not to the window in which they were created."""
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "Stop", "Edit")
    take = bench.add_take(np.full(24_000, 0.1, np.float32))
    window.takes.choose(take.id)
    bench.trigger("play.remove_take")
    bench.session.parts.global_words.change(PronunciationDictionary((DictionaryEntry("SQL", alias="sequel"),)))
    (voice,) = window.voices.voices
    bench.session.voice_edits.rename(voice, "Bertha")
    bench.until(lambda: [voice.name for voice in bench.library.voices()] == ["Bertha"])
    bench.live(0.1)
    switch(bench, "zh_CN")
    assert bench.window.actions_by_id["edit.undo"].text() == "撤销"
    bench.trigger("edit.undo")
    bench.until(lambda: [voice.name for voice in bench.window.voices.voices] == ["Anna"])
    bench.trigger("edit.undo")
    assert bench.session.parts.global_words.dictionary.entries == ()
    bench.trigger("play.restore_take")
    assert bench.lines[0].chosen_take == take.id


@pytest.mark.slow
def test_names_and_texts_of_the_user_stay(bench: Bench) -> None:
    """ "My voice" is the name that the recorder proposes, and an interface text as well."""
    window = bench.open_window()
    bench.add_voice("My voice")
    window.script.set_field("text", "Stop", "Edit")
    window.script.assign_voice("My voice")
    bench.add_take(np.full(24_000, 0.1, np.float32))
    bench.session.queue.set_paused(True)
    bench.trigger("speak.line")
    switch(bench, "zh_CN")
    window = bench.window
    assert window.actions_by_id["speak.pause"].isChecked()
    box = window.inspector.form._voice
    assert (box.currentText(), box.itemText(0)) == ("My voice", "My voice")
    box.activated.emit(0)
    assert bench.lines[0].voice == "My voice"
    assert bench.texts == ["Stop"]
    assert [text for text in texts_of(window) if text.startswith("QTreeWidget") and text.endswith("cell 0 2: Stop")]


@pytest.mark.slow
def test_an_error_stays_and_is_shown_in_the_other_language(bench: Bench) -> None:
    window = bench.open_window()
    window.notices.show_error(
        CannotWrite("{path} cannot be written ({reason}).", remedy="Choose another folder.", path="a", reason="b")
    )
    switch(bench, "zh_CN")
    assert bench.window.notices.words == "无法写入 a（b）。请选择其他文件夹。"


def test_the_same_language_keeps_the_window(bench: Bench) -> None:
    window = bench.open_window()
    bench.settings[LANGUAGE] = "en"
    bench.settings[LANGUAGE] = "system"
    bench.settings[LANGUAGE] = "en"
    bench.live(0.1)
    assert bench.window is window


def test_devices_are_named_as_the_system_names_them(qapp: QApplication) -> None:
    use_language(qapp, CHINESE)
    editor = DeviceEditor(OUTPUT_DEVICE)
    editor.set_names(("Stop", "Play"))
    editor.set_value("Play")
    box = editor.control
    assert isinstance(box, QComboBox)
    assert [box.itemText(row) for row in (1, 2)] == ["Stop", "Play"]
    assert editor.value() == "Play"
