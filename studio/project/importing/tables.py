"""Tables (CSV, TSV, Excel): one line per row. The user can change the meaning of columns."""

from __future__ import annotations

import csv
import datetime
import io
import shlex
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import regex

from studio.errors import StudioError, UnreadableScript
from studio.messages import Message, message
from studio.project.csv_table import unescape_cell
from studio.project.importing.blocks import ImportedScript
from studio.project.importing.columns import Field, find_ids, find_text, find_titles, guess_mapping, is_ambiguous
from studio.project.importing.dialogue import HAN, without_directions
from studio.project.importing.style_names import style_named
from studio.project.lines import DEFAULT_PAUSE_SECONDS, Heading, Line, LineOrigin, new_id, sanitize
from studio.project.splitting import unwrap
from studio.text.language import tag_named

MAX_ROWS = 100_000
_MAX_COLUMNS = 200
_MAX_CELLS = 5_000_000
_MAX_BYTES = 256 << 20  # size of a workbook after decompression
_MAX_EMPTY_ROWS = 10_000  # in succession; a sheet ends there, because the numbers of later rows may be invented

_DELIMITERS = ",;\t|"
_DECLARED_DELIMITER = regex.compile(r"sep=(.)\r?\n", regex.IGNORECASE)  # of Excel
_MAX_TITLE_ROW = 10
_EXCEL_ROWS = 1_048_576
_SOUND_SUFFIX = regex.compile(r"\.(?:wav|flac|mp3|ogg|opus|m4a)\Z", regex.IGNORECASE)
_KINDS_OF_SCRIPTS = {Field.ID, Field.CHARACTER, Field.FILE_NAME}
_HEADINGS = {Field.CHAPTER: Heading.CHAPTER, Field.SCENE: Heading.SCENE}
_SHEET = "Sheet"  # title of the column with the name of the sheet
_MAX_NAMED = 5
# Variables of games, such as {PLAYER_NAME}, ${gold}, [PLAYER] and %COLOR%, but not tags such as [breath] and [HH].
_PLACEHOLDER = regex.compile(r"\$?\{[\p{L}_][\w.: ]*\}|\[[A-Z][A-Z_]{3,}\]|%[A-Z][A-Z_]+%")
_ESCAPED = regex.compile(r"_x([0-9A-Fa-f]{4})_")  # a character that XML cannot contain
_MERGED = regex.compile(rb"""<(?:\w+:)?mergeCell\s[^<>]*?ref=["']([A-Z]+\d+:[A-Z]+\d+)""")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a table, except empty ones. ``columns`` are unique names; ``numbers`` are the row numbers in the file."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    has_names: bool
    title_number: int = 1  # the number of the row of titles
    sheets: tuple[str, ...] = ()  # the sheet of each row, for a file of several

    def named(self, has_names: bool | None) -> Table:
        """Return the table with its first row as titles, or its titles as first row. None changes nothing."""
        if has_names in (None, self.has_names) or (has_names and not self.rows):
            return self
        if has_names:
            names = _column_names(self.rows[0], len(self.columns))
            return Table(names, self.rows[1:], self.numbers[1:], has_names=True, title_number=self.numbers[0])
        numbers = (self.title_number, *self.numbers)
        return Table(_column_names((), len(self.columns)), (self.columns, *self.rows), numbers, has_names=False)

    def column(self, at: int) -> list[str]:
        """Return the cells of a column."""
        return [row[at] for row in self.rows]


ColumnMapping = Mapping[Field, int]


def read_csv(text: str, name: str, *, delimiter: str | None = None) -> Table:
    """Return the table in ``text``, by default with the delimiter that its first row suggests.

    ``name`` is the file name, for errors. Raise ``UnreadableScript``.
    """
    text = text.removeprefix("\ufeff")
    if declared := _DECLARED_DELIMITER.match(text):
        text, delimiter = "\n" + text[declared.end() :], declared[1]  # the number of each row stays
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _delimiter(text))
        rows = [[unescape_cell(cell) for cell in row] for row in reader]
    except csv.Error as error:
        raise UnreadableScript(
            "{name} is not a readable table ({reason}).", remedy="Save it again as CSV.", name=name, reason=error
        ) from error
    return _table(rows, name)


def read_sheets(content: bytes, name: str) -> dict[str, Table]:
    """Return the tables of an Excel workbook (.xlsx) by sheet, without empty sheets. Raise ``UnreadableScript``."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            num_bytes = sum(entry.file_size for entry in archive.infolist())
        sheets = None if num_bytes > _MAX_BYTES else _read_sheets(content, name)
    except StudioError:
        raise
    except Exception as error:  # openpyxl raises any error for a damaged file
        raise UnreadableScript(
            "{name} is not a readable Excel workbook.",
            remedy="Save it again as .xlsx without a password, or as CSV.",
            name=name,
        ) from error
    if sheets is None:
        raise _too_large(name)
    return {title: table for title, table in sheets.items() if table.rows}


def _read_sheets(content: bytes, name: str) -> dict[str, Table]:
    import openpyxl  # noqa: PLC0415 - takes a quarter of a second

    workbook = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {
                sheet.title: _table(
                    _cells(sheet.iter_rows(max_row=_EXCEL_ROWS, values_only=True)),
                    name,
                    _merged_cells(archive.read(sheet._worksheet_path)),  # type: ignore[attr-defined]  # not read in this mode
                )
                for sheet in workbook.worksheets
            }
    finally:
        workbook.close()


@dataclass(frozen=True, slots=True)
class _MergedCells:
    """Cells of an Excel sheet that show the value of the first one, by numbers from 1."""

    first_column: int
    first_row: int
    last_column: int
    last_row: int


def _merged_cells(part: bytes) -> list[_MergedCells]:
    from openpyxl.utils import range_boundaries  # noqa: PLC0415 - as above

    return [_MergedCells(*range_boundaries(area.decode("ascii"))) for area in _MERGED.findall(part)]


def _cells(rows: Iterable[Sequence[object]]) -> Iterable[list[str]]:
    return ([_cell_text(cell) for cell in row] for row in rows)


def _cell_text(cell: object) -> str:
    """Return the text of a cell: whole numbers without a fraction, dates in ISO format."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), str(cell))


def _table(rows: Iterable[Sequence[str]], name: str, merged: Sequence[_MergedCells] = ()) -> Table:
    found: list[tuple[str, ...]] = []
    numbers: list[int] = []
    num_cells = 0
    for number, row in enumerate(rows, 1):
        cells = [sanitize(cell).strip() for cell in row]
        while cells and not cells[-1]:  # Excel stores empty cells that have a colour
            cells.pop()
        if cells:
            found.append(tuple(cells))
            numbers.append(number)
            num_cells += len(cells)
        if len(found) > MAX_ROWS or len(cells) > _MAX_COLUMNS or num_cells > _MAX_CELLS:
            raise _too_large(name)
        if number - (numbers[-1] if numbers else 0) > _MAX_EMPTY_ROWS:
            break
    at, num_titles = find_titles(found[:_MAX_TITLE_ROW])
    width = max(map(len, found[at:]), default=0)
    padded = [[*row, *[""] * (width - len(row))][:width] for row in found]
    first = at + num_titles
    for area in merged:
        if num_titles > 1 and area.first_row == numbers[at] and area.first_column <= width:
            columns = slice(area.first_column - 1, area.last_column)
            padded[at][columns] = [padded[at][columns.start]] * len(padded[at][columns])
    titles = [" ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*padded[at:first], strict=True)]
    names = _column_names(titles, width)
    table = Table(names, tuple(map(tuple, padded[first:])), tuple(numbers[first:]), has_names=num_titles > 0)
    if num_titles:
        table = replace(table, title_number=numbers[at])
    return _filled_down(table, merged) if merged else table


def _filled_down(table: Table, merged: Sequence[_MergedCells]) -> Table:
    """Return the table with the values of merged cells in all their rows, except the text, which is spoken once."""
    last_rows = {(area.first_row, area.first_column - 1): area.last_row for area in merged}
    text = choose_mapping(table).get(Field.TEXT)
    columns = {column for _, column in last_rows if column != text and column < len(table.columns)}
    shown: dict[int, tuple[int, str]] = {}  # the last row and the value of the merged cells in a column
    rows: list[tuple[str, ...]] = []
    for number, row in zip(table.numbers, table.rows, strict=True):
        cells = list(row)
        for column in columns:
            last_row, value = shown.get(column, (0, ""))
            if number <= last_row and not cells[column]:
                cells[column] = value
            elif (number, column) in last_rows:
                shown[column] = last_rows[number, column], cells[column]
        rows.append(tuple(cells))
    return replace(table, rows=tuple(rows))


def _column_names(titles: Sequence[str], count: int) -> tuple[str, ...]:
    """Return different names for ``count`` columns: their titles, else their numbers."""
    return tuple(_unique([(titles[at] if titles else "") or f"{at + 1}" for at in range(count)]))


def _unique(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        others = (f"{name} {number}" for number in range(2, len(names) + 2))
        found.append(name if name not in found else next(other for other in others if other not in found))
    return found


def _too_large(name: str) -> UnreadableScript:
    return UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)


def join_tables(tables: Mapping[str, Table]) -> Table:
    """Return the rows of all sheets in one table, with a column of the names of the sheets if there are several.

    Columns with the same title or the same meaning become one.
    """
    sheets = tuple(sheet for sheet, table in tables.items() for _ in table.rows)
    if len(tables) == 1:
        return replace(next(iter(tables.values())), sheets=sheets)
    titles: list[str] = []
    title_of: dict[Field, str] = {}
    cells: list[dict[str, str]] = []
    for sheet, table in tables.items():
        fields = {at: field for field, at in choose_mapping(table).items()}
        names = [
            title_of.setdefault(fields[at], name) if at in fields else name for at, name in enumerate(table.columns)
        ]
        titles += [name for name in names if name not in titles]
        cells += [{**dict(zip(names, row, strict=True)), _SHEET: sheet} for row in table.rows]
    columns = tuple(dict.fromkeys((*titles, _SHEET)))
    rows = tuple(tuple(row.get(name, "") for name in columns) for row in cells)
    numbers = tuple(number for table in tables.values() for number in table.numbers)
    return Table(columns, rows, numbers, has_names=True, sheets=sheets)


def choose_sheets(tables: Mapping[str, Table]) -> tuple[str, ...]:
    """Return the names of the sheets with the lines of a script: the longest, and others with columns like it.

    A sheet with the same IDs as another contains the same lines, for example in another language.
    """
    mappings = {name: choose_mapping(table) for name, table in tables.items()}
    scripts = [name for name, table in tables.items() if table.has_names and Field.TEXT in guess_mapping(table.columns)]
    longest = max(scripts or tables, key=lambda name: len(tables[name].rows), default=None)
    if longest is None:
        return ()
    required = _KINDS_OF_SCRIPTS & mappings[longest].keys()
    chosen, known = {longest}, _ids(tables[longest], mappings[longest])
    for name in scripts:
        ids = _ids(tables[name], mappings[name])
        if required <= mappings[name].keys() and not known & ids:
            chosen.add(name)
            known |= ids
    return tuple(name for name in tables if name in chosen)


def _ids(table: Table, mapping: ColumnMapping) -> set[str]:
    return set() if Field.ID not in mapping else set(filter(None, table.column(mapping[Field.ID])))


def choose_mapping(table: Table) -> dict[Field, int]:
    """Return the initial mapping: known titles, and the text by its cells if no title names it; without it if unsure.

    Chapters and scenes are recognised only if their rows are together.
    """
    found = guess_mapping(table.columns) if table.has_names else {}
    if Field.CHARACTER not in found and is_ambiguous(table.columns, found.get(Field.FILE_NAME)):
        names = list(filter(None, table.column(found[Field.FILE_NAME])))
        if len(set(names)) < len(names):  # files have different names
            found[Field.CHARACTER] = found.pop(Field.FILE_NAME)
    found = {field: at for field, at in found.items() if field not in _HEADINGS or _is_grouped(table.column(at))}
    if Field.TEXT not in found:
        text = find_text(table.rows, len(table.columns), found.values())
        if text is not None:
            found[Field.TEXT] = text
    ids = find_ids(table.columns, table.rows, found.values()) if table.has_names else None
    return found if ids is None else found | {Field.ID: ids}


def _is_grouped(cells: Sequence[str]) -> bool:
    groups = [cell for cell, _ in groupby(filter(None, cells))]
    return len(set(groups)) == len(groups) and 2 * len(groups) <= len(cells)


def lines_of_table(
    table: Table, mapping: ColumnMapping, name: str, *, speaks_directions: bool = False
) -> ImportedScript:
    """Return one line per row that has text, and a heading for each new chapter and scene.

    Stage directions in the text, such as “(sighs)”, become notes and styles unless it ``speaks_directions``. Every line keeps all its cells, to be exported again. ``name`` is the file name. Raise ``UnreadableScript`` with the
    number of a row that contains an invalid number, or if the mapping has no text.
    """
    if Field.TEXT not in mapping and table.columns:
        contents = {title: table.column(at) for at, title in enumerate(table.columns)}
        raise UnreadableScript(
            "It is not clear which column of {name} contains the text. The columns are {columns}.",
            remedy="Choose the column, on the command line for example with --column text={example}.",
            name=name,
            columns=[f"“{column}”" for column in table.columns],
            example=shlex.quote(max(table.columns, key=lambda name: sum(map(len, contents[name])))),
        )
    lines: list[Line] = []
    directions: dict[str, None] = {}
    placeholders: dict[str, None] = {}
    above: dict[Field, str] = {}
    for at, (number, row) in enumerate(zip(table.numbers, table.rows, strict=True)):
        cells = {field: row[at] for field, at in mapping.items()}
        if not cells.get(Field.TEXT):
            continue
        lines += _headings(cells, above, {field: table.columns[at] for field, at in mapping.items()})
        try:
            line = _line(cells, dict(zip(table.columns, row, strict=True)) if table.has_names else {})
        except (StudioError, ValueError) as error:
            raise UnreadableScript(
                "Row {number} of the sheet “{sheet}” of {name}: {reason}"
                if table.sheets
                else "Row {number} of {name}: {reason}",
                remedy="Correct that row and import again.",
                number=number,
                sheet=table.sheets[at] if table.sheets else "",
                name=name,
                reason=error,
            ) from error
        if not speaks_directions:
            text, found = without_directions(cells[Field.TEXT])
            directions |= dict.fromkeys(found)
            line = _with_directions(line, text, found)
        placeholders |= dict.fromkeys(_PLACEHOLDER.findall(line.text))
        lines.append(line)
    notices: list[Message] = []
    if directions:
        quoted = [f"“{words}”" for words in directions]
        notices.append(message("Stage directions are not spoken: {names}.", names=_first(quoted)))
    if placeholders:
        notices.append(message("Placeholders are spoken as they are: {names}.", names=_first(list(placeholders))))
    unused = [title for at, title in enumerate(table.columns) if at not in mapping.values() and title != _SHEET]
    if unused and table.has_names:
        notices.append(message("Columns kept but not used: {names}.", names=unused))
    columns = table.columns if table.has_names else ()
    return ImportedScript(tuple(lines), columns=columns, notices=tuple(notices))


def _headings(cells: Mapping[Field, str], above: dict[Field, str], columns: Mapping[Field, str]) -> Iterator[Line]:
    """Yield headings of the chapter and scene that begin with a row, and store their cells in ``above``.

    A number becomes a title with the name of its column, such as “Scene 2”.
    """
    for field, heading in _HEADINGS.items():
        title = cells.get(field)
        if title and title != above.get(field):
            above[field] = title
            title = f"{columns[field]} {title}" if title.isdecimal() else title
            yield Line(id=new_id(), text=unwrap(title), heading=heading, is_spoken=False)
            if field is Field.CHAPTER:
                above.pop(Field.SCENE, None)


def _with_directions(line: Line, text: str, directions: Sequence[str]) -> Line:
    """Return a line that says ``text``, with its stage directions as its note, and as its style if one is a preset."""
    if not text:
        return replace(line, is_spoken=False)
    notes = [*filter(None, (line.note, *directions))]
    note = ("；" if any(map(HAN.search, notes)) else "; ").join(notes)
    known = (style for words in directions if (style := style_named(words)).preset)
    return replace(line, text=text, note=note, style=next(known, line.style) if line.style.is_plain else line.style)


def _first(names: Sequence[str]) -> Sequence[str] | Message:
    """Return names for a notice, or the first ones and how many more there are."""
    num_more = len(names) - _MAX_NAMED
    if num_more <= 0:
        return names
    return message("{names} and {count} more", names=names[:_MAX_NAMED], count=num_more)


def _line(cells: Mapping[Field, str], columns: Mapping[str, str]) -> Line:
    note = cells.get(Field.NOTE, "")
    style = style_named(cells.get(Field.STYLE, ""))
    if style.is_plain and (named := style_named(note)).preset:
        style = named
    return Line(
        id=new_id(),
        text=unwrap(cells[Field.TEXT]),
        voice=cells.get(Field.VOICE) or None,
        character=cells.get(Field.CHARACTER) or None,
        style=style,
        speed=_number(cells.get(Field.SPEED), 1.0),
        pause_after_seconds=_number(cells.get(Field.PAUSE), DEFAULT_PAUSE_SECONDS),
        file_name=_file_name(cells.get(Field.FILE_NAME, "")),
        note=note,
        language=tag_named(cells.get(Field.LANGUAGE, "")) or "",
        columns=columns,
        origin=LineOrigin(key=cells[Field.ID]) if cells.get(Field.ID) else None,
    )


def _file_name(cell: str) -> str | None:
    """Return a file name with its folders, but without drive, ``..`` and audio suffix."""
    parts = [part.strip() for part in cell.replace("\\", "/").split("/")]
    kept = [part for part in parts if part not in ("", ".", "..") and not part.endswith(":")]
    return _SOUND_SUFFIX.sub("", "/".join(kept)) or None


def _number(cell: str | None, default: float) -> float:
    if not cell:
        return default
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        raise ValueError(f"“{cell}” is not a number.") from None


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = regex.sub(r'"[^"]*"', "", first)
    return max(_DELIMITERS, key=unquoted.count)
