"""Normalisation of text without tags: unspeakable characters are removed, and the rest is brought into spoken form.

Decision: round, square and lenticular brackets mark asides, which are spoken between commas. Reason: narrators read
asides aloud. Alternative: remove the brackets and join the words, as the official program does, which is wrong for
asides and for stage directions. English round brackets stay, because the models support them.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from studio.text.chinese import drop_blanks, normalize_chinese
from studio.text.english import normalize_english
from studio.text.grammar import normalize_with_grammar
from studio.text.language import Language

# Emoji with their joiners, skin tones and keycaps; flags are pairs of regional indicators.
_EMOJI = regex.compile(
    r"[\p{Extended_Pictographic}\U0001f1e6-\U0001f1ff][\ufe0e\ufe0f\u200d\u20e3\p{EMod}\U000e0020-\U000e007f]*"
)
_EXCLAMATIONS = str.maketrans({"‼": "!!", "⁉": "!?", "⁈": "?!", "⁇": "??"})
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code - 0xFEE0).isalnum()}
_FULL_WIDTH_IN_NUMBER = regex.compile(r"(?<=\d)[－．／：](?=\d)|(?<=\d)％|[＄＋＝]")
# Arrows, box drawing and bullets, but not the circle used for zero in Chinese years.
_ORNAMENTS = regex.compile(r"[\u2190-\u21ff\u2500-\u25ca\u25cc-\u27bf\u2022\u2023\u2043\ufffc\ufffd]")
_CHINESE_ZERO = regex.compile(r"(?<=[\p{Han}○])○|○(?=[\p{Han}○])")
# Zero-width joiners, which some scripts need, stay.
_CONTROLS = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}]|(?![\u200c\u200d])\p{Cf}|[\ufe00-\ufe0f\u20e3]")
_BLANKS = regex.compile(r"\s+")
# Only the brackets of a typed <|endofprompt|> are removed. wetext would confuse a backslash with its escapes.
_MARKUP = regex.compile(r"<\||\|>|[\\`|]")

_ASIDE = "\ue010"
_BRACKETS = regex.compile(r"[（）【】［］〔〕〖〗｛｝\[\]{}]")
_BRACKETS_AND_ROUND = regex.compile(r"[（）()【】［］〔〕〖〗｛｝\[\]{}]")
_ASIDE_RUN = regex.compile(rf"\s*{_ASIDE}[\s{_ASIDE}]*")
_PUNCTUATION = regex.compile(r"[\p{P}--[\"'“‘「『《〈@#%&]]", flags=regex.V1)


def clean(text: str) -> str:
    """Return ``text`` without emoji, control characters and ornaments, with each run of white space as one space."""
    text = _MARKUP.sub(" ", _EMOJI.sub(" ", text.translate(_EXCLAMATIONS)))
    text = _BLANKS.sub(" ", text.translate(_FULL_WIDTH))
    text = _FULL_WIDTH_IN_NUMBER.sub(lambda match: chr(ord(match.group()) - 0xFEE0), text)
    text = _CHINESE_ZERO.sub("〇", text)
    text = _CONTROLS.sub("", _ORNAMENTS.sub(" ", text))
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text))


def strip_controls(text: str) -> str:
    """Return ``text`` without control and unassigned characters. Also used for text that is not normalised."""
    return _CONTROLS.sub("", _BLANKS.sub(" ", text))


def parentheses_to_commas(text: str, language: Language) -> str:
    """Replace brackets by commas, except next to other punctuation or at the ends of the text."""
    brackets = _BRACKETS_AND_ROUND if language.writes_without_spaces else _BRACKETS
    text = brackets.sub(_ASIDE, text)
    comma = {Language.CHINESE: "，", Language.JAPANESE: "、"}.get(language, ", ")
    pieces = _ASIDE_RUN.split(text)
    joined = pieces[0]
    for piece in pieces[1:]:
        has_pause = not joined.strip() or not piece.strip() or _PUNCTUATION.fullmatch(joined[-1])
        has_pause = has_pause or _PUNCTUATION.fullmatch(piece[0])
        blank = "" if language.writes_without_spaces or not joined or not piece or piece[0] in ",.;:!?" else " "
        joined += (blank if has_pause else comma) + piece
    return joined


_CACHED_TEXTS = 4096
_SIGNS = regex.compile(r"[\^*_#~～]+")
_GROUPED = regex.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!,?\d)")


@lru_cache(maxsize=_CACHED_TEXTS)
def normalize(text: str, language: Language) -> str:
    """Return ``text`` cleaned and in spoken form. White space at each end becomes at most one space."""
    text = parentheses_to_commas(clean(text), language)
    if language is Language.ENGLISH:
        return normalize_english(text)
    if language is Language.CHINESE:
        return normalize_chinese(text)
    text = _BLANKS.sub(" ", _SIGNS.sub(" ", text))
    if language is Language.JAPANESE:
        text = _GROUPED.sub(lambda match: match.group().replace(",", ""), text)
        return drop_blanks(normalize_with_grammar(text, language))
    return text
