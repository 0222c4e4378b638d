"""Paragraphs and headings of a document, and the lines made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from studio.messages import Message
from studio.project.lines import Heading, Line, new_id
from studio.project.splitting import SplitMode, split_text, unwrap


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading or note.

    Attributes:
        level: The level of a heading, from 1, or 0 for a paragraph.
        is_spoken: False for footnotes and stage directions.
        character: Who speaks, None for the narrator.
    """

    text: str
    level: int = 0
    is_spoken: bool = True
    character: str | None = None


@dataclass(slots=True)
class Book:
    """Text of a document, with its title, author and cover image, if any."""

    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    author: str = ""
    cover: bytes | None = None
    chapter_level: int | None = None  # headings up to this level begin chapters; None to infer it
    notices: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedScript:
    """Content of an imported file.

    Attributes:
        title: Title from the metadata of the file, often empty.
        author: Author from the metadata of the file, often empty.
        cover: Cover image, JPEG or PNG.
        columns: Names of the columns of a table.
        notices: What was left out or guessed.
    """

    lines: tuple[Line, ...]
    title: str = ""
    author: str = ""
    cover: bytes | None = None
    columns: tuple[str, ...] = ()
    notices: tuple[Message, ...] = ()


def lines_of_blocks(blocks: Iterable[Block], breaks: SplitMode, chapter_level: int | None = None) -> list[Line]:
    """Return one line per heading and note, and one per sentence or paragraph of other text."""
    blocks = tuple(blocks)
    if chapter_level is None:
        chapter_level = _infer_chapter_level([block.level for block in blocks if block.level])
    lines: list[Line] = []
    for block in blocks:
        if block.level or not block.is_spoken:
            heading = (
                Heading.NONE if not block.level else Heading.CHAPTER if block.level <= chapter_level else Heading.SCENE
            )
            texts = [unwrap(block.text)]
        else:
            heading, texts = Heading.NONE, split_text(block.text, breaks)
        lines += [
            Line(id=new_id(), text=text, heading=heading, is_spoken=block.is_spoken, character=block.character)
            for text in texts
            if text
        ]
    return lines


def _infer_chapter_level(levels: Sequence[int]) -> int:
    """Return the highest level that occurs more than once: a single heading above it is the title of the work."""
    counts = Counter(levels)
    return min((level for level, count in counts.items() if count > 1), default=min(counts, default=1))
