"""Text of an EPUB book: chapters, paragraphs, footnotes, title, author and cover.

Sources: EPUB 3.3 (W3C) and EPUB 2.0.1. The file is not trusted: its parts are read with a size limit, and its pages
without resolving anything (``studio/project/importing/markup.py``). What is missing is named, and the rest is read.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from urllib.parse import unquote, urldefrag

import regex

from studio.audio.m4b import is_cover
from studio.errors import UnreadableScript
from studio.messages import message
from studio.project.importing.blocks import PART_TITLES, SCENE_LEVEL, Block, Book
from studio.project.importing.markup import Anchor, Contents, Page, Parser, hidden_classes
from studio.project.importing.text_file import decode_declared
from studio.project.splitting import unwrap

_MAX_BYTES_PER_PART = 32 << 20
_MAX_BYTES = 256 << 20
_MAX_COVER_BYTES = 16 << 20
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(LookupError, ValueError, RuntimeError),
)
_COVER_TYPES = ("image/jpeg", "image/png")
_PAGE_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml", "text/xml")
_PAGE_SUFFIXES = (".xhtml", ".html", ".htm", ".xml")
_DECLARED_ENCODING = regex.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.\-]+)|<meta[^>]*?charset\s*=\s*["']?([\w.\-]+)"""
)
_HEAD_BYTES = 2048
_NOT_IN_TITLES = regex.compile(r"[^\p{L}\p{N}]+")
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_ROMAN_NUMERALS = "i ii iii iv v vi vii viii ix x xi xii"
_NUMBERS = {word: str(at) for at, word in enumerate(_NUMBER_WORDS.split(" "))}
_NUMBERS |= {word: str(at) for at, word in enumerate(_ROMAN_NUMERALS.split(" "), 1)}
_MAX_TITLE_BLOCKS = 4
_MATTER = frozenset(
    {"toc", "toc-brief", "landmarks", "page-list", "loi", "lot", "copyright-page", "colophon", "index", "bibliography"}
    | {"titlepage", "title-page", "halftitlepage", "cover", "imprint", "seriespage"}
    | {"endnotes", "doc-endnotes", "rearnotes"}
)


def decode_page(content: bytes) -> str:
    """Return the text of an XML or HTML file: by its byte order mark, else as it declares, else as UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if content[:4] in (b"<\0?\0", b"<\0h\0", b"<\0!\0"):
        return content.decode("utf-16-le", "replace")
    if content[:4] in (b"\0<\0?", b"\0<\0h", b"\0<\0!"):
        return content.decode("utf-16-be", "replace")
    declared = _DECLARED_ENCODING.search(content[:_HEAD_BYTES])
    name = next(filter(None, declared.groups()), b"").decode("ascii") if declared else ""
    for encoding in ("utf-8-sig", name, "cp1252"):
        try:
            if encoding:
                return decode_declared(content, encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("utf-8", "replace")


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

    @property
    def is_page(self) -> bool:
        return self.media_type in _PAGE_TYPES or (
            not self.media_type.startswith("image/") and self.path.lower().endswith(_PAGE_SUFFIXES)
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the table of contents, with the name of its place in the page, or an empty one."""

    anchor: str
    title: str
    level: int


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._num_bytes = 0
        self._names = {_key(each): each for each in archive.namelist()}

    def read(self) -> Book:
        package_path = _Package(self._text("META-INF/container.xml")).root_file or self._only_package()
        package = _Package(self._text(package_path))
        base = posixpath.dirname(package_path)
        items = {key: _item(base, attributes) for key, attributes in package.items.items()}
        spine = [items[key] for key in package.spine if key in items]
        self._require_unprotected({_key(item.path) for item in spine})
        book = Book(title=unwrap(package.title), author=", ".join(map(unwrap, package.authors)))
        cover = self._cover(package, items)
        book.cover = cover if cover and is_cover(cover) else None
        entries = self._entries(package, items)
        hidden = hidden_classes("".join(self._text(item.path) for item in items.values() if self._is_style(item)))
        sections: list[_Section] = []
        missing: list[str] = []
        for item in spine:
            if "nav" in item.properties or not item.is_page:
                continue
            if _key(item.path) not in self._names:
                missing.append(posixpath.basename(item.path))
                continue
            is_matter = any(
                kind.removeprefix("other.") in _MATTER and _key(_join(base, target)) == _key(item.path)
                for target, kind in package.guide
            )
            sections.append(_Section.of(self._text(item.path), entries.get(_key(item.path), []), hidden, is_matter))
        book.blocks, book.chapter_level = _blocks_of(sections)
        if missing:
            book.notices = (message("Missing in the book: {names}.", names=missing),)
        if cover and not book.cover:
            book.notices += (message("The cover is a damaged image, and is left out."),)
        return book

    def _is_style(self, item: _Item) -> bool:
        return item.media_type == "text/css" and _key(item.path) in self._names

    def _only_package(self) -> str:
        return next((name for name in self._archive.namelist() if name.lower().endswith(".opf")), "")

    def _bytes(self, path: str, most: int = _MAX_BYTES_PER_PART) -> bytes:
        with self._archive.open(self._names[_key(path)]) as file:
            content = file.read(most + 1)
        self._num_bytes += len(content)
        if len(content) > most or self._num_bytes > _MAX_BYTES:
            raise UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=self._name)
        return content

    def _text(self, path: str) -> str:
        return decode_page(self._bytes(path))

    def _require_unprotected(self, paths: set[str]) -> None:
        """Raise ``UnreadableScript`` if chapters are encrypted. Encrypted fonts do not matter."""
        if _key("META-INF/encryption.xml") not in self._names:
            return
        if paths & {_key(path) for path in _Package(self._text("META-INF/encryption.xml")).encrypted}:
            raise UnreadableScript(
                "{name} is copy-protected.", remedy="Import a copy without protection.", name=self._name
            )

    def _cover(self, package: _Package, items: dict[str, _Item]) -> bytes | None:
        found = next((item for item in items.values() if "cover-image" in item.properties), items.get(package.cover_id))
        if found is None or found.media_type not in _COVER_TYPES or _key(found.path) not in self._names:
            return None
        return self._bytes(found.path, _MAX_COVER_BYTES)

    def _entries(self, package: _Package, items: dict[str, _Item]) -> dict[str, list[_Entry]]:
        """Return the entries of the table of contents by the path of their file."""
        candidates = [item for item in items.values() if "nav" in item.properties]
        candidates += [items[key] for key in (package.contents_id,) if key in items]
        candidates += [item for item in items.values() if item.media_type == "application/x-dtbncx+xml"]
        for contents in candidates:
            if _key(contents.path) not in self._names:
                continue
            found: dict[str, list[_Entry]] = {}
            for target, title, level in Contents(self._text(contents.path)).entries:
                path, anchor = urldefrag(target)
                joined = _join(posixpath.dirname(contents.path), path) if path else contents.path
                found.setdefault(_key(joined), []).append(_Entry(unquote(anchor), title, level))
            if found:
                return found
        return {}


def _key(path: str) -> str:
    """Return a form of the path in which the variants that programs write are equal."""
    return posixpath.normpath(path.replace("\\", "/").lstrip("/")).casefold()


def _item(base: str, attributes: dict[str, str]) -> _Item:
    properties = frozenset(attributes.get("properties", "").split())
    return _Item(_join(base, attributes.get("href", "")), attributes.get("media-type", ""), properties)


def _join(base: str, target: str) -> str:
    path = unquote(urldefrag(target).url).replace("\\", "/")
    return posixpath.normpath(posixpath.join(base, path))


@dataclass(frozen=True, slots=True)
class _Section:
    """A page of the book: its blocks, and for some of them the entry of the contents that begins there."""

    blocks: list[Block]
    entries: dict[int, list[_Entry]]

    @classmethod
    def of(cls, text: str, entries: Sequence[_Entry], hidden: frozenset[str], is_matter: bool) -> _Section:
        page = Page(text, {entry.anchor for entry in entries if entry.anchor}, hidden)
        if is_matter or not _MATTER.isdisjoint(page.roles):
            page.blocks = [replace(block, is_matter=True) for block in page.blocks]
        positions = {anchor.name: anchor.position for anchor in reversed([*page.anchors, Anchor("", 0)])}
        begun: dict[int, list[_Entry]] = {}
        for entry in entries:
            begun.setdefault(positions.get(entry.anchor, 0), []).append(entry)
        return cls(page.blocks, begun)


def _blocks_of(sections: Sequence[_Section]) -> tuple[list[Block], int | None]:
    """Return the blocks with headings from the contents, and the level of chapters; None without contents.

    Other headings are chapters if their tag is one of those that begin entries, else scenes.
    """
    entries = [entry for section in sections for begun in section.entries.values() for entry in begun]
    if not entries or not any(section.blocks for section in sections):
        return [block for section in sections for block in section.blocks], None
    has_parts = any(entry.level == 1 and PART_TITLES.match(entry.title) for entry in entries) and any(
        entry.level > 1 for entry in entries
    )
    chapter_level = 2 if has_parts else 1
    beginnings = [
        section.blocks[at].level
        for section in sections
        for at, begun in section.entries.items()
        if at < len(section.blocks) and min(entry.level for entry in begun) <= chapter_level
    ]
    deepest_tag = max(beginnings, default=0)
    found: list[Block] = []
    for section in sections:
        places = sorted({0, *section.entries})
        for at, stop in pairwise([*places, len(section.blocks)]):
            *others, last = section.entries.get(at, [None])
            blocks = section.blocks[at:stop]
            if last is not None:
                same = [entry for entry in others if entry and _words(entry.title) == _words(last.title)]
                found += [Block(entry.title, level=entry.level) for entry in others if entry and entry not in same]
                last = replace(last, level=min(entry.level for entry in (*same, last)))
                heading, num_read = _heading(last, blocks[:_MAX_TITLE_BLOCKS])
                found.append(replace(heading, is_matter=any(block.is_matter for block in blocks)))
                blocks = blocks[num_read:]
            found += [
                replace(block, level=chapter_level if block.level <= deepest_tag else SCENE_LEVEL)
                if block.level
                else block
                for block in blocks
            ]
    return found, chapter_level


def _heading(entry: _Entry, following: Sequence[Block]) -> tuple[Block, int]:
    """Return the heading of an entry, and how many of the following blocks it replaces, which repeat its title.

    A heading that says less than the contents, such as “3” for “Chapter 3”, is replaced by the entry.
    """
    title = rest = _words(entry.title)
    num_read = 0
    for block in following:
        words = _words(block.text)
        if not words or not block.is_spoken or rest[: len(words)] != words:
            break
        rest = rest[len(words) :]
        num_read += 1
    if num_read or not following or not following[0].level:
        return Block(entry.title, level=entry.level), num_read
    headings = list(takewhile(lambda block: block.level, following))
    if not any(_words(block.text) == title for block in headings):
        parts = list(takewhile(lambda block: set(_words(block.text)) <= set(title), headings))
        if parts:
            return Block(entry.title, level=entry.level), len(parts)
        headings = headings[:1]
    return Block(". ".join(block.text for block in headings), level=entry.level), len(headings)


def _words(title: str) -> list[str]:
    return [_NUMBERS.get(word, word) for word in _NOT_IN_TITLES.split(title.casefold()) if word]


class _Package(Parser):
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
        self.guide: list[tuple[str, str]] = []  # targets and kinds of pages in a book of EPUB 2
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
            case "reference":
                self.guide.append((attributes.get("href", ""), attributes.get("type", "").lower()))
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
