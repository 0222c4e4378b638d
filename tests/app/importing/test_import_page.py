"""Import page: columns of tables, sheets, and what was understood of dialogues, books and subtitles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from window_bench import Bench

from studio.app.importing.import_page import ImportPage, has_choices
from studio.app.theme.appearance import Appearance, apply_theme
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.tables import Field

MakePage = Callable[..., ImportPage]


@pytest.fixture
def page_of(bench: Bench, tmp_path: Path) -> MakePage:
    bench.open_window()

    def make(name: str, text: str = "") -> ImportPage:
        if text:
            (tmp_path / name).write_text(text)
        page = ImportPage(read_file(tmp_path / name), ImportOptions(), bench.window)
        page.open()
        bench.until(lambda: page.imported is not None or page._problem.words)
        return page

    return make


def made(bench: Bench, page: ImportPage) -> Any:
    bench.until(lambda: page.imported is not None)
    return page.imported


def choose(page: ImportPage, column: int, words: str) -> None:
    page.columns.boxes[column].setCurrentText(words)


def test_columns_of_a_table_show_short_cells_whole(bench: Bench, page_of: MakePage, qapp: QApplication) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    try:
        table = page_of("lines.csv", "Key,Line,File\nd1,Hello.,vo/mira/d0001.wav\n").columns
        widths = [table.columnWidth(column) for column in range(3)]
        assert all(width >= table.sizeHintForColumn(column) for column, width in enumerate(widths))
        assert widths[2] > widths[0], "the path is wider than the box above it"
    finally:
        apply_theme(qapp, Appearance.SYSTEM)


def test_columns_are_mapped_with_a_preview(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Key,Words,Speech by\nd1,Hello there.,Mira\nd2,Go away!,Tom\n")
    assert page.columns.mapping == {Field.TEXT: 1}
    assert page.columns.item(1, 1).text() == "Hello there."
    assert page.summary.text() == "2 lines\nColumns kept but not used: Key, Speech by."
    choose(page, 2, "Character")
    assert [line.character for line in made(bench, page).lines] == ["Mira", "Tom"]
    assert page.summary.text().startswith("2 lines, 2 characters\n")
    choose(page, 0, "Text")
    assert page.columns.mapping == {Field.TEXT: 0, Field.CHARACTER: 2}, "a meaning has one column"
    assert [line.text for line in made(bench, page).lines] == ["d1", "d2"]
    choose(page, 0, "Not used")
    bench.until(lambda: page._problem.words)
    assert not page.import_button.isEnabled()
    choose(page, 1, "Text")
    made(bench, page)
    page.accept()
    assert not page._problem.words


def test_enter_imports_after_another_column_is_chosen(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Good evening.,Guten Abend.\nThank you.,Danke sehr.\n")
    assert not page.import_button.isEnabled()
    choose(page, 1, "Text")
    made(bench, page)
    QTest.keyClick(page, Qt.Key.Key_Return)
    assert page.result() == QDialog.DialogCode.Accepted


def test_the_first_row_can_be_declared_headings(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Good evening.\nThank you.\n")
    assert not page.titles.isChecked()
    page.titles.setChecked(True)
    imported = made(bench, page)
    assert ([line.text for line in imported.lines], imported.columns) == (["Thank you."], ("Good evening.",))
    page.reject()


def test_a_column_with_invalid_numbers_can_be_left_out(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Text,Speed\nHello.,fast\n")
    assert "fast" in page._problem.words
    choose(page, 1, "Not used")
    assert made(bench, page).lines[0].speed == 1.0
    page.reject()


def test_the_sheet_of_a_workbook_is_chosen(bench: Bench, page_of: MakePage, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Act one"
    book.active.append(["Text"])
    book.active.append(["Hello."])
    second = book.create_sheet("Act two")
    for row in (["Line", "Role"], ["Farewell.", "Mira"], ["Goodbye.", "Tom"]):
        second.append(row)
    book.save(tmp_path / "lines.xlsx")
    page = page_of("lines.xlsx")
    assert page.sheets.currentText() == "Act two", "the longest"
    page.sheets.setCurrentText("Act one")
    assert [line.text for line in made(bench, page).lines] == ["Hello."]
    page.reject()


def test_speakers_can_be_switched_off(bench: Bench, page_of: MakePage) -> None:
    page = page_of("scene.txt", "Mira: It is very late tonight. Come home with me now.\nTom: I know.\nMira: Come.\n")
    assert [page.lines.item(row, 0).text() for row in range(4)] == ["Mira", "Mira", "Tom", "Mira"]
    page.breaks.setCurrentIndex(1)
    assert len(made(bench, page).lines) == 3
    page.speakers.setChecked(False)
    assert {line.character for line in made(bench, page).lines} == {None}
    assert page.lines.isColumnHidden(0)
    page.reject()


def test_directions_are_marked_and_can_be_spoken(bench: Bench, page_of: MakePage) -> None:
    page = page_of("scene.fountain", "INT. HARBOUR - NIGHT\n\nThe bell rings.\n\nMIRA\n(softly)\nListen.\n")
    texts = {page.lines.item(row, 1).text(): page.lines.item(row, 1) for row in range(page.lines.rowCount())}
    assert texts["The bell rings."].data(Qt.ItemDataRole.AccessibleTextRole) == "Not spoken: The bell rings."
    assert page.summary.text().startswith("4 lines, 3 not spoken, 1 character, 1 chapter")
    page.notes.setChecked(True)
    assert [line.text for line in made(bench, page).lines if line.is_spoken] == [
        "The bell rings.",
        "(softly)",
        "Listen.",
    ]
    page.reject()


@pytest.mark.parametrize(
    ("name", "text", "is_shown"),
    [
        ("a.txt", "Plain text. Nothing to decide.", False),
        ("a.md", "# One\n\nPlain text.", False),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello.\n", False),
        ("b.srt", "1\n00:00:01,000 --> 00:00:02,000\nMARTHA: Hello.\n", True),
        ("a.csv", "text\nHello.\n", True),
        ("a.txt", "Mira: Hello.\nMira: Come.\n", True),
    ],
)
def test_the_page_is_shown_only_where_there_is_something_to_decide(
    tmp_path: Path, name: str, text: str, is_shown: bool
) -> None:
    (tmp_path / name).write_text(text)
    file = read_file(tmp_path / name)
    assert has_choices(file, file.script(ImportOptions())) is is_shown


def test_enter_while_the_lines_are_made_imports_them(bench: Bench, page_of: MakePage) -> None:
    page = page_of("scene.txt", "Mira: It is late. Come.\nMira: Come home.\n")
    page.breaks.setCurrentIndex(1)
    page.accept()
    assert page.isVisible()
    bench.until(lambda: not page.isVisible())
    assert page.imported is not None
    assert len(page.imported.lines) == 2
