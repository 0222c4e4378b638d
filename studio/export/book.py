"""An exported work: its title, author, narrator and cover, and its chapters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath

from studio.audio import m4b
from studio.errors import UnusableSetting
from studio.export.speech_source import ExportItem, ScriptChapter
from studio.export.subtitles import LineTiming, as_subtitle
from studio.project.details import ProjectDetails
from studio.project.lines import Heading, Line
from studio.storage.disk import require_regular_file

_MAX_COVER_BYTES = 10 << 20


@dataclass(frozen=True, slots=True)
class BookDetails:
    """Tags of an exported work. ``cover`` is a JPEG or PNG image."""

    title: str = ""
    author: str = ""
    narrator: str = ""
    cover: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, details: ProjectDetails) -> BookDetails:
        return cls(details.title, details.author, details.narrator, details.cover)

    def tags(self, tags: dict[str, str], chapter: ScriptChapter | None = None) -> dict[str, str]:
        """Return ``tags`` with the tags of the work and of one of its chapters, under libsndfile's names."""
        found = {
            "album": self.title,
            "artist": self.author,
            "composer": self.narrator,
            "tracknumber": str(chapter.number) if chapter and chapter.number else "",
        }
        return tags | {name: value for name, value in found.items() if value}

    def facts(self, project: str, comment: str, chapters: Sequence[m4b.Chapter]) -> m4b.BookFacts:
        """Return the tags of an audiobook. ``project`` is its title if the work has none."""
        return m4b.BookFacts(
            title=self.title or project,
            author=self.author,
            narrator=self.narrator,
            comment=comment,
            chapters=chapters,
            cover=self.cover,
        )

    def digest(self) -> list[str]:
        """Return a value that identifies the tags; it is empty without tags."""
        values = [self.title, self.author, self.narrator]
        return values if any(values) else []


def read_cover(path: Path) -> bytes:
    """Return the content of an image file. Raise ``UnusableSetting`` unless it is a JPEG or PNG image of usual size."""
    try:
        require_regular_file(path)
        image = path.read_bytes() if path.stat().st_size <= _MAX_COVER_BYTES else b""
    except OSError as error:
        raise UnusableSetting(
            "The cover {path} cannot be read ({reason}).", remedy="Choose another image.", path=path, reason=error
        ) from error
    if not m4b.is_cover(image):
        raise UnusableSetting(
            "{file} is not a readable JPEG or PNG image of at most {size} MB.",
            remedy="Choose another image, or save it as JPEG.",
            file=path.name,
            size=_MAX_COVER_BYTES >> 20,
        )
    return image


@dataclass(frozen=True, slots=True)
class PlannedChapter:
    """A chapter of an export: lines ``first`` to ``end - 1`` of the plan. ``file`` is None without chapter files."""

    chapter: ScriptChapter
    title: str
    first: int
    end: int
    file: PurePosixPath | None = None

    @property
    def positions(self) -> range:
        return range(self.first, self.end)


def lines_with_chapters(lines: Iterable[Line]) -> Iterator[tuple[Line, ScriptChapter]]:
    """Yield each line of a script with the chapter that contains it."""
    chapter = ScriptChapter()
    for line in lines:
        if line.heading is Heading.CHAPTER:
            chapter = ScriptChapter(chapter.number + 1, as_subtitle(line.text))
        yield line, chapter


def plan_chapters(items: Sequence[ExportItem], work: str) -> tuple[PlannedChapter, ...]:
    """Return the chapters of ``items``. Lines before the first heading get the title of the ``work``."""
    chapters: list[PlannedChapter] = []
    for chapter, positions in groupby(range(len(items)), lambda position: items[position].chapter):
        places = list(positions)
        chapters.append(PlannedChapter(chapter, chapter.title or work, places[0], places[-1] + 1))
    return tuple(chapters)


def audiobook_chapters(
    chapters: Sequence[PlannedChapter], timings: Mapping[int, LineTiming], head_samples: int = 0
) -> tuple[m4b.Chapter, ...]:
    """Return the chapters that have lines, with their times.

    Each begins ``head_samples`` before its first line and lasts until the next. ``timings`` maps positions in the plan
    to timings in the audiobook.
    """
    titles = [each.title for each in chapters if any(position in timings for position in each.positions)]
    firsts = [next((each for each in chapter.positions if each in timings), None) for chapter in chapters]
    starts = [timings[each].start_samples - head_samples for each in firsts if each is not None]
    ends = [*starts[1:], max(each.end_samples for each in timings.values())]
    return tuple(
        m4b.Chapter(title, start, end) for title, start, end in zip(titles, [0, *starts[1:]], ends, strict=True)
    )
