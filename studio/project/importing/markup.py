"""Visible text of an HTML or XHTML page: paragraphs, headings, notes, and the places to which a table of contents points.

Markup is parsed as HTML, so that neither external references nor entities of the file are resolved. The work grows
linearly with the size of a page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from html.parser import HTMLParser

import regex

from studio.project.importing.blocks import Block
from studio.project.splitting import unwrap

BLOCK_TAGS = frozenset(
    {
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
    }
    | {"header", "footer", "hr", "ul", "ol", "dl", "table", "tr", "body", "figure", "main", "address", "details"}
    | {"summary", "center", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_OMITTED_TAGS = frozenset({"head", "script", "style", "svg", "math", "rt", "rp", "nav", "template"})
_VOID_TAGS = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NOTES = frozenset(
    {"footnote", "endnote", "footnotes", "endnotes", "rearnote", "rearnotes", "doc-footnote", "doc-endnote"}
)
_REFERENCES = frozenset({"noteref", "doc-noteref", "pagebreak", "doc-pagebreak", "backlink", "doc-backlink"})
_NOTE_MARK = regex.compile(r"(?:\d{1,4}|[*†‡§¶↩↑^]+\ufe0e?|[ivxlc]{1,6}|[a-z])")
_BRACKETED = regex.compile(r"[\[(](?P<mark>[^\[\]()]+)[\])]")
# What is raised to a power: a number that is no year, a variable or unit, or an expression in parentheses.
_RAISED = regex.compile(
    r"(?:(?<!\d)\d{1,3}|(?<!\p{L})(?:\p{L}|[kcdmµn]m|mc|ft|yd|mi)|\([^()\p{L}]*\p{L}?[^()\p{L}]*\))\Z"
)
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_IS_SUPERSCRIPT = regex.compile(r"[+\-−]?(?:\d{1,3}|[ni])")
_IS_SUBSCRIPT = regex.compile(r"\d{1,3}[+\-−]?")
_HIDING_STYLE = regex.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", regex.IGNORECASE)
_HIDING_RULE = regex.compile(r"\.([\w\-]+)\s*\{[^{}]*display\s*:\s*none[^{}]*\}", regex.IGNORECASE)


def written_superscript(words: str, before: str) -> str | None:
    """Return how a superscript after ``before`` is written: a power, or nothing for a note mark; None for other text."""
    if _IS_SUPERSCRIPT.fullmatch(words) and _RAISED.search(before):
        return words.translate(_SUPERSCRIPTS)
    bracketed = _BRACKETED.fullmatch(words)
    is_mark = _NOTE_MARK.fullmatch(bracketed["mark"] if bracketed else words) is not None
    return "" if is_mark and words != "a" else None


def written_subscript(words: str) -> str | None:
    """Return the characters of an index, such as ₂, or None for other text."""
    return words.translate(_SUBSCRIPTS) if _IS_SUBSCRIPT.fullmatch(words) else None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in a page to which the table of contents points: the number of blocks before it."""

    name: str  # empty for the start of the page
    position: int


class Parser(HTMLParser):
    """Base of the parsers: removes namespace prefixes from names."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self._missing: set[str] = set()  # ends that the rest of the page does not contain
        self.prepare()
        # After the last ">", nothing is a tag. HTMLParser would search the rest once for each "<".
        end = text.rfind(">") + 1
        self.feed(text[:end] + text[end:].replace("<", "&lt;"))
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

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Return the end of a comment, or -1. HTMLParser would search the rest of the page for each open comment."""
        end = -1 if "--" in self._missing else super().parse_comment(i, report)
        if end < 0:
            self._missing.add("--")
        return end

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Return the end of a section: CDATA is text, all others are conditions. HTMLParser raises for unknown ones."""
        start = i + len("<![CDATA[")
        if self.rawdata[i:start].upper() == "<![CDATA[" and "]]>" not in self._missing:
            end = self.rawdata.find("]]>", start)
            if end >= 0:
                self.handle_data(self.rawdata[start:end])
                return end + len("]]>")
            self._missing.add("]]>")
        return self.parse_bogus_comment(i, report)


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def hidden_classes(styles: str) -> frozenset[str]:
    """Return the classes whose elements a style sheet hides."""
    return frozenset(_HIDING_RULE.findall(styles))


@dataclass(slots=True)
class _Element:
    tag: str
    kind: str  # "omitted", "note", "reference", "sup", "sub" or ""
    start: int  # the number of parts before it


class Page(Parser):
    """Reads the ``blocks`` of a page, the ``anchors`` among the wanted names, and the ``roles`` of the page."""

    def __init__(self, text: str, wanted: Collection[str] = (), hidden: frozenset[str] = frozenset()) -> None:
        self.blocks: list[Block] = []
        self.anchors: list[Anchor] = []
        self.roles: set[str] = set()  # of the page as a whole
        self._wanted = wanted
        self._hidden = hidden
        self._parts: list[str] = []  # of the current paragraph
        self._num_before = 0  # the number of parts of earlier paragraphs
        self._open: list[_Element] = []
        self._tags: Counter[str] = Counter()  # the open elements
        self._kinds: Counter[str] = Counter()
        self._level = 0  # of the heading that is open
        super().__init__(text)

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in BLOCK_TAGS:
            self._begin_block()
        if tag == "br":
            self._parts.append("\n")
        for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
            if name and name in self._wanted:
                if not self._level:
                    self._end_block()
                self.anchors.append(Anchor(name, len(self.blocks)))
        if tag in _VOID_TAGS:
            return
        kind = self._kind(tag, attributes)
        self._open.append(_Element(tag, kind, self._num_before + len(self._parts)))
        self._tags[tag] += 1
        self._kinds[kind] += 1
        if tag in _HEADINGS:
            self._level = _HEADINGS[tag]

    def _kind(self, tag: str, attributes: dict[str, str]) -> str:
        roles = {*attributes.get("epub:type", "").split(), *attributes.get("role", "").split()}
        if not self.blocks and not self._parts:
            self.roles |= roles
        is_hidden = "hidden" in attributes or _HIDING_STYLE.search(attributes.get("style", "")) is not None
        if tag in _OMITTED_TAGS or is_hidden or roles & _REFERENCES:
            return "omitted"
        if self._hidden and not self._hidden.isdisjoint(attributes.get("class", "").split()):
            return "omitted"
        if roles & _NOTES:
            return "note"
        if tag == "a" and "#" in attributes.get("href", ""):
            return "reference"
        return tag if tag in ("sup", "sub") else ""

    def end(self, tag: str) -> None:
        if tag in BLOCK_TAGS and tag not in _HEADINGS:
            self._begin_block()
        if not self._tags[tag]:
            return
        while True:
            element = self._open.pop()
            self._tags[element.tag] -= 1
            self._kinds[element.kind] -= 1
            if element.kind in ("reference", "sup", "sub"):
                self._close_mark(element)
            if element.tag in _HEADINGS:
                self._end_block()
                self._level = 0
            if element.kind == "note":
                self._end_block(is_note=True)
            if element.tag == tag:
                return

    def _close_mark(self, element: _Element) -> None:
        """Remove a note mark, or write a power or index in its own characters."""
        start = max(0, element.start - self._num_before)
        words = "".join(self._parts[start:]).strip()
        before = "".join(self._parts[max(0, start - 3) : start])
        bracketed = _BRACKETED.fullmatch(words)
        is_mark = _NOTE_MARK.fullmatch(bracketed["mark"] if bracketed else words) is not None
        is_symbol = bracketed is not None or not words[-1:].isalnum()
        if element.kind == "reference":
            is_glued = not before[-1:].isspace() or self._kinds["sup"] > 0
            written = "" if is_mark and (is_glued or is_symbol) else None
        elif element.kind == "sup":
            written = written_superscript(words, before)
        else:
            written = written_subscript(words)
        if written is not None:
            self._parts[start:] = [written] if written else []

    def handle_data(self, data: str) -> None:
        if not self._kinds["omitted"]:
            self._parts.append(regex.sub(r"\s+", " ", data))

    def close(self) -> None:
        super().close()
        self._end_block()

    def _begin_block(self) -> None:
        """End the paragraph; the parts of a heading are one paragraph."""
        if self._level:
            self._parts.append(" ")
        else:
            self._end_block()

    def _end_block(self, *, is_note: bool = False) -> None:
        text = "".join(self._parts).strip()
        self._num_before += len(self._parts)
        self._parts = []
        if text:
            is_note = is_note or self._kinds["note"] > 0
            level = 0 if is_note else self._level
            self.blocks.append(Block(unwrap(text) if level else text, level=level, is_spoken=not is_note))


class Contents(Parser):
    """Table of contents: a navigation document (EPUB 3) or an NCX file (EPUB 2).

    ``entries`` are targets, titles and levels, from 1. Lists of pages and landmarks are not contents.
    """

    def prepare(self) -> None:
        self.entries: list[tuple[str, str, int]] = []
        self._depth = 0
        self._is_other_list = False
        self._target: str | None = None
        self._label: list[str] = []

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "nav":
                kinds = {*attributes.get("epub:type", "toc").split(), *attributes.get("role", "").split()}
                self._is_other_list = not kinds & {"toc", "doc-toc"}
                self._depth = 0
            case "pagelist" | "navlist":
                self._is_other_list = True
            case "ol" | "navpoint":
                self._depth += 1
            case "a":
                self._target, self._label = attributes.get("href"), []
            case "navlabel":
                self._label = []
            case "content":
                self._add(attributes.get("src", ""))

    def end(self, tag: str) -> None:
        if tag == "a" and self._target is not None:
            self._add(self._target)
            self._target = None
        elif tag in ("ol", "navpoint"):
            self._depth -= 1
        elif tag in ("nav", "pagelist", "navlist"):
            self._is_other_list = False

    def _add(self, target: str) -> None:
        title = unwrap("".join(self._label))
        if title and not self._is_other_list:
            self.entries.append((target, title, max(1, self._depth)))

    def handle_data(self, data: str) -> None:
        self._label.append(data)
