"""A text with its marks covered up, so that rules for words and sentences see words only.

The covered text has the length of the written one: an offset means the same in both.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import regex

from studio.text.tags import LONGEST_SPAN_CHARACTERS, MarkKind, TagSet, TagSpan, find_marks, spans

# Private-use characters stand for marks; a person's own (a logo from some font) become blanks.
SOUND, OPENING, CLOSING, PHONE, PAUSE = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
_COVER = {
    MarkKind.SOUND: SOUND,
    MarkKind.OPENING: OPENING,
    MarkKind.CLOSING: CLOSING,
    MarkKind.PHONE: PHONE,
    MarkKind.PAUSE: PAUSE,
}
_SPAN_EDGES = (MarkKind.OPENING, MarkKind.CLOSING, MarkKind.PAUSE)
_SPEAKABLE = regex.compile(rf"[\p{{L}}\p{{N}}{SOUND}{PHONE}]")
_LAST_SPEAKABLE = regex.compile(_SPEAKABLE.pattern, regex.REVERSE)
_PRIVATE_USE = regex.compile(r"\p{Co}")
_LINE_BREAK = regex.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ENDS_SENTENCE = regex.compile(r"[\p{STerm}…：:；;][\p{Pe}\p{Pf}\"'\s]*\Z")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u3000-\u303f\uff01-\uff60]")
_FIRST_WORD = regex.compile(r"\s*(\p{Han}|\p{Hiragana}|\p{Katakana}|\S+)")
_NARROWEST_WRAPPED_COLUMNS = 50


@dataclass(frozen=True, slots=True)
class Layout:
    """``covered`` is the text with every mark replaced by as many private-use characters."""

    text: str
    masked: str
    marks: tuple[TagSpan, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str, tags: TagSet) -> Layout:
        marks = find_marks(text, tags)
        covered: list[str] = []
        position = 0
        for mark in marks:
            covered.append(_PRIVATE_USE.sub(" ", text[position : mark.start]))
            covered.append(_COVER[mark.kind] * (mark.end - mark.start))
            position = mark.end
        covered.append(_PRIVATE_USE.sub(" ", text[position:]))
        return cls(text, "".join(covered), marks, tuple(spans(marks)))

    def marks_between(self, start: int, end: int) -> tuple[TagSpan, ...]:
        low = bisect.bisect_left(self.marks, start, key=lambda mark: mark.start)
        high = bisect.bisect_left(self.marks, end, key=lambda mark: mark.start)
        return self.marks[low:high]

    def is_speakable(self, start: int, end: int) -> bool:
        """Whether anything there can be said: a letter, a number, a sound or a pronunciation."""
        return _SPEAKABLE.search(self.masked, start, end) is not None

    def is_within_span(self, offset: int) -> bool:
        """Whether a cut at ``offset`` would tear an opening tag from its closing one."""
        index = bisect.bisect_left(self.spans, offset, key=lambda span: span[0]) - 1
        return index >= 0 and offset < self.spans[index][1]

    def is_within_open_span(self, offset: int) -> bool:
        """Whether a tag was opened before ``offset`` whose closing one may still come."""
        last = None
        for mark in self.marks_between(offset - LONGEST_SPAN_CHARACTERS, offset):
            last = mark.kind if mark.kind in _SPAN_EDGES else last
        return last is MarkKind.OPENING


class ParagraphEnd(Enum):
    """How the voice ends a block: at the end of a paragraph, or held where the paragraph goes on after a pause."""

    PARAGRAPH = "paragraph"
    CONTINUED = "held"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``covered[start:text_end]``, to be spoken in one breath with nothing of its neighbours.

    A pause the writer asked for follows in ``covered[text_end:end]``.
    """

    start: int
    text_end: int
    end: int
    ending: ParagraphEnd
    pause_seconds: float | None = None


def blocks(layout: Layout) -> Iterator[Paragraph]:
    """Paragraphs, cut again at pauses. A line break ends a paragraph unless the lines are merely wrapped."""
    start = 0
    for paragraph_end in _paragraph_ends(layout.masked):
        last_words = _LAST_SPEAKABLE.search(layout.masked, start, paragraph_end)
        words_end = last_words.end() if last_words else start
        for mark in layout.marks_between(start, paragraph_end):
            if mark.kind is MarkKind.PAUSE:
                ending = ParagraphEnd.CONTINUED if mark.end < words_end else ParagraphEnd.PARAGRAPH
                yield Paragraph(start, mark.start, mark.end, ending, mark.seconds)
                start = mark.end
        if start < paragraph_end:
            yield Paragraph(start, paragraph_end, paragraph_end, ParagraphEnd.PARAGRAPH)
        start = paragraph_end


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    end: int  # behind its line break


def _paragraph_ends(covered: str) -> list[int]:
    """Offsets behind each line break that ends a paragraph; blank lines belong to the paragraph before them."""
    ends: list[int] = []
    gathered: list[_Line] = []
    for line in _lines(covered):
        if line.text.strip():
            gathered.append(line)
            continue
        ends += _ends_within(gathered)
        gathered = []
        if ends:
            ends[-1] = line.end
    ends += _ends_within(gathered)
    return sorted({*ends, len(covered)} - {0})


def _lines(covered: str) -> Iterator[_Line]:
    start = 0
    for match in _LINE_BREAK.finditer(covered):
        yield _Line(covered[start : match.start()], match.end())
        start = match.end()
    if start < len(covered):
        yield _Line(covered[start:], len(covered))


def _ends_within(lines: list[_Line]) -> list[int]:
    """Where a group of lines without blank lines between ends: after every line, or only after the last."""
    if lines and is_wrapped([line.text for line in lines]):
        return [lines[-1].end]
    return [line.end for line in lines]


def is_wrapped(lines: list[str]) -> bool:
    """Whether an editor broke these lines at a margin, rather than a person at a thought.

    Every line is so full that the next line's first word would not have fitted, the margin is no
    narrower than 50 columns, and some sentence plainly goes on in the next line.
    """
    margin = max(_columns(line) for line in lines)
    if margin < _NARROWEST_WRAPPED_COLUMNS:
        return False
    goes_on = False
    for line, following in pairwise(lines):
        first = _FIRST_WORD.match(following)
        assert first is not None, "blank lines end a group of lines"
        needs_blank = not _WIDE.match(first[1])
        if _columns(line) + needs_blank + _columns(first[1]) <= margin:
            return False
        is_open = not _ENDS_SENTENCE.search(line)
        goes_on |= is_open and (first[1][0].islower() or (len(lines) > 2 and not needs_blank))
    return goes_on


def _columns(line: str) -> int:
    line = line.strip()
    return len(line) + len(_WIDE.findall(line))
