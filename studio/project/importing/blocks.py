"""Paragraphs and headings of a document, and the lines made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import regex

from studio.messages import Message
from studio.project.details import ImportSource
from studio.project.lines import Heading, Line, LineStyle, new_id
from studio.project.splitting import SplitMode, split_paragraphs, unwrap


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading or note.

    Attributes:
        level: The level of a heading, from 1, or 0 for a paragraph.
        is_spoken: False for footnotes and stage directions.
        character: Who speaks, None for the narrator.
        style: How it is spoken.
        is_matter: Whether it belongs to the front or back matter of a book, such as its contents or copyright.
    """

    text: str
    level: int = 0
    is_spoken: bool = True
    character: str | None = None
    is_matter: bool = False
    style: LineStyle = LineStyle()


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks ``start`` to ``stop`` of a document: a heading of its contents, and what follows until the next one.

    Attributes:
        level: The level of the heading, from 1.
        is_matter: Whether it is front or back matter, which listeners seldom want to hear.
    """

    start: int
    stop: int
    title: str
    level: int
    is_matter: bool


@dataclass(slots=True)
class Book:
    """Text of a document, with its title, author and cover image, if any."""

    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    author: str = ""
    cover: bytes | None = None
    chapter_level: int | None = None  # headings up to this level begin chapters; None to infer it
    notices: tuple[Message, ...] = ()

    @property
    def effective_chapter_level(self) -> int:
        """``chapter_level``, inferred if it is None."""
        return self.chapter_level or _infer_chapter_level(self.blocks)


@dataclass(frozen=True, slots=True)
class ImportedScript:
    """Content of an imported file.

    Attributes:
        title: Title from the metadata of the file, often empty.
        author: Author from the metadata of the file, often empty.
        cover: Cover image, JPEG or PNG.
        columns: Names of the columns of a table.
        notices: What was left out or guessed.
        source: The file, with which the project can be updated.
    """

    lines: tuple[Line, ...]
    title: str = ""
    author: str = ""
    cover: bytes | None = None
    columns: tuple[str, ...] = ()
    notices: tuple[Message, ...] = ()
    source: ImportSource | None = None


SCENE_LEVEL = 9  # of headings that are not in the contents of a book
_MAX_TITLE_LENGTH = 80
_MATTER_TITLES = regex.compile(
    r"(?:table of |brief )?contents|list of (?:figures|tables|illustrations|plates)|(?:half[- ]?|book )?title(?: page)?|cover"
    r"|copyright(?: (?:page|notice|information))?|colophon|imprint|landmarks|(?:general |subject )?index|bibliography"
    r"|(?:also|other (?:books|titles)) by\b.*|inhalt(?:sverzeichnis)?|impressum|(?:sach|personen)?register|table des mati[eè]res"
    r"|sommaire|mentions légales|[íi]ndice(?: (?:de contenidos|general|analitico))?|derechos de autor|sommario|содержание"
    r"|оглавление|目[录錄次]|版[权權](?:[页頁]|信息|声明)?|索引|封面|扉[页頁]|[书書]名[页頁]|参考文献|奥付|차례|목차|판권",
    regex.IGNORECASE,
)

PART_TITLES = regex.compile(
    r"(?:part|book|volume|teil|buch|band|partie|livre|parte|libro)\b|第.{1,4}[部卷编篇]|часть|том", regex.IGNORECASE
)
_COPYRIGHT = regex.compile(
    r"ISBN|all rights reserved|alle rechte vorbehalten|tous droits réservés|版[权權]所有", regex.IGNORECASE
)
_MAX_COPYRIGHT_BLOCKS = 40


def sections_of_blocks(blocks: Sequence[Block]) -> list[Section]:
    """Return the contents of a document. Text before the first heading, and matter without one, are sections too."""
    starts = [
        at
        for at, block in enumerate(blocks)
        if at == 0 or 0 < block.level < SCENE_LEVEL or block.is_matter != blocks[at - 1].is_matter
    ]
    sections: list[Section] = []
    matter_level = SCENE_LEVEL  # of the matter that contains the next sections
    for start, stop in zip(starts, [*starts[1:], len(blocks)], strict=True):
        first = blocks[start]
        level = first.level or 1
        if level <= matter_level:
            matter_level = level if _MATTER_TITLES.fullmatch(first.text.strip(" .:")) else SCENE_LEVEL
        is_matter = first.is_matter or matter_level < SCENE_LEVEL or _is_copyright_page(blocks[start:stop])
        sections.append(Section(start, stop, unwrap(first.text)[:_MAX_TITLE_LENGTH], level, is_matter))
    return sections


def _is_copyright_page(blocks: Sequence[Block]) -> bool:
    """Return whether a short section has both an ISBN and a reservation of rights, or several ISBNs."""
    if len(blocks) > _MAX_COPYRIGHT_BLOCKS:
        return False
    return sum(_COPYRIGHT.search(block.text) is not None for block in blocks) > 1


def lines_of_blocks(blocks: Iterable[Block], breaks: SplitMode, chapter_level: int | None = None) -> list[Line]:
    """Return one line per heading and note, and one per sentence or paragraph of other text.

    If paragraphs have several lines, the first line of each is marked, except below a heading.
    """
    blocks = tuple(blocks)
    if chapter_level is None:
        chapter_level = _infer_chapter_level(blocks)
    lines: list[Line] = []
    for block in blocks:
        if block.level or not block.is_spoken:
            heading = (
                Heading.NONE if not block.level else Heading.CHAPTER if block.level <= chapter_level else Heading.SCENE
            )
            paragraphs = [[unwrap(block.text)]]
        else:
            heading, paragraphs = Heading.NONE, split_paragraphs(block.text, breaks)
        for paragraph in paragraphs:
            lines += [
                Line(
                    id=new_id(),
                    text=text,
                    heading=heading,
                    is_spoken=block.is_spoken,
                    character=block.character,
                    style=block.style,
                    begins_paragraph=not (number or heading) and bool(lines) and not lines[-1].heading,
                )
                for number, text in enumerate(paragraph)
                if text
            ]
    if all(line.begins_paragraph or line.heading or lines[row - 1].heading for row, line in enumerate(lines) if row):
        return [replace(line, begins_paragraph=False) for line in lines]
    return lines


def _infer_chapter_level(blocks: Sequence[Block]) -> int:
    """Return the highest level that occurs more than once: a single heading above it is the title of the work.

    If it is that of parts, chapters have the next one.
    """
    counts = Counter(block.level for block in blocks if block.level)
    level = min((level for level, count in counts.items() if count > 1), default=min(counts, default=1))
    if not any(block.level == level and PART_TITLES.match(block.text) for block in blocks):
        return level
    return min((deeper for deeper in counts if level < deeper < SCENE_LEVEL), default=level)
