"""Paragraphs and headings of a Markdown document, without markup.

List items and table rows become separate paragraphs. Code blocks, images, footnotes, comments and link targets are
omitted. Inline tags and pronunciations of this program are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import regex

from studio.project.importing.blocks import Block
from studio.project.importing.markup import BLOCK_TAGS, Page
from studio.project.splitting import unwrap

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = regex.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL)
_FOOTNOTE = regex.compile(r"^ {0,3}\[\^[^\]\n]+\]:.*(?:\n(?:[ \t].*|[ \t]*(?=\n[ \t]+\S)))*", regex.MULTILINE)
_FOOTNOTE_MARK = regex.compile(r"\[\^[^\]\n]+\]")
_TASK = regex.compile(r"\A\[[ xX]\][ \t]+")
_TAG_NAME = regex.compile(r"</?([a-z][a-z0-9\-]*)", regex.IGNORECASE)
_KEPT_TAGS = ("strong", "laughter")  # of the models
_REPLACEMENT = "\ufffd"


def blocks_of_markdown(text: str) -> list[Block]:
    """Return the paragraphs and headings of ``text``, each on one line."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - needed for few files

    text = _FRONT_MATTER.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _FOOTNOTE_MARK.sub("", _FOOTNOTE.sub("", text)).replace(_REPLACEMENT, "")
    # Indented paragraphs are text in most documents, not code.
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("code")
    found = ((unwrap(words).replace(_REPLACEMENT, ""), level) for words, level in _paragraphs(parser.parse(text)))
    return [Block(words, level) for words, level in found if words]


def _paragraphs(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yield the text of each paragraph, and the level of a heading, 0 for other text."""
    level = 0
    cells: list[str] | None = None  # of the current row of a table
    for token in tokens:
        match token.type:
            case "heading_open":
                level = int(token.tag[1])
            case "heading_close":
                level = 0
            case "tr_open":
                cells = []
            case "tr_close":
                yield _joined_cells(cells or []), 0
                cells = None
            case "inline":
                words = _TASK.sub("", _plain(token.children or []))
                if cells is None:
                    yield words, level
                else:
                    cells.append(unwrap(words))
            case "html_block":
                yield from ((block.text, block.level) for block in Page(token.content).blocks if block.is_spoken)


def _joined_cells(cells: Sequence[str]) -> str:
    filled = list(filter(None, cells))
    return " ".join(cell if cell[-1] in ",;:.!?…，；：。！？" else f"{cell}," for cell in filled).removesuffix(",")


def _plain(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    is_in_address = False  # a link whose words are its address
    for token in tokens:
        match token.type:
            case "link_open":
                is_in_address = token.info == "auto"
            case "link_close":
                is_in_address = False
            case "text" | "code_inline" if not is_in_address:
                parts.append(token.content)
            case "softbreak" | "hardbreak":
                parts.append("\n")
            case "html_inline":
                name = _TAG_NAME.match(token.content)
                if name and name[1].lower() in _KEPT_TAGS:
                    parts.append(token.content)
                elif name and name[1].lower() in ("br", *BLOCK_TAGS):
                    parts.append("\n")
    return "".join(parts)
