"""Dictionary dialog: both dictionaries, validation, undo, saving and word preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.app.dictionary.dialog import DictionaryDialog, PronunciationPage
from studio.app.dictionary.global_words import GlobalWords
from studio.app.dictionary.pronunciation import Pronunciation
from studio.app.dictionary.word_model import ALIAS, CASE, PRONUNCIATION, WORD
from studio.app.script.project_editor import ProjectEditor
from studio.errors import CannotWrite
from studio.project import dictionary
from studio.project.changes import EditDictionary, InsertLines
from studio.project.dictionary import (
    DictionaryEntry,
    PronunciationDictionary,
    load_global_dictionary,
    save_global_dictionary,
)
from studio.project.lines import Line
from studio.project.project import Project

CHONGQING = DictionaryEntry("重庆", pronunciation="chong2 qing4")
SQL = DictionaryEntry("SQL", alias="sequel", is_case_sensitive=True)


@pytest.fixture
def editor(tmp_path: Path, qapp: Any) -> Iterator[ProjectEditor]:
    with Project.create(tmp_path / "drafts") as project:
        lines = tuple(Line(id=f"l{number}", text=text) for number, text in enumerate(("重庆", "SQL", "重庆 and SQL")))
        project.apply(InsertLines(0, lines))
        project.apply(EditDictionary(PronunciationDictionary((CHONGQING,))))
        yield ProjectEditor(project)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "pronunciation.json"
    save_global_dictionary(PronunciationDictionary((SQL,)), path)
    return path


@pytest.fixture
def words(editor: ProjectEditor, path: Path) -> GlobalWords:
    words = GlobalWords(editor, path=path)
    words.load()
    return words


@pytest.fixture
def dialog(editor: ProjectEditor, words: GlobalWords, qtbot: QtBot) -> DictionaryDialog:
    dialog = DictionaryDialog(editor, words)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def type_in(page: PronunciationPage, number: int, column: int, text: str) -> None:
    page.model.setData(page.model.index(number, column), text)


def shown(page: PronunciationPage, number: int) -> list[str]:
    return [page.model.data(page.model.index(number, column)) for column in (WORD, ALIAS, PRONUNCIATION)]


def visible_text(dialog: DictionaryDialog, role: str) -> str:
    return " ".join(
        label.text() for label in dialog.findChildren(QLabel) if label.isVisible() and label.property("role") == role
    )


def test_both_dictionaries_are_shown(dialog: DictionaryDialog) -> None:
    assert shown(dialog.project_page, 0) == ["重庆", "", "chong2 qing4"]
    assert shown(dialog.global_page, 0) == ["SQL", "sequel", ""]
    case = dialog.global_page.model.index(0, CASE)
    assert dialog.global_page.model.data(case, Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    assert dialog.project_page.table.accessibleName() == "Script dictionary"


def test_the_text_sent_to_the_model_is_shown(dialog: DictionaryDialog) -> None:
    dialog.project_page.go_to(0)
    assert "[ch][óng][q][ìng]" in visible_text(dialog, "quiet")
    assert "2" in visible_text(dialog, "quiet")


def test_adding_a_project_word_can_be_undone(
    dialog: DictionaryDialog, editor: ProjectEditor, words: GlobalWords
) -> None:
    page = dialog.project_page
    page.add_word()
    type_in(page, 1, WORD, "wind")
    type_in(page, 1, PRONUNCIATION, "W AY1 N D")
    dialog.accept()
    assert not dialog.isVisible()
    assert editor.project.dictionary.entries == (CHONGQING, DictionaryEntry("wind", None, "W AY1 N D"))
    editor.undo_stack.undo()
    assert editor.project.dictionary.entries == (CHONGQING,)
    assert words.dictionary.entries == (SQL,)


def test_a_shared_word_is_saved_and_can_be_undone(
    dialog: DictionaryDialog, editor: ProjectEditor, path: Path, qtbot: QtBot
) -> None:
    type_in(dialog.global_page, 0, ALIAS, "S Q L")
    with qtbot.waitSignal(editor.script_changed):
        dialog.accept()
    assert editor.project.dictionary_in_force.compile("SQL", speaks_phones=False) == "S Q L"
    changed = DictionaryEntry("SQL", "S Q L", None, True)
    assert load_global_dictionary(path).entries == (changed,)
    editor.undo_stack.undo()
    assert load_global_dictionary(path).entries == (SQL,)
    assert editor.project.dictionary_in_force.compile("SQL", speaks_phones=False) == "sequel"
    editor.undo_stack.redo()
    assert load_global_dictionary(path).entries == (changed,)
    assert editor.project.dictionary_in_force.compile("SQL", speaks_phones=False) == "S Q L"


def test_an_invalid_word_is_marked_and_refused(
    dialog: DictionaryDialog, editor: ProjectEditor, report_of: Callable[[QWidget], str]
) -> None:
    page = dialog.project_page
    type_in(page, 0, PRONUNCIATION, "kæt")
    index = page.model.index(0, WORD)
    assert page.model.data(index, Qt.ItemDataRole.DecorationRole) is not None
    assert "Enter pinyin" in page.model.data(index, Qt.ItemDataRole.ToolTipRole)
    dialog.tabs.setCurrentWidget(dialog.global_page)
    dialog.accept()
    assert dialog.isVisible()
    assert dialog.tabs.currentWidget() is page
    assert "is not a syllable in pinyin" in visible_text(dialog, "bad")
    assert report_of(page).startswith("error: bad-pronunciation\n")
    assert editor.project.dictionary.entries == (CHONGQING,)
    type_in(page, 0, PRONUNCIATION, "chong2")
    assert page.model.data(index, Qt.ItemDataRole.DecorationRole) is None
    dialog.accept()
    assert editor.project.dictionary.entries == (DictionaryEntry("重庆", None, "chong2"),)


def test_a_new_word_is_not_called_wrong_before_its_reading_is_typed(dialog: DictionaryDialog) -> None:
    """The reason to refuse it appeared in red, with a button for a report, as soon as the dialog opened."""
    dialog.add_word("旗舰店")
    page, number = dialog.project_page, dialog.project_page.model.rowCount() - 1
    assert page._problem.words == ""
    assert page._hint.text() == "Add a mispronounced word and how to read it."
    assert page.model.data(page.model.index(number, WORD), Qt.ItemDataRole.DecorationRole) is None
    dialog.accept()
    assert "has neither an alias nor a pronunciation" in dialog._error_line.words, "it cannot be saved like this"


def test_a_duplicate_word_is_marked(dialog: DictionaryDialog) -> None:
    page = dialog.project_page
    number = page.model.append()
    type_in(page, number, WORD, " 重庆 ")
    type_in(page, number, ALIAS, "x")
    assert page.model.problem(0) is None
    assert "is already in the dictionary" in str(page.model.problem(number))
    type_in(page, number, WORD, "庆")
    assert page.model.problem(number) is None


def test_blank_rows_are_ignored_and_reused(dialog: DictionaryDialog, editor: ProjectEditor) -> None:
    page = dialog.project_page
    page.add_word()
    page.add_word()
    assert page.model.rowCount() == 2
    dialog.accept()
    assert editor.undo_stack.count() == 0


def test_the_delete_key_removes_words(dialog: DictionaryDialog, editor: ProjectEditor, qtbot: QtBot) -> None:
    page = dialog.project_page
    page.go_to(0)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    assert page.model.rowCount() == 0
    assert not page.remove_button.isEnabled()
    dialog.accept()
    assert editor.project.dictionary.entries == ()


def test_cancel_discards_changes(dialog: DictionaryDialog, editor: ProjectEditor, path: Path) -> None:
    before = path.read_bytes()
    type_in(dialog.project_page, 0, ALIAS, "x")
    type_in(dialog.global_page, 0, ALIAS, "x")
    dialog.reject()
    assert editor.project.dictionary.entries == (CHONGQING,)
    assert path.read_bytes() == before


def test_typing_a_word(dialog: DictionaryDialog, qtbot: QtBot) -> None:
    page = dialog.project_page
    page.add_word()
    field = page.table.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    qtbot.keyClicks(field, "Qt")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(page, 1)[0] == "Qt")
    assert dialog.isVisible()


def test_a_selected_word_is_added(dialog: DictionaryDialog) -> None:
    dialog.tabs.setCurrentWidget(dialog.global_page)
    dialog.add_word(" Xi'an ")
    assert dialog.tabs.currentWidget() is dialog.project_page
    assert shown(dialog.project_page, 1) == ["Xi'an", "", ""]
    assert not dialog.project_page.hear_button.isEnabled()


def test_only_valid_words_can_be_played(dialog: DictionaryDialog, qtbot: QtBot) -> None:
    page = dialog.project_page
    page.go_to(0)
    with qtbot.waitSignal(dialog.play_clicked) as heard:
        page.hear_button.click()
    assert heard.args == [CHONGQING]
    type_in(page, 0, PRONUNCIATION, "?")
    assert not page.hear_button.isEnabled()


def test_a_write_error_is_shown_and_the_dialog_stays_open(
    editor: ProjectEditor, tmp_path: Path, qtbot: QtBot, report_of: Callable[[QWidget], str]
) -> None:
    (tmp_path / "file").touch()
    dialog = DictionaryDialog(editor, GlobalWords(editor, path=tmp_path / "file" / "words.json"))
    qtbot.addWidget(dialog)
    dialog.show()
    number = dialog.global_page.model.append()
    type_in(dialog.global_page, number, WORD, "a")
    type_in(dialog.global_page, number, ALIAS, "b")
    dialog.accept()
    assert dialog.isVisible()
    assert "cannot be" in visible_text(dialog, "bad")
    assert report_of(dialog).startswith("error: cannot-write\n")


def test_every_opened_project_uses_the_shared_dictionary(
    editor: ProjectEditor, words: GlobalWords, tmp_path: Path
) -> None:
    with Project.create(tmp_path / "drafts") as other:
        first = editor.project
        editor.replace_project(other)
        assert other.dictionary_in_force.entries == (SQL,)
        editor.replace_project(first)


def test_a_damaged_file_is_reported(editor: ProjectEditor, path: Path, qtbot: QtBot) -> None:
    path.write_text("{")
    words = GlobalWords(editor, path=path)
    with qtbot.waitSignal(words.failed) as failed:
        words.load()
    assert "is damaged" in str(failed.args[0])
    words.change(PronunciationDictionary((SQL,)))
    assert load_global_dictionary(path).entries == (SQL,)


def test_a_failed_undo_is_reported_and_its_command_removed(
    words: GlobalWords, editor: ProjectEditor, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    words.change(PronunciationDictionary())

    def fail(*_: object) -> None:
        raise CannotWrite("No.", remedy="Later.")

    monkeypatch.setattr(dictionary, "atomic_write", fail)
    with qtbot.waitSignal(words.failed):
        editor.undo_stack.undo()
    assert words.dictionary.entries == ()
    assert editor.undo_stack.count() == 0


@pytest.mark.slow
def test_a_preview_uses_the_dictionary_entry(bench: Any) -> None:
    bench.add_voice("Anna")
    session = bench.session
    session.begin()
    window = QWidget()
    pronunciation = Pronunciation(session, window)
    failures: list[object] = []
    pronunciation.failed.connect(failures.append)
    bench.loop.call_soon(pronunciation.play, DictionaryEntry("SQL", alias="one two three"), "Anna")
    bench.until(lambda: session.playback.player.is_playing)
    bench.until(lambda: not session.playback.player.is_playing)
    assert len(bench.card.heard) == 3 * 2_400
    assert not session.editor.script.takes
    bench.loop.call_soon(pronunciation.play, DictionaryEntry("SQL", alias="x"), "Nobody")
    bench.until(lambda: failures)
    assert "no voice named Nobody" in str(failures[0])


@pytest.mark.slow
def test_a_preview_uses_the_voice_of_the_line(bench: Any) -> None:
    bench.add_voice("Anna")
    session = bench.session
    bench.open_window()
    session.editor.project.apply(InsertLines(0, (Line(id="x", text="SQL", voice="Anna"),)))
    dialog = bench.parts.pronunciation.open("Anna", "SQL")
    page = dialog.project_page
    type_in(page, 0, ALIAS, "one two")
    bench.loop.call_soon(page.hear_button.click)
    bench.until(lambda: session.playback.player.is_playing)
    bench.until(lambda: not session.playback.player.is_playing)
    assert len(bench.card.heard) == 2 * 2_400
    dialog.accept()
    assert session.editor.project.dictionary.entries == (DictionaryEntry("SQL", "one two"),)


def test_a_preview_without_a_voice_is_reported(bench: Any) -> None:
    bench.open_window()
    pronunciation = bench.parts.pronunciation
    bench.until(lambda: bench.session.is_ready)
    failures: list[object] = []
    pronunciation.failed.connect(failures.append)
    dialog = pronunciation.open(None)
    dialog.play_clicked.emit(SQL)
    assert "No voice is available" in str(failures[0])
    dialog.reject()


def test_the_menu_opens_the_dictionary_with_the_selected_word(bench: Any) -> None:
    window = bench.open_window()
    bench.until(lambda: bench.session.is_ready)
    view = window.script.view
    view.setFocus()
    QTest.keyClicks(view, "S")
    field = view.text_field
    QTest.keyClicks(field, "QL is fun")
    cursor = field.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(3, cursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    bench.trigger("edit.pronunciation")
    dialog = window.findChild(DictionaryDialog)
    assert isinstance(dialog, DictionaryDialog)
    assert shown(dialog.project_page, 0)[0] == "SQL"
    dialog.reject()
