"""Columns of tables are found by their titles, else by their cells; titles and keys are never spoken."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
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
from studio.project.lines import Heading


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


def with_sheet_replaced(content: bytes, change: Callable[[str], str]) -> bytes:
    """Return a workbook with another description of its only sheet."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(output, "w") as target:
        for name in source.namelist():
            part = source.read(name).decode()
            target.writestr(name, change(part) if name.endswith("sheet1.xml") else part)
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
        ["key,value", "menu.start,Where is he?", "menu.quit,He is not here any more."],
        ["key,value", "menu.start,Where is he?"],
    ],
    ids=["title above", "word by word", "empty column", "two rows", "unknown titles", "no titles", "keys", "one key"],
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


def test_a_word_that_may_be_a_title_is_none_beside_a_number() -> None:
    assert [text for _, text in spoken("1,Script\n2,Good evening.\n3,Thank you.\n")] == [
        "Script",
        "Good evening.",
        "Thank you.",
    ]


def test_characters_that_excel_escapes_are_read() -> None:
    (table,) = read_sheets(workbook([["Text"], ["One_x000D_\nand two."]]), "a.xlsx").values()
    assert [line.text for line in lines_of_table(table, choose_mapping(table), "a.xlsx").lines] == ["One and two."]


@pytest.mark.parametrize(
    "text",
    ["1\n2\n3\n", "VO_001\nVO_002\n", "K01,K02\nK03,K04\n", "Good evening.,Guten Abend.\nThank you.,Danke schön.\n"],
)
def test_where_nothing_convinces_the_columns_and_an_example_are_named(text: str) -> None:
    with pytest.raises(UnreadableScript, match="not clear which column") as caught:
        spoken(text)
    assert "The columns are “1”" in str(caught.value)
    assert regex.search("--column text=[12]", str(caught.value.remedy))


def test_coloured_empty_cells_do_not_count() -> None:
    (table,) = read_sheets(workbook([["Text", "Take"], ["Hello.", 1]], width=300), "a.xlsx").values()
    assert table.columns == ("Text", "Take")
    assert table.rows == (("Hello.", "1"),)


def test_merged_cells_have_a_value_in_each_row_but_are_spoken_once() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["Scene", "Character", "Dialogue", None, "Notes"],
        [None, None, "EN", "DE", None],
        ["Act I", None, None, None, None],
        [1, "Ada", "Where is he?", "Wo ist er?", "loud"],
        [1, None, "He is gone.", "Er ist weg.", None],
        [1, None, None, None, "pause"],
        [1, "Tom", "Well.", "Nun.", None],
    ):
        sheet.append(row)
    for area in ("A1:A2", "B1:B2", "C1:D1", "H1:J1", "A3:E3", "B4:B6", "C5:C6"):
        sheet.merge_cells(area)
    output = io.BytesIO()
    book.save(output)
    (table,) = read_sheets(output.getvalue(), "a.xlsx").values()
    assert table.columns == ("Scene", "Character", "Dialogue EN", "Dialogue DE", "Notes")
    assert table.column(1) == ["", "Ada", "Ada", "Ada", "Tom"]
    imported = lines_of_table(table, choose_mapping(table), "a.xlsx")
    assert [(line.character, line.text) for line in imported.lines] == [
        (None, "Scene 1"),
        ("Ada", "Where is he?"),
        ("Ada", "He is gone."),
        ("Tom", "Well."),
    ]


def test_the_second_row_of_titles_may_be_the_better_known_one() -> None:
    table = read_csv("Quest lines,,\nWho,Translation,\n,English,Notes\nAda,Where is he?,loud\n", "a.csv")
    assert table.columns == ("Who", "Translation English", "Notes")


@pytest.mark.parametrize("rows", ["", "".join(f'<row r="{number}"/>' for number in range(4, 20_000))])
def test_a_sheet_ends_where_ten_thousand_rows_are_empty(rows: str) -> None:
    """The numbers of the rows behind them are invented; to count a million empty rows takes seconds."""
    content = with_sheet_replaced(
        workbook([["Text"], ["Hello."], ["Bye."]]),
        lambda part: part.replace('<row r="3"', f'{rows}<row r="900000"').replace('"A3"', '"A900000"'),
    )
    assert [table.rows for table in read_sheets(content, "a.xlsx").values()] == [(("Hello.",),)]


def test_a_row_with_an_invented_number_ends_the_sheet(tmp_path: Path) -> None:
    """Reading would not end within years if the rows before it were counted."""
    path = tmp_path / "a.xlsx"
    content = with_sheet_replaced(
        workbook([["Text"], ["Hello."], ["Bye."]]),
        lambda part: part.replace('r="3"', 'r="1000000000000"').replace('"A3"', '"A1000000000000"'),
    )
    path.write_bytes(content)
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


@pytest.mark.parametrize("title", ["keys", "Key", "String ID", "编号"])
def test_the_keys_of_game_engines_identify_lines(title: str) -> None:
    table = read_csv(f"{title},en,de\nhello_1,Who is there?,Wer ist da?\nbye_1,Good night.,Gute Nacht.", "a.csv")
    lines = lines_of_table(table, choose_mapping(table), "a.csv").lines
    assert [line.origin and line.origin.key for line in lines] == ["hello_1", "bye_1"]


@pytest.mark.parametrize(
    ("cell", "text", "note"),
    [
        ("(sighs) I know.", "I know.", "sighs"),
        ("(Whispering, to Mira) Come. (beat) Now!", "Come. Now!", "Whispering, to Mira; beat"),
        ("(laughs) Hi.", "[laughter] Hi.", ""),
        ("And then he (laughs) fell.", "And then he [laughter] fell.", ""),
        ("I know (sighs), but no.", "I know, but no.", "sighs"),
        ("[quietly] Go on.", "Go on.", "quietly"),
        ("*sighs* Fine.", "Fine.", "sighs"),
        ("（叹气）我知道。（对米拉）走吧。", "我知道。走吧。", "叹气；对米拉"),
        ("（笑）你好！", "[laughter] 你好！", ""),
        ("The year (1984) was good.", "The year (1984) was good.", ""),
        ("Such (clear) water, call me (phone).", "Such (clear) water, call me (phone).", ""),
        ("I told him (again).", "I told him (again).", ""),
        ("(He never came back.) So I left.", "(He never came back.) So I left.", ""),
        ("(What is he doing?)", "(What is he doing?)", ""),
        ("[PLAYER] is here. [breath] Look!", "[PLAYER] is here. [breath] Look!", ""),
        ("That is *really* good.", "That is *really* good.", ""),
        ("（他没来。）我走了。", "（他没来。）我走了。", ""),
        ("…", "…", ""),
    ],
)
def test_stage_directions_become_notes_and_tags(cell: str, text: str, note: str) -> None:
    table = read_csv(f'ID,Text\nd1,"{cell}"\n', "a.csv")
    (line,) = lines_of_table(table, choose_mapping(table), "a.csv").lines
    assert (line.text, line.note, line.is_spoken) == (text, note, True)
    (line,) = lines_of_table(table, choose_mapping(table), "a.csv", speaks_directions=True).lines
    assert (line.text, line.note) == (cell, "")


def test_a_direction_that_is_a_style_sets_the_style_of_lines_without_one() -> None:
    table = read_csv("ID,Text,Emotion\nd1,(angry) Out!,\nd2,(angry) Out!,sad\n", "a.csv")
    styles = [line.style.preset for line in lines_of_table(table, choose_mapping(table), "a.csv").lines]
    assert styles == ["emotion.angry", "emotion.sad"]
    table = read_csv("编号,台词,情绪\n1,雨停了。,悲伤\n2,走吧。,愤怒\n", "a.csv")
    styles = [line.style.preset for line in lines_of_table(table, choose_mapping(table), "a.csv").lines]
    assert styles == ["emotion.sad", "emotion.angry"]


def test_a_row_with_a_direction_alone_is_not_spoken() -> None:
    table = read_csv("ID,Text\nd1,(laughs)\nd2,(He sighs.)\nd3,Hello.\n", "a.csv")
    lines = lines_of_table(table, choose_mapping(table), "a.csv").lines
    assert [(line.text, line.is_spoken) for line in lines] == [
        ("(laughs)", False),
        ("(He sighs.)", True),
        ("Hello.", True),
    ]
    assert len(lines_of_table(table, choose_mapping(table), "a.csv", speaks_directions=True).notices) == 0


def test_placeholders_are_named_because_they_would_be_spoken() -> None:
    cells = ["{PLAYER_NAME}, wait!", "{PLAYER_NAME}! ${gold} coins.", "[PLAYER] is %COLOR%.", "[breath] 50% of {it}."]
    table = read_csv("\n".join(["ID,Text", *(f'd{at},"{cell}"' for at, cell in enumerate(cells))]), "a.csv")
    (notice,) = lines_of_table(table, choose_mapping(table), "a.csv").notices
    assert str(notice) == "Placeholders are spoken as they are: {PLAYER_NAME}, ${gold}, [PLAYER], %COLOR%, {it}."


def test_a_note_that_is_a_style_sets_the_style_of_lines_without_one() -> None:
    table = read_csv("ID,Text,Direction,Emotion\nd1,Out!,angry,\nd2,Out!,angry,sad\nd3,Out!,at the door,\n", "a.csv")
    lines = lines_of_table(table, choose_mapping(table), "a.csv").lines
    assert [line.style.preset for line in lines] == ["emotion.angry", "emotion.sad", None]
    assert [line.note for line in lines] == ["angry", "angry", "at the door"]


def sheets_of(rows: dict[str, list[list[str]]]) -> ScriptFile:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, cells in rows.items():
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    output = io.BytesIO()
    book.save(output)
    return ScriptFile("game.xlsx", ScriptKind.TABLE, tables=read_sheets(output.getvalue(), "game.xlsx"))


GAME = {
    "Read me": [["Ask Petra before you change this table."], ["Version 0.7"]],
    "Harbour": [["VO ID", "Who", "Line (EN)"], ["h1", "Mira", "You came."], ["h2", "Tom", "I did."]],
    "Barks": [["ID", "Speaker", "Text"], ["b1", "Tom", "Hm."], ["b2", "Tom", "Oh."], ["b3", "Mira", "Ha!"]],
    "German": [["ID", "Speaker", "Text"], ["b1", "Tom", "Hm."], ["b2", "Tom", "Oh."]],
    "Cast": [["Who", "Age", "Voice notes"], *([name, "24", "warm"] for name in "ABCDE")],
    "Glossary": [["Term", "Text"], ["Salt", "What Finch counts."]],
}


def test_all_sheets_with_lines_of_the_script_are_imported() -> None:
    """The longest sheet of lines and those with the same kinds of columns, but not the same lines in another language."""
    file = sheets_of(GAME)
    assert file.sheets(ImportOptions()) == ("Harbour", "Barks")
    assert file.sheets(ImportOptions(sheets=("German",))) == ("German",)
    assert [line.text for line in file.script(ImportOptions()).lines if line.is_spoken][:2] == ["You came.", "I did."]


def test_the_longest_sheet_is_imported_if_no_title_names_the_text() -> None:
    words = [["Some words that are said."], ["And some more words."], ["The last words."]]
    assert sheets_of({"A": words[:1], "B": words}).sheets(ImportOptions()) == ("B",)


@pytest.mark.parametrize("sheets", [("Harbour", "Options"), ("Options",)])
def test_an_error_in_a_row_names_its_sheet(sheets: tuple[str, ...]) -> None:
    options = [["ID", "Speaker", "Text", "Speed"], ["u1", "Tom", "Saved.", "1"], ["u2", "Tom", "Failed.", "fast"]]
    file = sheets_of({**GAME, "Options": options})
    with pytest.raises(UnreadableScript, match=r"Row 3 of the sheet “Options” of game\.xlsx: “fast” is not a number"):
        file.script(ImportOptions(sheets=sheets))


def test_columns_of_chapters_and_scenes_become_headings_if_their_rows_are_together() -> None:
    rows = ["Quest,Scene,Text", "Harbour,1,Hello.", "Harbour,1,Hi.", "Harbour,2,Bye.", "Market,2,Oh.", ",2,No."]
    table = read_csv("\n".join(rows), "a.csv")
    found = [
        (line.text, line.heading)
        for line in lines_of_table(table, {Field.TEXT: 2, Field.CHAPTER: 0, Field.SCENE: 1}, "a.csv").lines
    ]
    assert found == [
        ("Harbour", Heading.CHAPTER),
        ("Scene 1", Heading.SCENE),
        ("Hello.", Heading.NONE),
        ("Hi.", Heading.NONE),
        ("Scene 2", Heading.SCENE),
        ("Bye.", Heading.NONE),
        ("Market", Heading.CHAPTER),
        ("Scene 2", Heading.SCENE),
        ("Oh.", Heading.NONE),
        ("No.", Heading.NONE),
    ]
    assert choose_mapping(table) == {Field.TEXT: 2, Field.CHAPTER: 0, Field.SCENE: 1}
    mixed = read_csv("Quest,Text\nHarbour,Hello.\nMarket,Hi.\nHarbour,Oh.\nMarket,Bye.\n", "a.csv")
    assert choose_mapping(mixed) == {Field.TEXT: 1}


def test_a_column_of_names_that_recur_contains_characters() -> None:
    recurring = read_csv("Name,Text\nMira,Hello.\nTom,Hi.\nMira,Bye.\n", "a.csv")
    assert choose_mapping(recurring) == {Field.CHARACTER: 0, Field.TEXT: 1}
    different = read_csv("Name,Text\nvo_01,Hello.\nvo_02,Hi.\n", "a.csv")
    assert choose_mapping(different) == {Field.FILE_NAME: 0, Field.TEXT: 1}


@pytest.mark.parametrize(
    ("title", "field"),
    [
        ("Talker", Field.CHARACTER),
        ("NPC", Field.CHARACTER),
        ("NPC Name", Field.CHARACTER),
        ("CharName", Field.CHARACTER),
        ("SpeakerDisplayName", Field.CHARACTER),
        ("SoundWave", Field.FILE_NAME),
        ("Voice Clip", Field.FILE_NAME),
        ("VO Asset", Field.FILE_NAME),
        ("Audio Cue", Field.FILE_NAME),
        ("Node", Field.SCENE),
        ("character_id", Field.CHARACTER),
        ("ActorID", Field.CHARACTER),
        ("dialogue_id", None),
    ],
)
def test_titles_of_game_tools_are_recognised(title: str, field: Field | None) -> None:
    assert guess_mapping([title]) == ({} if field is None else {field: 0})
