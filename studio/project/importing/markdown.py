"""Paragraphs and headings of a Markdown document, without markup.

List items and table rows become separate paragraphs. Code blocks, images, footnote marks, comments and link
targets are omitted. Inline tags and pronunciations of this program are kept.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

import regex

from studio.project.importing.blocks import Block
from studio.project.splitting import unwrap
from studio.text.tags import PHONES

_FRONT_MATTER = regex.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL)
_COMMENT = regex.compile(r"<!--.*?-->", regex.DOTALL)
_FENCE = regex.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = regex.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_UNDERLINE = regex.compile(r" {0,3}(?P<mark>=+|-+)[ \t]*\Z")
_HEADING = regex.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_ITEM = regex.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_QUOTE = regex.compile(r"\A {0,3}(?:>[ \t]?)+")
_DEFINITION = regex.compile(r" {0,3}\[[^\]]+\]:[ \t]")
_TABLE_RULE = regex.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")

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


def blocks_of_markdown(text: str) -> list[Block]:
    """Return the paragraphs and headings of ``text``, each on one line."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _COMMENT.sub("", _FRONT_MATTER.sub("", text))
    found = ((_without_marks(unwrap("\n".join(lines))), level) for lines, level in _paragraphs(text.split("\n")))
    return [Block(words, level) for words, level in found if words]


def _paragraphs(lines: list[str]) -> Iterator[tuple[list[str], int]]:
    """Yield the lines of each paragraph, and the level of a heading, 0 for other text."""
    gathered: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        bare = _QUOTE.sub("", line, count=1)
        heading = _HEADING.match(bare)
        underline = _UNDERLINE.match(bare)
        begins_alone = bool(heading or _ITEM.match(bare) or "|" in bare)
        if gathered and (mark or begins_alone or _ends_paragraph(bare)):
            yield gathered, 0 if underline is None else 1 if underline["mark"][0] == "=" else 2
            gathered = []
        if mark:
            fence = mark[1]
        elif heading:
            yield [heading["title"] or ""], len(heading["marks"])
        elif "|" in bare:
            yield [] if _TABLE_RULE.match(bare) else [_row(bare)], 0
        elif not _ends_paragraph(bare):
            gathered.append(_ITEM.sub("", bare, count=1))
    yield gathered, 0


def _ends_paragraph(line: str) -> bool:
    return not line.strip() or any(kind.match(line) for kind in (_RULE, _UNDERLINE, _DEFINITION))


def _row(line: str) -> str:
    cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return ", ".join(cell for cell in cells if cell)


def _without_marks(text: str) -> str:
    text = _ESCAPE.sub(lambda match: chr(_ESCAPED_FROM + ord(match[1])), text)
    for gone in (_IMAGE, _FOOTNOTE, _ADDRESS, _TAG):
        text = gone.sub("", text)
    text = _NAMED_LINK.sub(lambda match: match[0] if f"[{match['words']}]" in PHONES else match["words"], text)
    for mark in (_LINK, _CODE, _STRONG, _STRONG, _STARRED, _UNDERLINED, _STRUCK):
        text = mark.sub(lambda match: match["words"], text)
    text = html.unescape(text)
    return "".join(chr(ord(each) - _ESCAPED_FROM) if ord(each) >= _ESCAPED_FROM else each for each in text).strip()
