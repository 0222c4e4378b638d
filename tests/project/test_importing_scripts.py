"""Import of text, Markdown, subtitles, tables and Word documents."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scripts import import_script

from studio.errors import StudioError, UnreadableScript
from studio.project.importing.markdown import blocks_of_markdown
from studio.project.importing.script_file import SCRIPT_SUFFIXES
from studio.project.importing.style_names import style_named
from studio.project.importing.subtitles import lines_of_subtitles
from studio.project.importing.tables import (
    MAX_ROWS,
    Field,
    choose_mapping,
    lines_of_table,
    read_csv,
    read_sheets,
)
from studio.project.importing.word import read_word
from studio.project.lines import DEFAULT_PAUSE_SECONDS, Line, LineStyle, Slot
from studio.project.splitting import SplitMode


def words_of_markdown(markdown: str) -> str:
    return "\n\n".join(block.text for block in blocks_of_markdown(markdown))


def paragraphs_of_word(content: bytes, name: str) -> list[str]:
    return [block.text for block in read_word(content, name).blocks]


def texts_of(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> list[str]:
    return [line.text for line in import_script(path, breaks).lines]


# Text.


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "你好，世界。Grüße aus Köln."),
        ("utf-8-sig", "你好，世界。"),
        ("utf-16", "你好，世界。Grüße."),
        ("utf-16-le", "\ufeff你好，世界。"),
        ("utf-32", "你好，世界。"),
        ("gb18030", "今天天气很好，我们出去走走。"),
        ("cp1252", "Die Grüße kommen aus Köln – schön."),
    ],
)
def test_the_encoding_of_text_is_detected(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    assert texts_of(path, SplitMode.PARAGRAPH) == [text.removeprefix("\ufeff")]


def test_every_line_has_a_unique_id(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One line.\nOne line.\nOne line.")
    assert len({line.id for line in import_script(path).lines}) == 3


def test_files_that_cannot_be_imported_are_errors(tmp_path: Path) -> None:
    (tmp_path / "sound.txt").write_bytes(b"RIFF\0\0\0\0WAVE")
    (tmp_path / "half.txt").write_bytes(b"\xff\xfea")
    (tmp_path / "empty.txt").write_text(" \n* * *\n")
    (tmp_path / "book.mobi").touch()
    (tmp_path / "none").touch()
    (tmp_path / "folder.txt").mkdir()
    for name, words in {
        "sound.txt": "is not a text file",
        "half.txt": "is not a text file",
        "empty.txt": "nothing that can be spoken",
        "book.mobi": r"\.mobi cannot be imported",
        "none": "a file without a suffix",
        "folder.txt": "is a folder",
        "missing.txt": "There is no file",
    }.items():
        with pytest.raises(UnreadableScript, match=words) as caught:
            import_script(tmp_path / name)
        assert str(caught.value.remedy)


def test_an_endless_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(UnreadableScript, match="larger than 64 MB"):
        import_script(path)


# Markdown.


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# A *fine* title\nText of\nthe paragraph.", "A fine title\n\nText of the paragraph."),
        ("Title\n=====\nText", "Title\n\nText"),
        ("- one\n- two\n  goes on\n1. three\n* [x] four", "one\n\ntwo goes on\n\nthree\n\nfour"),
        ("> quoted\n> words", "quoted words"),
        ("**bold** __bold__ *it* _it_ ***both*** ~~gone~~ `code`", "bold bold it it both gone code"),
        ("snake_case_word and 2 * 3 * 4", "snake_case_word and 2 * 3 * 4"),
        (
            "A [link](https://a.b/c_(d)) and [named][ref] and <https://a.b>.\n\n[ref]: https://a.b",
            "A link and named and .",
        ),
        ("![picture](x.png)Words", "Words"),
        ("Noted[^1].\n\n[^1]: Footnote", "Noted."),
        ("Before\n\n```python\ncode\n\nmore\n```\n\nAfter", "Before\n\nAfter"),
        ("~~~\ncode\n```\n~~~\nAfter", "After"),
        ("---\ntitle: x\n---\nText", "Text"),
        ("One\n\n---\n\nTwo\n\n***\n\nThree", "One\n\nTwo\n\nThree"),
        ("| A | B |\n|---|:-:|\n| c | d |", "A, B\n\nc, d"),
        ("<!-- hidden -->Seen<br/> <b>bold</b>", "Seen bold"),
        ("Tom &amp; Jerry &copy; 2024", "Tom & Jerry © 2024"),
        (r"\*not italic\* and \# no title", "*not italic* and # no title"),
        ("Say [j][ǐ] and <strong>this</strong> [pause 0.5] [laughter]", None),
        ("今天\n天气很好", "今天天气很好"),
        ("", ""),
    ],
)
def test_markdown_is_converted_to_text(markdown: str, words: str | None) -> None:
    assert words_of_markdown(markdown) == (markdown if words is None else words)


@given(st.text(alphabet=st.sampled_from("ab \n*_`[]()#->|~\\!<&;:1."), max_size=80))
def test_any_markdown_can_be_read(markdown: str) -> None:
    kept = words_of_markdown(markdown)
    assert set(kept) - set(markdown) <= {" ", "\n", ","}


# Subtitles.

SRT = """\ufeff1
00:00:01,000 --> 00:00:02,500
Hello
<i>world</i>.

2
00:00:03.250 --> 00:00:04,000 X1:0
{\\an8}2024

3

00:00:05,000 --> 00:00:06,000

4
00:00:03,500 --> 00:01:10,000
你好
世界
5
00:05:00,000 --> 00:05:01,000
Last.
"""


def test_subtitles_become_lines_with_slots_and_pauses() -> None:
    lines = lines_of_subtitles(SRT)
    assert [line.text for line in lines] == ["Hello world.", "2024", "你好世界", "Last."]
    assert [line.slot for line in lines] == [Slot(1.0, 2.5), Slot(3.25, 4.0), Slot(3.5, 70.0), Slot(300.0, 301.0)]
    assert [line.pause_after_seconds for line in lines] == [0.75, 0.0, 60.0, DEFAULT_PAUSE_SECONDS]


def test_speakers_of_one_subtitle_share_its_time() -> None:
    lines = lines_of_subtitles("00:00:10,000 --> 00:00:13,000\n- ANN: Ready?\n- Not yet, no!\n")
    assert [(line.character, line.text) for line in lines] == [("Ann", "Ready?"), (None, "Not yet, no!")]
    assert [line.slot for line in lines] == [Slot(10.0, 11.0), Slot(11.0, 13.0)]
    assert [line.pause_after_seconds for line in lines] == [0.0, DEFAULT_PAUSE_SECONDS]


VTT = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE
00:01.000 is not a time

intro
00:01.000 --> 00:02.500 align:start
<v Mary &amp; Co>Hello <i>there</i> &amp; good<00:01.500> day

01:00:00.000 --> 01:00:01.000
<v.loud Ann>Ready?</v>
<v Bob>Ready!</v>

2
01:00:02.000 --> 01:00:03.000
♪ ♪
"""


def test_webvtt_has_speakers_comments_and_times_without_hours() -> None:
    lines = lines_of_subtitles(VTT)
    assert [(line.character, line.text) for line in lines] == [
        ("Mary & Co", "Hello there & good day"),
        ("Ann", "Ready?"),
        ("Bob", "Ready!"),
    ]
    assert lines[0].slot == Slot(1.0, 2.5)
    assert lines[2].slot == Slot(3600.5, 3601.0)


def test_a_cue_that_ends_before_it_starts_has_an_empty_slot() -> None:
    (line,) = lines_of_subtitles("00:00:10,000 --> 00:00:09,000\nText\n")
    assert line.slot == Slot(10.0, 10.0)


def test_a_subtitle_file_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "a.SRT"
    path.write_text(SRT.replace("\n", "\r\n"), "utf-8")
    lines = import_script(path).lines
    assert [line.pause_after_seconds for line in lines] == [0.75, 0.0, 60.0, DEFAULT_PAUSE_SECONDS]
    path.write_text("no times at all")
    with pytest.raises(UnreadableScript, match="nothing that can be spoken"):
        import_script(path)


# Tables.


def lines_of(text: str) -> tuple[Line, ...]:
    table = read_csv(text, "a.csv")
    return lines_of_table(table, choose_mapping(table), "a.csv").lines


def test_a_table_sets_voice_style_and_file_name() -> None:
    table = (
        "Text,Voice,Style,File name,Speed,Pause,Remark,ID\n"
        '"Hello, ""you""\nthere",Ann,dialect.sichuan,audio/intro.WAV,1.2,0.5,slowly,d1\n'
        ",Ann,,,,,\n"
        "Plain\n"
    )
    first, second = lines_of(table)
    assert (first.text, first.voice, first.style) == ('Hello, "you" there', "Ann", LineStyle(preset="dialect.sichuan"))
    assert (first.file_name, first.speed, first.pause_after_seconds) == ("audio/intro", 1.2, 0.5)
    assert (first.note, first.columns["ID"], first.columns["File name"]) == ("slowly", "d1", "audio/intro.WAV")
    assert (second.text, second.voice, second.style, second.file_name) == ("Plain", None, LineStyle(), None)
    assert (second.speed, second.pause_after_seconds) == (1.0, DEFAULT_PAUSE_SECONDS)


@pytest.mark.parametrize(
    ("cell", "file_name"),
    [
        ("vo/mira/d0001", "vo/mira/d0001"),
        ("vo\\mira\\d0001.wav", "vo/mira/d0001"),
        ("C:\\vo\\a.b.ogg", "vo/a.b"),
        ("../../etc/passwd", "etc/passwd"),
        ("/", None),
    ],
)
def test_folders_in_the_file_column_are_kept_inside_the_export_folder(cell: str, file_name: str | None) -> None:
    (line,) = lines_of(f"text,file\nHello,{cell}\n")
    assert line.file_name == file_name


@pytest.mark.parametrize(
    ("names", "mapping"),
    [
        ("Character,Line,Emotion,File", {"character": 0, "text": 1, "style": 2, "file_name": 3}),
        ("Name;Dialogue;File", {"character": 0, "text": 1, "file_name": 2}),
        ("Name,Text", {"file_name": 0, "text": 1}),
        ("ID\tText\tText", {"text": 1}),
        ("角色，台词".replace("，", ","), {"character": 0, "text": 1}),
    ],
)
def test_columns_are_recognised_by_name(names: str, mapping: dict[str, int]) -> None:
    table = read_csv(f"{names}\n", "a.csv")
    assert {field.value: at for field, at in choose_mapping(table).items()} == mapping


def test_another_mapping_can_be_chosen_and_unused_columns_are_named() -> None:
    table = read_csv("ID,Text,Voice over\nd1,ignored,Hello\n", "a.csv")
    imported = lines_of_table(table, {Field.TEXT: 2}, "a.csv")
    assert [line.text for line in imported.lines] == ["Hello"]
    assert imported.columns == ("ID", "Text", "Voice over")
    assert [str(notice) for notice in imported.notices] == ["Columns kept but not used: ID, Text."]


def test_columns_with_the_same_name_get_different_names() -> None:
    assert read_csv("text,a,a,\nx,1,2,3\n", "a.csv").columns == ("text", "a", "a 2", "4")


def test_an_excel_workbook_is_read_by_sheets() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["Text", "Take", "Day"], [None, None, None], ["Hello", 3.0, datetime.date(2026, 1, 2)], ["=1+1", 1.5]):
        sheet.append(row)
    workbook.create_sheet("Empty")
    output = io.BytesIO()
    workbook.save(output)
    (table,) = read_sheets(output.getvalue(), "a.xlsx").values()
    assert table.columns == ("Text", "Take", "Day")
    assert table.rows[0] == ("Hello", "3", "2026-01-02")
    assert table.numbers[0] == 3
    assert [line.text for line in lines_of_table(table, choose_mapping(table), "a.xlsx").lines] == ["Hello"]


def test_a_damaged_workbook_is_an_error() -> None:
    for content in (b"", b"no zip", docx("<w:p/>")):
        with pytest.raises(UnreadableScript, match=r"a\.xlsx is not a readable Excel workbook"):
            read_sheets(content, "a.xlsx")


@pytest.mark.slow
def test_a_table_without_end_is_refused() -> None:
    with pytest.raises(UnreadableScript, match="too large"):
        read_csv("text\n" + "x\n" * (MAX_ROWS + 1), "a.csv")


@pytest.mark.parametrize(
    "table",
    ["文件名;音色;文本\nx;安;你好", "文件名\t音色\t文本\nx\t安\t你好", "文件名|音色|文本\nx|安|你好"],
)
def test_tables_may_have_other_separators_and_chinese_column_names(table: str) -> None:
    (line,) = lines_of(table)
    assert (line.text, line.voice, line.file_name) == ("你好", "安", "x")


def test_the_first_column_is_text_without_column_names() -> None:
    lines = lines_of("Hello there,x\nYou,y\n")
    assert [(line.text, line.columns) for line in lines] == [("Hello there", {}), ("You", {})]


@pytest.mark.parametrize(
    ("words", "style"),
    [
        ("", LineStyle()),
        ("dialect.yue", LineStyle(preset="dialect.yue")),
        ("v3.dialect.yue", LineStyle(preset="dialect.yue")),
        ("Cantonese", LineStyle(preset="dialect.yue")),
        ("粤语", LineStyle(preset="dialect.yue")),
        (" 广东话 ", LineStyle(preset="dialect.yue")),
        ("请用广东话表达。", LineStyle(preset="dialect.yue")),
        ("Whisper", LineStyle(preset="voice.whisper")),  # a style of the bundled model only
        ("like a tired pirate", LineStyle(instruct="like a tired pirate")),
    ],
)
def test_a_style_is_found_by_any_of_its_names(words: str, style: LineStyle) -> None:
    assert style_named(words) == style


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("text,speed\nHello,fast\n", "Row 2 of a.csv: “fast” is not a number"),
        ("text,speed\n\nHello,1\nHello,9\n", "Row 4 of a.csv: The speed is out of range: 9"),
        ("text,pause\nHello,1,5\nHello,nan\n", "Row 3 of a.csv: The pause in seconds is out of range: nan"),
        ('text\n"' + "x" * 200_000, "is not a readable table"),
    ],
)
def test_the_error_names_an_invalid_row(table: str, words: str) -> None:
    with pytest.raises(UnreadableScript, match=words):
        lines_of(table)


# Word.


def docx(body: str, *, name: str = "word/document.xml", head: str = "") -> bytes:
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?>{head}'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<w:body>{body}</w:body></w:document>"
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, document)
    return packed.getvalue()


def test_headings_of_a_word_document_are_found_by_the_names_of_their_styles() -> None:
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>'
    )
    facts = (
        '<cp:coreProperties xmlns:cp="urn:x" xmlns:dc="urn:y"><dc:title>The Harbour</dc:title>'
        "<dc:creator>Jane</dc:creator></cp:coreProperties>"
    )
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in (("Titel", "Book"), ("berschrift1", "One"), ("Normal", "Text."))
    )
    content = io.BytesIO(docx(body))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("word/styles.xml", styles)
        archive.writestr("docProps/core.xml", facts)
    book = read_word(content.getvalue(), "a.docx")
    assert [(block.text, block.level) for block in book.blocks] == [("Book", 1), ("One", 1), ("Text.", 0)]
    assert (book.title, book.author) == ("The Harbour", "Jane")


def test_a_word_document_is_read_by_paragraphs(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Hello </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space='preserve'>bold</w:t></w:r>"
        "<w:r><w:tab/><w:t>world &amp; all</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r></w:p>"
        "<w:p/>"
        "<w:p><w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:r><w:instrText>PAGE</w:instrText><w:br/><w:t>next line</w:t></w:r></w:p>"
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>chóng</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>重</w:t></w:r></w:rubyBase>"
        "</w:ruby><w:t>庆</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p><w:r><w:t>outside</w:t><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r>"
        "</w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>in a box</w:t></w:r></w:p></mc:Fallback>"
        "</mc:AlternateContent><w:t> again</w:t></w:r></w:p>"
    )
    assert paragraphs_of_word(docx(body), "a.docx") == [
        "Hello bold world & all-x",
        "",
        "kept\nnext line",
        "重庆",
        "cell",
        "in a box",
        "outside again",
    ]
    path = tmp_path / "a.docx"
    path.write_bytes(docx("<w:p><w:r><w:t>One sentence. Another one.</w:t></w:r></w:p>"))
    assert texts_of(path) == ["One sentence.", "Another one."]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zip",
        docx("<w:p>")[:-40],
        docx("<w:p><w:r><w:t>unclosed"),
        docx("", name="word/other.xml"),
        docx("<w:p><w:r><w:t>&a;</w:t></w:r></w:p>", head='<!DOCTYPE x [<!ENTITY a "boom">]>'),
        b"\xd0\xcf\x11\xe0" + bytes(600),
    ],
)
def test_invalid_word_documents_are_errors(content: bytes) -> None:
    with pytest.raises(UnreadableScript) as caught:
        paragraphs_of_word(content, "a.docx")
    assert "a.docx" in str(caught.value.problem)
    assert str(caught.value.remedy)


_WHOLE = docx("<w:p><w:r><w:t>The harbour was quiet.</w:t></w:r></w:p>")
_COMPRESSED_AT = len("word/document.xml") + 30


@given(st.integers(0, len(_WHOLE)), st.binary(min_size=1, max_size=8))
@example(_COMPRESSED_AT, b"\xff")  # unknown type of compressed block
@example(len(_WHOLE) - 6, b"\xff\xff\xff\xff")  # directory offset before the beginning
def test_a_damaged_word_document_is_read_or_an_error(at: int, damage: bytes) -> None:
    with contextlib.suppress(UnreadableScript):
        paragraphs_of_word(_WHOLE[:at] + damage + _WHOLE[at + len(damage) :], "a.docx")


def test_a_zip_bomb_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.project.importing.word._MAX_BYTES", 100_000)
    with pytest.raises(UnreadableScript, match="is too large"):
        paragraphs_of_word(docx("<w:p>" + " " * 1_000_000 + "</w:p>"), "a.docx")


@pytest.mark.slow
@given(st.sampled_from(SCRIPT_SUFFIXES), st.binary(max_size=200))
def test_any_bytes_are_a_script_or_an_error(suffix: str, content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(content)
        remedy = "none needed"
        try:
            assert import_script(path).lines
        except StudioError as error:
            remedy = str(error.remedy)
        assert remedy
