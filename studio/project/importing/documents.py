"""Text of Markdown and Word documents, without markup.

Headings, list items and table rows become separate paragraphs. Of Markdown, code blocks, images, footnote marks,
comments and link targets are omitted; tags and pronunciations of this program are kept. Of Word documents, deleted text
of tracked changes, field codes, alternatives for older programs and ruby annotations are omitted.

A Word document is not trusted: external references are not resolved, and its size is limited.
"""

from __future__ import annotations

import html
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from xml.parsers import expat

import regex

from studio.errors import UnreadableScript
from studio.project.splitting import unwrap
from studio.text.tags import PHONES

# Markdown: blocks.
_FRONT_MATTER = regex.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL)
_COMMENT = regex.compile(r"<!--.*?-->", regex.DOTALL)
_FENCE = regex.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = regex.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_UNDERLINE = regex.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_HEADING = regex.compile(r" {0,3}#{1,6}(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_ITEM = regex.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_QUOTE = regex.compile(r"\A {0,3}(?:>[ \t]?)+")
_DEFINITION = regex.compile(r" {0,3}\[[^\]]+\]:[ \t]")
_TABLE_RULE = regex.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")

# Markdown: marks within a paragraph.
_IMAGE = regex.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_FOOTNOTE = regex.compile(r"\[\^[^\]]+\]")
_LINK = regex.compile(r"\[(?P<words>[^\[\]]+)\]\((?:[^()]|\([^()]*\))*\)")
_NAMED_LINK = regex.compile(r"\[(?P<words>[^\[\]]+)\]\[[^\[\]]*\]")
_ADDRESS = regex.compile(r"<(?:https?|mailto|ftp):[^>\s]*>")
_TAG = regex.compile(r"</?(?!(?:strong|laughter)>)[a-zA-Z][^<>]*>")
_CODE = regex.compile(r"(`+)(?P<words>.+?)\1", regex.DOTALL)
_STRONG = regex.compile(r"(\*\*|__)(?=\S)(?P<words>.+?)(?<=\S)\1")
_STARRED = regex.compile(r"\*(?=\S)(?P<words>[^*]+?)(?<=\S)\*")
_UNDERLINED = regex.compile(r"(?<![\p{L}\p{N}_])_(?=\S)(?P<words>[^_]+?)(?<=\S)_(?![\p{L}\p{N}_])")
_STRUCK = regex.compile(r"~~(?=\S)(?P<words>.+?)~~")
_ESCAPE = regex.compile(r"\\([!-/:-@\[-`{-~])")
# Escaped characters are shifted to this range while markup is removed.
_ESCAPED_FROM = 0xF0000

_MOST_XML_BYTES = 128 << 20
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_WORD_DOCUMENT = "word/document.xml"
# Each compression library has different errors, and names and offsets in the archive may be invalid.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
# XML elements, without namespace.
_OMITTED = frozenset({"del", "moveFrom", "Fallback", "rt", "instrText", "delText"})
_BLOCK_BYTES = 1 << 16


def words_of_markdown(text: str) -> str:
    """Return the paragraphs of the Markdown ``text``, each on one line, separated by blank lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _COMMENT.sub("", _FRONT_MATTER.sub("", text))
    paragraphs = (_without_markup(unwrap("\n".join(lines))) for lines in _markdown_paragraphs(text.split("\n")))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _markdown_paragraphs(lines: list[str]) -> Iterator[list[str]]:
    gathered: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        bare = _QUOTE.sub("", line, count=1)
        heading = _HEADING.match(bare)
        begins_alone = bool(heading or _ITEM.match(bare) or "|" in bare)
        if gathered and (mark or begins_alone or _ends_paragraph(bare)):
            yield gathered
            gathered = []
        if mark:
            fence = mark[1]
        elif heading:
            yield [heading["title"] or ""]
        elif "|" in bare:
            yield [] if _TABLE_RULE.match(bare) else [_row(bare)]
        elif not _ends_paragraph(bare):
            gathered.append(_ITEM.sub("", bare, count=1))
    yield gathered


def _ends_paragraph(line: str) -> bool:
    return not line.strip() or any(kind.match(line) for kind in (_RULE, _UNDERLINE, _DEFINITION))


def _row(line: str) -> str:
    cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return ", ".join(cell for cell in cells if cell)


def _without_markup(text: str) -> str:
    text = _ESCAPE.sub(lambda match: chr(_ESCAPED_FROM + ord(match[1])), text)
    for gone in (_IMAGE, _FOOTNOTE, _ADDRESS, _TAG):
        text = gone.sub("", text)
    text = _NAMED_LINK.sub(lambda match: match[0] if f"[{match['words']}]" in PHONES else match["words"], text)
    for mark in (_LINK, _CODE, _STRONG, _STRONG, _STARRED, _UNDERLINED, _STRUCK):
        text = mark.sub(lambda match: match["words"], text)
    text = html.unescape(text)
    return "".join(chr(ord(each) - _ESCAPED_FROM) if ord(each) >= _ESCAPED_FROM else each for each in text).strip()


def paragraphs_of_word(content: bytes, name: str) -> list[str]:
    """Return the paragraphs of a Word document. Errors contain the file name ``name``. Raise ``UnreadableScript``."""
    if content.startswith(_OLD_OFFICE):
        raise UnreadableScript(
            "{name} is password-protected or an old .doc file.",
            remedy="Save it as .docx without a password.",
            name=name,
        )
    reader = _WordReader()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(_WORD_DOCUMENT) as document:
            num_bytes = 0
            while block := document.read(_BLOCK_BYTES):
                num_bytes += len(block)
                if num_bytes > _MOST_XML_BYTES:
                    raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)
                reader.feed(block)
            reader.feed(b"", is_last=True)
    except (expat.ExpatError, *_ARCHIVE_ERRORS) as error:
        raise UnreadableScript(
            "{name} is not a readable Word document.", remedy="Save it again as .docx, or as text.", name=name
        ) from error
    return reader.paragraphs


class _WordReader:
    """Collects the paragraphs from the XML of a Word document."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        # Unfinished paragraphs. A text box contains paragraphs within a paragraph.
        self._open: list[list[str]] = []
        self._omitted_depth = 0
        self._is_in_text = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        self._parser.Parse(block, is_last)

    def _start(self, element: str, _attributes: dict[str, str]) -> None:
        name = _local(element)
        if self._omitted_depth or name in _OMITTED:
            self._omitted_depth += 1
            return
        match name:
            case "p":
                self._open.append([])
            case "t":
                self._is_in_text = True
            case "tab":
                self._add(" ")
            case "br" | "cr":
                self._add("\n")
            case "noBreakHyphen":
                self._add("-")

    def _end(self, element: str) -> None:
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        match _local(element):
            case "p" if self._open:
                self.paragraphs.append("".join(self._open.pop()).strip())
            case "t":
                self._is_in_text = False

    def _characters(self, text: str) -> None:
        if self._is_in_text and not self._omitted_depth:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._open:
            self._open[-1].append(text)

    def _refuse_doctype(self, *_: object) -> None:
        raise expat.ExpatError("unexpected document type declaration")


def _local(element: str) -> str:
    return element.rpartition(" ")[2]
