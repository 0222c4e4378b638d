"""Text of an EPUB book: chapters, paragraphs, footnotes, title, author and cover.

Sources: EPUB 3.3 (W3C) and EPUB 2.0.1. The file is not trusted: its parts are read with a size limit, and markup is
parsed as HTML, so that neither external references nor entities of the file are resolved.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import struct
import zipfile
import zlib
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

import regex

from studio.errors import UnreadableScript
from studio.project.importing.blocks import Block, Book
from studio.project.splitting import unwrap

_MAX_BYTES_PER_PART = 32 << 20
_MAX_BYTES = 256 << 20
_MAX_COVER_BYTES = 16 << 20
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
_COVER_TYPES = ("image/jpeg", "image/png")
_BLOCK_TAGS = frozenset(
    [
        "p",
        "div",
        "li",
        "blockquote",
        "dt",
        "dd",
        "td",
        "th",
        "figcaption",
        "caption",
        "pre",
        "section",
        "article",
        "aside",
        "header",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "ul",
        "ol",
        "dl",
        "table",
        "tr",
        "body",
        "figure",
        "main",
        "address",
    ]
)
_OMITTED_TAGS = frozenset({"head", "script", "style", "svg", "math", "rt", "rp", "nav"})
_VOID_TAGS = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_NOTES = frozenset(
    {"footnote", "endnote", "footnotes", "endnotes", "rearnote", "rearnotes", "doc-footnote", "doc-endnote"}
)
_REFERENCES = frozenset({"noteref", "doc-noteref", "pagebreak", "doc-pagebreak", "backlink", "doc-backlink"})
_NOTE_NUMBER = regex.compile(r"[\s\[(]*(?:\d{1,4}|[*†‡§¶]+|[ivxlc]{1,6})[\s\])]*")


def read_epub(content: bytes, name: str) -> Book:
    """Return the text of a book in reading order. ``name`` is the file name, for errors. Raise ``UnreadableScript``."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Reader(archive, name).read()
    except _ARCHIVE_ERRORS as error:
        raise UnreadableScript(
            "{name} is not a readable EPUB book.", remedy="Save it again as EPUB, or as text.", name=name
        ) from error


@dataclass(frozen=True, slots=True)
class _Item:
    path: str
    media_type: str
    properties: frozenset[str]


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._num_bytes = 0

    def read(self) -> Book:
        package_path = _Package(self._text("META-INF/container.xml")).root_file
        package = _Package(self._text(package_path))
        base = posixpath.dirname(package_path)
        items = {key: _item(base, attributes) for key, attributes in package.items.items()}
        spine = [items[key] for key in package.spine if key in items]
        self._require_unprotected({item.path for item in spine})
        book = Book(title=unwrap(package.title), author=", ".join(map(unwrap, package.authors)))
        book.cover = self._cover(package, items)
        labels = self._labels(package, items)
        for item in spine:
            if "nav" not in item.properties:
                book.blocks += _blocks_of(self._text(item.path), labels.get(item.path))
        return book

    def _bytes(self, path: str, most: int = _MAX_BYTES_PER_PART) -> bytes:
        with self._archive.open(path) as file:
            content = file.read(most + 1)
        self._num_bytes += len(content)
        if len(content) > most or self._num_bytes > _MAX_BYTES:
            raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=self._name)
        return content

    def _text(self, path: str) -> str:
        content = self._bytes(path)
        encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return content.decode(encoding, "replace")

    def _require_unprotected(self, paths: set[str]) -> None:
        """Raise ``UnreadableScript`` if chapters are encrypted. Encrypted fonts do not matter."""
        if "META-INF/encryption.xml" not in self._archive.namelist():
            return
        if paths & _Package(self._text("META-INF/encryption.xml")).encrypted:
            raise UnreadableScript(
                "{name} is copy-protected.", remedy="Import a copy without protection.", name=self._name
            )

    def _cover(self, package: _Package, items: dict[str, _Item]) -> bytes | None:
        found = next((item for item in items.values() if "cover-image" in item.properties), items.get(package.cover_id))
        if found is None or found.media_type not in _COVER_TYPES or found.path not in self._archive.namelist():
            return None
        return self._bytes(found.path, _MAX_COVER_BYTES)

    def _labels(self, package: _Package, items: dict[str, _Item]) -> dict[str, str]:
        """Return the titles in the table of contents by the path of the file in which each begins."""
        contents = next((item for item in items.values() if "nav" in item.properties), items.get(package.contents_id))
        if contents is None or contents.path not in self._archive.namelist():
            return {}
        base = posixpath.dirname(contents.path)
        labels: dict[str, str] = {}
        for target, label in _Contents(self._text(contents.path)).entries:
            path = _join(base, target)
            if "#" not in target and label:
                labels.setdefault(path, label)
        return labels


def _item(base: str, attributes: dict[str, str]) -> _Item:
    properties = frozenset(attributes.get("properties", "").split())
    return _Item(_join(base, attributes.get("href", "")), attributes.get("media-type", ""), properties)


def _join(base: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(base, unquote(urldefrag(target).url)))


def _blocks_of(text: str, label: str | None) -> list[Block]:
    """Return the blocks of a chapter file, with ``label`` from the table of contents if it has no heading."""
    blocks = _Chapter(text).blocks
    if label and blocks and not any(block.level for block in blocks):
        is_repeated = unwrap(blocks[0].text).casefold() == label.casefold()
        blocks = [Block(label, level=1), *blocks[is_repeated:]]
    return blocks


class _Parser(HTMLParser):
    """Base of the parsers: removes namespace prefixes from names."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.prepare()
        self.feed(text)
        self.close()

    def prepare(self) -> None:
        """Set the initial state, before any text is read."""

    def open(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open(_local(tag), {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if _local(tag) not in _VOID_TAGS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.end(_local(tag))


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


class _Package(_Parser):
    """The files that describe a book: container, package and encryption."""

    def prepare(self) -> None:
        self.root_file = ""
        self.items: dict[str, dict[str, str]] = {}
        self.spine: list[str] = []
        self.title = ""
        self.authors: list[str] = []
        self.cover_id = ""
        self.contents_id = ""
        self.encrypted: set[str] = set()
        self._field = ""

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "rootfile":
                self.root_file = self.root_file or attributes.get("full-path", "")
            case "item":
                self.items[attributes.get("id", "")] = attributes
            case "spine":
                self.contents_id = attributes.get("toc", "")
            case "itemref" if attributes.get("linear") != "no":
                self.spine.append(attributes.get("idref", ""))
            case "meta" if attributes.get("name") == "cover":
                self.cover_id = attributes.get("content", "")
            case "cipherreference":
                self.encrypted.add(unquote(attributes.get("uri", "")))
            case "title" if not self.title:
                self._field = tag
            case "creator":
                self._field = tag
                self.authors.append("")

    def end(self, tag: str) -> None:
        if tag == self._field:
            self._field = ""

    def handle_data(self, data: str) -> None:
        if self._field == "title":
            self.title += data
        elif self._field == "creator":
            self.authors[-1] += data


class _Contents(_Parser):
    """Table of contents: a navigation document (EPUB 3) or an NCX file (EPUB 2). ``entries`` are (target, title)."""

    def prepare(self) -> None:
        self.entries: list[tuple[str, str]] = []
        self._target: str | None = None
        self._label = ""

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "a":
                self._target, self._label = attributes.get("href"), ""
            case "navlabel":
                self._label = ""
            case "content":
                self._add(attributes.get("src", ""))

    def end(self, tag: str) -> None:
        if tag == "a" and self._target is not None:
            self._add(self._target)
            self._target = None

    def _add(self, target: str) -> None:
        self.entries.append((target, unwrap(self._label)))

    def handle_data(self, data: str) -> None:
        self._label += data


class _Chapter(_Parser):
    """Reads the blocks of one file of the book."""

    def prepare(self) -> None:
        self.blocks: list[Block] = []
        self._text = ""
        self._level = 0
        self._open: list[tuple[str, str]] = []  # tag and what it contains: "omitted", "note" or ""

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _BLOCK_TAGS:
            self._end_block()
        if tag == "br":
            self._text += "\n"
        if tag in _VOID_TAGS:
            return
        kinds = {*attributes.get("epub:type", "").split(), *attributes.get("role", "").split()}
        is_reference = bool(kinds & _REFERENCES) or (
            tag == "a" and "#" in attributes.get("href", "") and self._is_in("sup")
        )
        if tag in _OMITTED_TAGS or is_reference:
            self._open.append((tag, "omitted"))
        elif tag == "sup":
            self._open.append((tag, "number"))
        else:
            self._open.append((tag, "note" if kinds & _NOTES else ""))
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._level = int(tag[1])

    def end(self, tag: str) -> None:
        if tag in _BLOCK_TAGS:
            self._end_block()
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        kinds = {kind for _, kind in self._open}
        if "omitted" in kinds or ("number" in kinds and _NOTE_NUMBER.fullmatch(data)):
            return
        self._text += regex.sub(r"\s+", " ", data)

    def close(self) -> None:
        super().close()
        self._end_block()

    def _is_in(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def _end_block(self) -> None:
        text, level = self._text.strip(), self._level
        self._text, self._level = "", 0
        if text:
            is_note = any(kind == "note" for _, kind in self._open)
            self.blocks.append(Block(text, level=0 if is_note else level, is_spoken=not is_note))
