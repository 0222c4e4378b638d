"""Division of a novel into the lines of a narrator and of the characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import regex

from studio.project.attribution.attribution import AttributedQuotation, Attribution, attribute
from studio.project.attribution.evidence import Evidence
from studio.project.attribution.quotations import Quotation
from studio.project.casting import LibraryNames, cast_lines, collect_roles, with_suggestions
from studio.project.changes import Change, CompositeChange, EditDetails, EditLines, InsertLines, ReorderLines
from studio.project.details import CastMember
from studio.project.lines import Heading, Line, new_id
from studio.project.script import Script
from studio.voices.voice import name_key

Corrections = Mapping[int, str | None]  # the character of a quotation, by its position; None for the narrator
_WORD = regex.compile(r"[\p{L}\p{N}]")
_WRITES_WITHOUT_SPACES = regex.compile(r"\p{Han}")
_NARRATION_MARKS = ",，;；"  # before narration that follows a quotation
_Part = tuple[int, int, int | None]  # start and end in the paragraph, and the quotation
_EDITED_FIELDS = ("text", "character", "is_speaker_sure", "voice", "style", "begins_paragraph")


@dataclass(frozen=True, slots=True)
class FullCast:
    """The lines of a novel, in which each quotation is a line, or several lines, of its character.

    Attributes:
        quotations: For each line, the position of its quotation, or None.
    """

    lines: tuple[Line, ...]
    quotations: tuple[int | None, ...]

    def reasons(self, attribution: Attribution) -> list[str]:
        """Return the reasons of all quotations with the numbers of the lines that they refer to."""
        numbers: dict[int | None, int] = {}
        for number, quotation in enumerate(self.quotations, 1):
            numbers.setdefault(quotation, number)
        return [
            each.reason if each.other is None else each.reason.format(line=numbers.get(each.other, "?"))
            for each in attribution.quotations
        ]


@dataclass(slots=True)
class Paragraph:
    """The lines of a paragraph, with their places in its text."""

    text: str = ""
    lines: list[tuple[int, Line]] = field(default_factory=list)

    def add(self, line: Line) -> None:
        if self.lines and not _WRITES_WITHOUT_SPACES.search(line.text):
            self.text += " "
        self.lines.append((len(self.text), line))
        self.text += line.text

    def ends_before(self, line: Line) -> bool:
        last = self.lines[-1][1]
        return line.begins_paragraph or not (_is_narrated(last) and _is_narrated(line))

    @property
    def is_narrated(self) -> bool:
        """Whether it is text of a novel, not a heading, a note or a subtitle."""
        return all(_is_narrated(line) for _, line in self.lines)

    def lines_of(self, place: Quotation) -> list[Line]:
        """Return the lines that contain a part of a quotation."""
        return [line for start, line in self.lines if start < place.end and start + len(line.text) > place.start]


def _is_narrated(line: Line) -> bool:
    return line.is_spoken and line.heading is Heading.NONE and line.slot is None


class Dialogue:
    """The quotations in the lines of a script."""

    def __init__(self, lines: Iterable[Line]) -> None:
        lines = tuple(lines)
        has_several = any(line.begins_paragraph for line in lines)  # otherwise, each line is a paragraph
        self.paragraphs: list[Paragraph] = []
        for line in lines:
            if not has_several or not self.paragraphs or self.paragraphs[-1].ends_before(line):
                self.paragraphs.append(Paragraph())
            self.paragraphs[-1].add(line)
        self._evidence = Evidence([each.text if each.is_narrated else "" for each in self.paragraphs])

    def attribution(self, corrections: Corrections | None = None) -> Attribution:
        """Return the quotations with their characters, who learn from ``corrections``."""
        return attribute(self._evidence, corrections)

    def known_speakers(self) -> dict[int, str | None]:
        """Return the corrections that the lines contain: characters that differ from the inferred ones, or are surer."""
        found: dict[int, str | None] = {}
        inferred = self.attribution()
        names = {each.name: {name_key(name) for name in (each.name, *each.aliases)} for each in inferred.characters}
        for number, quotation in enumerate(inferred.quotations):
            line = self.paragraphs[quotation.place.paragraph].lines_of(quotation.place)[0]
            character = line.character or None
            is_inferred = not quotation.is_doubtful and name_key(character or "") in names[quotation.speaker or ""]
            if (line.is_speaker_sure and not is_inferred) or (line.is_speaker_sure is None and character):
                found[number] = character
        return found

    def divide(self, attribution: Attribution, *, whole_paragraphs: bool = False) -> FullCast:
        """Return the script with a line, or several lines, for each quotation.

        With ``whole_paragraphs``, a paragraph belongs to the character who says all of its quotations. Paragraphs with a
        locked line, and lines of another character, do not change.
        """
        by_paragraph: dict[int, list[int]] = {}
        for number, quotation in enumerate(attribution.quotations):
            by_paragraph.setdefault(quotation.place.paragraph, []).append(number)
        divided: list[tuple[Line, int | None]] = []
        firsts: list[int] = []
        for position, paragraph in enumerate(self.paragraphs):
            numbers = by_paragraph.get(position, [])
            firsts.append(len(divided))
            if not numbers or any(line.is_locked for _, line in paragraph.lines):
                divided += [(line, None) for _, line in paragraph.lines]
                continue
            speakers = {attribution.quotations[number].speaker for number in numbers}
            if whole_paragraphs and len(speakers) == 1 and None not in speakers:
                parts: list[_Part] = [(0, len(paragraph.text), numbers[0])]
            else:
                parts = _parts(paragraph.text, numbers, attribution)
            divided += _divided(paragraph, parts, attribution)
        lines = tuple(line for line, _ in divided)
        if len(lines) > len(firsts):
            lines = _with_paragraphs(lines, set(firsts))
        return FullCast(lines, tuple(number for _, number in divided))


def _with_paragraphs(lines: tuple[Line, ...], firsts: Collection[int]) -> tuple[Line, ...]:
    """Return ``lines`` with marks where paragraphs begin, except at the first line and after headings."""
    marked: list[Line] = []
    for number, line in enumerate(lines):
        begins = number in firsts and number > 0 and not line.heading and not lines[number - 1].heading
        marked.append(line if line.begins_paragraph == begins else replace(line, begins_paragraph=begins))
    return tuple(marked)


def _parts(text: str, numbers: Iterable[int], attribution: Attribution) -> list[_Part]:
    """Return the parts of a paragraph. Narration without words, such as a comma, belongs to the part before it."""
    parts: list[_Part] = []
    position = 0
    for number in numbers:
        place = attribution.quotations[number].place
        if _WORD.search(text[position : place.start]):
            parts.append((position, place.start, None))
            position = place.start
        parts.append((position, place.end, number))
        position = place.end
    if _WORD.search(text[position:]):
        return [*parts, (position, len(text), None)]
    return [*parts[:-1], (parts[-1][0], len(text), parts[-1][2])]


def _divided(
    paragraph: Paragraph, parts: Iterable[_Part], attribution: Attribution
) -> Iterator[tuple[Line, int | None]]:
    parts = tuple(parts)
    for begin, line in paragraph.lines:
        stop = begin + len(line.text)
        inside = [
            (text, number)
            for start, end, number in parts
            if _WORD.search(text := paragraph.text[max(start, begin) : min(end, stop)])
        ]
        if not inside or (line.character and line.is_speaker_sure is None and len(inside) > 1):
            yield line, None
            continue
        for position, (text, number) in enumerate(inside):
            part = line
            if position:
                part = replace(line, id=new_id(), chosen_take=None, file_name=None, origin=None)
            if len(inside) > 1:
                part = replace(part, text=text.strip().lstrip(_NARRATION_MARKS).strip())
            yield _assigned(part, None if number is None else attribution.quotations[number]), number


def _assigned(line: Line, quotation: AttributedQuotation | None) -> Line:
    """Return a line of a quotation, or of the narrator. It loses the voice of another character."""
    if quotation is None and line.is_speaker_sure is None:
        return line
    character = None if quotation is None else quotation.speaker
    return replace(
        line,
        character=character,
        voice=line.voice if character == (line.character or None) else None,
        is_speaker_sure=None if quotation is None else not quotation.is_doubtful,
    )


def suggested_cast(
    lines: Iterable[Line],
    attribution: Attribution,
    cast: Mapping[str, CastMember],
    voices: LibraryNames,
) -> dict[str, CastMember]:
    """Return a voice for each character of ``attribution`` who is not in ``cast``, of the same gender if possible."""
    found = dict(cast)
    for character in attribution.characters:
        named = next((cast[key] for key in map(name_key, character.aliases) if key in cast), None)
        if named is not None:
            found.setdefault(name_key(character.name), named)
    genders = {name_key(character.name): character.gender for character in attribution.characters}
    uncast = genders.keys() - found.keys()
    roles = with_suggestions(collect_roles(lines, found, voices), uncast, voices, genders)
    return found | {role.key: role.member for role in roles if role.key in uncast and role.member.voice}


def assignment_change(script: Script, full_cast: FullCast, attribution: Attribution, voices: LibraryNames) -> Change:
    """Return the change that divides the lines of ``script`` and gives voices to its new characters."""
    narrator = _narrator(script)
    cast = suggested_cast(full_cast.lines, attribution, script.details.cast, voices.without(narrator))
    edits: dict[str, dict[str, object]] = {}
    new: list[Line] = []
    for line in cast_lines(full_cast.lines, cast, voices):
        line = line if line.voice else replace(line, voice=narrator)  # noqa: PLW2901
        if line.id not in script.index_of:
            new.append(line)
            continue
        before = script.line(line.id)
        edits[line.id] = {
            name: value for name in _EDITED_FIELDS if (value := getattr(line, name)) != getattr(before, name)
        }
    return CompositeChange(
        (
            EditLines({line_id: fields for line_id, fields in edits.items() if fields}),
            InsertLines(len(script.lines), tuple(new)),
            ReorderLines(tuple(line.id for line in full_cast.lines)),
            EditDetails(replace(script.details, cast=cast)),
        )
    )


def _narrator(script: Script) -> str | None:
    """Return the voice of most lines without a character."""
    voices = Counter(line.voice for line in script.lines if line.voice and not line.character)
    return max(voices, key=lambda voice: voices[voice], default=None)
