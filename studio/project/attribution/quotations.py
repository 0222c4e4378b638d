"""Quotations in paragraphs, in all common styles: “ ” ‘ ’ " ' « » „ “ 「 」 『 』 and dashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from studio.project.attribution.grammar import Grammar

_CLOSING = {"“": "”", "「": "」", "『": "』", "«": "»", "»": "«", "„": "“”", '"': '"'}
_SINGLE = {"‘": "’", "'": "'"}
_DASH = regex.compile(r"\s*(?:—+|–|--+|―+)\s*(?=\S)")
_MARKED = regex.compile(r"[“”「『«»„\"]|(?<![\p{L}\p{N}])[‘'](?=\p{Lu})")
_END_OF_SPEECH = regex.compile(r"[.,!?;:…—–。！？，；：～-]['’”」』)]*\s*$")
_WORD_BEFORE_SINGLE = regex.compile(r"[\p{L}\p{N}]$")
_END_BEFORE_SINGLE = frozenset('.,!?;:…—–-”"')


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is said without interruption, with its marks: characters ``start`` to ``end`` of a paragraph.

    Attributes:
        continues: Whether it continues the last quotation of the previous paragraph, which has no closing mark.
    """

    paragraph: int
    start: int
    end: int
    continues: bool = False


def find_quotations(paragraphs: Sequence[str], grammar: Grammar) -> list[Quotation]:
    """Return the quotations of ``paragraphs`` in order. Quoted words that nobody says are left out."""
    uses_doubles = sum(text.count("“") + text.count('"') for text in paragraphs) >= sum(
        len(regex.findall(r"(?<![\p{L}\p{N}])[‘'](?=\p{Lu})", text)) for text in paragraphs
    )
    # Beside quotation marks, a dash begins a signature or an item of a list.
    uses_dashes = sum(map(bool, map(_DASH.match, paragraphs))) >= sum(map(bool, map(_MARKED.search, paragraphs)))
    found: list[Quotation] = []
    was_open = False
    for number, text in enumerate(paragraphs):
        dash = _DASH.match(text) if uses_dashes else None
        if dash is not None:
            spans = _dash_spans(text, dash.end(), grammar)
            is_open = False
        else:
            spans, is_open = _spans(text, has_singles=not uses_doubles)
        for position, (start, end) in enumerate(spans):
            continues = was_open and position == 0 and not text[:start].strip()
            before = text[spans[position - 1][1] if position else 0 : start]
            after = text[end : spans[position + 1][0] if position + 1 < len(spans) else len(text)]
            if continues or dash is not None or _is_said(text[start:end], before, after, grammar):
                found.append(Quotation(number, start, end, continues))
        was_open = is_open
    return found


def _spans(text: str, *, has_singles: bool) -> tuple[list[tuple[int, int]], bool]:
    """Return the outer quotations of a paragraph, and whether the last has no closing mark."""
    spans: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        mark = text[position]
        end: int | None = None
        if mark in _CLOSING:
            end = _end(text, position, _CLOSING[mark])
        elif mark in _SINGLE and has_singles and _opens_single(text, position):
            end = _end_of_single(text, position, _SINGLE[mark])
        else:
            position += 1
            continue
        if end is None:
            return [*spans, (position, len(text))], mark != "'"
        spans.append((position, end))
        position = end
    return spans, False


def _end(text: str, start: int, closing: str) -> int | None:
    """Return the position after the closing mark, skipping nested quotations with the same marks."""
    opening, depth = text[start], 0
    for position in range(start + 1, len(text)):
        if text[position] in closing and not (opening == "„" and depth):
            if depth == 0:
                return position + 1
            depth -= 1
        elif text[position] == opening and opening not in closing:
            depth += 1
    return None


def _opens_single(text: str, position: int) -> bool:
    has_word = position + 1 < len(text) and not text[position + 1].isspace()
    return has_word and not _WORD_BEFORE_SINGLE.search(text[:position])


def _end_of_single(text: str, start: int, closing: str) -> int | None:
    """Return the position after the closing mark. An apostrophe follows a letter, the closing mark punctuation."""
    first_apostrophe: int | None = None
    for position in range(start + 1, len(text)):
        if text[position] == closing and not text[position + 1 : position + 2].isalpha():
            if text[position - 1] in _END_BEFORE_SINGLE:
                return position + 1
            first_apostrophe = first_apostrophe or position + 1
        elif text[position] == text[start] and first_apostrophe is not None and _opens_single(text, position):
            return first_apostrophe
    return first_apostrophe


def _dash_spans(text: str, start: int, grammar: Grammar) -> list[tuple[int, int]]:
    """Return what is said in a paragraph that begins with a dash."""
    spans: list[tuple[int, int]] = []
    while start < len(text):
        narration = grammar.find_inquit(text, start)
        if narration is None:
            spans.append((start, len(text)))
            break
        spans.append((start, narration[0]))
        start = narration[1]
    return spans


def _is_said(quoted: str, before: str, after: str, grammar: Grammar) -> bool:
    """Return whether someone says the quoted words, which may also be a title, a sign or words in doubt."""
    words = quoted[1:].rstrip("”’\"'」』»«“")
    if grammar.is_mention(before, words, after):
        return False
    if not before.strip() and not after.strip():
        return True
    return bool(
        _END_OF_SPEECH.search(words)
        or (regex.match(r"\s*[.!?,。！？]?\s*$", after) and not before.strip())
        or grammar.cue_after(after) is not None
        or grammar.cue_before(before) is not None
    )
