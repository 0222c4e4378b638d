"""English dates, years, times, telephone numbers, and numbers that are read in pairs or digit by digit."""

from __future__ import annotations

import regex

from studio.text.number_words import (
    english_cardinal,
    english_decade,
    english_digits,
    english_ordinal,
    english_pairs,
    english_year,
)
from studio.text.rules import Rule, rules

_MONTHS = (
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
)  # fmt: skip
_SHORT_MONTHS = {month[:3]: month for month in _MONTHS} | {"Sept": "September"}
_SHORT_DAYS = {
    "Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Thur": "Thursday",
    "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|(?:Sept|{'|'.join(name for name in _SHORT_MONTHS if name != 'Sept')})\b\.?)"
_SHORT = "|".join(sorted(_SHORT_MONTHS, key=len, reverse=True))
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>1\d{3}|20\d{2})(?![\d,.]\d|\d|[-–]\d|:)"
_ZONE_OR_HALF = (
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?(?=(?P<end>\s+(?!(?:[ECMPB][SD]?T|GMT|UTC|CES?T)\b)\p{Lu}|[\s\"”]*\Z)?))?"
)
_DIALED = r"(?i:call|calls|called|calling|dial|dialed|dialled|dialing|phone|phoned|ring|rang|text|press)"
# A fraction such as 3/4, but not a date such as 12/25.
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 50, 64, 100, 1000})
_BEFORE_DATE = regex.compile(
    r"(?i)\b(?:on|due|by|until|dated|since|date|deadline|till|from|of|before|after|born)\s*:?\s*\Z"
)
SHORT_NAMES = "|".join((*_SHORT_DAYS, *_SHORT_MONTHS))  # of days and months


def dates(*, day_first: bool) -> tuple[Rule, ...]:
    """Return the rules. ``day_first`` is the order of numeric dates that could be read in both orders."""

    def numeric(match: regex.Match[str]) -> str:
        first, second = int(match["first"]), int(match["second"])
        year = match.groupdict().get("year") or ""
        year = year if len(year) != 2 else ("20" if int(year) < 70 else "19") + year
        month, day = (second, first) if first > 12 or (day_first and second <= 12) else (first, second)
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return match.group()
        if (
            not year
            and not _BEFORE_DATE.search(match.string[: match.start()])
            and (second in _DENOMINATORS or (first, second) in ((9, 11), (24, 7)))
        ):
            return match.group()
        return _date(_MONTHS[month - 1], str(day), year, day_first=day_first or month != first)

    return (
        *rules(
            "date",
            (rf"\b({_SHORT})\.?\s?[-–]\s?({_SHORT})\b\.?", lambda match: f"{_SHORT_MONTHS[match[1]]} to {_SHORT_MONTHS[match[2]]}"),
            (r"(?<=\d/\d{4}|\d/\d\d)\s?[-–]\s?(?=\d{1,2}/\d{1,2}/)|(?<=\d0['’]?s)\s?[-–]\s?(?=['’]?\d+0['’]?s\b)", " to "),
            (r"(?<![\w/.-])(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|(?<=/)\d{2})(?![\d/-]|\.\d)",
             numeric),
            (r"(?<![\w/.-])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/-]|\.\d|\s?(?:mm|cups?|inch|of|tsp|tbsp|\p{Lu}))", numeric),
            (r"(?<![\w/.-])(?P<year>[12]\d{3})(?P<mark>[/.-])(?P<first>0?[1-9]|1[0-2])(?P=mark)(?P<second>0?[1-9]|[12]\d|3[01])(?![\d/-]|\.\d)",
             lambda match: _date(_MONTHS[int(match['first']) - 1], match['second'].lstrip('0'), match['year'],
                                 day_first=day_first)),
            (rf"(?<![\w.,/-])(?:(?<=\b[Tt]he )(?P<the>))?{_DAY}(?:\s+of)?\s+{_MONTH}(?![\p{{L}}])(?:,?\s+{_YEAR})?", _day_month),
            (rf"\b{_MONTH}\s?{_DAY}\s?[-–]\s?(?P<last>3[01]|[12]\d|0?[1-9])(?![\w:])(?:,?\s+{_YEAR})?", _month_days),
            (rf"\b{_MONTH}\s+{_DAY}(?![\w:%]|[.,/]\d)(?:,?\s+{_YEAR})?", _month_day),
            (rf"\b{_MONTH},?\s+{_YEAR}", lambda match: f"{_month(match)} {english_year(match['year'])}"),
            (r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.(?=,?\s)", lambda match: _SHORT_DAYS[match[1]]),
            (r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?=,? (?:January|February|March|April|May|June|July|August|Sept|Oct|Nov|Dec))",
             lambda match: _SHORT_DAYS[match[1]]),
            (r"\b(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat)\s?[-–]\s?(Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b",
             lambda match: f"{_SHORT_DAYS[match[1]]} to {_SHORT_DAYS[match[2]]}"),
        ),
        *_REST,
    )  # fmt: skip


def _month(match: regex.Match[str]) -> str:
    return _SHORT_MONTHS.get(match["month"].rstrip("."), match["month"].rstrip("."))


def _date(month: str, day: str, year: str, *, day_first: bool) -> str:
    spoken = english_ordinal(day)
    if day_first:
        return f"the {spoken} of {month}" + (f" {english_year(year)}" if year else "")
    return f"{month} {spoken}" + (f", {english_year(year)}" if year else "")


def _day_month(match: regex.Match[str]) -> str:
    words = _date(_month(match), match["day"].lstrip("0"), match["year"] or "", day_first=True)
    return words.removeprefix("the ") if match["the"] is not None else words


def _month_day(match: regex.Match[str]) -> str:
    return _date(_month(match), match["day"].lstrip("0"), match["year"] or "", day_first=False)


def _month_days(match: regex.Match[str]) -> str:
    words = (
        f"{_month(match)} {english_ordinal(match['day'].lstrip('0'))} to {english_ordinal(match['last'].lstrip('0'))}"
    )
    return words + (f", {english_year(match['year'])}" if match["year"] else "")


def _years(match: regex.Match[str]) -> str:
    last = match["last"] if len(match["last"]) == 4 else match["first"][:2] + match["last"]
    join = " to " if match["mark"] in "-–—" else " "
    ending = (
        english_year(last) if len(match["last"]) == 4 or match["mark"] in "-–—" else english_cardinal(match["last"])
    )
    return f"{english_year(match['first'])}{join}{ending}"


def _time(match: regex.Match[str]) -> str:
    hour, minute, half = match["hour"], match["minute"], match["half"]
    words = _clock(hour, minute or "00", has_half=half is not None)
    if match.groupdict().get("second"):
        words += f" and {english_cardinal(match['second'].lstrip('0') or '0')} seconds"
    if half is None:
        return words
    point = "." if match.group().endswith(".") and match["end"] is not None else ""
    return f"{words} {half.upper()}M{point}"


def _clock(hour: str, minute: str, *, has_half: bool) -> str:
    hour_words = english_cardinal(str(int(hour))) if int(hour) or has_half else "zero"
    if minute == "00":
        if has_half:
            return hour_words
        return f"{hour_words} o'clock" if 0 < int(hour) <= 12 else f"{hour_words} hundred"
    return f"{hour_words} {'oh ' + english_cardinal(minute[1]) if minute[0] == '0' else english_cardinal(minute)}"


def _times(match: regex.Match[str]) -> str:
    first, last = match["first"], match["last"]
    halves = [f" {half.upper()}M" if half else "" for half in (match["half1"], match["half2"])]

    def spoken(time: str, half: str) -> str:
        hour, _, minute = time.partition(":")
        return _clock(hour, minute or "00", has_half=bool(half) or not minute) + half

    return f"{spoken(first, halves[0])} to {spoken(last, halves[1])}"


def _digits(match: regex.Match[str]) -> str:
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(english_digits(group) for group in regex.findall(r"\d+", match.group()))


def _letters_after_digits(match: regex.Match[str]) -> str:
    return _digits(match) + " " + match["word"]


def _numbered(match: regex.Match[str]) -> str:
    letter = match.groupdict().get("letter")
    return f"{match[1]} {english_pairs(match[2])}" + (f" {letter}" if letter else "")


def _duration(match: regex.Match[str]) -> str:
    names = {"h": "hour", "m": "minute", "s": "second"}
    parts = regex.findall(r"(\d+)\s?(h|m|s)", match.group()) or zip(match.group().split(":"), names, strict=True)
    words = [f"{english_cardinal(number)} {names[unit]}{'' if int(number) == 1 else 's'}" for number, unit in parts]
    return " ".join([*words[:-1], "and", words[-1]] if ":" in match.group() else words)


def _verse(match: regex.Match[str]) -> str:
    prefix = {"1": "First ", "2": "Second ", "3": "Third ", None: ""}[match["number"]]
    words = f"{prefix}{match['book']} {english_cardinal(match['chapter'])}, {english_cardinal(match['verse'])}"
    for mark, verse in regex.findall(r"([-–,])\s?(\d+)", match["rest"]):
        words += f"{' to' if mark != ',' else ' and'} {english_cardinal(verse)}"
    return words


_BOOKS = (
    "Genesis|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Chronicles|Ezra|Nehemiah|Esther|Job|"
    "Psalms?|Proverbs|Ecclesiastes|Isaiah|Jeremiah|Lamentations|Ezekiel|Daniel|Hosea|Joel|Amos|Obadiah|Jonah|Micah|Nahum|"
    "Habakkuk|Zephaniah|Haggai|Zechariah|Malachi|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Galatians|Ephesians|"
    "Philippians|Colossians|Thessalonians|Timothy|Titus|Philemon|Hebrews|James|Peter|Jude|Revelation|Surah?|Quran"
)
_PHONE_GROUPS = (
    r"\+\d[\d ()./-]{5,18}\d",
    r"(?<![\d.-])(?:1[-. ])?\(?\d{3}\)?[-. ]\s?\d{3}[-.]\d{4}(?![\d-])",
    r"(?<![\d.-])\(\d{3,5}\) ?\d{3,4}[ -]?\d{3,4}(?![\d-])",
    r"(?<![\d.,-])0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?![\d-])",
    r"(?<![\d-]|\)\s?)\d{3}-\d{4}(?![\d-])",
    r"(?<![\d.])\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}(?![\d-])",
    r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",
    r"(?<![\w-])\d+(?:-\d+){3,}(?![\d-])",
    r"(?<![\d.,])0\d{6,}(?![\d.,]\d)|(?<![\w.,])00\d{1,4}(?![\w.,]\d)",
    rf"(?<=\b{_DIALED} )\d{{3,}}(?! \p{{Ll}}+s\b|[\d,.:]\d)",
    r"(?<=\b(?:call|dial) (?:\w+ ){1,3}(?:or|on|at) )\d{3,}(?!\d)",
    rf"(?<=\b{_DIALED}[^.!?]{{0,120}}\b(?:or|at|on) )\d{{3}}(?![\d,.]\d)",
    r"\b(?:911|999|112)(?= (?:call|calls|operator|dispatcher|emergency)\b)",
    r"(?<=\b(?:PIN|pin|code|password|passcode|serial number|zip|ZIP|extension|ext\.|account number)(?: is| code| number|:)? )\d{3,}(?![\d,.:]\d|%)",
    r"(?<=\b[A-Z]{2} )\d{5}(?:-\d{4})?(?![\d,.])",
)
_REST = (
    *rules(
        "verse",
        (rf"\b(?:(?P<number>[123]) )?(?P<book>{_BOOKS}) (?P<chapter>\d{{1,3}}):(?P<verse>\d{{1,3}})(?P<rest>(?:(?:[-–]|,\s?)\d{{1,3}}(?!:))*)",
         _verse),
    ),
    *rules(
        "telephone number",
        (r"(?<![\d-])(?:1-)?[89]00-(?:\d{3}-)?(?P<word>[A-Z]{4,})\b", _letters_after_digits),
        (r"(?<![\d-])(?:(1)-)?([89])00-([A-Z]{2,})-(\d{3,4})(?![\d-])",
         lambda match: f"{'one, ' if match[1] else ''}{english_digits(match[2])} hundred, {match[3]}, {english_digits(match[4])}"),
        *((pattern, _digits) for pattern in _PHONE_GROUPS),
    ),
    *rules(
        "time",
        (
            r"(?<![\d:.])(?P<first>\d{1,2}(?::[0-5]\d)?)\s?(?P<half1>[ap])?(?:\.?m\.?)?\s?[-–]\s?(?P<last>\d{1,2}(?::[0-5]\d)?)"
            r"\s?(?P<half2>[ap])\.?m\b\.?",
            _times,
        ),
        (r"(?<![\d:.])(?P<first>\d{1,2}:[0-5]\d)(?P<half1>(?!))?\s?[-–]\s?(?P<last>\d{1,2}:[0-5]\d)(?P<half2>(?!))?(?![\d:])",
         _times),
        (rf"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?=\s?[ap]\.?m){_ZONE_OR_HALF}", _time),
        (rf"(?<![\d:.,])(?P<hour>[01]\d|2[0-3]|(?<=\b(?:at|since|until|by|from|before|after) )\d):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?![\d:]){_ZONE_OR_HALF}", _time),
        (rf"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?![\d:]){_ZONE_OR_HALF}", _time),
        (r"(?<![\d:.,])(?P<hour>1[0-2]|0?[1-9])(?P<minute>(?!))?\s?(?P<half>[ap])\.?m\b\.?(?=(?P<end>\s+(?!(?:[ECMPB][SD]?T|GMT|UTC|CES?T)\b)\p{Lu}|[\s\"”]*\Z)?)", _time),
        (r"(?<![\d:.,])\d{1,3}:[0-5]\d:[0-5]\d(?![\d:])", _duration),
        (r"(?<![\w.])\d+\s?h(?:\s?\d+\s?m(?:in)?)(?:\s?\d+\s?s)?(?![\p{L}\d])|(?<![\w.])\d+m\s?\d+s(?![\p{L}\d])", _duration),
    ),
    *rules(
        "year",
        (r"(?<![\w.,/-])(?P<first>1[1-9]\d{2}|20\d{2})(?P<mark>[-–—/])(?P<last>1[1-9]\d{2}|20\d{2}|\d{2})(?![\d/-])", _years),
        (r"(?<!\d)['’]?(1[1-9]|20)(\d)0['’]?s\b", lambda match: english_decade(match[1], match[2])),
        (r"(?<![\w.,])['’]?([2-9])0['’]?s\b", lambda match: english_decade("19", match[1]).partition(" ")[2]),
        (r"(?<=\b(?:class of|summer of|spirit of|back in|in) )['’](\d{2})\b",
         lambda match: english_pairs(match[1]) if match[1][0] != "0" else "oh " + english_cardinal(match[1][1])),
        (r"\b(?:c\.|ca\.)\s?(?=\d{3,4}\b|AD \d)", "circa "),
    ),
    *rules(
        "number",
        (r"\b([Rr]oom|[Ff]light|[Rr]oute|[Hh]ighway|[Aa]partment|Apt\.?|[Ss]uite|[Bb]us|[Ee]xit|[Tt]rain|Boeing|[Hh]otline|Area|Interstate) (\d{2,4}+)(?P<letter>\p{Lu})?(?![\p{L}\d]|[,.:]\d)",
         _numbered),
        (r"(?<=\b[Ff]light )([A-Z]{2}|[A-Z]\d|\d[A-Z]) ?(\d{2,4})\b", _numbered),
        (r"\b(Boeing|Airbus A|Porsche|Route) ?(\d{3})(?![\d,.:]\d)", _numbered),
    ),
)  # fmt: skip


_YEAR_BEFORE = regex.compile(r"(?i)\b(?:in|by|since|of|year|until|from|circa|ad|before|after)\s\Z")
_COUNTED_AFTER = regex.compile(r"\s?%|\s(?:people|\p{Ll}{3,}(?<!was|has|plus|as)s)\b")


def read_as_year(match: regex.Match[str]) -> str | None:
    """Return the number of ``match`` in words as a year, or None if it is not between 1001 and 2099 or counts something."""
    digits = match.group()
    if not regex.fullmatch(r"1\d{3}|20\d\d", digits):
        return None
    if not _YEAR_BEFORE.search(match.string, max(0, match.start() - 20), match.start()) and (
        digits[:2] == "10" or (digits[2:] != "00" and _COUNTED_AFTER.match(match.string, match.end()))
    ):
        return None
    return english_year(digits)
