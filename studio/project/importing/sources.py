"""What a project remembers of an imported file: where it is, how it was read, and the row of each line."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

from studio.project.details import ImportSource
from studio.project.importing.blocks import ImportedScript, Section, sections_of_blocks
from studio.project.importing.columns import Field
from studio.project.importing.script_file import ImportOptions, ScriptFile
from studio.project.importing.tables import choose_mapping
from studio.project.lines import Line, LineOrigin, new_id
from studio.project.source_files import digest_of
from studio.project.splitting import SplitMode

# Fields of a line that an import sets.
IMPORTED_FIELDS = (
    "text", "voice", "style", "speed", "pause_after_seconds", "file_name", "character", "heading", "is_spoken", "note",
    "slot", "language",
)  # fmt: skip


def with_source(
    imported: ImportedScript,
    path: Path,
    file: ScriptFile,
    options: ImportOptions,
    *,
    encoding: str | None = None,
    source_id: str = "",
) -> ImportedScript:
    """Return ``imported``, which was read from ``path``, with its source, and its lines with their rows.

    ``encoding`` is that of a text, if it was chosen, and ``source_id`` that of the source that is updated.
    """
    source_id = source_id or new_id()
    lines = tuple(_with_origin(line, source_id, position) for position, line in enumerate(imported.lines))
    table = file.table(options)
    columns: dict[str, str] = {}
    if table is not None:
        mapping = choose_mapping(table) if options.mapping is None else options.mapping
        columns = {column.value: table.columns[at] for column, at in mapping.items()}
    source = ImportSource(
        id=source_id,
        path=str(path.resolve()),
        digest=digest_of(path),
        sheets=file.sheets(options),
        columns=columns,
        has_names=None if table is None else table.has_names,
        breaks=options.breaks.value,
        finds_speakers=options.finds_speakers,
        speaks_notes=options.speaks_notes,
        left_out=tuple(section.title for section in _sections(file) if section.start in options.left_out),
        chapter_level=options.chapter_level,
        encoding=encoding,
        rows=tuple(map(checksum_of, lines)),
    )
    return replace(imported, lines=lines, source=source)


def _with_origin(line: Line, source_id: str, position: int) -> Line:
    key = (line.origin.key if line.origin is not None else "") or line.file_name or ""
    return replace(line, origin=LineOrigin(source_id, position, key, imported_values(line)))


def imported_values(line: Line) -> dict[str, object]:
    return {name: getattr(line, name) for name in IMPORTED_FIELDS}


def options_of(source: ImportSource, file: ScriptFile) -> ImportOptions:
    """Return the options with which ``file`` is read as the source was.

    Columns and sections are found by their names.
    """
    options = ImportOptions(
        breaks=SplitMode(source.breaks) if source.breaks in {mode.value for mode in SplitMode} else SplitMode.SENTENCE,
        finds_speakers=source.finds_speakers,
        speaks_notes=source.speaks_notes,
        left_out=frozenset(section.start for section in _sections(file) if section.title in source.left_out),
        chapter_level=source.chapter_level,
        sheets=source.sheets,
        has_names=source.has_names,
    )
    table = file.table(options)
    if table is None:
        return options
    places = {name: at for at, name in enumerate(table.columns)}
    found = {column: places[name] for column in Field if (name := source.columns.get(column.value)) in places}
    return replace(options, mapping=found if Field.TEXT in found else None)


def _sections(file: ScriptFile) -> list[Section]:
    return [] if file.book is None else list(sections_of_blocks(file.book.blocks))


def checksum_of(line: Line) -> int:
    """Return a checksum of the row of an imported line: of its key, or else of its text."""
    assert line.origin is not None, "the line was imported"
    return zlib.crc32((line.origin.key or str(line.origin.values["text"])).encode())


def row_of_former_version(line: Line, position: int, source: ImportSource) -> LineOrigin:
    """Return the row of a line in a project of an earlier version, which does not store it.

    The key is found among the cells of the line. Fields that the user may have set have no former value.
    """
    columns = (source.columns.get(column.value, "") for column in (Field.ID, Field.FILE_NAME))
    key = next((line.columns[name] for name in columns if line.columns.get(name)), "") or line.file_name or ""
    values: dict[str, object] = {"text": line.text, "slot": line.slot, "character": line.character}
    return LineOrigin(source.id, position, key, values)
