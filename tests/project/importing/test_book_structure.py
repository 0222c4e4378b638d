"""EPUB books as programs write them: contents, paths, encodings, notes, powers and hidden text; Word and PDF likewise."""

from __future__ import annotations

import io
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pypdf
import pytest
from book_samples import entry, epub, pdf, toc

from studio.errors import UnreadableScript
from studio.project.importing.blocks import Block, lines_of_blocks
from studio.project.importing.dialogue import read_fountain
from studio.project.importing.epub import read_epub
from studio.project.importing.markup import Page
from studio.project.importing.pdf import _blocks, read_pdf
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.word import read_word
from studio.project.lines import Heading
from studio.project.splitting import SplitMode

TWO_PAGES = {"one.xhtml": "<h1>One</h1><p>Rain fell.</p>", "two.xhtml": "<h1>Two</h1><p>Snow fell.</p>"}


def outline(content: bytes) -> list[tuple[Heading, str]]:
    book = read_epub(content, "a.epub")
    lines = lines_of_blocks(book.blocks, SplitMode.PARAGRAPH, book.chapter_level)
    return [(line.heading, line.text) for line in lines]


def text_of(body: str) -> list[str]:
    return [block.text for block in Page(body).blocks]


def rewritten(content: bytes, change: dict[str, tuple[str, bytes] | None]) -> bytes:
    """Return a book with other names and contents of some parts, or without them."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(output, "w") as target:
        for name in source.namelist():
            changed = change.get(name, (name, source.read(name)))
            if changed is not None:
                target.writestr(*changed)
    return output.getvalue()


C, S, N = Heading.CHAPTER, Heading.SCENE, Heading.NONE


def test_fragments_of_the_contents_begin_chapters_within_a_page() -> None:
    body = '<p id="a"><b>Home</b></p><p>Rain fell.</p><div id="b"><p>Away</p></div><p>Snow fell.</p>'
    content = epub({"one.xhtml": body}, contents=toc(entry("one.xhtml#a", "Home"), entry("one.xhtml#b", "Away")))
    assert outline(content) == [(C, "Home"), (N, "Rain fell."), (C, "Away"), (N, "Snow fell.")]


@pytest.mark.parametrize("part", ["Part I – Spring", "第一部 春"])
def test_chapters_below_the_parts_of_a_document_are_chapters(part: str, tmp_path: Path) -> None:
    path = tmp_path / "bees.md"
    path.write_text(f"# Introduction\n\nBees.\n\n# {part}\n\n## The Hive\n\nHoney.\n\n### Wax\n\nCells.\n", "utf-8")
    headings = [(line.heading, line.text) for line in read_file(path).script(ImportOptions()).lines if line.heading]
    assert headings == [(C, "Introduction"), (C, part), (C, "The Hive"), (S, "Wax")]


def test_parts_and_chapters_keep_their_levels() -> None:
    pages = {
        "p1.xhtml": "<h1>Part One</h1>",
        "c1.xhtml": "<h2>Chapter 1</h2><h2>The Storm</h2><p>Rain fell.</p><h3>Later</h3><p>Sun.</p>",
        "c2.xhtml": "<p>CHAPTER TWO</p><p>The Calm</p><p>Snow fell.</p>",
        "end.xhtml": "<h1>About the Author</h1><p>She lives.</p>",
    }
    contents = toc(
        entry("p1.xhtml", "Part One", entry("c1.xhtml", "The Storm"), entry("c2.xhtml", "Chapter 2: The Calm")),
        entry("end.xhtml", "About the Author"),
    )
    assert outline(epub(pages, contents=contents)) == [
        (C, "Part One"),
        (C, "Chapter 1. The Storm"),
        (N, "Rain fell."),
        (S, "Later"),
        (N, "Sun."),
        (C, "Chapter 2: The Calm"),
        (N, "Snow fell."),
        (C, "About the Author"),
        (N, "She lives."),
    ]


def test_a_heading_that_is_only_a_number_has_the_title_of_the_contents() -> None:
    pages = {"one.xhtml": "<h1>3</h1><p>Rain fell.</p>", "two.xhtml": "<h2>IV</h2><h2>Snow</h2><p>Snow fell.</p>"}
    content = epub(pages, contents=toc(entry("one.xhtml", "Chapter 3"), entry("two.xhtml", "Chapter IV: Snow")))
    assert outline(content) == [(C, "Chapter 3"), (N, "Rain fell."), (C, "Chapter IV: Snow"), (N, "Snow fell.")]


def test_entries_of_one_title_at_one_place_are_one_heading() -> None:
    contents = toc(entry("one.xhtml", "One", entry("one.xhtml#a", "One"), entry("one.xhtml#b", "Two")))
    body = '<h1 id="a">One</h1><p>Rain.</p><h2 id="b">Two</h2><p>Snow.</p>'
    assert outline(epub({"one.xhtml": body}, contents=contents)) == [
        (C, "One"),
        (N, "Rain."),
        (S, "Two"),
        (N, "Snow."),
    ]


def test_a_book_of_images_has_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(epub({"one.xhtml": '<img src="1.jpg"/>'}, contents=toc(entry("one.xhtml", "Start"))))
    with pytest.raises(UnreadableScript, match="nothing that can be spoken"):
        read_file(path).script(ImportOptions())


def test_lists_of_pages_and_landmarks_are_no_contents() -> None:
    other = '<nav epub:type="page-list"><ol><li><a href="one.xhtml#p">7</a></li></ol></nav>'
    content = epub({"one.xhtml": '<p>Rain.</p><p id="p">Snow.</p>'}, contents=other)
    assert outline(content) == [(N, "Rain."), (N, "Snow.")]


def test_a_heading_may_contain_other_elements() -> None:
    assert Page("<h1><div>Chapter</div><div>Two</div></h1><p>Rain.</p>").blocks == [
        Block("Chapter Two", level=1),
        Block("Rain."),
    ]


def test_paths_are_found_in_other_spellings() -> None:
    content = rewritten(
        epub(TWO_PAGES, contents=toc(entry("ONE.xhtml", "One"), entry(".\\two.xhtml", "Two"))),
        {
            "OEBPS/one.xhtml": ("oebps/One.XHTML", TWO_PAGES["one.xhtml"].encode()),
            "OEBPS/two.xhtml": ("OEBPS\\two.xhtml", TWO_PAGES["two.xhtml"].encode()),
        },
    )
    assert outline(content) == [(C, "One"), (N, "Rain fell."), (C, "Two"), (N, "Snow fell.")]


def test_what_is_missing_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.epub"
    path.write_bytes(rewritten(epub(TWO_PAGES), {"OEBPS/two.xhtml": None}))
    imported = read_file(path).script(ImportOptions())
    assert [line.text for line in imported.lines] == ["One", "Rain fell."]
    assert [str(notice) for notice in imported.notices] == ["Missing in the book: two.xhtml."]


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("iso-8859-1", '<?xml version="1.0" encoding="iso-8859-1"?>'),
        ("cp1251", "<?xml version='1.0' encoding='windows-1251'?>"),
        ("gb18030", '<html><head><meta charset="gb18030"></head>'),
        ("utf-16", '<?xml version="1.0"?>'),
        ("utf-16-le", '<?xml version="1.0"?>'),
    ],
)
def test_declared_encodings_are_used(encoding: str, head: str) -> None:
    words = {"iso-8859-1": "Un café.", "cp1251": "Привет."}.get(encoding, "你好。")
    page = f"{head}<p>{words}</p>".encode(encoding)
    content = rewritten(epub({"one.xhtml": ""}), {"OEBPS/one.xhtml": ("OEBPS/one.xhtml", page)})
    assert [block.text for block in read_epub(content, "a.epub").blocks] == [words]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>4 × 10<sup>6</sup> and 3 m<sup>2</sup>.<sup>7</sup></p>", "4 × 10⁶ and 3 m²."),
        ("<p>the sea<sup>12</sup> and E = mc<sup>2</sup></p>", "the sea and E = mc²"),
        ("<p>in 1984<sup>3</sup> (so he said)<sup>2</sup> (x + 1)<sup>2</sup></p>", "in 1984 (so he said) (x + 1)²"),
        ("<p>H<sub>2</sub>O, the 3<sup>rd</sup></p>", "H₂O, the 3rd"),
        ('<p>Done.<a href="#n">3</a> Left <a href="n.xhtml#x">[4]</a> now<a href="#x">*</a>.</p>', "Done. Left  now."),
        ('<p>See page <a href="#p12">12</a>.</p>', "See page 12."),
        ('<p hidden="">no</p><p style="display: none">no</p><p>Yes.</p>', "Yes."),
    ],
)
def test_note_marks_and_hidden_text_are_silent_and_powers_are_not(body: str, text: str) -> None:
    assert text_of(body) == [text]


def test_a_class_that_the_style_sheet_hides_is_left_out() -> None:
    assert [block.text for block in Page('<p class="a b">no</p><p>Yes.</p>', hidden=frozenset({"b"})).blocks] == [
        "Yes."
    ]


def test_cdata_is_text_and_conditions_of_word_are_not() -> None:
    assert text_of("<p><![if !supportLists]>One<![endif]> <![CDATA[& two]]> <![x[three]>") == ["One & two"]


@pytest.mark.parametrize("unit", ["<b>x", "<p>Hi.</p>", "<div>", "<i>a</i> ", "<a ", "</i>", "<![cdata[>", "<![x>"])
def test_the_work_for_a_page_grows_with_its_size(unit: str) -> None:
    """A quadratic reader would take minutes."""
    assert len(Page(f"<p>{unit * 30_000}").blocks) <= 30_001


def test_the_end_of_comments_is_not_searched_again_once_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    search = HTMLParser.parse_comment
    monkeypatch.setattr(
        HTMLParser, "parse_comment", lambda page, at, *rest: searched.append(at) or search(page, at, *rest)
    )
    assert text_of("<p><!-- x -->" + "<!--a>" * 1_000)
    assert len(searched) == 2


@pytest.mark.parametrize("unit", ["[[", "[[ a\n", "/* ", "*a ", "BOB\nHi there.\n\n"])
def test_the_work_for_a_screenplay_grows_with_its_size(unit: str) -> None:
    """A quadratic reader would take minutes."""
    assert read_fountain(unit * 30_000).blocks


def test_a_scene_heading_without_a_blank_line_is_no_character() -> None:
    blocks = read_fountain("INT. HALL - NIGHT\nRain falls.\n\nANNA\nCome in.\n").blocks
    assert [(block.level, block.is_spoken, block.character, block.text) for block in blocks] == [
        (2, False, None, "INT. HALL - NIGHT"),
        (0, False, None, "Rain falls."),
        (0, True, "ANNA", "Come in."),
    ]


# Word.

_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r"'
    ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/></Relationships>'
)
_WORDS = (
    '<w:document xmlns:w="urn:w"><w:body><w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>One</w:t></w:r>'
    "<w:r><w:rPr><w:vanish/></w:rPr><w:t> hidden</w:t></w:r>"
    '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> seen</w:t></w:r></w:p></w:body></w:document>'
)


def test_the_parts_of_a_word_document_are_found_by_their_relationships() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("_rels/.rels", _RELATIONS.format(kind="officeDocument", target="/word/main.xml"))
        archive.writestr("word/_rels/main.xml.rels", _RELATIONS.format(kind="styles", target="looks.xml"))
        archive.writestr("word/main.xml", _WORDS)
        style = '<w:style w:styleId="H"><w:name w:val="heading 1"/></w:style>'
        archive.writestr("word/looks.xml", f'<w:styles xmlns:w="urn:w">{style}</w:styles>')
    assert read_word(output.getvalue(), "a.docx").blocks == [Block("One seen", level=1)]


def document(body: str, styles: str = "") -> list[Block]:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="urn:w"><w:body>{body}</w:body></w:document>')
        archive.writestr("word/styles.xml", f'<w:styles xmlns:w="urn:w">{styles}</w:styles>')
    return read_word(output.getvalue(), "a.docx").blocks


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_headings_have_levels_by_the_styles_they_are_based_on_and_by_their_outline() -> None:
    styles = (
        '<w:style w:styleId="A"><w:name w:val="Mine"/><w:basedOn w:val="B"/></w:style>'
        '<w:style w:styleId="B"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="C"><w:name w:val="Other"/><w:basedOn w:val="C"/></w:style>'
        '<w:style w:styleId="D"><w:name w:val="Act"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    )
    body = "".join(paragraph(style, f'<w:pStyle w:val="{style}"/>') for style in "ABCD")
    body += paragraph("direct", '<w:outlineLvl w:val="2"/>') + paragraph("text", '<w:outlineLvl w:val="9"/>')
    assert [(block.text, block.level) for block in document(body, styles)] == [
        ("A", 2),
        ("B", 2),
        ("C", 0),
        ("D", 1),
        ("direct", 3),
        ("text", 0),
    ]


def test_generated_contents_of_a_word_document_are_left_out() -> None:
    styles = '<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style>'
    assert document(paragraph("Home 3", '<w:pStyle w:val="V1"/>') + paragraph("Rain."), styles) == [Block("Rain.")]


def test_superscripts_of_a_word_document_are_powers_or_note_marks() -> None:
    def run(text: str, alignment: str = "baseline") -> str:
        return f'<w:r><w:rPr><w:vertAlign w:val="{alignment}"/></w:rPr><w:t>{text}</w:t></w:r>'

    body = run("3 × 10") + run("8", "superscript") + run(" m, H") + run("2", "subscript") + run("O, the sea")
    body += run("4", "superscript") + run(" and the 3") + run("rd", "superscript")
    assert document(f"<w:p>{body}</w:p>") == [Block("3 × 10⁸ m, H₂O, the sea and the 3rd")]


# PDF.


def test_words_hyphenated_at_the_end_of_a_line_are_joined() -> None:
    lines = [
        "The light-",
        "house keeper went to the North-",
        "West, and the har-",
        "bour lay behind him all night long.",
    ]
    assert [block.text for block in read_pdf(pdf([lines]), "a.pdf").blocks] == [
        "The lighthouse keeper went to the North- West, and the harbour lay behind him all night long."
    ]


@pytest.mark.parametrize("size", [20_000, 40_000])
def test_a_paragraph_of_any_number_of_lines_is_joined_at_once(size: int) -> None:
    """A reader that joined the lines one by one would take minutes."""
    (block,) = _blocks([["words without an end"] * size], {})
    assert block.text.count("words") == size


def test_a_pdf_encrypted_with_aes_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise pypdf.errors.DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr("studio.project.importing.pdf.pypdf.PdfReader", refuse)
    with pytest.raises(UnreadableScript, match="is encrypted, with AES"):
        read_pdf(pdf([["Text."]]), "a.pdf")
