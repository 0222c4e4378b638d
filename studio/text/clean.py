"""What no voice can say is taken out before any rule looks at the words.

Decided: round, square and lenticular brackets are asides: their words are spoken, set off by commas.
Because a narrator reads what stands in brackets, and the official program's way, dropping the brackets
and running the words together, is wrong for asides and for stage directions alike. A direction that is
not to be heard does not belong into the text. English round brackets stay: the models know them.
"""

from __future__ import annotations

import unicodedata

import regex

from studio.text.language import Language

# Emoji with their joiners, skin tones and keycaps; flags are pairs of regional indicators.
_EMOJI = regex.compile(
    r"[\p{Extended_Pictographic}\U0001f1e6-\U0001f1ff][\ufe0e\ufe0f\u200d\u20e3\p{EMod}\U000e0020-\U000e007f]*"
)
_EXCLAMATIONS = str.maketrans({"‼": "!!", "⁉": "!?", "⁈": "?!", "⁇": "??"})
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code - 0xFEE0).isalnum()}
_FULL_WIDTH_IN_NUMBER = regex.compile(r"(?<=\d)[－．／：](?=\d)|(?<=\d)％|[＄＋＝]")
# Arrows, boxes, bullets; but not the circle that Chinese years use for zero.
_ORNAMENTS = regex.compile(r"[\u2190-\u21ff\u2500-\u25ca\u25cc-\u27bf\u2022\u2023\u2043\ufffc\ufffd]")
_CHINESE_ZERO = regex.compile(r"(?<=[\p{Han}○])○|○(?=[\p{Han}○])")
# Joiners of scripts that need them stay.
_UNSPEAKABLE = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}]|(?![\u200c\u200d])\p{Cf}|[\ufe00-\ufe0f\u20e3]")
_BLANKS = regex.compile(r"\s+")
# A typed <|endofprompt|> is words like any other; its brackets are not. A backslash would be taken for
# one of wetext's own.
_NEVER_SPOKEN = regex.compile(r"<\||\|>|[\\`|]")

_ASIDE = "\ue010"
_BRACKETS = regex.compile(r"[（）【】［］〔〕〖〗｛｝\[\]{}]")
_BRACKETS_AND_ROUND = regex.compile(r"[（）()【】［］〔〕〖〗｛｝\[\]{}]")
_ASIDE_RUN = regex.compile(rf"\s*{_ASIDE}[\s{_ASIDE}]*")
_PUNCTUATION = regex.compile(r"[\p{P}--[\"'“‘「『《〈@#%&]]", flags=regex.V1)


def clean(text: str) -> str:
    """``text`` without emoji, control characters and ornaments; every run of white space is one blank."""
    text = _NEVER_SPOKEN.sub(" ", _EMOJI.sub(" ", text.translate(_EXCLAMATIONS)))
    text = _BLANKS.sub(" ", text.translate(_FULL_WIDTH))
    text = _FULL_WIDTH_IN_NUMBER.sub(lambda match: chr(ord(match.group()) - 0xFEE0), text)
    text = _CHINESE_ZERO.sub("〇", text)
    text = _UNSPEAKABLE.sub("", _ORNAMENTS.sub(" ", text))
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text))


def strip_controls(text: str) -> str:
    """What even a text that is to be spoken as it stands must lose: characters that are none."""
    return _UNSPEAKABLE.sub("", _BLANKS.sub(" ", text))


def parentheses_to_commas(text: str, language: Language) -> str:
    """Brackets become commas, except where other punctuation, or the end of the text, marks the pause already."""
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
