"""Typing into the inspector's fields, for one line and for several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from window_bench import Bench

from studio.app.inspector import line_settings_form
from studio.app.inspector.line_settings_form import LineSettingsForm
from studio.app.preferences.editors import editor_for
from studio.app.script.delegates import CUSTOM_INSTRUCTION
from studio.app.widgets.number_field import NumberField
from studio.app.window import MainWindow
from studio.paths import resources
from studio.project.changes import AddTake, EditLines
from studio.project.lines import Line, LineStyle
from studio.settings import AUTOSAVE_MINUTES, EXPORT_PAUSE_SECONDS


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice("Anna")
    bench.add_voice("Berta")
    window = bench.open_window()
    bench.live(0.05)
    return window


@pytest.fixture
def form(window: MainWindow) -> LineSettingsForm:
    window.inspector.form.more.setChecked(True)
    return window.inspector.form


def type_in(field: NumberField | QLineEdit, keys: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, keys)


def make_lines(bench: Bench, window: MainWindow, *lines: Line) -> None:
    """Select as many lines as given; the last one is current."""
    for _ in lines[1:]:
        window.script.new_line()
    edits = {
        made.id: {"text": line.text, "voice": line.voice, "style": line.style, "speed": line.speed, "seed": line.seed}
        for made, line in zip(bench.lines, lines, strict=True)
    }
    bench.session.editor.apply(EditLines(edits))
    window.script.view.select_lines([line.id for line in bench.lines])


LINE = Line(id="", text="Words.", voice="Anna")


def test_moving_among_selected_lines_does_not_read_them_again(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 9,000 selected lines, Ctrl+Home stopped the window for 24 ms."""
    make_lines(bench, window, LINE, LINE, LINE)
    view, read = window.script.view, []
    read_selection, mixed_fields = view._read_selection, line_settings_form._mixed_fields
    monkeypatch.setattr(view, "_read_selection", lambda: (read.append("ids"), read_selection())[1])
    monkeypatch.setattr(
        line_settings_form, "_mixed_fields", lambda lines: (read.append("lines"), mixed_fields(lines))[1]
    )
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert view.current_line_id == bench.lines[0].id
    assert window.script.selected_line_ids == [line.id for line in bench.lines]
    assert not read


@pytest.mark.slow
@pytest.mark.parametrize(("field", "name", "before", "keys", "value"), [
    ("_speed", "speed", 1.5, "1.25", 1.25),
    ("_speed", "speed", 1.0, "0.85", 0.85),
    ("_pause", "pause_after_seconds", 0.3, "2.5", 2.5),
])  # fmt: skip
def test_a_typed_number_is_applied_to_the_line(
    bench: Bench,
    window: MainWindow,
    form: LineSettingsForm,
    field: str,
    name: str,
    before: float,
    keys: str,
    value: float,
) -> None:
    window.script.set_field(name, before, "Change")
    type_in(getattr(form, field), keys)
    QTest.keyClick(getattr(form, field), Qt.Key.Key_Return)
    assert getattr(bench.lines[0], name) == value
    assert getattr(form, field).value() == value


def test_a_new_take_does_not_disturb_typing(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    type_in(form._speed, "1.2")
    bench.session.editor.all_lines_changed()
    QTest.keyClicks(form._speed, "5")
    QTest.keyClick(form._speed, Qt.Key.Key_Return)
    assert bench.lines[0].speed == 1.25


@pytest.mark.slow
@pytest.mark.parametrize(("action", "owner", "method"), [
    ("speak.line", "session.synthesis", "speak"),
    ("file.save", "documents", "save_as"),
    ("file.export", "dialogs", "open_export"),
])  # fmt: skip
def test_an_action_commits_the_typed_number(
    bench: Bench,
    window: MainWindow,
    form: LineSettingsForm,
    action: str,
    owner: str,
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    speeds: list[float] = []
    monkeypatch.setattr(attrgetter(owner)(window), method, lambda *_, **__: speeds.append(bench.lines[0].speed))
    type_in(form._speed, "1.25")
    bench.trigger(action)
    assert speeds == [1.25]


def test_closing_commits_the_typed_number(
    bench: Bench, window: MainWindow, form: LineSettingsForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window._closing, "begin", lambda: None)
    type_in(form._speed, "1.25")
    window.close()
    assert bench.lines[0].speed == 1.25


def test_a_typed_number_belongs_to_its_line(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, LINE, LINE)
    first, second = bench.lines
    window.script.view.go_to(first.id)
    type_in(form._speed, "1.25")
    window.script.view.go_to(second.id)
    assert [line.speed for line in bench.lines] == [1.25, 1.0]
    assert form._speed.value() == 1.0


def test_file_name_and_seed_are_applied_while_typing(bench: Bench, form: LineSettingsForm) -> None:
    type_in(form._file_name, "my file ")
    assert bench.lines[0].file_name == "my file"
    assert form._file_name.text() == "my file "
    QTest.keyClicks(form._file_name, "2")
    assert bench.lines[0].file_name == "my file 2"
    form._is_seed_fixed.click()
    type_in(form._seed, "007")
    assert bench.lines[0].seed == 7
    assert form._seed.text() == "007"
    assert bench.session.editor.undo_stack.count() == 3


@pytest.mark.parametrize(("setting", "keys"), [(EXPORT_PAUSE_SECONDS, "1.5"), (AUTOSAVE_MINUTES, "15")])
def test_typed_preferences_are_applied(qtbot: Any, setting: Any, keys: str) -> None:
    editor = editor_for(setting)
    qtbot.addWidget(editor.control)
    editor.control.show()
    type_in(editor.control, keys)  # type: ignore[arg-type]
    assert editor.value() == float(keys)


# Several lines.


def test_a_bulk_edit_applies_when_the_current_line_has_the_value(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    happy = replace(LINE, style=LineStyle(instruct="happily"))
    make_lines(bench, window, LINE, happy, happy)
    plain = form._style.findData("")
    form._style.setCurrentIndex(plain)
    form._style.activated.emit(plain)
    assert [line.style for line in bench.lines] == [LineStyle()] * 3
    assert bench.session.editor.undo_stack.undoText() == "Change style"
    bench.trigger("edit.undo")
    assert [line.style.instruct for line in bench.lines] == [None, "happily", "happily"]


def test_a_typed_equal_number_applies_to_the_other_lines(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    make_lines(bench, window, LINE, replace(LINE, speed=1.5), replace(LINE, speed=1.5))
    assert bench.lines[0].id == window.script.view.current_line_id
    assert form._speed.text() == ""
    assert form._speed.lineEdit().placeholderText() == "(mixed)"
    type_in(form._speed, "1.00")
    QTest.keyClick(form._speed, Qt.Key.Key_Return)
    assert [line.speed for line in bench.lines] == [1.0, 1.0, 1.0]
    assert form._speed.text() == "1.00"


def test_the_form_shows_mixed_values_and_the_number_of_lines(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    make_lines(bench, window, replace(LINE, seed=1), replace(LINE, voice="Berta"), LINE)
    assert form._scope.isVisibleTo(form)
    assert form._scope.text() == "Changes apply to 3 lines"
    assert form._voice.currentIndex() == -1
    assert form._voice.placeholderText() == "(mixed)"
    assert form._is_seed_fixed.checkState() == Qt.CheckState.PartiallyChecked
    assert form._speed.text() == "1.00"
    window.script.view.go_to(bench.lines[1].id)
    assert not form._scope.isVisibleTo(form)
    assert form._voice.currentText() == "Berta"
    assert form._is_seed_fixed.checkState() == Qt.CheckState.Unchecked


def test_a_bulk_edit_skips_locked_lines(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, LINE, LINE, LINE)
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"is_locked": True}}))
    assert form.isEnabled()
    assert form._scope.text() == "Changes apply to 2 lines"
    type_in(form._speed, "1.25")
    QTest.keyClick(form._speed, Qt.Key.Key_Return)
    assert [line.speed for line in bench.lines] == [1.0, 1.25, 1.25]
    window.script.assign_voice("Berta")
    assert [line.voice for line in bench.lines] == ["Anna", "Berta", "Berta"]


def test_a_locked_line_keeps_its_voice_with_an_explanation(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    make_lines(bench, window, LINE)
    told: list[str] = []
    window.script.message.connect(told.append)
    window.script.toggle_lock()
    window.script.assign_voice("Berta")
    assert bench.lines[0].voice == "Anna"
    assert "Ctrl+L" in told[-1]
    assert not form.isEnabled()
    window.script.toggle_lock()
    assert not bench.lines[0].is_locked


def test_voice_names_ignore_case(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    window.script.assign_voice("anna")
    assert form._voice.currentText() == "Anna"
    assert "Best likeness" in form._mode.text()
    assert not window.script.view._voices.is_missing(bench.lines[0])
    window._line_voices.on_renamed("Anna", "Clara")
    assert bench.lines[0].voice == "Clara"


# How a line sounds, and what it is called.


@pytest.mark.slow
@pytest.mark.parametrize(("field", "name", "keys", "value"), [
    ("_volume", "gain_db", "-4.5", -4.5),
    ("_fade_in", "fade_in_seconds", "0.25", 0.25),
    ("_fade_out", "fade_out_seconds", "1.5", 1.5),
    ("_character", "character", "Martha", "Martha"),
    ("_note", "note", "Check the name.", "Check the name."),
])  # fmt: skip
def test_typed_settings_apply_to_all_selected_lines_as_one_step(
    bench: Bench, window: MainWindow, form: LineSettingsForm, field: str, name: str, keys: str, value: object
) -> None:
    make_lines(bench, window, LINE, LINE, LINE)
    steps = bench.session.editor.undo_stack.count()
    type_in(getattr(form, field), keys)
    form._speed.setFocus()  # leaving the field
    assert [getattr(line, name) for line in bench.lines] == [value] * 3
    assert bench.session.editor.undo_stack.count() == steps + 1
    bench.trigger("edit.undo")
    assert getattr(bench.lines[0], name) == getattr(LINE, name)


def test_different_settings_are_shown_as_mixed(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, LINE, LINE)
    first = {"gain_db": 3.0, "character": "Martha", "note": "Loud."}
    bench.session.editor.apply(EditLines({bench.lines[0].id: first}))
    assert form._volume.text() == ""
    assert form._volume.lineEdit().placeholderText() == "(mixed)"
    assert (form._character.text(), form._character.placeholderText()) == ("", "(mixed)")
    assert (form._note.toPlainText(), form._note.placeholderText()) == ("", "(mixed)")
    assert window.inspector.tabs.tabText(0) == "2 lines"
    window.script.view.go_to(bench.lines[0].id)
    assert form._volume.text() == "3.0 dB"
    assert form._character.text() == "Martha"
    assert form._note.toPlainText() == "Loud."
    assert window.inspector.tabs.tabText(0) == "Line"


def test_clearing_a_character_removes_it(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"character": "Martha"}}))
    form._character.setFocus()
    form._character.selectAll()
    QTest.keyClick(form._character, Qt.Key.Key_Delete)
    QTest.keyClick(form._character, Qt.Key.Key_Return)
    assert bench.lines[0].character is None


def test_a_line_of_a_character_gets_its_voice(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    """A speech without a name, as subtitles with dashes have, is given to a character that has a voice."""
    make_lines(bench, window, replace(LINE, voice="Berta"), replace(LINE, voice="Anna"))
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"character": "Martha"}}))
    window.script.view.go_to(bench.lines[1].id)
    type_in(form._character, "Mart")
    assert bench.lines[1].character is None, "a name is not used before it is complete"
    assert form._character.completer().currentCompletion() == "Martha"
    QTest.keyClicks(form._character, "ha")
    QTest.keyClick(form._character, Qt.Key.Key_Return)
    assert (bench.lines[1].character, bench.lines[1].voice) == ("Martha", "Berta")
    bench.trigger("edit.undo")
    assert (bench.lines[1].character, bench.lines[1].voice) == (None, "Anna")


def test_a_character_is_chosen_from_the_list_with_keys(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    make_lines(bench, window, replace(LINE, voice="Berta"), replace(LINE, voice="Anna"))
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"character": "Martha"}}))
    window.script.view.go_to(bench.lines[1].id)
    type_in(form._character, "ma")
    names = form._character.completer().popup()
    assert names.isVisible()
    QTest.keyClick(names, Qt.Key.Key_Down)
    QTest.keyClick(names, Qt.Key.Key_Return)
    assert (bench.lines[1].character, bench.lines[1].voice) == ("Martha", "Berta")
    assert form._character.text() == "Martha"


def test_a_name_being_typed_survives_changes_and_is_used_for_its_line(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    make_lines(bench, window, LINE, LINE)
    window.script.view.go_to(bench.lines[0].id)
    type_in(form._character, "Jonas")
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"note": "Louder."}}))
    assert form._character.text() == "Jonas"
    window.script.view.go_to(bench.lines[1].id)
    assert [line.character for line in bench.lines] == ["Jonas", None]
    assert form._character.text() == ""


def test_speak_again_asks_for_another_reading(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, LINE)
    bench.add_take(np.full(24_000, 0.1, np.float32))
    form._speak_again.click()
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 2)


def test_a_take_that_cannot_be_stretched_says_so(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, replace(LINE, speed=1.5))
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"speed": 0.25}}))
    take = bench.add_take(np.full(24_000, 0.1, np.float32))
    assert not form._speed_note.isVisibleTo(form)
    project = bench.session.editor.project
    slow = replace(take, id="slow", parameters=replace(take.parameters, speed=2.0), number=9)
    project.apply(AddTake(slow))
    bench.session.editor.all_lines_changed()
    assert "2.00×" in form._speed_note.text()
    assert form._speed_note.isVisibleTo(form)
    assert "Cannot be stretched" in window.inspector.takes.item(0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_the_hint_about_likeness_uses_the_width_of_the_column(window: MainWindow) -> None:
    form = window.inspector.form
    window.resize(1280, 760)
    window.show()
    assert form._mode.width() == form._voice.width()


def test_seldom_used_fields_are_folded_and_counted(make_bench: Callable[..., Bench]) -> None:
    """A new user met thirteen fields before the first word."""
    bench = make_bench()
    window = bench.open_window()
    form = window.inspector.form
    shown = [form._voice, form._style, form._speed, form._quality]
    folded = [form._pause, form._volume, form._fade_in, form._character, form._note, form._seed, form._file_name]
    assert all(field.isVisibleTo(form) for field in shown)
    assert not any(field.isVisibleTo(form) for field in folded)
    assert form.more.text() == "More"
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"note": "Slower", "gain_db": -3.0}}))
    assert form.more.text() == "More (2)"
    assert form.more.focusPolicy() & Qt.FocusPolicy.TabFocus
    form.more.setFocus()
    QTest.keyClick(form.more, Qt.Key.Key_Space)
    assert all(field.isVisibleTo(form) for field in (*shown, *folded))
    assert form.more.text() == "More"
    assert bench.open_window().inspector.form.more.isChecked()


def test_a_style_that_the_model_lacks_is_not_followed(bench: Bench, window: MainWindow, form: LineSettingsForm) -> None:
    make_lines(bench, window, replace(LINE, style=LineStyle(preset="emotion.unheard-of")))
    assert form._mode.text() == "The model does not have this style, and speaks the line without it."


def test_a_model_without_styles_proposes_none(
    bench: Bench, window: MainWindow, form: LineSettingsForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.session.model_selection.styles.use_model(resources() / "models" / "studio-mini")
    monkeypatch.setattr(bench.session.model_selection.styles, "_styles", ())
    make_lines(bench, window, replace(LINE, style=LineStyle(instruct="Like a pirate.")))
    assert form._mode.text() == "This model follows no instructions. To use them, download CosyVoice2-0.5B."


def test_a_model_that_does_not_follow_instructions_says_so(
    bench: Bench, window: MainWindow, form: LineSettingsForm
) -> None:
    bench.session.model_selection.styles.use_model(resources() / "models" / "studio-mini")
    make_lines(bench, window, LINE)
    assert form._mode.property("role") == "quiet"
    form._style.setCurrentIndex(form._style.findData(CUSTOM_INSTRUCTION))
    form._style.activated.emit(form._style.currentIndex())
    refusal = (
        "This model does not follow instructions in your own words. "
        "Choose a style from the list, or download CosyVoice2-0.5B."
    )
    assert (form._mode.text(), form._mode.property("role")) == (refusal, "warn"), "before anything is typed"
    assert form._instruction.placeholderText() == "", "an example would be refused too"
    form._instruction.setPlainText("Like a pirate.")
    assert bench.lines[0].style.instruct == "Like a pirate."
    assert (form._mode.text(), form._mode.property("role")) == (refusal, "warn")
    form._style.setCurrentIndex(form._style.findData(""))
    form._style.activated.emit(form._style.currentIndex())
    assert form._mode.property("role") == "quiet"
