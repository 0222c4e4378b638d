"""English text normalisation, by rules.

Rules with context come first: a phrase such as "$1.5 million" is read as a whole. The last ones read what is left,
numbers and signs alone.

Decision: rules instead of wetext's English grammar. Reason: the grammar also changes other words (the Sun becomes
Sunday, TV becomes Television), an unknown sign empties the whole sentence, and it takes half a millisecond for a digit.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import regex

from studio.text.english_amounts import AMOUNTS, POWER, fraction_of, power
from studio.text.english_dates import SHORT_NAMES, dates, read_as_year
from studio.text.english_names import NAMES
from studio.text.number_words import english_cardinal, english_digits, english_number, english_ordinal
from studio.text.rules import Rule, Step, apply_rules, rules

_MONEY = r"[$£€¥₹₩₽]"
_CURRENCY_NAMES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}
_AMOUNT = r"\d[\d,]*+(?:[.:]\d+)*+"


def normalize_english(text: str, steps: list[Step], *, day_first: bool = False) -> str:
    """Return ``text``, which has been cleaned, with numbers, dates, units, signs and abbreviations in words."""
    if not _WITHOUT_NUMBERS.fullmatch(text):
        text = apply_rules(text, _SIGNS, steps)
    text = apply_rules(text, NAMES, steps)
    if not _WITHOUT_NUMBERS.fullmatch(text):
        text = apply_rules(text, _numbers_and_signs(day_first=day_first), steps)
    return _BLANKS.sub(" ", text)


@cache
def _numbers_and_signs(*, day_first: bool) -> tuple[Rule, ...]:
    return (*_RANGES, *dates(day_first=day_first), *AMOUNTS, *_NUMBERS, *_REST)


def _number(match: regex.Match[str]) -> str:
    digits = match.group().replace(",", "")
    if len(digits) > 1 and digits.isdigit() and digits[0] == "0":
        return " ".join("oh" if digit == "0" else english_cardinal(digit) for digit in digits)
    return read_as_year(match) or english_number(digits)


def _fraction(match: regex.Match[str]) -> str:
    whole, over, under = match["whole"], match["over"], match["under"]
    if under == "0":
        return f"{english_cardinal(over)} over zero"
    if whole is None and over != "1" and int(over) < int(under) and _PART_OF.match(match.string, match.end()):
        return fraction_of(over, under) + (" an" if match.string[match.end() + 1] in "aeiouh" else " a")
    name = {"2": "half", "4": "quarter"}.get(under) or english_ordinal(under)
    if over != "1":
        name = "halves" if under == "2" else name + "s"
    if whole:
        return f"{english_cardinal(whole)} and {'a' if over == '1' else english_cardinal(over)} {name}"
    return (
        f"{english_cardinal(over)} {name}"
        if int(over) < int(under)
        else f"{english_cardinal(over)} over {english_cardinal(under)}"
    )


_PART_OF = regex.compile(r" (?:mile|inch|cup|hour|pound|ounce|teaspoon|tablespoon|acre|gallon|pint|mi|yard|foot)\b")


def _greek(match: regex.Match[str]) -> str:
    letter = unicodedata.name(match.group(), "").rsplit(" WITH ")[0].rsplit(" ")[-1].lower()
    return f" {letter} "


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


# Only the rules for names concern such a text: there is no number, sign, or short name of a day or month.
_WITHOUT_NUMBERS = regex.compile(rf"""(?s)(?!.*\b(?:{SHORT_NAMES})\b)(?:[\p{{Latin}}\s,;:!?'"’‘“”…—–()-]|\.(?!\w))*""")
_BLANKS = regex.compile(r" {2,}")
_SIGNS = rules(
    "sign",
    (r"(?<!\w)-\s?(?=−)|−", "-"),
    (r"(?<![\w.])\.(?=\d)", "0."),
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
    (r"(?<=\b\d[\d.,]*(?:[kKmMbB]|bn|mn))\s?[-–—]\s?(?=\d[\d.,]*(?:[kKmMbB]|bn|mn)\b)", " to "),
    (r"(?<=\b(\p{Lu})\d)[-–—](?=\1\d\b)", " to "),
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
    (r"\s?≠\s?", " is not equal to "),
    (rf"(?<=[\w)]){POWER}", power),
    (r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: unicodedata.normalize("NFKC", match.group())),
    (r"(?<=\w)\.(?=[a-z]{2,})|(?<=\p{L})\.(?=\d)", " dot "),
    (r"(?<![\d.])\d{13,}(?![\d.])", lambda match: english_digits(match.group())),
    (  # 2.5.1
        r"(?<![\d.])\d+\.\d+\.\d{1,3}(?!\.?\d)|(?<![\d.])\d+(?:\.\d+){3,}(?!\.?\d)",
        lambda match: " " + " point ".join(english_cardinal(group) for group in match.group().split(".")),
    ),
    (r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])", _ratio),
    (r"(?<![\w/.,])(?:(?P<whole>\d+)(?: and)? )?(?P<over>\d{1,3})/(?P<under>\d{1,3})(?![\d/])", _fraction),
    (
        rf"(?<![\w.,:/-]|\)\s?)(?P<low_sign>(?!))?(?P<low>{_AMOUNT})(?P<low_percent>%)?\s?[-–—]\s?"
        rf"(?P<high_sign>(?!))?(?P<high>(?!0\d){_AMOUNT})(?P<high_percent>(?=%))?(?![-–/:\d])",
        _range,
    ),
    (r"(?<=\p{L})/(?=\p{L})", " "),
    (r"(?<=\p{L})\+\+(?=[\d\s\p{P}]|$)", " plus plus"),
    (r"(?<=[\w%)])\s?\+\s?(?=[\w(])|(?<!\w)\+(?=\d)", " plus "),
    (r"(?<=\d)\+", " plus"),
    (r"(?<![\w.,:/)]|[-–—])[-–](?=\d)", "minus "),
    (  # codes, such as 643f918
        r"(?<!\w)(?=[A-Za-z]*\d+[A-Za-z]+\d|\d*[A-Za-z]+\d+[A-Za-z])[A-Za-z\d]{6,}(?!\w)",
        lambda match: regex.sub(r"\d+", lambda digits: f" {english_digits(digits.group())} ", match.group()),
    ),
    (r"(?<=\p{L})\d{5,}(?![\d\p{L}]|[.,]\d)", lambda match: " " + english_digits(match.group())),  # PR104434
    (r"(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})", " "),
    (r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?|\d+", _number),
)
_REST = rules(
    "sign",
    (r"\s?%(\w)?", lambda match: f" percent {match[1] or ''}".rstrip()),
    (r"\s?‰", " per mille"),
    (r"\s?°", " degrees"),
    (r"√", " the square root of "),
    (r"\s?≥\s?", " at least "),
    (r"\s?≤\s?", " at most "),
    (r"∞", " infinity "),
    (r"[$€£¥]", lambda match: f" {_CURRENCY_NAMES[match.group()]} "),
    (r"\s?&\s?(?=[\w$])", " and "),
    (r"\s?@\s?(?=\w)", " at "),
    (r"(?<=[\w)])\s?=\s?(?=[\w(-])", " equals "),
    (r"(?<!\p{Greek})[Α-Ωα-ω](?!\p{Greek})", _greek),
    (r"(?<=\w)\s?/\s?(?=\w)", " slash "),
    (r"[#^_*~=+<>|\\{}&@/]+", " "),
)
