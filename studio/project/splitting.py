"""Splitting of pasted or opened text into lines, at paragraphs or at sentences."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import regex

from studio.errors import StyleNotSupported
from studio.text.split import PHONE, Layout, blocks, sentence_ends
from studio.text.tags import COSYVOICE3_TAGS

# Tags are never split. The model is not yet known, so these are the tags of the generation with the most tags.
_TAGS = COSYVOICE3_TAGS
# Very short texts such as "No." are spoken badly alone, so they are joined to an adjacent sentence.
_MIN_LETTERS = 5
_LETTER = regex.compile(rf"[\p{{L}}\p{{N}}{PHONE}]")
# A sentence continues after a question in quotation marks: “Really?” he asked.
_CONTINUATION = regex.compile(r"\s*\p{Ll}")
_BREAK = regex.compile(r"[ \t]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\s*")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff01-\uff60]")
_WIDE_OR_SHARED = regex.compile(rf"{_WIDE.pattern}|[…—“”‘’]")  # marks that European languages use, too
_BLANKS = regex.compile(r"[^\S\n]+")


class SplitMode(Enum):
    """Values of ``settings.TEXT_SPLITTING``."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"


def split_text(text: str, breaks: SplitMode = SplitMode.SENTENCE) -> list[str]:
    """Return the texts of lines, without parts that cannot be spoken, such as ``* * *``.

    A line break ends a paragraph unless the text is wrapped there. Very short sentences are joined to adjacent ones.
    """
    return [line for paragraph in split_paragraphs(text, breaks) for line in paragraph]


def split_paragraphs(text: str, breaks: SplitMode = SplitMode.SENTENCE) -> list[list[str]]:
    """Return the texts of lines, see ``split_text``, in a list for each paragraph."""
    layout = _layout(text)
    paragraphs: list[list[str]] = []
    for start, end in _paragraphs(layout):
        cuts = [start, *(_sentence_cuts(layout, start, end) if breaks is SplitMode.SENTENCE else ()), end]
        found: list[str] = []
        for low, high in _long_enough(layout, cuts):
            words = unwrap(text[low:high])
            before = found or (paragraphs[-1] if paragraphs else [])
            if layout.is_speakable(low, high):
                found.append(words)
            elif before and layout.marks_between(low, high):
                before[-1] += f" {words}"  # for example a pause tag on a separate line
        if found:
            paragraphs.append(found)
    return paragraphs


def unwrap(text: str) -> str:
    """Return ``text`` on one line, without spaces between Chinese or Japanese characters."""

    def joint(match: regex.Match[str]) -> str:
        before, after = match.string[match.start() - 1], match.string[match.end() : match.end() + 1]
        is_chinese = _WIDE.match(before) or _WIDE.match(after)
        return "" if is_chinese and _WIDE_OR_SHARED.match(before) and _WIDE_OR_SHARED.match(after) else " "

    return _BLANKS.sub(" ", _BREAK.sub(joint, text.strip()))


def _layout(text: str) -> Layout:
    try:
        return Layout.of(text, _TAGS)
    except StyleNotSupported:  # an invalid pause is reported when the line is spoken
        return Layout(text, text, (), ())


def _paragraphs(layout: Layout) -> Iterator[tuple[int, int]]:
    """Yield start and end of each paragraph. A pause does not end a paragraph."""
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
        cut
        for cut in cuts
        if cut < end and not layout.is_within_span(cut) and not _CONTINUATION.match(layout.masked, cut)
    ]


def _long_enough(layout: Layout, cuts: list[int]) -> list[tuple[int, int]]:
    """Return (start, end) of pieces that are long enough to sound natural.

    A short piece is joined to the next piece, and a short last piece to the previous one.
    """
    pieces: list[tuple[int, int]] = []
    start = cuts[0]
    for end in cuts[1:]:
        if len(_LETTER.findall(layout.masked, start, end)) >= _MIN_LETTERS:
            pieces.append((start, end))
            start = end
    if start < cuts[-1]:
        start = pieces.pop()[0] if pieces else start
        pieces.append((start, cuts[-1]))
    return pieces
