"""English text normalisation: rules, then the grammar, applied to phrases with numbers only.

Rules replace text by words, or by a form that the grammar reads correctly.

Decision: wetext processes "$1.5 million" and "May 1st, 2024" without the words around them. Reason: its English
grammar also changes other words (the Sun becomes Sunday, TV becomes Television), and an unknown sign empties the
whole sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import regex

from studio.text.english_amounts import AMOUNTS
from studio.text.english_dates import dates
from studio.text.english_names import NAMES
from studio.text.grammar import normalize_with_grammar
from studio.text.language import Language
from studio.text.number_words import english_cardinal, english_digits, english_number
from studio.text.rules import Rule, Step, apply_rules, rules

_MONEY = r"[$£€¥₹₩₽]"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}
_AMOUNT = r"\d[\d,]*+(?:[.:]\d+)*+"


def normalize_english(text: str, steps: list[Step], *, day_first: bool = False) -> str:
    """Return ``text``, which has been cleaned, with numbers, dates, units, signs and abbreviations in words."""
    text = apply_rules(text, _rules(day_first=day_first), steps)
    return _BLANKS.sub(" ", apply_rules(_spell_out_number_phrases(text, steps), _REST, steps))


@cache
def _rules(*, day_first: bool) -> tuple[Rule, ...]:
    return (*_SIGNS, *NAMES, *_RANGES, *dates(day_first=day_first), *AMOUNTS, *_NUMBERS)


def _large(match: regex.Match[str]) -> str:
    # WORKAROUND for wetext, which omits the "one" in 1,000 to 1,999 and reads 1234 as a year.
    return english_number(match.group().replace(",", ""))


def _range(match: regex.Match[str]) -> str:
    low, high = match["low"], match["high"]
    low_sign, high_sign = match["low_sign"] or "", match["high_sign"] or ""
    if low_sign and not high_sign:  # $5-10 is a range of dollars
        low_sign, high_sign = "", low_sign
    if len(low) == 4 and len(high) == 2 and low.isdigit() and high > low[2:]:
        return f"{low} to {low[:2]}{high}"  # 1990-95
    percent = "" if match["high_percent"] else match["low_percent"] or ""
    return f"{low_sign}{low}{percent} to {high_sign}{high}"


def _ratio(match: regex.Match[str]) -> str:
    first, second = match[1], match[2]
    is_fraction = int(first) < int(second) and (first, second) != ("9", "11")
    return match.group() if is_fraction else f"{first} {second}"


def _power(match: regex.Match[str]) -> str:
    exponent = match.group().lstrip("^").translate(_SUPERSCRIPTS)
    return {"2": " squared", "3": " cubed"}.get(exponent, f" to the power of {exponent}")


_BLANKS = regex.compile(r" {2,}")
_SIGNS = rules(
    "sign",
    (r"(?<!\w)-\s?(?=−)|−", "-"),
    (r"(?<![\d\s])\*+|\*+(?!\s?\d)|(?<!\d)\s\*+(?=\s)", " "),  # **bold**, but not 3*4
    (r"(?<![\w@./-])_+|_+(?![\w])|(?<!\S*[@/]\S*)(?<!@\w*)_+(?!\S*@)", " "),
    (r"[-=]+>|<[-=]+", " "),
    (r"(?<!\w)#+(?=\s|$)", " "),
    (r"(?<=\w)#(?=\d)", " number "),
    (r"#(?=\d)", "number "),
    (r"(?<=\d)\s?[~～]\s?(?=\d)", "-"),
    (r"[~～≈]\s?(?=[$£€¥]?\d)(?<!\w\s?≈\s?)", "about "),
    (r"[~～]", " "),
    (r"(?<!\d\s?)±\s?(?=\d)", "plus or minus "),
    (r"(?<![\w)]\s?)≥\s?(?=\d)", "at least "),
    (r"(?<![\w)]\s?)≤\s?(?=\d)", "at most "),
    (r"[①-⑳]", lambda match: str(ord(match.group()) - 0x245F)),
    (r"§§?\s?(?=\d)", "section "),
    (r"№\s?", "number "),
    (r"(?<![\d.,]\s?)\b\d{1,3}(?:[ \u2009] ?000)+\b(?!\s?\d)", lambda match: match.group().replace(" ", ",")),
    (r"(?<=\d)\s?(?=[½⅓⅔¼¾⅛⅜⅝⅞])", " and "),
    (r"[½⅓⅔¼¾⅛⅜⅝⅞]", lambda match: _VULGAR[match.group()]),
)
_RANGES = rules(
    "range",
    (r"(?<=[$£€]\d[\d.,]*(?:[kKmMbB]|bn|mn))\s?[-–—]\s?(?=[$£€]\d)", " to "),
    (
        rf"(?<![\w.,:/-]|\)\s?)(?P<low_sign>{_MONEY})?(?P<low>{_AMOUNT})(?P<low_percent>%)?\s?[-–—]\s?"
        rf"(?P<high_sign>{_MONEY})(?P<high>(?!0\d){_AMOUNT})(?P<high_percent>(?=%))?(?![-–/:\d])",
        _range,
    ),
    (
        rf"(?<![\w.,:/-]|\)\s?)(?P<low_sign>{_MONEY})(?P<low>{_AMOUNT})(?P<low_percent>%)?\s?[-–—]\s?"
        rf"(?P<high_sign>{_MONEY})?(?P<high>(?!0\d){_AMOUNT})(?P<high_percent>(?=%))?(?![-–/:\d])",
        _range,
    ),
)
_NUMBERS = rules(
    "number",
    (r"(?<=\d)\s?[x×]\s?(?=\d)", " by "),
    (r"×\s?(?=\d)", " times "),
    (r"÷\s?(?=\d)", " divided by "),
    (r"≠", " is not equal to "),
    (r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", _power),
    (r"(?<=\w)\^(\d+)", _power),
    (r"\^", " "),
    (r"(?<=\w)\.(?=[a-z]{2,})", " dot "),
    (r"(?<![\d.])\d{13,}(?![\d.])", lambda match: english_digits(match.group())),
    (  # 2.5.1
        r"(?<![\d.])\d+\.\d+\.\d{1,3}(?!\.?\d)|(?<![\d.])\d+(?:\.\d+){3,}(?!\.?\d)",
        lambda match: " " + " point ".join(english_cardinal(group) for group in match.group().split(".")),
    ),
    (r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])", _ratio),
    (
        rf"(?<![\w.,:/-]|\)\s?)(?P<low_sign>(?!))?(?P<low>{_AMOUNT})(?P<low_percent>%)?\s?[-–—]\s?"
        rf"(?P<high_sign>(?!))?(?P<high>(?!0\d){_AMOUNT})(?P<high_percent>(?=%))?(?![-–/:\d])",
        _range,
    ),
    (r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{4,}\.\d+)(?![\d/:-]|[,.]\d)", _large),
    (r"(?<=\p{L})/(?=\p{L})", " "),
)
_REST = rules("sign", (r"[#^_*~=+<>|\\{}]+", " "))


_LEFT_DIGITS = regex.compile(r"[0-9]+")
_WORD = regex.compile(r"\S+")
_EDGES = "()\"“”'‘’.,;:!?…"
_NEEDS_GRAMMAR = regex.compile(r"\d|[&@%+=°$£€¥πΩ]|://|\bwww\.")
# Words that are read together with an adjacent number.
_MONTH_NAMES = (
    "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
_MEASURES = (
    "thousand million billion trillion am pm a.m p.m AM PM BC AD BCE CE kg g mg t km m cm mm mi ft in yd lb lbs oz "
    "mph km/h l ml s sec ms min h hr hrs kb mb gb tb KB MB GB TB Hz kHz MHz GHz W kW V A mA kWh C F K dB px "
    "square cubic meters kilometers centimeters millimeters"
)
_COMPANIONS = frozenset(f"{_MONTH_NAMES} {_MEASURES}".split())


def _spell_out_number_phrases(text: str, steps: list[Step]) -> str:
    """Return ``text`` with number phrases in words and everything else unchanged."""
    spoken: list[str] = []
    position = 0
    for start, end in _phrases(text):
        words = normalize_with_grammar(text[start:end], Language.ENGLISH)
        words = _LEFT_DIGITS.sub(lambda match: f" {english_cardinal(match.group())} ", words)
        steps.append(Step("number", text[start:end], words))
        spoken += (text[position:start], words)
        position = end
    return "".join([*spoken, text[position:]])


def _phrases(text: str) -> Iterator[tuple[int, int]]:
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    needs = [_NEEDS_GRAMMAR.search(text, start, end) is not None for start, end in words]
    belongs = [
        need or text[start:end].strip(_EDGES) in _COMPANIONS for need, (start, end) in zip(needs, words, strict=True)
    ]
    index = 0
    while index < len(words):
        first = index
        while index < len(words) and belongs[index]:
            index += 1
        if any(needs[first:index]):
            yield words[first][0], words[index - 1][1]
        index += 1
