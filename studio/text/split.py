"""Cut points of a paragraph (specification B2).

Cuts are offsets after an end mark and the closing quotes and tags that follow it. The official program cuts
normalised text after every mark. These rules apply to the written text, in which the points of 3.14, example.com,
Dr. Smith and J. K. Rowling are not end marks.
"""

from __future__ import annotations

import bisect

import regex

from studio.text.language import Language
from studio.text.layout import CLOSING, OPENING, PAUSE, PHONE, SOUND

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
_NEXT_WORD = regex.compile(rf"[\s\"'“‘(\[{OPENING}{SOUND}]*(\w)")
_HAS_LETTER = regex.compile(rf"[\p{{L}}{PHONE}{SOUND}]")
_INITIALS = regex.compile(r"(?:\p{L}\.)+\p{L}|(?!I)\p{Lu}")  # U.S, p.m, J
# Abbreviations that do not end a sentence, or not before a number.
_TITLES = "mr mrs ms dr prof st messrs gen maj capt lt sgt rev hon gov sen rep pres mt vs cf approx al"
_BEFORE_NUMBER = "no nos fig figs sec vol vols ch pp p art eq jan feb mar apr jun jul aug sep sept oct nov dec"
_NEVER_LAST = frozenset(_TITLES.split())
_NEVER_LAST_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())

_COMMA = regex.compile(r"[,，、;；:：—–…()（）](?=\s|[^\x00-\x7f])|[，、；：—…）]")
_BLANK = regex.compile(r"\s")
_UNBREAKABLE = regex.compile(rf"(?:[A-Za-z0-9]{{2}}|\d[.,:]|[.,:]\d|[{SOUND}{OPENING}{CLOSING}{PHONE}{PAUSE}]{{2}})\Z")
_SEARCHED_CHARACTERS = 40
_JOINS_PREVIOUS = regex.compile(r"[\p{M}\p{P}\p{Cf}\p{EMod}]")


def cut_points(masked: str, language: Language) -> list[int]:
    """Return the offsets after the clauses of ``masked``, which are joined to sentences later."""
    ends = _CHINESE_END if language.writes_without_spaces else _OTHER_END
    return _cuts(masked, ends)


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
        or (name in _NEVER_LAST_BEFORE_NUMBER and following[1].isdigit())
    )


def split_near_middle(masked: str) -> int:
    """Return the best cut point of a piece without usable end marks.

    That is the comma nearest to the middle, if it is in the middle three fifths; else such a space; else the nearest
    place between two separable characters. ``masked`` has at least two characters.
    """
    length = len(masked)
    for pattern in (_COMMA, _BLANK):
        offsets = [match.end() for match in pattern.finditer(masked)]
        at = _nearest(offsets, length / 2)
        if at is not None and length / 5 <= at <= length * 4 / 5:
            return at
    for distance in range(min(length // 2, _SEARCHED_CHARACTERS)):
        for at in (length // 2 + distance, length // 2 - distance):
            if 0 < at < length and is_split_point(masked, at):
                return at
    return max(1, length // 2)


def is_split_point(masked: str, at: int) -> bool:
    """Return whether a cut at ``at`` is outside of words, numbers, tags and combined characters."""
    return not _UNBREAKABLE.search(masked, max(0, at - 1), at + 1) and not _JOINS_PREVIOUS.match(masked, at)


def _nearest(offsets: list[int], target: float) -> int | None:
    if not offsets:
        return None
    index = bisect.bisect(offsets, target)
    return min(offsets[max(0, index - 1) : index + 1], key=lambda offset: abs(offset - target))
