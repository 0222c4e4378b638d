"""The annotated passages, and how many of their quotations are attributed correctly.

Each passage begins with ``## title``; its second line lists the characters as ``@ KEY name, other name; KEY name``. In
the paragraphs, ``{KEY|“words”}`` marks a quotation; the speaker ``?`` is not named in the passage. The passages of a
file are divided by their positions: the 1st, 3rd … belong to the half with which the rules were built, the others to
the half that was held out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studio.project.attribution.attribution import Attribution, attribute
from studio.project.attribution.evidence import Evidence

_FOLDER = Path(__file__).parent
_MARKED = re.compile(r"\{([^|{}]+)\|([^{}]*)\}")
_MARKS = re.compile(r"[\s“”‘’\"'「」『』«»„—,，.。-]")
FILES = {
    "English": ("english.txt", "classics_english.txt"),
    "Chinese": ("chinese.txt", "classics_chinese.txt"),
}
HALVES = ("building", "held out")


@dataclass
class Passage:
    """A passage: its paragraphs, the names by key, and its quotations with paragraph, words and key."""

    title: str
    names: dict[str, set[str]]
    paragraphs: list[str]
    quotations: list[tuple[int, str, str]]


@dataclass
class Score:
    """Counts of quotations: annotated and found; with a named speaker and right; above the limit and right."""

    num_annotated: int = 0
    num_found: int = 0
    num_extra: int = 0
    num_named: int = 0
    num_right: int = 0
    num_sure: int = 0
    num_sure_right: int = 0

    @property
    def found(self) -> float:
        return self.num_found / self.num_annotated

    @property
    def right(self) -> float:
        return self.num_right / self.num_named

    @property
    def sure_right(self) -> float:
        return self.num_sure_right / self.num_sure

    def __str__(self) -> str:
        return (
            f"found {share(self.num_found, self.num_annotated)}, {self.num_extra} others; right"
            f" {share(self.num_right, self.num_named)}; sure ones right {share(self.num_sure_right, self.num_sure)}"
        )


def share(part: int, total: int) -> str:
    """Return a share with its 95 % interval (Wilson)."""
    share, z = part / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    width = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return f"{part}/{total} = {100 * share:.1f} % ({100 * (middle - width):.1f} to {100 * min(1, middle + width):.1f})"


def read_passages(name: str) -> list[Passage]:
    passages: list[Passage] = []
    for block in (_FOLDER / name).read_text("utf-8").split("## ")[1:]:
        title, people, *marked = block.strip().split("\n")
        names: dict[str, set[str]] = {}
        for person in people.removeprefix("@").split(";"):
            key, _, rest = person.strip().partition(" ")
            names[key] = {each.strip().casefold() for each in rest.split(",")}
        paragraphs = [_MARKED.sub(lambda match: match[2].rstrip(), line) for line in marked]
        quotations = [(n, words, key) for n, line in enumerate(marked) for key, words in _MARKED.findall(line)]
        passages.append(Passage(title, names, paragraphs, quotations))
    return passages


def passages_of_half(name: str, half: str) -> Iterator[Passage]:
    yield from read_passages(name)[HALVES.index(half) :: 2]


def score(language: str, half: str) -> Score:
    result = Score()
    for name in FILES[language]:
        for passage in passages_of_half(name, half):
            _add(result, passage, attribute(Evidence(passage.paragraphs)))
    return result


def _add(result: Score, passage: Passage, attribution: Attribution) -> None:
    aliases = {each.name: {each.name, *each.aliases} for each in attribution.characters}
    found = list(attribution.quotations)
    for paragraph, words, key in passage.quotations:
        match = next(
            (each for each in found if each.place.paragraph == paragraph and _bare(each.text) == _bare(words)), None
        )
        result.num_annotated += 1
        if match is not None:
            found.remove(match)
            result.num_found += 1
        if key == "?":
            continue
        names = aliases.get(match.speaker or "", set()) if match is not None else set()
        is_right = any(name.casefold() in passage.names[key] for name in names)
        result.num_named += 1
        result.num_right += is_right
        if match is not None and not match.is_doubtful:
            result.num_sure += 1
            result.num_sure_right += is_right
    result.num_extra += len(found)


def _bare(words: str) -> str:
    return _MARKS.sub("", words)
