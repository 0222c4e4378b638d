"""Update of the script in the window: the preview, one undo step, the offer, and the removed lines."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QMessageBox, QPushButton
from window_bench import Bench

from studio.app.importing.cast_dialog import CastDialog
from studio.app.importing.import_page import ImportPage
from studio.app.importing.update_dialog import UpdateDialog
from studio.project.changes import EditLines

ROWS = [f"VO_{number},Anna,This is line number {number}." for number in range(1, 7)]
NEW = [*ROWS[:1], "VO_9,Anna,A new line.", ROWS[1].replace("number 2", "two"), *ROWS[2:4], ROWS[5]]


def write_table(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["ID,Character,Dialogue", *rows]))
    return path


@pytest.fixture
def table(bench: Bench, tmp_path: Path) -> Path:
    """A table that is imported into the open script."""
    bench.add_voice("Anna")
    bench.open_window()
    path = write_table(tmp_path / "lines.csv", ROWS)
    bench.window.documents.open_files(path)
    press_enter(bench, ImportPage)
    bench.until(lambda: len(bench.lines) == len(ROWS))
    return path


def press_enter(bench: Bench, kind: type) -> None:
    dialog = bench.dialog(kind)
    bench.loop.call_soon(lambda: QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Return))
    bench.until(lambda: not shiboken6.isValid(dialog) or not dialog.isVisible())


def cells(dialog: UpdateDialog) -> list[list[str]]:
    table = dialog.table
    return [[table.item(row, at).text() for at in range(table.columnCount())] for row in range(table.rowCount())]


def test_a_changed_table_is_shown_and_updated_with_one_key(bench: Bench, table: Path) -> None:
    window = bench.window
    take = bench.add_take(np.zeros(2_400, np.float32), line=1)
    assert bench.window.actions_by_id["file.update"].text() == "Update from lines.csv…"
    before = bench.session.editor.script
    write_table(table, NEW)
    bench.trigger("file.update")
    dialog = bench.dialog(UpdateDialog)
    assert dialog.summary.text() == "1 new, 1 changed, 1 removed, 4 unchanged"
    assert cells(dialog) == [
        ["New", "VO_9", "", "A new line."],
        ["Changed", "VO_2", "This is line number 2.", "This is line two."],
        ["Removed", "VO_5", "This is line number 5.", ""],
    ]
    assert bench.session.editor.script == before, "nothing happens before it is confirmed"
    press_enter(bench, UpdateDialog)
    bench.until(lambda: len(bench.lines) == 8)
    assert bench.texts[-2:] == ["Removed from lines.csv", "This is line number 5."]
    assert bench.lines[1].voice == "Anna"
    assert bench.lines[2].chosen_take == take.id
    assert window.script.current_line.text == "A new line."
    assert window.script.view.isRowHidden(7), "the removed line is folded"
    assert not window.script.view.isRowHidden(6)
    bench.trigger("edit.undo")
    assert bench.session.editor.script == before
    bench.trigger("edit.redo")
    window.script.view.go_to(bench.lines[6].id)
    bench.trigger("edit.remove")
    assert bench.texts[-1] == "This is line number 6."


def test_a_script_is_saved_beside_its_table(bench: Bench, table: Path) -> None:
    bench.trigger("file.save")
    dialog = bench.dialog(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == table.parent
    dialog.reject()


def test_removed_lines_can_be_deleted_at_once(bench: Bench, table: Path) -> None:
    write_table(table, NEW)
    bench.trigger("file.update")
    dialog = bench.dialog(UpdateDialog)
    next(box for box in dialog.findChildren(QCheckBox) if box.isVisible()).setChecked(True)
    press_enter(bench, UpdateDialog)
    bench.until(lambda: bench.texts[-1] == "This is line number 6.")


def test_a_changed_character_is_named_and_cast(bench: Bench, table: Path) -> None:
    locked = bench.lines[3].id
    bench.session.editor.apply(EditLines({locked: {"is_locked": True}}))
    write_table(table, [ROWS[0].replace("Anna", "Guard"), *ROWS[1:3], ROWS[3].replace("number 4", "four"), *ROWS[4:]])
    bench.trigger("file.update")
    assert cells(bench.dialog(UpdateDialog)) == [
        ["Changed", "VO_1", "This is line number 1.", "This is line number 1.\nCharacter: Anna → Guard"],
        ["Changed (locked)", "VO_4", "This is line number 4.", "This is line four."],
    ]
    press_enter(bench, UpdateDialog)
    assert [role.name for role in bench.dialog(CastDialog).roles] == ["Anna", "Guard"]
    bench.dialog(CastDialog).reject()
    assert bench.texts[3] == "This is line number 4."


def test_a_changed_style_is_shown_with_both_values(bench: Bench, tmp_path: Path) -> None:
    bench.open_window()
    path = tmp_path / "lines.csv"
    path.write_text("ID,Dialogue,Delivery\nVO_1,Miss me?,like a whisper from afar\n")
    bench.window.documents.open_files(path)
    press_enter(bench, ImportPage)
    bench.until(lambda: bench.texts == ["Miss me?"])
    path.write_text("ID,Dialogue,Delivery\nVO_1,Miss me?,\n")
    bench.trigger("file.update")
    ((*_, after),) = cells(bench.dialog(UpdateDialog))
    assert after == "Miss me?\nStyle: “like a whisper from afar” → –"
    bench.dialog(UpdateDialog).reject()


def test_a_file_that_changed_is_offered_when_the_window_becomes_active(bench: Bench, table: Path) -> None:
    watcher, notices = bench.parts.source_watcher, bench.window.notices
    notices.hide()
    os.utime(table, (1, 1))
    watcher.check()
    bench.live(0.3)
    assert not notices.words, "the content is the same"
    write_table(table, NEW)
    watcher._on_state(Qt.ApplicationState.ApplicationActive)
    bench.until(lambda: notices.words == "lines.csv has changed since it was imported.")
    next(button for button in notices.findChildren(QPushButton) if button.text() == "Show changes…").click()
    press_enter(bench, UpdateDialog)
    bench.until(lambda: len(bench.lines) == 8)
    watcher.check()
    bench.live(0.3)
    assert not notices.words


def test_a_file_that_is_imported_again_is_an_update_unless_it_is_declined(bench: Bench, table: Path) -> None:
    write_table(table, NEW)
    bench.window.documents.open_files(table)
    box = bench.dialog(QMessageBox)
    bench.loop.call_soon(lambda: QTest.keyClick(box.focusWidget(), Qt.Key.Key_Return))
    bench.dialog(UpdateDialog).reject()
    bench.window.documents.open_files(table)
    box = bench.dialog(QMessageBox)
    next(button for button in box.buttons() if button.text() == "Import again").click()
    press_enter(bench, ImportPage)
    bench.until(lambda: len(bench.lines) == len(ROWS) + len(NEW))


def test_a_new_version_under_another_name_is_offered_as_an_update(bench: Bench, table: Path) -> None:
    renamed = write_table(table.with_name("lines_v2.csv"), NEW)
    bench.window.documents.open_files(renamed)
    box = bench.dialog(QMessageBox)
    assert box.text() == "lines_v2.csv resembles lines.csv, from which this script was imported."
    next(button for button in box.buttons() if button.text() == "Cancel").click()
    bench.live(0.1)
    assert len(bench.lines) == len(ROWS)
    bench.window.documents.open_files(renamed)
    box = bench.dialog(QMessageBox)
    bench.loop.call_soon(lambda: QTest.keyClick(box.focusWidget(), Qt.Key.Key_Return))
    press_enter(bench, UpdateDialog)
    bench.until(lambda: "A new line." in [line.text for line in bench.lines])
    (source,) = bench.session.editor.script.details.sources
    assert Path(source.path).name == "lines_v2.csv"
    assert sum(line.text == "This is line number 1." for line in bench.lines) == 1
    other = write_table(table.with_name("other.csv"), [f"X_{row},Anna,Another {row}." for row in range(6)])
    bench.window.documents.open_files(other)
    press_enter(bench, ImportPage)  # without a question


def test_a_table_whose_text_is_gone_asks_for_its_columns(bench: Bench, table: Path) -> None:
    rows = [f"VO_{number},This is one {number}.,That is two {number}." for number in range(1, 7)]
    table.write_text("\n".join(["ID,alpha,beta", *rows]))
    bench.trigger("file.update")
    page = bench.dialog(ImportPage)
    page.columns.boxes[1].setCurrentText("Text")
    bench.until(lambda: page.imported is not None)
    page.accept()
    assert bench.dialog(UpdateDialog).summary.text() == "6 changed"
    bench.dialog(UpdateDialog).reject()


def choose(bench: Bench, path: Path) -> None:
    dialog = bench.dialog(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == path.parent
    name = dialog.findChild(QLineEdit)
    name.setText(str(path))
    bench.loop.call_soon(lambda: QTest.keyClick(name, Qt.Key.Key_Return))
    bench.until(lambda: not dialog.isVisible())


def test_an_update_without_changes_says_so(bench: Bench, table: Path) -> None:
    messages: list[str] = []
    bench.window.tasks.message_changed.connect(messages.append)
    bench.trigger("file.update")
    choose(bench, table)
    bench.until(lambda: "lines.csv contains no changes." in messages)


def test_a_new_version_with_another_name_is_asked_for(bench: Bench, table: Path) -> None:
    newer = table.with_name("lines_v2.csv")
    write_table(newer, NEW)
    bench.trigger("file.update")
    choose(bench, newer)
    press_enter(bench, UpdateDialog)
    bench.until(lambda: len(bench.lines) == 8)
