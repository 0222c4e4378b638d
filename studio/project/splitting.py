"""Text that was pasted or opened, cut into lines: at the ends of paragraphs, or of sentences too."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import regex

from studio.errors import StyleNotSupported
from studio.text.generation_tags import COSYVOICE3_TAGS
from studio.text.layout import PHONE, Layout, blocks
from studio.text.split import sentence_ends

# What no line may tear apart, whatever model will speak it: all that any generation knows.
_TAGS = COSYVOICE3_TAGS
# Less than this is spoken badly when alone: "No." goes with its neighbour.
_FEWEST_LETTERS = 5
_LETTER = regex.compile(rf"[\p{{L}}\p{{N}}{PHONE}]")
# “Really?” he asked.
_GOES_ON = regex.compile(r"\s*\p{Ll}")
_BREAK = regex.compile(r"[ \t]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\s*")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff01-\uff60]")
_BLANKS = regex.compile(r"[^\S\n]+")


class SplitMode(Enum):
    """The values are those of ``settings.TEXT_SPLITTING``."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


def split_text(text: str, breaks: SplitMode = SplitMode.SENTENCE) -> list[str]:
    """Texts for lines, without blanks around them; what cannot be spoken (``* * *``) is left out.

    A line break ends a paragraph, unless an editor wrapped the lines. Very short sentences stay with
    their neighbours.
    """
    layout = _layout(text)
    found: list[str] = []
    for start, end in _paragraphs(layout):
        cuts = [start, *(_sentence_cuts(layout, start, end) if breaks is SplitMode.SENTENCE else ()), end]
        for low, high in _long_enough(layout, cuts):
            words = unwrap(text[low:high])
            if layout.is_speakable(low, high):
                found.append(words)
            elif found and layout.marks_between(low, high):
                found[-1] += f" {words}"  # a pause on a line of its own
    return found


def unwrap(text: str) -> str:
    """``text`` on one line; no blank where characters of scripts without blanks meet."""

    def joint(match: regex.Match[str]) -> str:
        before, after = match.string[: match.start()][-1:], match.string[match.end() : match.end() + 1]
        return "" if _WIDE.match(before) and _WIDE.match(after) else " "

    return _BLANKS.sub(" ", _BREAK.sub(joint, text.strip()))


def _layout(text: str) -> Layout:
    try:
        return Layout.of(text, _TAGS)
    except StyleNotSupported:  # an endless pause is a matter of whoever speaks the line
        return Layout(text, text, (), ())


def _paragraphs(layout: Layout) -> Iterator[tuple[int, int]]:
    """From where to where; a pause inside a paragraph does not end it."""
    start = 0
    for block in blocks(layout):
        if block.pause_seconds is None:
            yield start, block.end
            start = block.end
    if start < len(layout.text):
        yield start, len(layout.text)


def _sentence_cuts(layout: Layout, start: int, end: int) -> list[int]:
    cuts = (start + cut for cut in sentence_ends(layout.masked[start:end]))
    return [
        cut for cut in cuts if cut < end and not layout.is_within_span(cut) and not _GOES_ON.match(layout.masked, cut)
    ]


def _long_enough(layout: Layout, cuts: list[int]) -> list[tuple[int, int]]:
    """Pieces with as many letters as can be spoken well: short ones go with the next, the last with the one before."""
    pieces: list[tuple[int, int]] = []
    start = cuts[0]
    for end in cuts[1:]:
        if len(_LETTER.findall(layout.masked, start, end)) >= _FEWEST_LETTERS:
            pieces.append((start, end))
            start = end
    if start < cuts[-1]:
        start = pieces.pop()[0] if pieces else start
        pieces.append((start, cuts[-1]))
    return pieces
