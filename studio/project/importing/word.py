"""Visible text of a Word document (.docx).

Hidden text, deleted text of tracked changes, field codes, alternatives for older programs, and ruby annotations are omitted. The
file is not trusted: external references are not resolved, and its size is limited.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import struct
import zipfile
import zlib
from xml.parsers import expat

import regex

from studio.errors import UnreadableScript
from studio.project.importing.blocks import Block, Book
from studio.project.importing.markup import written_subscript, written_superscript

_MAX_BYTES = 128 << 20
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_DOCUMENT = "word/document.xml"
_FACTS = "docProps/core.xml"
_OFF = ("0", "false", "off")
_HEADING = regex.compile(r"(?:heading (?P<level>[1-9])|Title)", regex.IGNORECASE)
_CONTENTS = regex.compile(r"toc [1-9]|table of figures", regex.IGNORECASE)
_MAX_LEVEL = 9
_MAX_STYLES_ABOVE = 20
# Each compression library has its own errors, and names and offsets in the archive may be invalid.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
# Names without namespace.
_OMITTED = frozenset({"del", "moveFrom", "Fallback", "rt", "instrText", "delText"})
_BLOCK_BYTES = 1 << 16


def read_word(content: bytes, name: str) -> Book:
    """Return the paragraphs and headings of a document, its title and author.

    ``name`` is the file name, for errors. Raise ``UnreadableScript``.
    """
    if content.startswith(_OLD_OFFICE):
        raise UnreadableScript(
            "{name} is password-protected or an old .doc file.",
            remedy="Save it as .docx without a password.",
            name=name,
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            styles, facts = _Styles(), _Facts()
            main = _related(archive, "", "officeDocument", name) or _DOCUMENT
            style_part = _related(archive, main, "styles", name) or posixpath.join(
                posixpath.dirname(main), "styles.xml"
            )
            if style_part in names:
                _read_part(archive, style_part, styles, name)
            if _FACTS in names:
                _read_part(archive, _FACTS, facts, name)
            document = _Document(styles.levels)
            _read_part(archive, main, document, name)
    except (expat.ExpatError, *_ARCHIVE_ERRORS) as error:
        raise UnreadableScript(
            "{name} is not a readable Word document.", remedy="Save it again as .docx, or as text.", name=name
        ) from error
    return Book(document.blocks, facts.values.get("title", "").strip(), facts.values.get("creator", "").strip())


def _related(archive: zipfile.ZipFile, part: str, kind: str, name: str) -> str | None:
    """Return the part to which ``part`` has a relationship of a kind; the package itself is the empty part."""
    folder, base = posixpath.split(part)
    description = posixpath.join(folder, "_rels", f"{base}.rels")
    if description not in archive.namelist():
        return None
    relations = _Relations()
    _read_part(archive, description, relations, name)
    target = relations.targets.get(kind)
    if target is None:
        return None
    return posixpath.normpath(target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target))


def _read_part(archive: zipfile.ZipFile, part: str, reader: _Reader, name: str) -> None:
    num_bytes = 0
    with archive.open(part) as file:
        while block := file.read(_BLOCK_BYTES):
            num_bytes += len(block)
            if num_bytes > _MAX_BYTES:
                raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)
            reader.feed(block)
    reader.feed(b"", is_last=True)


class _Reader:
    """Base of the readers of one part. They handle elements by name, without namespace."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = lambda element, attributes: self.start(
            _local(element), {_local(key): value for key, value in attributes.items()}
        )
        self._parser.EndElementHandler = lambda element: self.end(_local(element))
        self._parser.CharacterDataHandler = self.characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        self._parser.Parse(block, is_last)

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def characters(self, text: str) -> None: ...

    def _refuse_doctype(self, *_: object) -> None:
        raise expat.ExpatError("unexpected document type declaration")


class _Relations(_Reader):
    """``targets`` by the last word of their kind."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship":
            self.targets.setdefault(attributes.get("Type", "").rpartition("/")[2], attributes.get("Target", ""))


class _Facts(_Reader):
    """Reads the title and author from the properties of the document."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._name = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - of the base
        self._name = name

    def characters(self, text: str) -> None:
        self.values[self._name] = self.values.get(self._name, "") + text


class _Styles(_Reader):
    """``levels`` of headings by the id of the paragraph style; None for styles of generated contents.

    Names of built-in styles are English in any language.
    """

    def __init__(self) -> None:
        super().__init__()
        self._own: dict[str, int | None] = {}
        self._parents: dict[str, str] = {}
        self._id = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        match name:
            case "style":
                self._id = attributes.get("styleId", "")
            case "name" if _CONTENTS.fullmatch(value):
                self._own[self._id] = None
            case "name" if match := _HEADING.fullmatch(value):
                self._own[self._id] = int(match["level"] or 1)
            case "basedOn":
                self._parents[self._id] = value
            case "outlineLvl":
                self._own.setdefault(self._id, _outline_level(value))

    @property
    def levels(self) -> dict[str, int | None]:
        return {style: self._level(style) for style in {*self._own, *self._parents}}

    def _level(self, style: str) -> int | None:
        for _ in range(_MAX_STYLES_ABOVE):
            if style in self._own or style not in self._parents:
                break
            style = self._parents[style]
        return self._own.get(style, 0)


def _outline_level(value: str) -> int:
    """Return the level of a heading by its outline level from 0, or 0 for text."""
    return int(value) + 1 if value.isdecimal() and int(value) < _MAX_LEVEL else 0


class _Document(_Reader):
    """``blocks`` of the visible text."""

    def __init__(self, levels: dict[str, int | None]) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self._levels = levels
        # A text box contains paragraphs inside a paragraph.
        self._open: list[list[str]] = []
        self._open_levels: list[int | None] = []
        self._omitted_depth = 0
        self._is_in_text = False
        self._is_in_run = False
        self._is_hidden = False  # the text of the run
        self._alignment = ""  # of the run: "superscript" or "subscript"
        self._raised: list[str] = []  # the text of such a run

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._omitted_depth or name in _OMITTED:
            self._omitted_depth += 1
            return
        match name:
            case "p":
                self._open.append([])
                self._open_levels.append(0)
            case "pStyle" if self._open:
                self._open_levels[-1] = self._levels.get(attributes.get("val", ""), 0)
            case "outlineLvl" if self._open:
                self._open_levels[-1] = _outline_level(attributes.get("val", "")) or self._open_levels[-1]
            case "r":
                self._is_in_run, self._is_hidden, self._alignment = True, False, ""
            case "vertAlign" if self._is_in_run:
                self._alignment = attributes.get("val", "")
            case "vanish" if self._is_in_run:
                self._is_hidden = attributes.get("val", "") not in _OFF
            case "t":
                self._is_in_text = True
            case "tab":
                self._add(" ")
            case "br" | "cr":
                self._add("\n")
            case "noBreakHyphen":
                self._add("-")

    def end(self, name: str) -> None:
        if self._omitted_depth:
            self._omitted_depth -= 1
            return
        match name:
            case "p" if self._open:
                text, level = "".join(self._open.pop()).strip(), self._open_levels.pop()
                if level is not None:
                    self.blocks.append(Block(text, level))
            case "r":
                self._end_raised()
                self._is_in_run = self._is_hidden = False
            case "t":
                self._is_in_text = False

    def characters(self, text: str) -> None:
        if self._is_in_text and not self._omitted_depth:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._open and not self._is_hidden:
            is_raised = self._is_in_run and self._alignment in ("superscript", "subscript")
            (self._raised if is_raised else self._open[-1]).append(text)

    def _end_raised(self) -> None:
        """Write powers and indices in their own characters, and leave out note marks."""
        if not self._raised:
            return
        words, self._raised = "".join(self._raised), []
        if self._alignment == "superscript":
            written = written_superscript(words.strip(), "".join(self._open[-1][-3:]))
        else:
            written = written_subscript(words.strip())
        self._open[-1].append(words if written is None else written)


def _local(element: str) -> str:
    return element.rpartition(" ")[2]
