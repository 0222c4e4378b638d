"""Import of a script file of any supported format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from studio.errors import UnreadableScript
from studio.messages import Message, message
from studio.project.importing.blocks import Block, Book, ImportedScript, lines_of_blocks, sections_of_blocks
from studio.project.importing.dialogue import dialogue_blocks, is_dialogue, is_screenplay, read_fountain
from studio.project.importing.epub import read_epub
from studio.project.importing.markdown import blocks_of_markdown
from studio.project.importing.pdf import read_pdf
from studio.project.importing.subtitles import lines_of_subtitles, notices_of_subtitles
from studio.project.importing.tables import (
    ColumnMapping,
    Table,
    choose_mapping,
    choose_sheets,
    join_tables,
    lines_of_table,
    read_csv,
    read_sheets,
)
from studio.project.importing.text_chapters import blocks_of_text
from studio.project.importing.text_file import read_bytes, read_decoded_text, read_text
from studio.project.importing.word import read_word
from studio.project.splitting import SplitMode

TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx")
SCRIPT_SUFFIXES = (
    *(".txt", ".md", ".markdown", ".docx", ".epub", ".pdf"),
    *(".fountain", ".srt", ".vtt", ".ass", ".ssa", ".sub", ".smi", *TABLE_SUFFIXES),
)


class ScriptKind(Enum):
    """Kinds of script files, which determine the choices of an import."""

    TEXT = "text"
    BOOK = "book"
    SCREENPLAY = "screenplay"
    SUBTITLES = "subtitles"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options for converting the content of a file to lines.

    Attributes:
        breaks: Where text is split. Rows and speeches of subtitles are not split.
        finds_speakers: Whether names before colons or in brackets are speakers, or None to detect it.
        speaks_notes: Whether stage directions, footnotes, and sounds, songs and signs of subtitles are spoken.
        left_out: The starts of the sections of a document that are left out.
        chapter_level: The headings of a document up to this level begin chapters; None to infer it.
        sheets: The names of the tables in the file, empty for those with the lines of the script.
        mapping: The columns of the table, or None to recognise them.
        has_names: Whether the first row of the table contains titles, or None to recognise it.
    """

    breaks: SplitMode = SplitMode.SENTENCE
    finds_speakers: bool | None = None
    speaks_notes: bool = False
    left_out: frozenset[int] = frozenset()
    chapter_level: int | None = None
    sheets: tuple[str, ...] = ()
    mapping: ColumnMapping | None = None
    has_names: bool | None = None


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """The content of a script file, from which lines are made with ``script``.

    Attributes:
        text: The content of a text or subtitle file.
        book: The content of a document or screenplay.
        tables: The tables by the name of their sheet.
        encodings: The possible encodings of a text that declares none, the guess first, each with a preview.
        notices: What was guessed when the file was read.
    """

    name: str
    kind: ScriptKind
    text: str = ""
    book: Book | None = None
    tables: Mapping[str, Table] = field(default_factory=dict)
    encodings: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[Message, ...] = ()

    @property
    def has_speakers(self) -> bool:
        """Whether a text or document looks like a dialogue. Always true for subtitles, which may name speakers."""
        if self.kind is ScriptKind.SUBTITLES:
            return True
        paragraphs = self.text
        if self.book is not None:
            paragraphs = "\n".join(block.text for block in self.book.blocks if _may_have_speaker(block))
        return self.kind in (ScriptKind.TEXT, ScriptKind.BOOK) and is_dialogue(paragraphs)

    def sheets(self, options: ImportOptions) -> tuple[str, ...]:
        """Return the names of the tables to import, in the order of the file; empty if there is none."""
        chosen = tuple(name for name in self.tables if name in options.sheets)
        return chosen or choose_sheets(self.tables)

    def table(self, options: ImportOptions) -> Table | None:
        """Return the rows to import, of all chosen sheets, or None for a file without tables."""
        sheets = self.sheets(options)
        named = {name: self.tables[name].named(options.has_names) for name in sheets}
        if len(self.tables) == 1:
            return next(iter(named.values()))
        return join_tables(named) if named else None

    def script(self, options: ImportOptions) -> ImportedScript:
        """Return the lines and metadata of the file. Raise ``UnreadableScript``, including for a file without text.

        Each row of a table and each speech of a subtitle becomes a line; other text is split.
        """
        imported = self._script(options)
        imported = replace(imported, notices=(*self.notices, *imported.notices))
        if not imported.lines:
            raise UnreadableScript(
                "{file} contains nothing that can be spoken.", remedy="Choose another file.", file=self.name
            )
        if not options.speaks_notes:
            return imported
        lines = (line if line.is_spoken or line.heading else replace(line, is_spoken=True) for line in imported.lines)
        return replace(imported, lines=tuple(lines))

    def _script(self, options: ImportOptions) -> ImportedScript:
        if self.kind is ScriptKind.TABLE:
            table = self.table(options)
            if table is None:
                return ImportedScript(())
            mapping = choose_mapping(table) if options.mapping is None else options.mapping
            imported = lines_of_table(table, mapping, self.name, speaks_directions=options.speaks_notes)
            others = [name for name in self.tables if name not in self.sheets(options)]
            if not others:
                return imported
            return replace(
                imported, notices=(*imported.notices, message("Sheets that are not imported: {names}.", names=others))
            )
        if self.kind is ScriptKind.SUBTITLES:
            speeches = lines_of_subtitles(
                self.text, finds_speakers=self._finds_speakers(options), speaks_sounds=options.speaks_notes
            )
            return ImportedScript(tuple(speeches), notices=notices_of_subtitles(self.text))
        book, blocks = self.book or Book(), self._blocks(options)
        lines = tuple(lines_of_blocks(blocks, options.breaks, options.chapter_level or book.chapter_level))
        return ImportedScript(lines, book.title, book.author, book.cover, notices=book.notices)

    def _finds_speakers(self, options: ImportOptions) -> bool:
        return self.has_speakers if options.finds_speakers is None else options.finds_speakers

    def _blocks(self, options: ImportOptions) -> Iterable[Block]:
        """Return the blocks of a text, document or screenplay."""
        book = self.book or Book()
        blocks: Iterable[Block] = book.blocks if self.book is not None else blocks_of_text(self.text)
        if options.left_out:
            blocks = [
                block
                for section in sections_of_blocks(book.blocks)
                if section.start not in options.left_out
                for block in book.blocks[section.start : section.stop]
            ]
        return _with_speakers(blocks) if self._finds_speakers(options) else blocks


def read_tables(path: Path) -> dict[str, Table]:
    """Return the tables of a file by sheet; a CSV file has one. Raise ``UnreadableScript``."""
    if path.suffix.lower() == ".xlsx":
        return read_sheets(read_bytes(path), path.name)
    return {path.stem: read_csv(read_text(path), path.name)}


def read_file(path: Path, encoding: str | None = None) -> ScriptFile:
    """Read a script file in the format given by its suffix. ``encoding`` is that of a text, if known.

    Raise ``UnreadableScript``.
    """
    name, suffix = path.name, path.suffix.lower()
    if suffix in (".docx", ".epub", ".pdf"):
        read = {".docx": read_word, ".epub": read_epub, ".pdf": read_pdf}[suffix]
        return ScriptFile(name, ScriptKind.BOOK, book=read(read_bytes(path), name))
    if suffix == ".xlsx":
        return ScriptFile(name, ScriptKind.TABLE, tables=read_tables(path))
    if suffix in SCRIPT_SUFFIXES:
        decoded = read_decoded_text(path, encoding)
        return replace(_text_file(path, decoded.text), encodings=decoded.encodings, notices=decoded.notices)
    raise UnreadableScript(
        "{suffix} cannot be imported ({file}).",
        remedy="Choose one of {known}, or copy and paste the text.",
        suffix=path.suffix or message("a file without a suffix"),
        file=name,
        known=list(SCRIPT_SUFFIXES),
    )


def _text_file(path: Path, text: str) -> ScriptFile:
    name = path.name
    match path.suffix.lower():
        case ".md" | ".markdown":
            return ScriptFile(name, ScriptKind.BOOK, book=Book(blocks_of_markdown(text)))
        case ".csv" | ".tsv":
            return ScriptFile(name, ScriptKind.TABLE, tables={path.stem: read_csv(text, name)})
        case ".srt" | ".vtt" | ".ass" | ".ssa" | ".sub" | ".smi":
            return ScriptFile(name, ScriptKind.SUBTITLES, text=text)
        case ".fountain":
            return ScriptFile(name, ScriptKind.SCREENPLAY, book=read_fountain(text))
    if is_screenplay(text):
        return ScriptFile(name, ScriptKind.SCREENPLAY, book=read_fountain(text))
    return ScriptFile(name, ScriptKind.TEXT, text=text)


def _may_have_speaker(block: Block) -> bool:
    return not block.level and block.is_spoken and block.character is None


def _with_speakers(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if _may_have_speaker(block):
            yield from dialogue_blocks(block.text)
        else:
            yield block
