"""Text with masked tags, and its division into paragraphs, clauses and sentences (specification B2).

The masked text has the same length as the written text, so offsets are valid in both, and rules for words and sentences
apply to words only. Cuts are offsets after an end mark and the closing quotes and tags that follow it. The official
program cuts normalised text after every mark. These rules apply to the written text, in which the points of 3.14,
example.com, Dr. Smith and J. K. Rowling are not end marks. Text that is still arriving is split as well.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import regex

from studio.text.cleaning import MARKUP
from studio.text.language import Language
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


_CLOSERS = rf"(?:[\"”’」』〉》】）)\]}}{CLOSING}]|'(?=\s|\Z))*+"


def _runs_of(marks: str) -> regex.Pattern[str]:
    """Return a pattern for ``marks`` with closing quotes, brackets and tags. An ellipsis alone does not match."""
    return regex.compile(rf"…*+[{marks}][{marks}…]*+{_CLOSERS}")


_CHINESE_END = _runs_of("。？！；：、．.?!;")
_OTHER_END = _runs_of(r"\p{STerm}．;:；：")
_SENTENCE_END = _runs_of(r"\p{STerm}．")
_NUMBER_MARKS = ".．:：、"
_MAY_FOLLOW = "\"'(*[<-"
_WORD_BEFORE = regex.compile(r"([\p{L}\p{M}.]+)\Z")
_NEXT_WORD = regex.compile(rf"[\s\"'“‘(\[~≈$£€¥#±{OPENING}{SOUND}]*(\w)")
_NUMERAL = regex.compile(r"\d|[IVXL]+\b")
_HAS_LETTER = regex.compile(rf"[\p{{L}}{PHONE}{SOUND}]")
_INITIALS = regex.compile(r"(?:\p{L}\.)+\p{L}|(?!I)\p{Lu}")  # U.S, p.m, J
# Abbreviations that never end a sentence, and those that do not end one before a number.
_TITLES = "mr mrs ms dr prof st messrs gen maj capt lt sgt rev hon gov sen rep pres mt vs cf approx al ca"
_BEFORE_NUMBER = "no nos fig figs sec vol vols ch pp p art eq jan feb mar apr jun jul aug sep sept oct nov dec ext sc ll rm op para c"
_NEVER_LAST = frozenset(_TITLES.split())
_NEVER_LAST_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())

_COMMA = regex.compile(r"[,，、;；:：—–…()（）](?=\s|[^\x00-\x7f])|[，、；：—…）]")
_BLANK = regex.compile(r"\s")
_UNBREAKABLE = regex.compile(rf"(?:[A-Za-z0-9]{{2}}|\d[.,:]|[.,:]\d|[{SOUND}{OPENING}{CLOSING}{PHONE}{PAUSE}]{{2}})\Z")
_SEARCHED_CHARACTERS = 40  # share of the length on each side of the middle
_JOINS_PREVIOUS = regex.compile(r"[\p{M}\p{P}\p{Cf}\p{EMod}]")


def cut_points(masked: str, language: Language) -> list[int]:
    """Return the offsets after the clauses of ``masked``, which are later joined into sentences."""
    return _cuts(masked, _CHINESE_END if language.writes_without_spaces else _OTHER_END)


def sentence_ends(masked: str) -> list[int]:
    """Return the offsets after whole sentences, in any language: fewer than :func:`cut_points`."""
    return _cuts(masked, _SENTENCE_END)


def _cuts(masked: str, pattern: regex.Pattern[str]) -> list[int]:
    cuts: list[int] = []
    for match in pattern.finditer(masked):
        if _is_end(masked, match.start(), match.end(), cuts[-1] if cuts else 0):
            cuts.append(match.end())
    return cuts


def _is_end(masked: str, start: int, end: int, piece_start: int) -> bool:
    before, mark, after = masked[start - 1 : start], masked[start], masked[end : end + 1]
    if before.isdigit() and after.isdigit() and mark in _NUMBER_MARKS:
        return False  # 3.14, 10:30, 2、3个
    if not mark.isascii():
        return True
    if after == "–" and mark == ".":
        return False  # Jan.–Mar.
    if after.isascii() and after and not (after.isspace() or after in _MAY_FOLLOW):
        return False  # example.com, 5:30pm, e.g.,
    return mark != "." or _point_ends(masked, start, end, piece_start)


def _point_ends(masked: str, start: int, end: int, piece_start: int) -> bool:
    following = _NEXT_WORD.match(masked, end)
    if following is None:
        return True
    if following[1].islower() or not _HAS_LETTER.search(masked, piece_start, start):
        return False  # "approx. five", "1. First"
    word = _WORD_BEFORE.search(masked, max(0, start - 20), start)
    if word is None:
        return True
    name = word[1].lower()
    return not (
        name in _NEVER_LAST
        or _INITIALS.fullmatch(word[1])
        or (name in _NEVER_LAST_BEFORE_NUMBER and _NUMERAL.match(masked, following.start(1)))
    )


def split_near_middle(masked: str) -> int:
    """Return the best cut point of a piece without usable end marks.

    It is after the comma nearest to the middle, or else after the nearest space, if that is within the middle three
    fifths. Otherwise it is the nearest position between two separable characters. ``masked`` has at least two
    characters.
    """
    length = len(masked)
    for pattern in (_COMMA, _BLANK):
        offsets = [match.end() for match in pattern.finditer(masked)]
        at = _nearest(offsets, length / 2)
        if at is not None and length / 5 <= at <= length * 4 / 5:
            return at
    for distance in range(min(length // 2, _SEARCHED_CHARACTERS)):
        for at in (length // 2 + distance, length // 2 - distance):
            if 0 < at < length and _is_separable(masked, at):
                return at
    return max(1, length // 2)


def _is_separable(masked: str, at: int) -> bool:
    """Return whether a cut at ``at`` is outside words, numbers, tags and combined characters."""
    return not _UNBREAKABLE.search(masked, max(0, at - 1), at + 1) and not _JOINS_PREVIOUS.match(masked, at)


def _nearest(offsets: list[int], target: float) -> int | None:
    if not offsets:
        return None
    index = bisect.bisect(offsets, target)
    return min(offsets[max(0, index - 1) : index + 1], key=lambda offset: abs(offset - target))


# Words that are read alike in every context, as long as their neighbours are such words.
_WORD = regex.compile(r"\S+")
_PLAIN_WORD = regex.compile(r"(?!\p{Lu}{2})[\p{L}\p{M}'’]*[\p{Latin}\p{Cyrillic}\p{Greek}][\p{L}\p{M}'’]*,?")
_PLAIN_GAP = regex.compile(r"[ \t]+")
_CHINESE_CLAUSE = regex.compile(r"(?<=\p{Han}{4}[，、；：])(?=\p{Han}{2})")


def fragment_ends(layout: Layout) -> list[int]:
    """Return offsets at which a sentence that is still being written can be cut without changing its reading.

    They are between the second and third of four plain words, of which another word follows, and after clauses in
    Chinese. More text adds offsets but does not remove any.
    """
    words = list(_WORD.finditer(layout.masked))
    is_plain = [
        _PLAIN_WORD.fullmatch(word.group()) is not None
        and _PLAIN_GAP.fullmatch(layout.masked, word.end(), following.start()) is not None
        for word, following in pairwise(words)
    ]
    ends = [words[index + 1].end() for index in range(len(is_plain) - 3) if all(is_plain[index : index + 4])]
    ends += [match.start() for match in _CHINESE_CLAUSE.finditer(layout.masked)]
    return sorted(end for end in ends if not (layout.is_within_span(end) or layout.is_within_open_span(end)))


# Longer text without an end mark is cut at a comma, to limit the delay.
MAX_PENDING_CHARACTERS = 240
_SHORT_CHARACTERS = 20
_WRAPPED_LINE_CHARACTERS = 50

_NON_SPACE = regex.compile(r"\S")
_LINE_BREAK = regex.compile(r"\r\n|\r(?!\Z)|[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_SMALL_LETTER_FOLLOWS = regex.compile(r"(?<![ \t])[ \t]*+(?:\r\n|\n)(?=\p{Ll})")
_SPLIT_WORD = regex.compile(r"\p{Ll}[-‐\xad¬][ \t]*\Z")  # beauti-, at the end of a line
# Open markup of more characters is text.
_MAX_MARKUP_CHARACTERS = 2000


class IncrementalSplitter:
    """Returns the complete sentences of text that arrives in pieces, as soon as no more text can change their end.

    The concatenated results equal the input, except that a line break within a wrapped sentence becomes a space.
    A sentence shorter than 20 characters is joined with the next one of the same call, because short utterances sound
    clipped.
    """

    def __init__(self, tags: TagSet) -> None:
        self._tags = tags
        self._pending = ""
        self.is_begun = False  # whether a sentence of the pending text is being spoken, so that it is not cut

    @property
    def pending(self) -> str:
        """The text of incomplete sentences."""
        return self._pending

    def take(self, length: int) -> str:
        """Remove and return the first characters of the pending text."""
        taken, self._pending = self._pending[:length], self._pending[length:]
        return taken

    def feed(self, piece: str) -> list[str]:
        """Add ``piece`` and return the sentences that are complete."""
        self._pending = _unwrapped(self._pending + piece)
        markup = [match.span() for match in MARKUP.finditer(self._pending)]
        known = self._pending
        if markup and markup[-1][1] == len(known) and len(known) - markup[-1][0] < _MAX_MARKUP_CHARACTERS:
            known = known[: markup[-1][0]]  # it may still be open
        ready: list[str] = []
        start = 0
        for match in _LINE_BREAK.finditer(known):
            line = known[start : match.start()]
            if _is_within(markup, match.start()) or _SPLIT_WORD.search(line):
                continue
            if match.end() == len(self._pending) and _may_be_wrapped(line):
                break
            ready += self._sentences(known[start : match.end()], is_whole_line=True)
            start = match.end()
        if not _LINE_BREAK.search(known, start):
            certain = self._sentences(known[start:], is_whole_line=False)
            ready += certain
            start += sum(map(len, certain))
        self._pending = self._pending[start:]
        return _joined(ready)

    def finish(self) -> list[str]:
        """Return the remaining text."""
        rest, self._pending = self._pending, ""
        return [rest] if rest else []

    def _sentences(self, line: str, *, is_whole_line: bool) -> list[str]:
        layout = Layout.of(line, self._tags)
        markup = [match.span() for match in MARKUP.finditer(line)]
        sentences: list[str] = []
        start = 0
        for end in sentence_ends(layout.masked):
            # Whether a point ends a sentence, and whether a quote follows, depends on the next word.
            is_decided = (is_whole_line or _NON_SPACE.search(line, end)) and not _is_within(markup, end)
            if is_decided and not layout.is_within_span(end) and not layout.is_within_open_span(end):
                sentences.append(line[start:end])
                start = end
        if is_whole_line and sentences and not line[start:].strip():
            sentences[-1] += line[start:]
        elif is_whole_line:
            sentences.append(line[start:])
        elif len(line) - start > MAX_PENDING_CHARACTERS and not self.is_begun:
            end = start + split_near_middle(layout.masked[start:])
            if not _is_within(markup, end):
                sentences.append(line[start:end])
        return [sentence for sentence in sentences if sentence]


def _is_within(spans: list[tuple[int, int]], offset: int) -> bool:
    return any(start < offset < end for start, end in spans)


def _unwrapped(text: str) -> str:
    def unwrap(match: regex.Match[str]) -> str:
        if _SPLIT_WORD.search(text, max(0, match.start() - 3), match.start()):
            return match.group()
        line_start = text.rfind("\n", 0, match.start()) + 1
        return " " if match.start() - line_start >= _WRAPPED_LINE_CHARACTERS else match.group()

    return _SMALL_LETTER_FOLLOWS.sub(unwrap, text)


def _may_be_wrapped(line: str) -> bool:
    return len(line) >= _WRAPPED_LINE_CHARACTERS and not _ENDS_SENTENCE.search(line)


def _joined(sentences: list[str]) -> list[str]:
    joined: list[str] = []
    for sentence in sentences:
        if joined and len(joined[-1].strip()) < _SHORT_CHARACTERS and not joined[-1].endswith("\n"):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined
