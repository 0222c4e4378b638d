"""Columns of tables are found by their titles, else by their cells; titles and keys are never spoken."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import openpyxl
import pytest
import regex
from openpyxl.styles import PatternFill
from scripts import import_script

from studio.errors import UnreadableScript
from studio.project.importing.columns import Field, guess_mapping
from studio.project.importing.script_file import ImportOptions, ScriptFile, ScriptKind
from studio.project.importing.tables import Table, choose_mapping, lines_of_table, read_csv, read_sheets


def spoken(text: str) -> list[tuple[str | None, str]]:
    table = read_csv(text, "a.csv")
    return [(line.character, line.text) for line in lines_of_table(table, choose_mapping(table), "a.csv").lines]


def workbook(rows: list[list[object]], *, width: int = 0) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for column in range(1, width + 1):
        sheet.cell(row=2, column=column).fill = PatternFill("solid", fgColor="FFFF00")
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("title", "field"),
    [
        ("Dialogue (EN)", Field.TEXT),
        ("Line text", Field.TEXT),
        ("Text_to_speak", Field.TEXT),
        ("SpokenText", Field.TEXT),
        ("Character Name", Field.CHARACTER),
        ("Voice direction", Field.NOTE),
        ("Line notes", Field.NOTE),
        ("Audio file", Field.FILE_NAME),
        ("角色名", Field.CHARACTER),
        ("台词文本", Field.TEXT),
        ("英文台词", Field.TEXT),
        ("情绪提示", Field.STYLE),
        ("English", Field.TEXT),
        ("Line ID", None),
        ("台词编号", None),
        ("Speaker count", None),
        ("Release", None),
    ],
)
def test_titles_are_understood_word_by_word(title: str, field: Field | None) -> None:
    assert guess_mapping([title]) == ({} if field is None else {field: 0})


@pytest.mark.parametrize(
    "rows",
    [
        ["Quest dialogue,,", ",,", "ID,Character,Text", "K01,Ada,Where is he?"],
        ["No,Speaker,Dialogue Line", "K01,Ada,Where is he?"],
        [",Speaker,Line", ",Ada,Where is he?"],
        ["Speaker,Translation,", ",English,Notes", "Ada,Where is he?,loud"],
        ["Ref,Who,What is said", "K01,Ada,Where is he?", "K02,Tom,He is not here any more."],
        ["K01,Ada,Where is he?", "K02,Tom,He is not here any more."],
    ],
    ids=["title above", "word by word", "empty column", "two rows", "unknown titles", "no titles"],
)
def test_titles_and_keys_are_not_spoken(rows: list[str]) -> None:
    assert [text for _, text in spoken("\n".join(rows) + "\n")] == [
        *["Where is he?"],
        *["He is not here any more." for row in rows if row.endswith("any more.")],
    ]


def test_excel_declares_the_delimiter() -> None:
    assert spoken("sep=;\nCharacter;Text\nAda;Well, yes.\n") == [("Ada", "Well, yes.")]
    with pytest.raises(UnreadableScript, match=r"Row 3 of a\.csv"):
        spoken("sep=;\nSpeed;Text\nfast;Well, yes.\n")


@pytest.mark.parametrize("text", ["K01,K02\nK03,K04\n", "Good evening.,Guten Abend.\nThank you.,Danke schön.\n"])
def test_where_nothing_convinces_the_columns_and_an_example_are_named(text: str) -> None:
    with pytest.raises(UnreadableScript, match="not clear which column") as caught:
        spoken(text)
    assert "“1”, “2”" in str(caught.value)
    assert regex.search("--column text=[12]", str(caught.value.remedy))


def test_coloured_empty_cells_do_not_count() -> None:
    (table,) = read_sheets(workbook([["Text", "Take"], ["Hello.", 1]], width=300), "a.xlsx").values()
    assert table.columns == ("Text", "Take")
    assert table.rows == (("Hello.", "1"),)


def test_a_row_with_an_invented_number_ends_the_sheet(tmp_path: Path) -> None:
    """Reading would not end within years if the rows before it were counted."""
    output = io.BytesIO()
    content = io.BytesIO(workbook([["Text"], ["Hello."], ["Bye."]]))
    with zipfile.ZipFile(content) as source, zipfile.ZipFile(output, "w") as target:
        for name in source.namelist():
            part = source.read(name)
            if name.endswith("sheet1.xml"):
                part = part.replace(b'r="3"', b'r="1000000000000"').replace(b'"A3"', b'"A1000000000000"')
            target.writestr(name, part)
    path = tmp_path / "a.xlsx"
    path.write_bytes(output.getvalue())
    assert [line.text for line in import_script(path).lines] == ["Hello."]


def test_the_first_row_can_be_declared_titles_or_not() -> None:
    table = read_csv("Good evening.,K1\nThank you.,K2\n", "a.csv")
    assert table.named(True) == Table(
        ("Good evening.", "K1"), (("Thank you.", "K2"),), (2,), has_names=True, title_number=1
    )
    assert table.named(True).named(False) == table
    file = ScriptFile("a.csv", ScriptKind.TABLE, tables={"a": table})
    options = ImportOptions(mapping={Field.TEXT: 0}, has_names=True)
    assert [line.text for line in file.script(options).lines] == ["Thank you."]
