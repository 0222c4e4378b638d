"""Update of a project from a new version of an imported file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from book_samples import entry, epub, toc
from hypothesis import given
from hypothesis import strategies as st
from project_samples import speak
from update_samples import GROUP, counts, import_file, plan, texts, updates_of

from studio.errors import UnusableSetting
from studio.project.changes import EditDetails, EditLines, InsertLines, MoveLines, RemoveLines
from studio.project.details import CastMember, ProjectDetails
from studio.project.importing.columns import Field
from studio.project.importing.script_file import ImportOptions
from studio.project.lines import Heading, Line, LineState, LineStyle, Slot
from studio.project.project import Project
from studio.project.script import removed_group
from studio.project.splitting import SplitMode
from studio.project.take_match import TakeMatch, compare_take
from studio.project.updating import UpdateKind

HEADER = "ID,Character,Dialogue,Emotion"
ROWS = [f"VO_{number:03},Mira,This is line number {number}.,calm" for number in range(1, 9)]


def write_table(path: Path, rows: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "lines.csv", ROWS)


def test_a_table_is_updated_by_its_ids(project: Project, table: Path) -> None:
    import_file(project, table)
    ids = [line.id for line in project.lines]
    project.apply(EditLines({ids[2]: {"note": "louder", "is_locked": True, "voice": "Angus"}}))
    takes = [speak(project, line_id) for line_id in ids]
    before = project.script
    rows = [*ROWS[:3], "VO_900,Mira,A new line.,calm", *ROWS[3:]]
    rows[1] = "VO_002,Mira,This is another text.,calm"
    rows[5] = rows[5].replace("Mira", "Ada")
    del rows[7]
    write_table(table, rows)
    update = plan(project, table)
    assert counts(update) == (1, 2, 0, 1, 5)
    inverse = project.apply(update.change(GROUP))
    assert texts(project) == [
        "This is line number 1.", "This is another text.", "This is line number 3.", "A new line.", "This is line number 4.",
        "This is line number 5.", "This is line number 6.", "This is line number 8.", GROUP, "This is line number 7.",
    ]  # fmt: skip
    assert compare_take(project, takes[1]) is TakeMatch.OLDER_TEXT
    assert [project.state_of(line_id) for line_id in ids[:3]] == [LineState.READY, LineState.OUTDATED, LineState.READY]
    kept = project.line(ids[2])
    assert (kept.note, kept.is_locked, kept.voice, kept.chosen_take) == ("louder", True, "Angus", takes[2].id)
    assert project.line(ids[4]).voice == "Ada"
    gone = project.line(ids[6])
    assert not gone.is_spoken
    assert gone.chosen_take == takes[6].id
    assert gone.origin is not None
    assert removed_group(project.script, gone.origin.source) == (project.lines[8].id, ids[6])
    assert plan(project, table).is_empty
    project.apply(inverse)
    assert project.script == before


def test_a_line_that_is_in_the_file_again_returns_with_its_take(project: Project, table: Path) -> None:
    import_file(project, table)
    take = speak(project, project.lines[3].id)
    write_table(table, [*ROWS[:3], *ROWS[4:]])
    project.apply(plan(project, table).change(GROUP))
    assert texts(project)[-2:] == [GROUP, "This is line number 4."]
    write_table(table, ROWS)
    update = plan(project, table)
    assert counts(update) == (1, 0, 0, 0, 7)
    project.apply(update.change(GROUP))
    assert texts(project) == [f"This is line number {number}." for number in range(1, 9)]
    assert project.lines[3].is_spoken
    assert project.lines[3].chosen_take == take.id


def test_removed_lines_can_be_deleted_at_once_or_later(project: Project, table: Path) -> None:
    import_file(project, table)
    write_table(table, ROWS[1:])
    project.apply(plan(project, table).change(GROUP))
    write_table(table, ROWS[2:])
    project.apply(plan(project, table).change(GROUP, deletes=True))
    assert texts(project) == [f"This is line number {number}." for number in range(3, 9)]
    assert plan(project, table).is_empty


def test_edits_of_the_user_stay_until_the_file_changes_the_same_field(project: Project, table: Path) -> None:
    import_file(project, table)
    first, second = project.lines[0].id, project.lines[1].id
    style = LineStyle(preset="emotion.happy")
    project.apply(
        EditLines({first: {"text": "My own words.", "style": style}, second: {"text": "Mine.", "file_name": "two"}})
    )
    project.apply(MoveLines((first,), 5))
    write_table(table, [ROWS[0], ROWS[1].replace("number 2", "number two"), *ROWS[2:]])
    project.apply(plan(project, table).change(GROUP))
    assert project.line(first).text == "My own words."
    assert project.line(first).style == style
    assert project.script.index_of[first] == 4
    assert project.line(second).text == "This is line number two."
    assert project.line(second).file_name == "two"


def test_locked_lines_are_shown_and_stay_as_they_are(project: Project, table: Path) -> None:
    import_file(project, table)
    first, last = project.lines[0].id, project.lines[-1].id
    project.apply(EditLines({first: {"is_locked": True}, last: {"is_locked": True}}))
    write_table(table, [ROWS[0].replace("line number 1", "other"), *ROWS[1:-1]])
    for _ in range(2):
        update = plan(project, table)
        assert counts(update) == (0, 1, 0, 1, 6)
        assert update.num_held == 2
        assert [each.text for each in updates_of(update, UpdateKind.CHANGED)] == ["This is other."]
        project.apply(update.change(GROUP))
        assert project.line(first).text == "This is line number 1."
        assert texts(project)[-1] == "This is line number 8."
    project.apply(EditLines({first: {"is_locked": False}}))
    project.apply(plan(project, table).change(GROUP))
    assert project.line(first).text == "This is other."


def test_lines_removed_from_the_project_do_not_come_back(project: Project, table: Path) -> None:
    import_file(project, table)
    project.apply(RemoveLines((project.lines[2].id, project.lines[4].id)))
    write_table(table, [*ROWS, "VO_009,Mira,The ninth.,calm"])
    update = plan(project, table)
    assert counts(update) == (1, 0, 0, 0, 6)
    project.apply(update.change(GROUP))
    assert texts(project)[-1] == "The ninth."
    assert plan(project, table).is_empty


def test_moved_rows_move_their_lines_and_lines_written_here_stay_below_theirs(project: Project, table: Path) -> None:
    import_file(project, table)
    project.apply(InsertLines(2, (Line(id="own", text="Written here."),)))
    write_table(table, [*ROWS[:3], ROWS[7], *ROWS[3:7]])
    update = plan(project, table)
    assert counts(update) == (0, 0, 1, 0, 7)
    project.apply(update.change(GROUP))
    assert [text[-2:-1] for text in texts(project)] == ["1", "2", "e", "3", "8", "4", "5", "6", "7"]


def test_a_line_with_another_character_is_cast_again(project: Project, table: Path) -> None:
    project.apply(EditDetails(ProjectDetails(cast={"mira": CastMember("Ada"), "bandit": CastMember("Angus")})))
    import_file(project, table)
    assert {line.voice for line in project.lines} == {"Ada"}
    write_table(table, [ROWS[0].replace("Mira", "Bandit"), ROWS[1].replace("Mira", "Guard"), *ROWS[2:]])
    update = plan(project, table)
    assert update.uncast == {"guard"}
    project.apply(update.change(GROUP))
    assert [line.voice for line in project.lines[:3]] == ["Angus", None, "Ada"]


def test_columns_are_found_by_their_names_and_a_renamed_file_is_the_same_source(
    project: Project, table: Path, tmp_path: Path
) -> None:
    mapping = {Field.TEXT: 2, Field.NOTE: 3, Field.ID: 0}
    import_file(project, table, ImportOptions(mapping=mapping))
    rows = [",".join([cells[2], cells[0], cells[3], cells[1]]) for cells in (row.split(",") for row in ROWS)]
    renamed = write_table(tmp_path / "lines v2.csv", rows, "Dialogue,ID,Emotion,Character")
    assert plan(project, renamed).is_empty
    project.apply(plan(project, renamed).change(GROUP))
    (source,) = project.script.details.sources
    assert source.path == str(renamed.resolve())


def test_a_project_of_an_earlier_version_is_matched_by_ids_and_texts(project: Project, table: Path) -> None:
    import_file(project, table)
    plain = [replace(line, id=f"x{line.id}", origin=None) for line in project.lines]
    project.apply(RemoveLines(tuple(line.id for line in project.lines)))
    project.apply(InsertLines(0, tuple(replace(line, voice="Ada") for line in plain)))
    project.apply(EditDetails(replace(project.script.details, sources=())))
    write_table(table, ["VO_000,Mira,The very first.,calm", ROWS[0].replace("This is", "Here is"), *ROWS[1:7]])
    update = plan(project, table)
    assert counts(update) == (1, 1, 0, 1, 6)
    project.apply(update.change(GROUP))
    assert texts(project)[:2] == ["The very first.", "Here is line number 1."]
    assert project.lines[0].voice == "Ada"
    assert plan(project, table).is_empty


SUBTITLES = [
    ("00:00:01,000 --> 00:00:02,000", "Who is there?"),
    ("00:00:03,000 --> 00:00:04,000", "Only the wind."),
    ("00:00:05,000 --> 00:00:06,500", "Yes."),
    ("00:00:07,000 --> 00:00:08,000", "Close the door."),
]


def write_subtitles(path: Path, cues: list[tuple[str, str]]) -> Path:
    path.write_text("\n\n".join(f"{number}\n{times}\n{text}" for number, (times, text) in enumerate(cues, 1)))
    return path


def test_the_chosen_sheets_of_a_workbook_are_updated(project: Project, tmp_path: Path) -> None:
    sheets: dict[str, list[tuple[str, str]]] = {
        "Act 1": [("A1", "(sighs) Hello."), ("A2", "Hi."), ("A3", "Bye.")],
        "Notes": [("N1", "Do not import this.")],
        "Act 2": [("B1", "Rain."), ("B2", "Snow.")],
    }

    def write() -> Path:
        book = openpyxl.Workbook()
        book.remove(book.worksheets[0])
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            for row in [("ID", "Text"), *rows]:
                sheet.append(row)
        book.save(tmp_path / "lines.xlsx")
        return tmp_path / "lines.xlsx"

    import_file(project, write(), ImportOptions(sheets=("Act 1", "Act 2")))
    assert texts(project) == ["Act 1", "Hello.", "Hi.", "Bye.", "Act 2", "Rain.", "Snow."]
    project.apply(EditLines({project.lines[1].id: {"note": "sighs, softly"}}))
    sheets["Act 1"][1] = ("A2", "Hi there.")
    sheets["Act 2"].append(("B3", "Ice."))
    update = plan(project, write())
    assert counts(update) == (1, 1, 0, 0, 6)
    project.apply(update.change(GROUP))
    assert texts(project) == ["Act 1", "Hello.", "Hi there.", "Bye.", "Act 2", "Rain.", "Snow.", "Ice."]
    assert project.lines[1].note == "sighs, softly"


def test_subtitles_are_matched_by_text_and_time(project: Project, tmp_path: Path) -> None:
    film = write_subtitles(tmp_path / "film.srt", SUBTITLES)
    import_file(project, film)
    ids = [line.id for line in project.lines]
    cues = [("00:00:00,200 --> 00:00:00,800", "Hello?"), *SUBTITLES]
    cues[2] = (cues[2][0], "Nobody at all, I swear.")
    cues[3] = ("00:00:05,100 --> 00:00:06,500", "Yes.")
    write_subtitles(film, cues)
    update = plan(project, film)
    assert counts(update) == (1, 2, 0, 0, 2)
    assert [each.fields for each in updates_of(update, UpdateKind.CHANGED)] == [("text",), ("slot",)]
    project.apply(update.change(GROUP))
    assert [line.id for line in project.lines[1:]] == ids
    assert project.line(ids[1]).text == "Nobody at all, I swear."
    assert project.line(ids[2]).slot == Slot(5.1, 6.5)


@pytest.mark.parametrize("name", ["book.txt", "book.md", "book.fountain"])
def test_prose_is_matched_by_its_sentences(project: Project, tmp_path: Path, name: str) -> None:
    book = tmp_path / name
    paragraphs = ["# Chapter 1", "The harbour was quiet. A bell rang twice.", "# Chapter 2", "Nobody came. Rain fell."]
    if name.endswith(".fountain"):
        paragraphs = [
            "INT. HARBOUR - DAY",
            "ANNA\nThe harbour was quiet.",
            "BEN\nA bell rang twice.",
            "INT. SHED - DAY",
        ]
    book.write_text("\n\n".join(paragraphs))
    import_file(project, book, ImportOptions(breaks=SplitMode.SENTENCE))
    number = len(project.lines)
    book.write_text("\n\n".join(paragraphs).replace("A bell rang twice.", "A bell rang three times."))
    update = plan(project, book)
    assert counts(update) == (0, 1, 0, 0, number - 1)
    project.apply(update.change(GROUP))
    assert "A bell rang three times." in texts(project)


def write_epub(path: Path, chapters: dict[str, list[str]]) -> Path:
    files = {
        f"{at}.xhtml": f"<h1>{title}</h1>" + "".join(f"<p>{words}</p>" for words in paragraphs)
        for at, (title, paragraphs) in enumerate(chapters.items())
    }
    path.write_bytes(epub(files, contents=toc(*map(entry, files, chapters))))
    return path


def write_docx(path: Path, chapters: dict[str, list[str]]) -> Path:
    heading = '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
    body = "".join(
        f"<w:p>{style}<w:r><w:t>{words}</w:t></w:r></w:p>"
        for title, paragraphs in chapters.items()
        for style, words in [(heading, title), *(("", words) for words in paragraphs)]
    )
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    return path


@pytest.mark.parametrize(("name", "write"), [("book.epub", write_epub), ("book.docx", write_docx)])
def test_a_book_keeps_takes_of_unchanged_paragraphs(
    project: Project, tmp_path: Path, name: str, write: Callable[[Path, dict[str, list[str]]], Path]
) -> None:
    chapters = {
        "The harbour": ["The water was calm that morning.", "A bell rang twice.", "Nobody came."],
        "The shed": ["Rain fell on the roof.", "The door stood open."],
    }
    book = write(tmp_path / name, chapters)
    import_file(project, book, ImportOptions(breaks=SplitMode.PARAGRAPH))
    takes = {line.text: speak(project, line.id).id for line in project.lines}
    write(
        book,
        {
            "The harbour": ["The water was calm that morning.", "A bell rang three times.", "Nobody came."],
            "The boat": ["It was gone."],
            "The shed": ["The door stood open."],
        },
    )
    update = plan(project, book)
    assert counts(update) == (2, 1, 0, 1, 5)
    project.apply(update.change(GROUP))
    assert {line.text: line.chosen_take for line in project.lines if line.chosen_take} == {
        **{text: take for text, take in takes.items() if text != "A bell rang twice."},
        "A bell rang three times.": takes["A bell rang twice."],
    }
    states = {line.text: project.state_of(line.id) for line in project.lines if line.is_spoken}
    assert states.pop("A bell rang three times.") is LineState.OUTDATED
    assert {text for text, state in states.items() if state is not LineState.READY} == {"The boat", "It was gone."}
    assert [line.text for line in project.lines if line.heading is Heading.CHAPTER] == [
        "The harbour",
        "The boat",
        "The shed",
        GROUP,
    ]


def test_a_file_of_several_must_have_the_name_of_one(project: Project, tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(f"The words of {name}.")
        import_file(project, tmp_path / name)
    (tmp_path / "three.txt").write_text("Other words.")
    with pytest.raises(UnusableSetting, match="which file of the project three"):
        plan(project, tmp_path / "three.txt")
    (tmp_path / "two.txt").write_text("The words of two. More words.")
    project.apply(plan(project, tmp_path / "two.txt").change(GROUP))
    assert texts(project)[0] == "The words of one.txt."
    assert "More words." in texts(project)


def test_what_is_remembered_is_saved(project: Project, table: Path, tmp_path: Path, drafts: Path) -> None:
    import_file(project, table)
    first, style = project.lines[0].id, project.lines[0].style
    project.apply(EditLines({first: {"text": "Mine.", "style": LineStyle("emotion.happy"), "voice": "Angus"}}))
    write_table(table, ROWS[:-1])
    project.apply(plan(project, table).change(GROUP))
    project.save(tmp_path / "saved.timbre")
    with Project.open(tmp_path / "saved.timbre", drafts) as again:
        assert again.script == project.script
        assert again.lines[0].origin is not None
        assert again.lines[0].origin.values["text"] == "This is line number 1."
        assert again.lines[0].origin.values["style"] == style
        assert plan(again, table).is_empty


@given(st.lists(st.sampled_from("abcdefgh"), max_size=8), st.lists(st.sampled_from("abcdefgh"), max_size=8))
def test_an_update_gives_the_lines_of_the_file_in_its_order(
    tmp_path_factory: pytest.TempPathFactory, first: list[str], second: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("update")
    with Project.create(folder / "drafts") as project:
        book = folder / "book.txt"
        book.write_text("\n\n".join(f"The word {letter}." for letter in ["x", *first]))
        import_file(project, book)
        before = project.script
        book.write_text("\n\n".join(f"The word {letter}." for letter in ["x", *second]))
        update = plan(project, book)
        inverse = project.apply(update.change(GROUP))
        assert [line.text[-2] for line in project.lines if line.is_spoken] == ["x", *second]
        assert plan(project, book).is_empty
        project.apply(inverse)
        assert project.script == before
