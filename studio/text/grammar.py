"""Numbers, dates and units in words: the grammars of wetext, loaded on first use, and rules that supplement them.

Decision: wetext 0.1.8, which includes its grammars and works offline. Reason: they handle dates and units in Chinese,
English and Japanese well. Rules in ``chinese.py`` and ``english.py`` correct their known errors, each with a test.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Protocol

import regex

from studio.text.language import Language
from studio.text.number_words import chinese_cardinal, english_cardinal

_LATIN_WORD = regex.compile(r"([A-Za-z]{3,})")
# The grammars leave text without these as it is, but take ten milliseconds for 1,000 unknown characters.
_NEEDS_GRAMMAR = regex.compile(r"[0-9+×÷*/=<>%‰°℃℉¥￥$€£@&~～㎡㎥㎏㎎㎞㎝㎜㏄½⅓⅔¼¾⅛⅜⅝⅞-]")
_DIGITS = regex.compile(r"[0-9]+")
# The documentation of kaldifst does not state whether its graphs are thread-safe.
_lock = threading.Lock()


class _Normalizer(Protocol):
    def normalize(self, text: str) -> str: ...


@cache
def _normalizer(language: Language) -> _Normalizer:
    # The import takes a quarter of a second, which should not delay the window.
    from wetext import Normalizer  # noqa: PLC0415

    normalizer: _Normalizer = Normalizer(lang=language.value, operator="tn")
    return normalizer


def normalize_with_grammar(text: str, language: Language) -> str:
    """Return ``text`` with numbers, dates and units as words, in Chinese, English or Japanese.

    White space at both ends stays. ``text`` must not contain backslashes: wetext uses them as escapes, and they are
    removed from its output.
    """
    body = text.strip()
    if not body:
        return text
    left = text[: len(text) - len(text.lstrip())]
    right = text[len(text.rstrip()) :]
    return left + _spell_out_body(body, language) + right


def normalize_between_words(text: str, language: Language) -> str:
    """Return ``normalize_with_grammar`` of the parts of a Chinese or Japanese text between Latin words.

    WORKAROUND for wetext, which reads the m of "50 morning" as metres.
    """
    parts = _LATIN_WORD.split(text)
    parts[::2] = (
        normalize_with_grammar(part, language) if _NEEDS_GRAMMAR.search(part) else part for part in parts[::2]
    )
    return "".join(parts)


def _spell_out_body(body: str, language: Language) -> str:
    with _lock:
        spoken = _try(body, language)
    if spoken is not None:
        return spoken
    # WORKAROUND for wetext's English grammar, which has no output if an unknown sign is next to a number.
    words = body.split()
    if len(words) > 1:
        middle = len(words) // 2
        halves = (" ".join(words[:middle]), " ".join(words[middle:]))
        return " ".join(_spell_out_body(half, language) for half in halves)
    if language is Language.ENGLISH:
        return _DIGITS.sub(lambda match: f" {english_cardinal(match.group())} ", body).strip()
    return _DIGITS.sub(lambda match: chinese_cardinal(match.group()), body)


def _try(body: str, language: Language) -> str | None:
    try:
        return _normalizer(language).normalize(body).replace("\\", "") or None
    except AssertionError:  # the grammar has no output for this text
        return None
