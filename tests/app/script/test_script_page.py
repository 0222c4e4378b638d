"""Editing on the script page: keyboard, input methods, pasting, tags, find and replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QModelIndex, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QImage, QInputMethodEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListWidget, QWidget
from window_bench import Bench, write_on

from studio.app.importing.cast_dialog import CastDialog
from studio.app.models.first_run_panel import PanelButton, PanelPage
from studio.app.script import delegates, manuscript_delegate
from studio.app.script.line_model import Column, LineModel
from studio.app.script.text_field import TextField
from studio.app.window import MainWindow
from studio.voices.voice import Voice


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    bench.live(0.05)
    return window


def test_enter_edits_a_new_line(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "The first line.")
    QTest.keyClick(field, Qt.Key.Key_Return)
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, "The second.")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bench.texts == ["The first line.", "The second.", ""]


def test_an_empty_script_offers_a_text_and_the_sample(bench: Bench, window: MainWindow) -> None:
    hint = window.script.view.start_hint
    assert hint is not None
    assert hint.isVisible()
    assert window.script.view.viewport().rect().contains(hint.geometry())
    bench.loop.call_soon(hint.buttons[1].click)
    bench.until(lambda: len(bench.texts) > 5)
    assert not hint.isVisible()


def test_the_sample_moves_the_focus_to_the_script(bench: Bench, window: MainWindow) -> None:
    """The next press of Space, meant to play, started the download that a panel above the script offered."""
    window.activateWindow()
    panel = bench.parts.models.panel
    panel.show_page(PanelPage("A better voice", buttons=[PanelButton("Download 3 GB", lambda: None)]))
    view = window.script.view
    assert view.start_hint is not None
    button = view.start_hint.buttons[1]
    button.setFocus()
    assert button.hasFocus()
    bench.loop.call_soon(button.click)
    bench.until(lambda: len(bench.texts) > 5)
    assert view.hasFocus()


def test_a_script_that_is_no_longer_empty_takes_the_focus_from_the_buttons(bench: Bench, window: MainWindow) -> None:
    window.activateWindow()
    view = window.script.view
    assert view.start_hint is not None
    view.start_hint.buttons[0].setFocus()
    window.script.set_field("text", "The first line.", "Edit")
    assert view.hasFocus()


@pytest.mark.parametrize("action", ["file.new", "help.sample"])
def test_a_new_script_takes_the_focus(bench: Bench, window: MainWindow, action: str) -> None:
    window.activateWindow()
    window.transport_bar.speak_button.setFocus()
    window.actions_by_id[action].trigger()
    bench.until(window.script.view.hasFocus)


def test_shift_of_the_new_line_shortcut_does_not_extend_the_selection(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "The first line.", "Edit")
    window.script.view.setFocus()
    QTest.keyClick(window.script.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert window.script.selected_line_ids == [bench.lines[1].id]


def test_undo_keys_apply_to_the_field_then_to_the_script(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    field = write_on(window)
    QTest.keyClicks(field, " More.")
    QTest.keyClick(field, Qt.Key.Key_Z, control)
    assert field.toPlainText() == "Before."
    for key, modifiers in ((Qt.Key.Key_Y, control), (Qt.Key.Key_Z, control | shift)):
        QTest.keyClick(field, key, modifiers)
        assert field.toPlainText() == "Before. More."
        assert bench.texts == ["Before."]
        QTest.keyClick(field, Qt.Key.Key_Z, control)
    QTest.keyClick(field, Qt.Key.Key_Y, control)
    window.script.view.commit_text()
    assert bench.texts == ["Before. More."]
    QTest.keyClick(field, Qt.Key.Key_Z, control)
    assert bench.texts == ["Before."]
    assert field.toPlainText() == "Before."
    QTest.keyClick(field, Qt.Key.Key_Y, control)
    assert field.toPlainText() == "Before. More."


@pytest.mark.parametrize("is_compact", [False, True], ids=["manuscript", "compact table"])
def test_a_missing_voice_is_marked(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch, is_compact: bool
) -> None:
    view = window.script.view
    window.resize(1600, 700)
    bench.live(0.01)
    view.set_compact(is_compact=is_compact)
    anna, bob = (Voice(name, Path(f"{name}.wav"), None, 4.0) for name in ("Anna", "Bob"))
    view.set_voices((anna,))
    window.script.set_field("text", "Words.", "Edit")
    area = view.visualRect(view.model().index(0, Column.VOICE if is_compact else Column.TEXT))
    if not is_compact:
        area.setWidth(view.text_delegate.layouts.columns.text_left)
    tips: list[str] = []
    module = delegates if is_compact else manuscript_delegate
    monkeypatch.setattr(module.QToolTip, "showText", lambda _, words, *__: tips.append(words))

    def image_of(voice: str) -> QImage:
        window.script.assign_voice(voice)
        return view.viewport().grab(area).toImage()

    def ask() -> None:
        place = area.center()
        event = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
        QApplication.sendEvent(view.viewport(), event)

    missing = image_of("Bob")
    ask()
    assert "no voice named Bob" in tips[-1]
    view.set_voices((anna, bob))
    assert not missing.isNull()
    assert image_of("Bob") != missing
    tips.clear()
    ask()
    assert not any("no voice named" in words for words in tips)


def test_a_click_below_the_lines_keeps_the_selection(bench: Bench, window: MainWindow) -> None:
    view = window.script.view
    below = view.viewport().rect().bottomLeft() + QPoint(20, -5)
    assert not view.indexAt(below).isValid()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=below)
    assert [index.row() for index in view.selectionModel().selectedRows()] == [0]


def test_the_selection_survives_a_change_to_the_compact_table(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("One.\nTwo.\nThree.")
    chosen = [line.id for line in bench.lines[:2]]
    window.script.view.select_lines(chosen)
    for _ in range(2):
        bench.trigger("view.compact")
        assert window.script.selected_line_ids == chosen


def test_ctrl_home_and_end_select_the_line_they_go_to(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("One.\nTwo.\nThree.")
    window.script.view.go_to(bench.lines[1].id)
    for key, place in ((Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 2)):
        QTest.keyClick(window.script.view, key, Qt.KeyboardModifier.ControlModifier)
        assert window.script.selected_line_ids == [bench.lines[place].id]
        assert window.script.view.current_line_id == bench.lines[place].id


def test_the_current_line_stays_visible_when_a_panel_opens_below(bench: Bench, window: MainWindow) -> None:
    window.resize(1000, 700)
    window.show()
    window.script.paste_text("\n".join(f"Line {number}." for number in range(60)))
    view = window.script.view
    view.go_to(bench.lines[40].id)
    bench.live(0.1)
    view.scrollTo(view.currentIndex(), view.ScrollHint.PositionAtBottom)
    panel = QWidget(minimumHeight=150)
    window.script.layout().addWidget(panel)
    bench.live(0.1)
    assert view.visualRect(view.currentIndex()).bottom() <= view.viewport().height()


def test_enter_at_the_end_of_a_text_makes_a_line_below(bench: Bench, window: MainWindow) -> None:
    """It went to the next line, whose text then followed what was typed."""
    window.script.paste_text("The first line.\nThe last line.")
    window.script.view.go_to(bench.lines[0].id)
    QTest.keyClick(write_on(window), Qt.Key.Key_Return)
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, "Between.")
    QTest.keyClick(field, Qt.Key.Key_Home)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bench.texts == ["The first line.", "Between.", "The last line."]
    assert window.script.current_line == bench.lines[2], "Enter elsewhere goes to the next line"
    QTest.keyClick(window.script.view.text_field, Qt.Key.Key_Return)
    QTest.keyClick(window.script.view.text_field, Qt.Key.Key_Return)
    assert bench.texts == ["The first line.", "Between.", "The last line.", ""]


@pytest.mark.slow
def test_shift_delete_removes_the_line_whose_text_is_open(bench: Bench, window: MainWindow) -> None:
    """A click on the current line opens its text, in which the key did nothing."""
    window.script.paste_text("The first line.\nThe last line.")
    window.script.view.go_to(bench.lines[0].id)
    field, shift = write_on(window), Qt.KeyboardModifier.ShiftModifier
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete, shift)
    assert field.toPlainText() == "", "selected text is cut"
    QTest.keyClicks(field, "Again.")
    QTest.keyClick(field, Qt.Key.Key_Delete, shift)
    bench.until(lambda: bench.texts == ["The last line."])
    bench.trigger("edit.undo")
    assert bench.texts == ["Again.", "The last line."]


def test_enter_on_an_empty_last_line_adds_no_line(bench: Bench, window: MainWindow) -> None:
    QTest.keyClick(write_on(window), Qt.Key.Key_Return)
    assert bench.texts == [""]


def test_escape_reverts_typed_text(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    field = write_on(window)
    QTest.keyClicks(field, " And more")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert bench.texts == ["Before."]


def test_typed_text_survives_a_change_of_its_row(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "half a sen")
    window.script._model.refresh_styles()
    bench.live(0.02)
    assert field.toPlainText() == "half a sen"


def test_keys_right_after_a_click_are_typed_in_the_field(window: MainWindow) -> None:
    """After a click on a selected line, Qt waits for a double-click and opens no editor until then."""
    view = window.script.view
    place = view.visualRect(view.model().index(0, Column.TEXT)).center()
    assert view.selectionModel().isRowSelected(0)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.text_field is None, "Qt is still waiting"
    QTest.keyClick(view, "T")
    field = view.text_field
    assert field is not None
    QTest.keyClicks(field, "he ferry")
    assert field.toPlainText() == "The ferry"


@pytest.mark.slow
@pytest.mark.parametrize("column", [Column.TEXT, Column.STATE])
def test_a_composition_opens_the_field(window: MainWindow, column: Column) -> None:
    view = window.script.view
    view.setCurrentIndex(view.model().index(0, column))
    view.setFocus()
    assert view.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
    QApplication.sendEvent(view, QInputMethodEvent("ni", []))
    field = view.text_field
    assert field is not None
    assert view.hasFocus(), "losing the focus would cancel the composition"
    window.script._model.refresh_styles()
    assert field.textCursor().block().layout().preeditAreaText() == "ni"
    done = QInputMethodEvent("", [])
    done.setCommitString("你")
    QApplication.sendEvent(view, done)
    assert field.hasFocus()
    QTest.keyClicks(field, "!")
    assert field.toPlainText() == "你!"


def test_a_dead_key_character_opens_the_field(window: MainWindow) -> None:
    view = window.script.view
    place = view.visualRect(view.model().index(0, Column.TEXT)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    event = QInputMethodEvent("", [])
    event.setCommitString("é")
    QApplication.sendEvent(view, event)
    field = view.text_field
    assert field is not None
    assert field.hasFocus()
    assert field.toPlainText() == "é"


def test_an_alt_gr_character_opens_the_field(window: MainWindow) -> None:
    """Windows reports AltGr as Ctrl and Alt."""
    view = window.script.view
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    QApplication.sendEvent(view, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_At, modifiers, "@"))
    field = view.text_field
    assert field is not None
    assert field.toPlainText() == "@"


def test_the_cursor_survives_a_change_of_its_row(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Words.", "Edit")
    field = write_on(window)
    QTest.keyClick(field, Qt.Key.Key_Left)
    window.script._model.refresh_styles()
    QTest.keyClicks(field, " and more")
    window.script.view.commit_text()
    QTest.keyClicks(field, " still")
    assert field.toPlainText() == "Words and more still."


def test_pasting_a_text_is_one_undo_step(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    pasted = QMimeData()
    pasted.setText("The first paragraph is here.\n\nThe second paragraph is here.")
    field.insertFromMimeData(pasted)
    assert bench.texts == ["The first paragraph is here.", "The second paragraph is here."]
    bench.trigger("edit.undo")
    assert bench.texts == [""]


def test_a_pasted_dialogue_is_read_like_an_imported_one(bench: Bench, window: MainWindow) -> None:
    """Names and directions were spoken, although the import of the same text recognises them."""
    text = "小明（笑着）：我们银行见。\n小红：【低声】好的。\n小明：放心。"
    field = write_on(window)
    pasted = QMimeData()
    pasted.setText(text)
    field.insertFromMimeData(pasted)
    bench.until(lambda: len(bench.texts) == 5)
    assert [(line.character, line.text, line.is_spoken) for line in bench.lines] == [
        ("小明", "（笑着）", False),
        ("小明", "我们银行见。", True),
        ("小红", "（低声）", False),
        ("小红", "好的。", True),
        ("小明", "放心。", True),
    ]
    assert [role.name for role in bench.dialog(CastDialog).roles] == ["小明", "小红"]
    bench.dialog(CastDialog).reject()
    bench.trigger("edit.undo")
    assert bench.texts == [""]
    QApplication.clipboard().setText(text)
    bench.trigger("edit.paste_lines")
    assert bench.texts == text.split("\n")


def test_a_pasted_single_line_stays_in_the_field(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    pasted = QMimeData()
    pasted.setText("just words\n")
    field.insertFromMimeData(pasted)
    assert field.toPlainText() == "just words"


def tags_of(field: TextField) -> QListWidget:
    found: Any = field._completer._list
    assert isinstance(found, QListWidget)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_a_slash_opens_the_tag_list(bench: Bench, window: MainWindow, key: Qt.Key) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "He laughed /lau")
    tags = tags_of(field)
    assert tags.isVisible()
    assert tags.item(0).text().startswith("[laughter]")
    QTest.keyClick(field, key)
    assert field.toPlainText() == "He laughed [laughter]"
    assert not tags.isVisible()
    assert field.isVisible(), "the field stays open"


def test_the_cursor_is_inside_an_inserted_span(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "/strong")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClicks(field, "now")
    assert field.toPlainText() == "<strong>now</strong>"


def test_escape_closes_only_the_tag_list(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "/")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not tags_of(field).isVisible()
    assert field.isVisible()
    assert field.toPlainText() == "/"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["and/or", "1/2", "http://x"])
def test_a_slash_within_a_word_opens_no_list(window: MainWindow, text: str) -> None:
    field = write_on(window)
    QTest.keyClicks(field, text)
    assert not tags_of(field).isVisible()


def test_find_and_replace_all(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("A cat sat here today.\n\nAnother cat sat there.\n\nNo animal at all here.")
    bench.trigger("edit.replace")
    bar = window.script.find_bar
    assert bar.isVisible()
    QTest.keyClicks(bar._find, "cat")
    assert bar._found.text() == "2 matches"
    QTest.keyClick(bar._find, Qt.Key.Key_Return)
    bar._replacement.setText("dog")
    bar._replace_all.click()
    assert bench.texts[:2] == ["A dog sat here today.", "Another dog sat there."]
    assert bar._found.text() == "Not found"
    bench.trigger("edit.undo")
    assert bench.texts[0] == "A cat sat here today."
    QTest.keyClick(bar, Qt.Key.Key_Escape)
    assert not bar.isVisible()


def test_replace_one_by_one(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("cat cat cat and more words")
    bench.trigger("edit.replace")
    bar = window.script.find_bar
    bar._find.setText("cat")
    bar._replacement.setText("cats")
    for _ in range(4):
        bar._replace.click()
    assert bench.texts == ["cats cats cats and more words"]


def test_split_and_merge(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "First part. Second part.")
    cursor = field.textCursor()
    cursor.setPosition(11)
    field.setTextCursor(cursor)
    bench.trigger("edit.split")
    assert bench.texts == ["First part.", "Second part."]
    window.script.view.go_to(bench.lines[0].id)
    bench.trigger("edit.merge")
    assert bench.texts == ["First part. Second part."]


def test_a_second_text_is_pasted_below_the_first(bench: Bench, window: MainWindow) -> None:
    messages: list[str] = []
    window.script.message.connect(messages.append)
    window.script.paste_text("One starts here.\n\nOne ends here.")
    window.script.paste_text("Two starts here.\n\nTwo ends here.")
    assert bench.texts == ["One starts here.", "One ends here.", "Two starts here.", "Two ends here."]
    assert messages[-1] == "2 lines pasted and selected: voice, style and Ctrl+Enter apply to all"


def test_a_long_selection_is_read_without_asking_for_every_cell(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 3,000 lines, that would block the window for seconds."""
    num_asked = 0
    flags = LineModel.flags

    def counting(model: LineModel, index: QModelIndex) -> Qt.ItemFlag:
        nonlocal num_asked
        num_asked += 1
        return flags(model, index)

    monkeypatch.setattr(LineModel, "flags", counting)
    window.script.paste_text("\n\n".join(f"Line {number} of many." for number in range(300)))
    assert len(window.script.selected_line_ids) == 300
    QTest.keyClick(window.script.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(window.script.selected_line_ids) == len(bench.lines)
    QTest.keyClick(window.script.view, Qt.Key.Key_PageDown)
    assert len(window.script.selected_line_ids) == 1
    assert num_asked < 300


def test_lines_apart_from_each_other_are_selected(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("\n\n".join(f"Line {number} of seven." for number in range(7)))
    chosen = [bench.lines[row].id for row in (5, 0, 1, 3, 6)]
    window.script.view.select_lines(chosen)
    assert window.script.view.current_line_id == chosen[0]
    assert window.script.selected_line_ids == [bench.lines[row].id for row in (0, 1, 3, 5, 6)]


@pytest.mark.slow
def test_several_lines_change_together(bench: Bench, window: MainWindow) -> None:
    window.script.paste_text("The first line here.\n\nThe second line here.\n\nThe third line here.")
    bench.add_voice("Anna")
    bench.add_voice("Bert")
    window.script.view.select_lines([line.id for line in bench.lines[:2]])
    bench.trigger("voices.assign_2")
    assert [line.voice for line in bench.lines] == ["Bert", "Bert", "Anna"]
    bench.trigger("edit.undo")
    assert [line.voice for line in bench.lines] == ["Anna", "Anna", "Anna"]
