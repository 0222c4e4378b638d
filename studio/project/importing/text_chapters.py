"""Chapter headings of plain text: “CHAPTER I”, “第一章”, “Prologue”, and numbers that stand alone and count up."""

from __future__ import annotations

import regex

from studio.project.importing.blocks import Block

_ENGLISH_NUMBERS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|(?:twenty|thirty|forty|fifty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
)
_OTHER_NUMBERS = (
    r"eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"
    r"|un|premier|deux(?:ième)?|trois(?:ième)?|quatre|quatrième|cinq(?:uième)?|sept(?:ième)?|huit(?:ième)?|neuf|neuvième"
    r"|dix(?:ième)?|onze|douze"
    r"|uno|prim[oa]|primer[oa]|due|dos|second[oa]|segund[oa]|tre|tres|terz[oa]|tercer[oa]|quart[oa]|cuart[oa]|cinque|cinco"
    r"|quint[oa]|sei|seis|sest[oa]|sext[oa]|sette|siete|settim[oa]|séptim[oa]|otto|ocho|ottav[oa]|octav[oa]|nove|nueve"
    r"|non[oa]|noven[oa]|dieci|diez|decim[oa]|décim[oa]"
    r"|перв(?:ая|ый)|втор(?:ая|ой)|трет(?:ья|ий)|четв[её]рт(?:ая|ый)|пят(?:ая|ый)|шест(?:ая|ой)|седьм(?:ая|ой)"
    r"|восьм(?:ая|ой)|девят(?:ая|ый)|десят(?:ая|ый)|одиннадцатая|двенадцатая"
)
_GERMAN_ORDINALS = "erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt|elft|zwölft"
_HEADING = regex.compile(
    r"(?:chapter|part|book|volume|act|letter|stave|canto|kapitel|teil|chapitre|partie|cap[ií]tulo|parte|capitolo|глава|часть)"
    rf"[ \t]+(?:\d{{1,3}}|[ivxlcdm]{{1,7}}|{_ENGLISH_NUMBERS}|{_OTHER_NUMBERS})\b(?P<rest>.*)"
    rf"|(?:{_GERMAN_ORDINALS})(?:es Kapitel|er Teil|es Buch)\b(?P<rest>.*)"
    r"|(?:prologue|epilogue|introduction|preface|foreword|afterword|interlude|prolog|epilog|пролог|эпилог)(?P<rest>[:. ]*)",
    regex.IGNORECASE,
)
_CHINESE_HEADING = regex.compile(
    r"第[ \t]?[零〇一二三四五六七八九十百千两\d]{1,7}[ \t]?[章回节卷部篇集幕](?P<rest>.*)"
    r"|(?:序章|楔子|尾声|后记|前言|序言|引子)(?P<rest>)|番外(?P<rest>.*)"
)
_NUMBERED = regex.compile(r"(?P<number>\d{1,3}|[IVXLC]{1,7})(?:\.?|[.:)]?[ \t]+(?P<rest>[\p{Lu}\p{Han}].*))")
_ENDS_SENTENCE = regex.compile(r"[.!?…。！？，,;；:：][\"'”’」』)]*\Z")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_MAX_LENGTH = 80
_MIN_HEADINGS = 2


def blocks_of_text(text: str) -> list[Block]:
    """Return the headings of ``text`` and the text between them; all in one block if there are no chapters."""
    lines = text.splitlines()
    headings = [at for at, line in enumerate(lines) if _is_heading(lines, at, line.strip())]
    titles = [lines[at].strip().casefold() for at in headings]
    last = {title: place for place, title in enumerate(titles)}
    # A list of contents repeats the headings, without text between them.
    headings = [
        at
        for place, at in enumerate(headings)
        if place == last[titles[place]] or _has_text(lines, at + 1, headings[place + 1])
    ]
    if len(headings) < _MIN_HEADINGS:
        numbered = _numbered_headings(lines)
        headings = sorted({*headings, *numbered}) if len(numbered) >= _MIN_HEADINGS else []
    if len(headings) < _MIN_HEADINGS:
        return [Block(text)]
    blocks = [Block("\n".join(lines[: headings[0]]))]
    for at, stop in zip(headings, [*headings[1:], len(lines)], strict=True):
        title, start = lines[at].strip(), at + 1
        if _is_subtitle(lines, start, stop):
            title, start = f"{title.rstrip('.:')}. {lines[start].strip()}", start + 1
        blocks += [Block(title, level=1), Block("\n".join(lines[start:stop]))]
    return [block for block in blocks if block.text.strip()]


def _is_heading(lines: list[str], at: int, line: str) -> bool:
    if not line or len(line) > _MAX_LENGTH:
        return False
    found = _match(line)
    if found is None:
        return False
    rest = found["rest"].strip(" \t.:：、—–-")
    is_sentence = bool(rest) and (rest[0].islower() or _ENDS_SENTENCE.search(line) is not None)
    before = lines[at - 1].strip() if at else ""
    begins = not before or _ENDS_SENTENCE.search(before) is not None or _match(before) is not None
    return not is_sentence and begins


def _match(line: str) -> regex.Match[str] | None:
    return _HEADING.fullmatch(line) or _CHINESE_HEADING.fullmatch(line)


def _is_subtitle(lines: list[str], at: int, stop: int) -> bool:
    """Return whether the line directly below a heading belongs to it."""
    line = lines[at].strip() if at < stop else ""
    is_alone = at + 1 >= stop or not lines[at + 1].strip()
    return bool(line) and is_alone and len(line) <= _MAX_LENGTH and not _ENDS_SENTENCE.search(line) and at + 1 < stop


def _has_text(lines: list[str], start: int, stop: int) -> bool:
    return any(line.strip() for line in lines[start:stop])


def _numbered_headings(lines: list[str]) -> list[int]:
    """Return the lines that are numbered 1, 2, 3 … and stand alone between blank lines, with text below each."""
    found: list[int] = []
    for at, line in enumerate(lines):
        match = _NUMBERED.fullmatch(line.strip())
        if match is None or len(line) > _MAX_LENGTH or _ENDS_SENTENCE.search((match["rest"] or "").strip()):
            continue
        is_alone = all(not lines[near].strip() for near in (at - 1, at + 1) if 0 <= near < len(lines))
        is_next = _value(match["number"]) == len(found) + 1
        if is_alone and is_next and (not found or _has_text(lines, found[-1] + 1, at)):
            found.append(at)
    return found


def _value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(-value if value < max(values[at + 1 :], default=0) else value for at, value in enumerate(values))
