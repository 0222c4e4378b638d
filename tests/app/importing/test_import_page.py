"""Import page: columns of tables, sheets, and what was understood of dialogues, books and subtitles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from book_samples import entry, epub, toc
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from window_bench import Bench

from studio.app.importing.import_page import ImportPage, has_choices
from studio.app.theme.appearance import Appearance, apply_theme
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.tables import Field
from studio.project.lines import Heading

MakePage = Callable[..., ImportPage]


@pytest.fixture
def page_of(bench: Bench, tmp_path: Path) -> MakePage:
    bench.open_window()

    def make(name: str, text: str = "") -> ImportPage:
        if text:
            (tmp_path / name).write_text(text)
        path = tmp_path / name
        page = ImportPage(path, read_file(path), ImportOptions(), bench.session.settings, bench.window)
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
    assert page.columns.mapping == {Field.TEXT: 1, Field.ID: 0}
    assert page.columns.item(1, 1).text() == "Hello there."
    assert page.summary.text() == "2 lines\nColumns kept but not used: Speech by."
    choose(page, 2, "Character")
    assert [line.character for line in made(bench, page).lines] == ["Mira", "Tom"]
    assert page.summary.text() == "2 lines, 2 characters"
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


@pytest.mark.parametrize("has_known_headings", [True, False])
def test_columns_are_remembered_for_tables_with_the_same_headings(
    bench: Bench, page_of: MakePage, has_known_headings: bool
) -> None:
    headings = "Key,Text,Speech by\n" if has_known_headings else "alpha,beta,gamma\n"
    page = page_of("one.csv", headings + "d1,Hello there.,Mira\nd2,Go away!,Tom\n")
    page.titles.setChecked(True)
    choose(page, 0, "File name")
    choose(page, 2, "Character")
    page.accept()
    bench.until(lambda: not page.isVisible())
    page = page_of("two.csv", headings + "d3,Good evening.,Anna\n")
    assert page.titles.isChecked()
    assert page.columns.mapping == {Field.TEXT: 1, Field.FILE_NAME: 0, Field.CHARACTER: 2}
    assert [(line.text, line.character) for line in made(bench, page).lines] == [("Good evening.", "Anna")]
    page.titles.setChecked(False)
    assert len(made(bench, page).lines) == 2
    page.reject()
    page = page_of("three.csv", "Key,Text\nd3,Good evening.\n")
    assert page.columns.mapping == {Field.TEXT: 1, Field.ID: 0}, "other headings"
    page.reject()


def test_enter_keeps_the_page_open_while_no_column_is_text(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Key,Text\nd1,Hello there.\n")
    choose(page, 1, "Not used")
    bench.until(lambda: page._problem.words)
    for widget in (page, page.columns.boxes[1], page.titles):
        QTest.keyClick(widget, Qt.Key.Key_Return)
        assert page.isVisible()
    choose(page, 1, "Text")
    QTest.keyClick(page.columns.boxes[1], Qt.Key.Key_Return)
    bench.until(lambda: not page.isVisible())
    assert page.result() == QDialog.DialogCode.Accepted


def test_the_encoding_of_a_text_is_chosen_by_its_preview(bench: Bench, page_of: MakePage, tmp_path: Path) -> None:
    (tmp_path / "lines.csv").write_bytes("Key,Text\nd1,Καλά.\n".encode("cp1253"))
    page = page_of("lines.csv")
    shown = [page.encodings.itemText(at) for at in range(page.encodings.count())]
    assert "Windows-1253: d1,Καλά." in shown
    assert "does not declare its encoding" in page.summary.text()
    page.encodings.setCurrentIndex(page.encodings.findData("Windows-1251"))
    assert made(bench, page).lines[0].text == "КблЬ."
    page.encodings.setCurrentIndex(page.encodings.findData("Windows-1253"))
    assert made(bench, page).lines[0].text == "Καλά."
    assert page.columns.item(1, 1).text() == "Καλά."
    page.reject()


BOOK = {
    "cover.xhtml": "<p>The Harbour</p>",
    "copyright.xhtml": "<section epub:type='copyright-page'><p>All rights reserved.</p></section>",
    "rights.xhtml": "<h1>A note</h1><p>ISBN 978-3-16-148410-0</p><p>All rights reserved.</p>",
    "part.xhtml": "<h1>Part One</h1>",
    "one.xhtml": "<h2>Home</h2><p>Rain fell.</p>",
    "two.xhtml": "<h2>Away</h2><p>Snow fell.</p>",
    "index.xhtml": "<h1>Index</h1><p>rain, 1</p>",
}


def test_sections_and_the_level_of_chapters_are_chosen(bench: Bench, page_of: MakePage, tmp_path: Path) -> None:
    contents = toc(
        entry("cover.xhtml", "The Harbour"),
        entry("rights.xhtml", "A note"),
        entry("part.xhtml", "Part One", entry("one.xhtml", "Home"), entry("two.xhtml", "Away")),
        entry("index.xhtml", "Index"),
    )
    (tmp_path / "harbour.epub").write_bytes(epub(BOOK, contents=contents))
    page = page_of("harbour.epub")
    items = {
        item.text(0): item
        for item in page.contents.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive)
    }
    assert [text for text, item in items.items() if item.checkState(0) is Qt.CheckState.Unchecked] == [
        "All rights reserved.",
        "A note",
        "Index",
    ]
    assert items["Home"].parent() is items["Part One"]
    made(bench, page)
    assert page.summary.text().splitlines()[:2] == ["A Book, Jane Writer", "6 lines, 4 chapters, about 8 s"]
    headings = [line.text for line in made(bench, page).lines if line.heading is Heading.CHAPTER]
    assert headings == ["The Harbour", "Part One", "Home", "Away"]
    page.levels.setCurrentIndex(0)
    items["Away"].setCheckState(0, Qt.CheckState.Unchecked)
    items["Index"].setCheckState(0, Qt.CheckState.Checked)
    bench.until(lambda: page.imported is not None and page.imported.lines[-1].text == "rain, 1")
    lines = page.imported.lines
    assert [line.text for line in lines if line.heading is Heading.CHAPTER] == ["The Harbour", "Part One", "Index"]
    assert "Snow fell." not in [line.text for line in lines]
    page.accept()


def test_matter_without_an_entry_in_the_contents_does_not_uncheck_the_section_before_it(
    bench: Bench, page_of: MakePage, tmp_path: Path
) -> None:
    pages = {name: BOOK[name] for name in ("part.xhtml", "one.xhtml", "two.xhtml")} | {
        "epilogue.xhtml": "<h2>Epilogue</h2><p>The ice broke.</p>",
        "also.xhtml": "<h2>Also by Jane Writer</h2><p>The Quay</p>",
        "notes.xhtml": "<section epub:type='endnotes'><h2>Notes</h2><aside epub:type='endnote'>1. Sleet.</aside></section>",
    }
    contents = toc(
        entry("part.xhtml", "Part One", entry("one.xhtml", "Home"), entry("two.xhtml", "Away")),
        entry("epilogue.xhtml", "Epilogue"),
        entry("notes.xhtml", "Notes"),
    )
    (tmp_path / "harbour.epub").write_bytes(epub(pages, contents=contents))
    page = page_of("harbour.epub")
    states = {
        item.text(0): item.checkState(0) is Qt.CheckState.Checked
        for item in page.contents.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive)
    }
    assert states == {
        "Part One": True,
        "Home": True,
        "Away": True,
        "Epilogue": True,
        "Also by Jane Writer": False,
        "Notes": False,
    }
    assert made(bench, page).lines[-1].text == "The ice broke."
    page.accept()


def test_a_part_with_some_of_its_chapters_is_marked_unlike_one_without(
    bench: Bench, page_of: MakePage, tmp_path: Path, qapp: QApplication
) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    contents = toc(entry("part.xhtml", "Part One", entry("one.xhtml", "Home"), entry("two.xhtml", "Away")))
    (tmp_path / "harbour.epub").write_bytes(
        epub({name: BOOK[name] for name in ("part.xhtml", "one.xhtml", "two.xhtml")}, contents=contents)
    )
    tree = page_of("harbour.epub").contents
    (part,) = tree.findItems("Part One", Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)

    def mark() -> QImage:
        return tree.viewport().grab(tree.visualItemRect(part)).toImage()

    checked = mark()
    part.child(1).setCheckState(0, Qt.CheckState.Unchecked)
    assert part.checkState(0) is Qt.CheckState.PartiallyChecked
    partial = mark()
    part.child(0).setCheckState(0, Qt.CheckState.Unchecked)
    assert part.checkState(0) is Qt.CheckState.Unchecked
    assert partial not in (checked, mark())


def test_a_column_with_invalid_numbers_can_be_left_out(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "Text,Speed\nHello.,fast\n")
    assert "fast" in page._problem.words
    choose(page, 1, "Not used")
    assert made(bench, page).lines[0].speed == 1.0
    page.reject()


def test_sheets_of_a_workbook_are_chosen(bench: Bench, page_of: MakePage, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Act one"
    book.active.append(["Text"])
    book.active.append(["Hello."])
    second = book.create_sheet("Act two")
    for row in (["Line", "Role"], ["Farewell.", "Mira"], ["Goodbye.", "Tom"], ["Take care.", "Mira"]):
        second.append(row)
    book.save(tmp_path / "lines.xlsx")
    page = page_of("lines.xlsx")
    assert [(item.text(), item.checkState()) for item in map(page.sheets.item, range(2))] == [
        ("Act one (1)", Qt.CheckState.Unchecked),
        ("Act two (3)", Qt.CheckState.Checked),
    ]
    assert "Sheets that are not imported: Act one." in page.summary.text()
    page.sheets.item(0).setCheckState(Qt.CheckState.Checked)
    lines = made(bench, page).lines
    assert [(line.text, line.character, line.heading) for line in lines] == [
        ("Act one", None, Heading.CHAPTER),
        ("Hello.", None, Heading.NONE),
        ("Act two", None, Heading.CHAPTER),
        ("Farewell.", "Mira", Heading.NONE),
        ("Goodbye.", "Tom", Heading.NONE),
        ("Take care.", "Mira", Heading.NONE),
    ]
    assert page.columns.mapping == {Field.TEXT: 0, Field.CHARACTER: 1, Field.CHAPTER: 2}
    for row in (1, 0):
        page.sheets.item(row).setCheckState(Qt.CheckState.Unchecked)
    assert [line.text for line in made(bench, page).lines] == ["Hello."], "one sheet stays chosen"
    page.accept()
    assert page.chosen.sheets == ("Act one",)


def test_stage_directions_of_a_table_are_kept_as_notes_unless_they_are_spoken(bench: Bench, page_of: MakePage) -> None:
    page = page_of("lines.csv", "ID,Character,Text\nd1,Mira,(sighs) I know.\nd2,Tom,(laughs) Do you? (to her) Come.\n")
    assert [(line.text, line.note) for line in made(bench, page).lines] == [
        ("I know.", "sighs"),
        ("[laughter] Do you? Come.", "to her"),
    ]
    assert "Stage directions are not spoken: “sighs”, “to her”." in page.summary.text()
    page.notes.setChecked(True)
    assert [line.text for line in made(bench, page).lines] == ["(sighs) I know.", "(laughs) Do you? (to her) Come."]
    assert "Stage directions" not in page.summary.text()
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
        ("a.md", "# Part One\n\n## Home\n\nPlain text.", True),
        ("a.md", "# Contents\n\n1\n\n# Home\n\nPlain text.", True),
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
