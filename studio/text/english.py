"""English text normalisation: rules, then the grammar, applied to phrases with numbers only.

Rules replace text by words, or by a form that the grammar reads correctly.

Decision: wetext processes "$1.5 million" and "May 1st, 2024" without the words around them. Reason: its English
grammar also changes other words (the Sun becomes Sunday, TV becomes Television), and an unknown sign empties the
whole sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from studio.text.grammar import apply_rules, normalize_with_grammar, rule
from studio.text.language import Language
from studio.text.number_words import english_cardinal, english_decade, english_digits, english_number, english_ordinal

_CURRENCIES = {"$": "dollars", "£": "pounds", "€": "euros", "₹": "rupees", "₩": "won", "₽": "roubles"}
_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Dr": "doctor", "Prof": "professor", "Gen": "general",
    "Gov": "governor", "Sgt": "sergeant", "Capt": "captain", "Lt": "lieutenant", "Rev": "reverend",
    "Sen": "senator", "Mt": "Mount",
}  # fmt: skip
_MONEY = r"[$£€¥₹₩₽]"
_UNITS = r"(?:kg|g|mg|km|m|cm|mm|mi|ft|in|lbs?|oz|mph|km/h|ml|l|kb|mb|gb|tb|hz|khz|mhz|ghz|kw|w|v|°c|°f|°|%|seconds?)"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}
_SQUARE_UNITS = {"m": "meters", "km": "kilometers", "cm": "centimeters", "mm": "millimeters", "ft": "feet"}
_AMOUNT = r"\d[\d,]*+(?:[.:]\d+)*+"


def normalize_english(text: str) -> str:
    """Return ``text``, which has been cleaned, with numbers, dates, units, signs and abbreviations in words."""
    return _BLANKS.sub(" ", _spell_out_number_phrases(apply_rules(text, _RULES)))


def _quantity(match: regex.Match[str]) -> str:
    # WORKAROUND for wetext, which omits the "one" in 1,000 to 1,999 and reads 1234 as a year.
    sign, number, unit = match["sign"] or "", match["number"].replace(",", ""), match["unit"] or ""
    scale = match["scale"] or ""
    if unit:
        return f"{sign}{number}{unit}"
    words = english_number(number) + scale
    if sign == "¥":
        return f"{words} yen"
    return f"{words} {_CURRENCIES[sign]}" if sign else words


def _range(match: regex.Match[str]) -> str:
    low, high = match["low"], match["high"]
    low_sign, high_sign = match["low_sign"] or "", match["high_sign"] or ""
    if low_sign and not high_sign:  # $5-10 is a range of dollars
        low_sign, high_sign = "", low_sign
    if len(low) == 4 and len(high) == 2 and low.isdigit() and high > low[2:]:
        return f"{low} to {low[:2]}{high}"  # 1990-95
    percent = "" if match["high_percent"] else match["low_percent"] or ""
    return f"{low_sign}{low}{percent} to {high_sign}{high}"


def _phone(match: regex.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(english_digits(group) for group in regex.findall(r"\d+", match.group()))


def _initials(match: regex.Match[str]) -> str:
    return match[1].replace(".", "") + ("" if match[2] else ".")


def _ratio(match: regex.Match[str]) -> str:
    first, second = match[1], match[2]
    is_fraction = int(first) < int(second) and (first, second) != ("9", "11")
    return match.group() if is_fraction else f"{first} {second}"


def _power(match: regex.Match[str]) -> str:
    exponent = match.group().lstrip("^").translate(_SUPERSCRIPTS)
    return {"2": " squared", "3": " cubed"}.get(exponent, f" to the power of {exponent}")


_BLANKS = regex.compile(r" {2,}")
_RULES = (
    # Signs.
    rule(r"(?<=\p{L})’(?=\p{L})", "'"),
    rule(r"(?<!\w)-\s?(?=−)|−", "-"),
    rule(r"(?<![\d\s])\*+|\*+(?!\s?\d)|(?<!\d)\s\*+(?=\s)", " "),  # **bold**, but not 3*4
    rule(r"_+", " "),
    rule(r"(?<!\w)#+(?=\s|$)", " "),
    rule(r"(?<=\w)#(?=\d)", " number "),
    rule(r"#(?=\d)", "number "),
    rule(r"(?<=\d)\s?[~～]\s?(?=\d)", "-"),
    rule(r"[~～≈]\s?(?=[$£€¥]?\d)", "about "),
    rule(r"[~～]", " "),
    rule(r"±\s?(?=\d)", "plus or minus "),
    rule(r"≥\s?(?=\d)", "at least "),
    rule(r"≤\s?(?=\d)", "at most "),
    rule(r"≠", " is not equal to "),
    rule(r"(?<=\d)\s?[x×]\s?(?=\d)", " by "),
    rule(r"×\s?(?=\d)", " times "),
    rule(r"÷\s?(?=\d)", " divided by "),
    rule(r"§\s?(?=\d)", "section "),
    rule(r"№\s?", "number "),
    rule(rf"(?<!\d)(\d[\d,.]*\d|\d)\s?({_MONEY})(?!\d)", r"\2\1"),
    rule(r"\b(?:US|USD)\s?\$", "$"),
    rule(
        r"([$£€])(\d[\d,]*(?:\.\d+)?)\s?[kK]\b",
        lambda match: f"{english_number(match[2].replace(',', ''))} thousand {_CURRENCIES[match[1]]}",
    ),
    rule(r"(?<![\d.,]\s?)\b\d{1,3}(?: 000)+\b(?!\s?\d)", lambda match: match.group().replace(" ", ",")),
    # Abbreviations before a number, or with a point that would end the sentence.
    rule(r"\b[Nn]os?\.\s?(?=\d)", "number "),
    rule(r"\b[Ff]igs?\.\s?(?=\d)", "figure "),
    rule(r"\bpp\.\s?(?=\d)", "pages "),
    rule(r"\bp\.\s?(?=\d)", "page "),
    rule(r"\b[Vv]ol\.\s?(?=\d)", "volume "),
    rule(r"\b[Ss]ec\.\s?(?=\d)", "section "),
    rule(r"\b[Cc]h\.\s?(?=\d)", "chapter "),
    rule(rf"\b({'|'.join(_TITLES)})\.(?=\s+\p{{Lu}})", lambda match: _TITLES[match[1]]),
    rule(r"\b((?:\p{Lu}\.){2,})(?=(\s*\S)?)", _initials),
    rule(r"(?<=\d\s?)([ap])\.m\.(?=\s+\p{Lu}|[\s\"”]*\Z)", r"\1m."),
    rule(r"(?<=\w)\.(?=[a-z]{2,})(?<!(?:://|www\.|@)\S*)", " dot "),
    rule(r"\bvs\.", "versus"),
    rule(r"\be\.g\.", "for example"),
    rule(r"\bi\.e\.", "that is"),
    # Numbers with points, slashes and dashes.
    rule(r"(?<=\d)\s?(?=[½⅓⅔¼¾⅛⅜⅝⅞])", " and "),
    rule(r"[½⅓⅔¼¾⅛⅜⅝⅞]", lambda match: _VULGAR[match.group()]),
    rule(
        r"(?<=\d)\s?(mm|cm|km|m|ft)([²³])",
        lambda match: f" {'square' if match[2] == '²' else 'cubic'} {_SQUARE_UNITS[match[1]]}",
    ),
    rule(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", _power),
    rule(r"(?<=\w)\^(\d+)", _power),
    rule(r"\^", " "),
    rule(r"\+\d[\d ()-]{5,18}\d", _phone),
    rule(r"(?<![\d-]|\)\s?)\d{3}-\d{4}(?![\d-])", _phone),
    rule(r"(?<![\d.])\d{13,}(?![\d.])", lambda match: english_digits(match.group())),
    rule(  # 2.5.1; four groups are an IP address, which wetext reads correctly
        r"(?<![\d.])\d+\.\d+\.\d{1,3}(?!\.?\d)|(?<![\d.])\d+(?:\.\d+){4,}(?!\.?\d)",
        lambda match: " " + " point ".join(english_cardinal(group) for group in match.group().split(".")),
    ),
    rule(r"(\d+)['’′]\s?(\d+)[\"”″]", r"\1 foot \2"),
    rule(r"(\d+)'(?=\s|$)(?<=\d')", r"\1 feet"),
    rule(r"(?<!\d)['’]?(1[1-9]|20)(\d)0['’]?s\b", lambda match: english_decade(match[1], match[2])),
    # WORKAROUND for wetext, which does not recognise the month May.
    rule(r"\bMay (\d{1,2})(?=,? \d{4}\b)", lambda match: "May " + english_ordinal(int(match[1]))),
    rule(r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])", _ratio),
    rule(
        rf"(?<![\w.,:/-]|\)\s?)(?P<low_sign>{_MONEY})?(?P<low>{_AMOUNT})(?P<low_percent>%)?\s?[-–—]\s?"
        rf"(?P<high_sign>{_MONEY})?(?P<high>(?!0\d){_AMOUNT})(?P<high_percent>(?=%))?(?![-–/:\d])",
        _range,
    ),
    rule(
        rf"(?<![\w.,:/-])(?P<sign>{_MONEY})?(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{4,}}\.\d+)(?![\d/:-]|[,.]\d)"
        rf"(?P<unit>\s?(?i:{_UNITS})(?![\w/]))?(?P<scale> (?:thousand|million|billion|trillion))?",
        _quantity,
    ),
    rule(
        r"(?<![\w.])(?P<sign>(?:[¥₹₩₽](?=\d)|[$£€](?=\d{4})))(?P<number>\d+(?:\.\d+)?)(?![\w/:-]|[,.]\d)"
        r"(?P<unit>(?!))?(?P<scale> (?:thousand|million|billion|trillion))?",
        _quantity,
    ),
)


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


def _spell_out_number_phrases(text: str) -> str:
    """Return ``text`` with number phrases in words and everything else unchanged."""
    spoken: list[str] = []
    position = 0
    for start, end in _phrases(text):
        spoken += (text[position:start], normalize_with_grammar(text[start:end], Language.ENGLISH))
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
