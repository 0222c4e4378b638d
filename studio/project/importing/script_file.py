"""Import of a script file of any supported format."""

from __future__ import annotations

from pathlib import Path

from studio.errors import UnreadableScript
from studio.messages import wording
from studio.project.importing.blocks import Block, Book, ImportedScript, lines_of_blocks
from studio.project.importing.dialogue import dialogue_blocks, fountain_blocks, is_dialogue
from studio.project.importing.epub import read_epub
from studio.project.importing.markdown import blocks_of_markdown
from studio.project.importing.pdf import read_pdf
from studio.project.importing.subtitles import lines_of_subtitles
from studio.project.importing.tables import Table, lines_of_table, mapping_of, read_csv, sheets_of
from studio.project.importing.text_file import read_bytes, read_text
from studio.project.importing.word import read_word
from studio.project.lines import Line
from studio.project.splitting import SplitMode
from studio.text.tags import COSYVOICE3_TAGS

TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx")
SCRIPT_SUFFIXES = (
    *(".txt", ".md", ".markdown", ".docx", ".epub", ".pdf"),
    *(".fountain", ".srt", ".vtt", *TABLE_SUFFIXES),
)
# Words in brackets that are tags of the models, not names of speakers.
TAG_WORDS = frozenset({"pause", *(tag.text.strip("[]<>").casefold() for tag in COSYVOICE3_TAGS.inline)}) | {
    phone.strip("[]").casefold() for phone in COSYVOICE3_TAGS.phones
}


def read_script(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> list[Line]:
    """Return the lines of a script, read as ``import_script`` does."""
    return list(import_script(path, breaks).lines)


def import_script(path: Path, breaks: SplitMode = SplitMode.SENTENCE) -> ImportedScript:
    """Return the content of a script file. Rows and speeches of subtitles are lines; other text is split.

    The suffix of ``path`` gives the format. Raise ``UnreadableScript``, also for a file without text.
    """
    imported = _imported(path, breaks)
    if not imported.lines:
        raise UnreadableScript(
            "{file} contains nothing that can be spoken.", remedy="Choose another file.", file=path.name
        )
    return imported


def read_tables(path: Path) -> dict[str, Table]:
    """Return the tables of a file by sheet; a CSV file has one. Raise ``UnreadableScript``."""
    if path.suffix.lower() == ".xlsx":
        return sheets_of(read_bytes(path), path.name)
    return {path.stem: read_csv(read_text(path), path.name)}


def _imported(path: Path, breaks: SplitMode) -> ImportedScript:  # noqa: PLR0911 - one return per format
    match path.suffix.lower():
        case ".txt":
            return _of_text(read_text(path), breaks)
        case ".md" | ".markdown":
            return _of_book(Book(blocks_of_markdown(read_text(path))), breaks)
        case ".docx":
            return _of_book(read_word(read_bytes(path), path.name), breaks)
        case ".epub":
            return _of_book(read_epub(read_bytes(path), path.name), breaks)
        case ".pdf":
            return _of_book(read_pdf(read_bytes(path), path.name), breaks)
        case ".fountain":
            return ImportedScript(tuple(lines_of_blocks(fountain_blocks(read_text(path)), breaks)))
        case ".csv" | ".tsv" | ".xlsx":
            tables = read_tables(path)
            table = max(tables.values(), key=lambda each: len(each.rows), default=None)
            return ImportedScript(()) if table is None else lines_of_table(table, mapping_of(table), path.name)
        case ".srt" | ".vtt":
            return ImportedScript(tuple(lines_of_subtitles(read_text(path))))
    raise UnreadableScript(
        "{suffix} cannot be imported ({file}).",
        remedy="Choose one of {known}, or copy and paste the text.",
        suffix=path.suffix or wording("a file without a suffix"),
        file=path.name,
        known=", ".join(SCRIPT_SUFFIXES),
    )


def _of_text(text: str, breaks: SplitMode) -> ImportedScript:
    blocks = dialogue_blocks(text, TAG_WORDS) if is_dialogue(text, TAG_WORDS) else [Block(text)]
    return ImportedScript(tuple(lines_of_blocks(blocks, breaks)))


def _of_book(book: Book, breaks: SplitMode) -> ImportedScript:
    lines = tuple(lines_of_blocks(book.blocks, breaks))
    return ImportedScript(lines, book.title, book.author, book.cover)
