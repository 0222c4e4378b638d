"""Chapters and scenes of a script, with their lines and lengths."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from studio.project.lines import Heading, Line
from studio.project.script import Script
from studio.project.takes import edits_of


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines up to the next heading of its level or of a higher one."""

    row: int  # row of the heading
    end: int  # row below the last line
    heading: Heading
    title: str
    num_lines: int  # spoken lines, without headings
    seconds: float  # length of the chosen takes


class LengthCache:
    """Lengths of lines, which are computed again only for lines that have changed."""

    def __init__(self) -> None:
        self._lengths: dict[str, tuple[Line, object, float]] = {}

    def lengths_of(self, script: Script) -> list[float]:
        """Return the length of each line as it is played."""
        known, takes = self._lengths, script.takes
        for line in script.lines:
            found = known.get(line.id)
            if found is None or found[0] is not line or found[1] is not takes.get(line.id):
                known[line.id] = (line, takes.get(line.id), seconds_of(script, line))
        return [known[line.id][2] for line in script.lines]


def find_sections(script: Script, cache: LengthCache | None = None) -> list[Section]:
    """Return the chapters and scenes in their order. ``cache`` is reused for successive versions of a script."""
    lines = script.lines
    rows = [row for row, line in enumerate(lines) if line.heading is not Heading.NONE]
    if not rows:
        return []
    # Sums of all lines before each row.
    num_before = list(accumulate((line.is_spoken and line.heading is Heading.NONE for line in lines), initial=0))
    seconds_before = list(accumulate((cache or LengthCache()).lengths_of(script), initial=0.0))
    sections = []
    for number, row in enumerate(rows):
        own = lines[row].heading
        end = next((later for later in rows[number + 1 :] if lines[later].heading <= own), len(lines))
        sections.append(
            Section(
                row=row,
                end=end,
                heading=own,
                title=lines[row].text.strip(),
                num_lines=num_before[end] - num_before[row],
                seconds=seconds_before[end] - seconds_before[row],
            )
        )
    return sections


def seconds_of(script: Script, line: Line) -> float:
    """Return the length of the chosen take as it is played, or 0 without a take."""
    if line.chosen_take is None or not line.is_spoken:
        return 0.0
    take = script.take(line.chosen_take)
    return edits_of(take, line).seconds(take.audio_seconds)


def folded_lines(sections: list[Section], script: Script, folded_ids: set[str]) -> set[str]:
    """Return the ids of the lines below folded headings."""
    return {
        script.lines[row].id
        for section in sections
        if script.lines[section.row].id in folded_ids
        for row in range(section.row + 1, section.end)
    }
