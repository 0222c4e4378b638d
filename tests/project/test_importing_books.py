"""Import of EPUB and PDF books, and of scripts with speaker names."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path

import pypdf
import pytest
from book_samples import epub, pdf
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts import import_script

from studio.errors import UnreadableScript
from studio.project.full_cast import Dialogue
from studio.project.importing.blocks import Block, lines_of_blocks
from studio.project.importing.dialogue import (
    dialogue_blocks,
    is_dialogue,
    is_screenplay,
    read_fountain,
    subtitle_speeches,
)
from studio.project.importing.epub import read_epub
from studio.project.importing.pdf import read_pdf
from studio.project.lines import Heading
from studio.project.splitting import SplitMode

# An image of one pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)

# EPUB.


def test_chapters_paragraphs_title_author_and_cover_of_an_epub() -> None:
    content = epub(
        {
            "one.xhtml": "<h1>One</h1><p>It was <em>late</em>.</p><p>Rain\n fell.</p>",
            "two.xhtml": "<h1>Two</h1><p>End.</p>",
        },
        title="The  Harbour",
        cover=PNG,
    )
    book = read_epub(content, "a.epub")
    assert book.blocks == [
        Block("One", level=1),
        Block("It was late."),
        Block("Rain fell."),
        Block("Two", level=1),
        Block("End."),
    ]
    assert (book.title, book.author, book.cover) == ("The Harbour", "Jane Writer", PNG)


def test_footnotes_are_kept_as_unspoken_notes_and_their_numbers_omitted() -> None:
    body = (
        '<h1>One</h1><p>The sea<sup><a href="#n1">1</a></sup> rose<a epub:type="noteref" href="#n2">2</a>, x<sup>2</sup>'
        ' and m<sup>th</sup>.</p><aside epub:type="footnote" id="n1"><p>Or the lake.</p></aside><p>On.</p>'
    )
    blocks = read_epub(epub({"one.xhtml": body}), "a.epub").blocks
    assert blocks[1:] == [
        Block("The sea rose, x² and mth."),
        Block("Or the lake.", is_spoken=False),
        Block("On."),
    ]


def test_a_chapter_without_heading_gets_its_title_from_the_table_of_contents() -> None:
    chapters = {"one.xhtml": "<p>ONE</p><p>Text.</p>", "two%20b.xhtml": "<p>More.</p>", "front.xhtml": "<p>By me.</p>"}
    contents = '<nav epub:type="toc"><ol><li><a href="one.xhtml">One</a></li><li><a href="two%20b.xhtml">Two</a></li></ol></nav>'
    content = epub({name.replace("%20", " "): body for name, body in chapters.items()}, contents=contents)
    assert read_epub(content, "a.epub").blocks == [
        Block("One", level=1),
        Block("Text."),
        Block("Two", level=1),
        Block("More."),
        Block("By me."),
    ]


def test_ruby_scripts_and_hidden_markup_are_not_spoken() -> None:
    body = "<script>alert()</script><p><ruby>明日<rp>(</rp><rt>あした</rt><rp>)</rp></ruby>。</p><svg><text>no</text></svg><div>A<br/>b</div>"
    assert [block.text for block in read_epub(epub({"one.xhtml": body}), "a.epub").blocks] == ["明日。", "A\nb"]


def test_a_protected_book_is_refused_but_encrypted_fonts_are_not() -> None:
    protected = (
        '<encryption><EncryptedData><CipherData><CipherReference URI="{}"/></CipherData></EncryptedData></encryption>'
    )
    body = {"one.xhtml": "<p>Text.</p>"}
    with_font = epub(body, extra={"META-INF/encryption.xml": protected.format("OEBPS/font.otf")})
    assert read_epub(with_font, "a.epub").blocks == [Block("Text.")]
    with pytest.raises(UnreadableScript, match=r"a\.epub is copy-protected"):
        read_epub(epub(body, extra={"META-INF/encryption.xml": protected.format("OEBPS/one.xhtml")}), "a.epub")


def test_a_book_that_unpacks_to_gigabytes_is_refused() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", " " * (33 << 20))
    with pytest.raises(UnreadableScript, match="too large"):
        read_epub(output.getvalue(), "a.epub")


@settings(max_examples=60)
@given(st.integers(0, 3_000), st.binary(min_size=1, max_size=20))
def test_a_damaged_epub_gives_text_or_a_message(at: int, noise: bytes) -> None:
    content = epub({"one.xhtml": "<h1>One</h1><p>Text.</p>"}, contents='<a href="one.xhtml">One</a>')
    at %= len(content)
    with contextlib.suppress(UnreadableScript):
        read_epub(content[:at] + noise + content[at + len(noise) :], "a.epub")


# PDF.


def test_paragraphs_of_a_pdf_are_put_together() -> None:
    lines = [
        "The harbour was quiet that morning, and the boats lay on the wa-",
        "ter without moving, while the gulls kept watch over the market",
        "and the cats.",
        "Later the wind came up from the west, and every sail was set be-",
        "fore noon.",
    ]
    book = read_pdf(pdf([lines]), "a.pdf")
    assert [block.text for block in book.blocks] == [
        "The harbour was quiet that morning, and the boats lay on the water without moving, while the gulls kept"
        " watch over the market and the cats.",
        "Later the wind came up from the west, and every sail was set before noon.",
    ]


def test_page_numbers_and_repeated_headers_are_omitted_and_paragraphs_cross_pages() -> None:
    words = ["the boats", "and the gulls", "and the cats", "and the market", "and the wind"]
    middle = [f"{each} lay quiet in the long grey light of that morning," for each in words]
    pages = [["The Harbour", text, str(number)] for number, text in enumerate([*middle, "and that was all."], start=1)]
    (block,) = read_pdf(pdf(pages), "a.pdf").blocks
    assert block.text == " ".join([*middle, "and that was all."])


def test_the_outline_of_a_pdf_gives_its_chapters() -> None:
    pages = [["Chapter One", "Some text."], ["More text."], ["Chapter Two", "The end."]]
    book = read_pdf(pdf(pages, outline={"Chapter One": 0, "Chapter Two": 2}), "a.pdf")
    assert book.blocks == [
        Block("Chapter One", level=1),
        Block("Some text. More text."),
        Block("Chapter Two", level=1),
        Block("The end."),
    ]


def test_a_pdf_with_a_password_or_without_text_is_an_error() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf([["Secret."]])))
    writer.encrypt("secret", algorithm="RC4-128")
    output = io.BytesIO()
    writer.write(output)
    with pytest.raises(UnreadableScript, match=r"a\.pdf is password-protected"):
        read_pdf(output.getvalue(), "a.pdf")
    with pytest.raises(UnreadableScript, match="images of text"):
        read_pdf(pdf([[]]), "a.pdf")
    with pytest.raises(UnreadableScript, match=r"a\.pdf is not a readable PDF"):
        read_pdf(b"%PDF-1.7 nothing else", "a.pdf")


# Headings.


def test_headings_become_chapters_and_scenes_and_text_becomes_sentences() -> None:
    blocks = [
        Block("The Book", level=1),
        Block("One", level=2),
        Block("It was late. Rain fell."),
        Block("Part a", level=3),
        Block("A note.", is_spoken=False),
        Block("Two", level=2),
    ]
    lines = lines_of_blocks(blocks, SplitMode.SENTENCE)
    assert [(line.text, line.heading, line.is_spoken) for line in lines] == [
        ("The Book", Heading.CHAPTER, True),
        ("One", Heading.CHAPTER, True),
        ("It was late.", Heading.NONE, True),
        ("Rain fell.", Heading.NONE, True),
        ("Part a", Heading.SCENE, True),
        ("A note.", Heading.NONE, False),
        ("Two", Heading.CHAPTER, True),
    ]


def test_the_first_line_of_each_paragraph_is_marked() -> None:
    blocks = [Block("One", level=1), Block("It was late. Rain fell.\nShe ran on."), Block("The sea was calm.")]
    lines = lines_of_blocks(blocks, SplitMode.SENTENCE)
    assert [line.text for line in lines if line.begins_paragraph] == ["She ran on.", "The sea was calm."]
    assert not any(line.begins_paragraph for line in lines_of_blocks(blocks, SplitMode.PARAGRAPH))


def test_dialogue_stays_in_its_paragraph() -> None:
    blocks = [Block("“Is it late?” asked Anna. Rain fell."), Block("“It is,” said Bert.")]
    dialogue = Dialogue(lines_of_blocks(blocks, SplitMode.SENTENCE))
    lines = dialogue.divide(dialogue.attribution()).lines
    assert [line.text for line in lines if line.begins_paragraph] == ["“It is,”"]


# Dialogue.


def test_stage_directions_in_a_dialogue_are_not_spoken() -> None:
    text = "MIRA: (sighs) I know. (laughs) Come.\nTom: Gone?\nMIRA: (beat)\nMIRA: Yes."
    assert [(block.character, block.text, block.is_spoken) for block in dialogue_blocks(text)] == [
        ("MIRA", "(sighs)", False),
        ("MIRA", "I know. [laughter] Come.", True),
        ("Tom", "Gone?", True),
        ("MIRA", "(beat)", False),
        ("MIRA", "Yes.", True),
    ]


def test_directions_between_a_name_and_its_colon_are_not_spoken() -> None:
    text = "李明（生气）：行，你说了算。\n王芳(小声): 对不起嘛……（叹气）真的。\nMira (angrily): Gone?\nOld Tom [V.O.]: Gone.\nMira: No.\n注意（重要）：别动。"
    assert is_dialogue(text)
    assert [(block.character, block.text, block.is_spoken) for block in dialogue_blocks(text)] == [
        ("李明", "（生气）", False),
        ("李明", "行，你说了算。", True),
        ("王芳", "（小声）", False),
        ("王芳", "（叹气）", False),
        ("王芳", "对不起嘛……真的。", True),
        ("Mira", "(angrily)", False),
        ("Mira", "Gone?", True),
        ("Old Tom", "(V.O.)", False),
        ("Old Tom", "Gone.", True),
        ("Mira", "No.", True),
        (None, "注意（重要）：别动。", True),
    ]


def test_names_in_brackets_or_before_a_colon_are_speakers() -> None:
    text = "[Mira] Where is he?\n[Old Tom]: Gone.\nMira: Gone?\n小梅：走了。\nThe door closed.\n[breath] Nobody spoke.\n[pause 0.5] Then rain."
    assert is_dialogue(text)
    assert [(block.character, block.text) for block in dialogue_blocks(text)] == [
        ("Mira", "Where is he?"),
        ("Old Tom", "Gone."),
        ("Mira", "Gone?"),
        ("小梅", "走了。"),
        (None, "The door closed."),
        (None, "[breath] Nobody spoke."),
        (None, "[pause 0.5] Then rain."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "He thought: it is late.\nRain fell.\nThe end.",
        "[breath] One.\n[breath] Two.",
        "Note: buy milk.",
        "They had two things to say to one another: nothing and everything.\n" * 3,
    ],
)
def test_ordinary_text_is_not_dialogue(text: str) -> None:
    assert not is_dialogue(text)


@pytest.mark.parametrize(
    ("cue", "speeches"),
    [
        (["MARTHA: Ready?"], [("MARTHA", "Ready?")]),
        (["- Ready?", "- Ready!"], [(None, "Ready?"), (None, "Ready!")]),
        (["- Ready? - Ready!"], [(None, "Ready?"), (None, "Ready!")]),
        (["- ANN: Ready?", "- BOB: Ready!"], [("ANN", "Ready?"), ("BOB", "Ready!")]),
        (["ANN: One", "and two.", "BOB: Three."], [("ANN", "One\nand two."), ("BOB", "Three.")]),
        (["It is 10:30."], [(None, "It is 10:30.")]),
        (["A well-known - and long - story."], [(None, "A well-known - and long - story.")]),
        (["- Alone."], [(None, "Alone.")]),
    ],
)
def test_speakers_of_subtitles(cue: list[str], speeches: list[tuple[str | None, str]]) -> None:
    assert subtitle_speeches(cue) == speeches


def test_a_screenplay_becomes_scenes_directions_and_speeches() -> None:
    text = """Title: The Harbour
Author: Jane Writer

# Act One

INT. MARKET - DAY

Gulls. *Everywhere.*

MIRA (O.S.)
(whispering)
Is it _over_?

@McTom
Not yet.
[[a note]]

CUT TO:

.FLASHBACK

OLD TOM ^
Once more.
"""
    book = read_fountain(text)
    assert (book.title, book.author) == ("The Harbour", "Jane Writer")
    assert book.blocks == [
        Block("Act One", level=1, is_spoken=False),
        Block("INT. MARKET - DAY", level=2, is_spoken=False),
        Block("Gulls. Everywhere.", is_spoken=False),
        Block("(whispering)", is_spoken=False, character="MIRA"),
        Block("Is it over?", character="MIRA"),
        Block("Not yet.", character="McTom"),
        Block("CUT TO:", is_spoken=False),
        Block("FLASHBACK", level=2, is_spoken=False),
        Block("Once more.", character="OLD TOM"),
    ]


def test_a_title_page_may_continue_below_its_keys() -> None:
    book = read_fountain("Title:\n    _**The Harbour**_\n    Part One\nAuthors: Jane Writer\n\nINT. MARKET - DAY\n")
    assert (book.title, book.author) == ("The Harbour Part One", "Jane Writer")
    assert [block.text for block in book.blocks] == ["INT. MARKET - DAY"]


# Indented, as word processors save it as plain text.
SCREENPLAY = """INT. OFFICE - NIGHT

Rain.

                    MIRA
          Is anybody there?

                    OLD TOM
          Only me.
"""


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (SCREENPLAY, True),
        ("INT. OFFICE - NIGHT\n\nRain.\n", False),
        ("THE HARBOUR\nIt was late.\n\nTHE MARKET\nRain fell.\n", False),
    ],
)
def test_a_plain_text_is_recognized_as_a_screenplay(text: str, is_one: bool) -> None:
    assert is_screenplay(text) is is_one


# Files.


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        (
            "a.epub",
            epub({"one.xhtml": "<h1>One</h1><p>It was late. Rain fell.</p>"}),
            ["One", "It was late.", "Rain fell."],
        ),
        ("a.PDF", pdf([["It was late. Rain fell."]]), ["It was late.", "Rain fell."]),
        ("a.fountain", b"INT. MARKET - DAY\n\nMIRA\nIs it over?\n", ["INT. MARKET - DAY", "Is it over?"]),
        ("b.txt", SCREENPLAY.encode(), ["INT. OFFICE - NIGHT", "Rain.", "Is anybody there?", "Only me."]),
        ("a.txt", b"Mira: Is it over?\nTom: No.\nMira: Oh.\n", ["Is it over?", "No.", "Oh."]),
        ("a.md", b"# One\n\nIt was late.\n\nTwo\n===\n\nRain fell.\n", ["One", "It was late.", "Two", "Rain fell."]),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Mira>Hello.\n", ["Hello."]),
    ],
)
def test_every_kind_of_file_is_imported(tmp_path: Path, name: str, content: bytes, texts: list[str]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert [line.text for line in import_script(path).lines] == texts


def test_title_author_and_cover_of_a_book_are_imported(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(epub({"one.xhtml": "<p>Text.</p>"}, title="The Harbour", cover=PNG))
    imported = import_script(path)
    assert (imported.title, imported.author, imported.cover) == ("The Harbour", "Jane Writer", PNG)


def test_a_damaged_cover_of_a_book_is_left_out_with_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(epub({"one.xhtml": "<p>Text.</p>"}, cover=PNG[:40]))
    imported = import_script(path)
    assert imported.cover is None
    assert [str(each) for each in imported.notices] == ["The cover is a damaged image, and is left out."]


def test_characters_and_headings_of_files_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Mira: Is it over?\nTom: No.\nMira: Oh.\n")
    (tmp_path / "a.md").write_text("# One\n\nText.\n\n# Two\n\n## Part\n\nMore.\n")
    assert [line.character for line in import_script(tmp_path / "a.txt").lines] == ["Mira", "Tom", "Mira"]
    assert [line.heading for line in import_script(tmp_path / "a.md").lines] == [
        Heading.CHAPTER,
        Heading.NONE,
        Heading.CHAPTER,
        Heading.SCENE,
        Heading.NONE,
    ]


def test_a_direction_that_names_a_style_is_the_style_of_its_speech() -> None:
    text = "小明（请用四川话表达）：你吃饭了吗？\n小红（笑着）：吃了。\nTOM (angry): No!"
    lines = lines_of_blocks(dialogue_blocks(text), SplitMode.PARAGRAPH)
    assert [(line.character, line.style.preset) for line in lines if line.is_spoken] == [
        ("小明", "dialect.sichuan"),
        ("小红", None),
        ("TOM", "emotion.angry"),
    ]
    assert [line.text for line in lines if not line.is_spoken] == ["（请用四川话表达）", "（笑着）", "(angry)"]
