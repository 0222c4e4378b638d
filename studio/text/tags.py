"""Inline tags, pronunciation tokens, and pauses in a text.

They are found before all other processing, so that rules for words cannot damage them. Only what is found here can
become a special token.

Decision: a single token without tone, such as ``[a]`` or ``[B]``, is text; two in a row, or one with a tone or a
stress digit, are pronunciation. Reason: footnotes and multiple-choice answers look the same.
Decision: pronunciation is an error in a generation without phones. Reason: reading "j i" aloud within a sentence is
never intended.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

import regex

from studio.errors import StyleNotSupported
from studio.text.special_tokens import PHONES

LONGEST_PAUSE_SECONDS = 30.0
LONGEST_SPAN_CHARACTERS = 200

_PAUSE = regex.compile(r"\[pause[ \t]+(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})[ \t]*(ms|s)?\]", regex.IGNORECASE)
_BRACKETED = regex.compile(r"\[[\p{Latin}\p{Mn}0-2]{1,10}\]")
# A stress digit, or a letter with a tone mark.
_HAS_TONE = regex.compile(r"\d|[^\x00-\x7f]")
_ALL_PHONES = frozenset(PHONES)


class TagSupport(Enum):
    """Whether the released model was trained with a tag, or only has a token for it."""

    SHIPPED = "shipped"
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True)
class InlineTag:
    """A tag in the text: a sound (``[laughter]``), or the opening of a span (``<strong>``)."""

    text: str
    grade: TagSupport
    closing: str | None = None


@dataclass(frozen=True, slots=True)
class TagSet:
    """Tags of a generation: ``inline`` tags, and ``phones`` for pronunciation."""

    inline: tuple[InlineTag, ...] = ()
    phones: frozenset[str] = frozenset()


class MarkKind(Enum):
    SOUND = "sound"
    OPENING = "opening"
    CLOSING = "closing"
    PHONE = "phone"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class TagSpan:
    """A tag at ``text[start:end]``. ``token`` is its special token (empty for a pause)."""

    start: int
    end: int
    kind: MarkKind
    token: str = ""
    seconds: float = 0.0


def find_marks(text: str, tags: TagSet) -> tuple[TagSpan, ...]:
    """Return all tags of ``text``, in order and not overlapping.

    Raise ``StyleNotSupported`` for a pause longer than 30 s, and for pronunciation tokens in a generation without
    them.
    """
    marks = sorted([*_pauses(text), *_inline(text, tags), *_phones(text, tags)], key=lambda mark: mark.start)
    return tuple(marks)


def spans(marks: tuple[TagSpan, ...]) -> list[tuple[int, int]]:
    """Return the ranges of spans such as ``<strong>…</strong>``, without unclosed or very long ones."""
    found: list[tuple[int, int]] = []
    opened: TagSpan | None = None
    for mark in marks:
        if mark.kind is MarkKind.OPENING:
            opened = mark
        elif mark.kind is MarkKind.CLOSING and opened is not None:
            if mark.token == f"</{opened.token[1:]}" and mark.end - opened.start <= LONGEST_SPAN_CHARACTERS:
                found.append((opened.start, mark.end))
            opened = None
        elif mark.kind is MarkKind.PAUSE:
            opened = None
    return found


def _pauses(text: str) -> Iterator[TagSpan]:
    for match in _PAUSE.finditer(text):
        seconds = float(match[1]) / (1000 if (match[2] or "").lower() == "ms" else 1)
        if seconds > LONGEST_PAUSE_SECONDS:
            raise StyleNotSupported(
                "{tag} is too long: a pause lasts at most {longest:g} seconds.",
                remedy="Write a shorter pause, or several in a row.",
                tag=match.group(),
                longest=LONGEST_PAUSE_SECONDS,
            )
        yield TagSpan(match.start(), match.end(), MarkKind.PAUSE, seconds=seconds)


def _inline(text: str, tags: TagSet) -> Iterator[TagSpan]:
    kinds, pattern = _recogniser(tags)
    for match in pattern.finditer(text) if pattern else ():
        yield TagSpan(match.start(), match.end(), kinds[match.group()], match.group())


@cache
def _recogniser(tags: TagSet) -> tuple[dict[str, MarkKind], regex.Pattern[str] | None]:
    kinds: dict[str, MarkKind] = {}
    for tag in tags.inline:
        kinds[tag.text] = MarkKind.OPENING if tag.closing else MarkKind.SOUND
        if tag.closing:
            kinds[tag.closing] = MarkKind.CLOSING
    longest_first = sorted(kinds, key=len, reverse=True)
    return kinds, regex.compile("|".join(map(regex.escape, longest_first))) if kinds else None


def _phones(text: str, tags: TagSet) -> Iterator[TagSpan]:
    run: list[TagSpan] = []
    for match in _BRACKETED.finditer(text):
        # Text of some systems has decomposed characters.
        token = unicodedata.normalize("NFC", match.group())
        if token not in _ALL_PHONES:
            continue
        if run and run[-1].end != match.start():
            yield from _checked_run(run, tags)
            run = []
        run.append(TagSpan(match.start(), match.end(), MarkKind.PHONE, token))
    yield from _checked_run(run, tags)


def _checked_run(run: list[TagSpan], tags: TagSet) -> list[TagSpan]:
    is_pronunciation = len(run) > 1 or any(_HAS_TONE.search(mark.token) for mark in run)
    if not is_pronunciation:
        return []
    if any(mark.token not in tags.phones for mark in run):
        raise StyleNotSupported(
            "The loaded model does not support pronunciation tokens such as {tokens}.",
            remedy="Spell the word phonetically, or load a Fun-CosyVoice3 model.",
            tokens="".join(mark.token for mark in run),
        )
    return run
