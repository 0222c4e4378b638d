"""Text with masked tags, so that rules for words and sentences apply to words only.

The masked text has the same length as the written text, so offsets are valid in both.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import regex

from studio.text.tags import MAX_SPAN_CHARACTERS, MarkKind, TagSet, TagSpan, find_marks, spans

# Private-use characters replace tags. Those in the text, such as logos of a font, become spaces.
SOUND, OPENING, CLOSING, PHONE, PAUSE, LANGUAGE = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
_MASKS = dict(zip(MarkKind, (SOUND, OPENING, CLOSING, PHONE, PAUSE, LANGUAGE), strict=True))
_SPAN_EDGES = (MarkKind.OPENING, MarkKind.CLOSING, MarkKind.PAUSE)
_SPEAKABLE = regex.compile(rf"[\p{{L}}\p{{N}}{SOUND}{PHONE}]")
_LAST_SPEAKABLE = regex.compile(_SPEAKABLE.pattern, regex.REVERSE)
_PRIVATE_USE = regex.compile(r"\p{Co}")
_ENDS_SENTENCE = regex.compile(r"[\p{STerm}…：:；;][\p{Pe}\p{Pf}\"'\s]*\Z")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u3000-\u303f\uff01-\uff60]")
_FIRST_WORD = regex.compile(r"\s*(\p{Han}|\p{Hiragana}|\p{Katakana}|\S+)")
_MIN_WRAPPED_COLUMNS = 50


@dataclass(frozen=True, slots=True)
class Layout:
    """A text and its tags."""

    text: str
    masked: str  # the text with each tag replaced by private-use characters
    marks: tuple[TagSpan, ...]
    spans: tuple[tuple[int, int], ...]  # ranges from an opening tag to its closing tag

    @classmethod
    def of(cls, text: str, tags: TagSet) -> Layout:
        marks = find_marks(text, tags)
        masked: list[str] = []
        position = 0
        for mark in marks:
            masked.append(_PRIVATE_USE.sub(" ", text[position : mark.start]))
            masked.append(_MASKS[mark.kind] * (mark.end - mark.start))
            position = mark.end
        masked.append(_PRIVATE_USE.sub(" ", text[position:]))
        return cls(text, "".join(masked), marks, tuple(spans(marks)))

    def marks_between(self, start: int, end: int) -> tuple[TagSpan, ...]:
        low = bisect.bisect_left(self.marks, start, key=lambda mark: mark.start)
        high = bisect.bisect_left(self.marks, end, key=lambda mark: mark.start)
        return self.marks[low:high]

    def is_speakable(self, start: int, end: int) -> bool:
        """Return whether the range contains a letter, a number, a sound tag or a pronunciation token."""
        return _SPEAKABLE.search(self.masked, start, end) is not None

    def is_within_span(self, offset: int) -> bool:
        """Return whether ``offset`` is between an opening tag and its closing tag."""
        index = bisect.bisect_left(self.spans, offset, key=lambda span: span[0]) - 1
        return index >= 0 and offset < self.spans[index][1]

    def is_within_open_span(self, offset: int) -> bool:
        """Return whether a span that is open at ``offset`` may still be closed."""
        last = None
        for mark in self.marks_between(offset - MAX_SPAN_CHARACTERS, offset):
            last = mark.kind if mark.kind in _SPAN_EDGES else last
        return last is MarkKind.OPENING


class ParagraphEnd(Enum):
    """Intonation at the end of a block."""

    PARAGRAPH = "paragraph"  # final
    CONTINUED = "continued"  # the paragraph continues after a pause


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The block ``masked[start:text_end]``: a paragraph, or a part of it between pauses.

    ``masked[text_end:end]`` is the pause tag that follows, or empty.
    """

    start: int
    text_end: int
    end: int
    ending: ParagraphEnd
    pause_seconds: float | None = None


def blocks(layout: Layout) -> Iterator[Paragraph]:
    """Yield paragraphs, split at pauses. A line break ends a paragraph unless the lines are wrapped."""
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


def _paragraph_ends(masked: str) -> list[int]:
    """Return the offsets after paragraphs. Blank lines belong to the preceding paragraph."""
    ends: list[int] = []
    adjacent: dict[int, str] = {}  # offsets after the lines since the last blank line
    offset = 0
    for line in masked.splitlines(keepends=True):
        offset += len(line)
        if line.strip():
            adjacent[offset] = line.rstrip()
            continue
        ends += _ends_within(adjacent)
        adjacent = {}
        if ends:
            ends[-1] = offset
    ends += _ends_within(adjacent)
    return sorted({*ends, len(masked)} - {0})


def _ends_within(lines: dict[int, str]) -> list[int]:
    """Return the ends of paragraphs in adjacent lines: after every line, or after the last if they are wrapped."""
    return list(lines)[-1:] if lines and is_wrapped(list(lines.values())) else list(lines)


def is_wrapped(lines: list[str]) -> bool:
    """Return whether an editor wrapped these lines at a margin.

    That is assumed if no line has space for the first word of the next one, the margin is at least 50 columns, and
    a sentence clearly continues in the next line.
    """
    margin = max(_columns(line) for line in lines)
    if margin < _MIN_WRAPPED_COLUMNS:
        return False
    continues = False
    for line, following in pairwise(lines):
        first = _FIRST_WORD.match(following)
        assert first is not None, "groups contain no blank lines"
        needs_blank = not _WIDE.match(first[1])
        if _columns(line) + needs_blank + _columns(first[1]) <= margin:
            return False
        is_open = not _ENDS_SENTENCE.search(line)
        continues |= is_open and (first[1][0].islower() or (len(lines) > 2 and not needs_blank))
    return continues


def _columns(line: str) -> int:
    line = line.strip()
    return len(line) + len(_WIDE.findall(line))
