"""Tables (CSV, TSV, Excel): one line per row. The user can change the meaning of columns."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

import regex

from studio import paths
from studio.errors import StudioError, UnreadableScript
from studio.messages import Message, message
from studio.project.importing.blocks import ImportedScript
from studio.project.lines import DEFAULT_PAUSE_SECONDS, Line, LineStyle, new_id, sanitize
from studio.project.splitting import unwrap
from studio.text.styles import STYLES_FILE, Preset, load_styles

MAX_ROWS = 100_000
_MAX_COLUMNS = 200
_MAX_CELLS = 5_000_000
_MAX_BYTES = 256 << 20  # size of a workbook after decompression


class Field(Enum):
    """Meanings of table columns."""

    TEXT = "text"
    CHARACTER = "character"
    VOICE = "voice"
    STYLE = "style"
    FILE_NAME = "file_name"
    SPEED = "speed"
    PAUSE = "pause"
    NOTE = "note"


_NAMES = {
    Field.TEXT: ("text", "line", "words", "script", "dialogue", "dialog", "文本", "台词", "内容", "文字", "对白"),
    Field.CHARACTER: ("character", "role", "speaker", "actor", "who", "说话人", "角色", "人物"),
    Field.VOICE: ("voice", "音色", "声音", "配音"),
    Field.STYLE: ("style", "emotion", "instruct", "instruction", "preset", "mood", "风格", "情感", "指令", "情绪"),
    Field.FILE_NAME: ("file", "filename", "path", "output", "audio", "wav", "文件", "文件名", "路径"),
    Field.SPEED: ("speed", "rate", "语速", "速度"),
    Field.PAUSE: ("pause", "pauseafter", "gap", "停顿", "间隔"),
    Field.NOTE: (
        "note",
        "notes",
        "comment",
        "comments",
        "remark",
        "remarks",
        "direction",
        "备注",
        "备忘",
        "注释",
        "说明",
    ),
}
_FIELD_OF_NAME = {name: field for field, names in _NAMES.items() for name in names}
# A column called "name" contains characters if another column contains files, else it contains files.
_AMBIGUOUS = ("name", "名称", "名字")
_DELIMITERS = ",;\t|"
_NOT_IN_NAMES = regex.compile(r"[\s_\-()\[\].:：]+")
_SOUND_SUFFIX = regex.compile(r"\.(?:wav|flac|mp3|ogg|opus|m4a)\Z", regex.IGNORECASE)
_GENERATIONS = ("cosyvoice3", "cosyvoice2")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a table, except empty ones. ``columns`` are unique names; ``numbers`` are the row numbers in the file."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    has_names: bool

    def column(self, at: int) -> list[str]:
        """Return the cells of a column."""
        return [row[at] for row in self.rows]


ColumnMapping = Mapping[Field, int]


def read_csv(text: str, name: str, *, delimiter: str | None = None) -> Table:
    """Return the table in ``text``, by default with the delimiter that its first row suggests.

    ``name`` is the file name, for errors. Raise ``UnreadableScript``.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _delimiter(text)))
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
        return {sheet.title: _table(_cells(sheet.iter_rows(values_only=True)), name) for sheet in workbook.worksheets}
    finally:
        workbook.close()


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
    return str(cell)


def _table(rows: Iterable[Sequence[str]], name: str) -> Table:
    found: list[tuple[str, ...]] = []
    numbers: list[int] = []
    num_cells = 0
    for number, row in enumerate(rows, 1):
        cells = tuple(sanitize(cell).strip() for cell in row)
        if any(cells):
            found.append(cells)
            numbers.append(number)
            num_cells += len(cells)
        if len(found) > MAX_ROWS or len(row) > _MAX_COLUMNS or num_cells > _MAX_CELLS:
            raise _too_large(name)
    width = max(map(len, found), default=0)
    padded = [row + ("",) * (width - len(row)) for row in found]
    has_names = bool(padded) and Field.TEXT in guess_mapping(padded[0])
    titles = padded[0] if has_names else ()
    columns = tuple(_unique([titles[at] if has_names and titles[at] else f"{at + 1}" for at in range(width)]))
    return Table(columns, tuple(padded[has_names:]), tuple(numbers[has_names:]), has_names)


def _unique(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        others = (f"{name} {number}" for number in range(2, len(names) + 2))
        found.append(name if name not in found else next(other for other in others if other not in found))
    return found


def _too_large(name: str) -> UnreadableScript:
    return UnreadableScript("{name} is too large.", remedy="Import it in parts.", name=name)


def guess_mapping(columns: Sequence[str]) -> dict[Field, int]:
    """Return the columns with known names, in English or Chinese."""
    found: dict[Field, int] = {}
    for at, title in enumerate(columns):
        field = _FIELD_OF_NAME.get(_plain(title))
        if field is not None:
            found.setdefault(field, at)
    for at, title in enumerate(columns):
        if _plain(title) in _AMBIGUOUS:
            found.setdefault(Field.CHARACTER if Field.FILE_NAME in found else Field.FILE_NAME, at)
    return found


def _plain(title: str) -> str:
    return _NOT_IN_NAMES.sub("", title.casefold())


def choose_mapping(table: Table) -> dict[Field, int]:
    """Return the initial mapping: recognised names, or the first column as text if there are no column names."""
    return guess_mapping(table.columns) if table.has_names else {Field.TEXT: 0}


def lines_of_table(table: Table, mapping: ColumnMapping, name: str) -> ImportedScript:
    """Return one line per row that has text.

    Every line keeps all its cells, to be exported again. ``name`` is the file name. Raise ``UnreadableScript`` with the
    number of a row that contains an invalid number.
    """
    lines: list[Line] = []
    for number, row in zip(table.numbers, table.rows, strict=True):
        cells = {field: row[at] for field, at in mapping.items()}
        if not cells.get(Field.TEXT):
            continue
        try:
            lines.append(_line(cells, dict(zip(table.columns, row, strict=True)) if table.has_names else {}))
        except (StudioError, ValueError) as error:
            raise UnreadableScript(
                "Row {number} of {name}: {reason}",
                remedy="Correct that row and import again.",
                number=number,
                name=name,
                reason=error,
            ) from error
    columns = table.columns if table.has_names else ()
    return ImportedScript(tuple(lines), columns=columns, notices=_notices(table, mapping))


def _notices(table: Table, mapping: ColumnMapping) -> tuple[Message, ...]:
    unused = [title for at, title in enumerate(table.columns) if at not in mapping.values()]
    if not unused or not table.has_names:
        return ()
    return (message("Columns kept but not used: {names}.", names=unused),)


def _line(cells: Mapping[Field, str], columns: Mapping[str, str]) -> Line:
    return Line(
        id=new_id(),
        text=unwrap(cells[Field.TEXT]),
        voice=cells.get(Field.VOICE) or None,
        character=cells.get(Field.CHARACTER) or None,
        style=style_named(cells.get(Field.STYLE, "")),
        speed=_number(cells.get(Field.SPEED), 1.0),
        pause_after_seconds=_number(cells.get(Field.PAUSE), DEFAULT_PAUSE_SECONDS),
        file_name=_file_name(cells.get(Field.FILE_NAME, "")),
        note=cells.get(Field.NOTE, ""),
        columns=columns,
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


def style_named(words: str) -> LineStyle:
    """Return the style preset whose id or label is ``words``, or else ``words`` as an instruction."""
    wanted = words.strip().casefold()
    family = _families().get(wanted)
    if family is not None:
        return LineStyle(preset=family)
    return LineStyle(instruct=words.strip()) if wanted else LineStyle()


@cache
def _families() -> dict[str, str]:
    """Return preset families by all their names; the newest generation takes precedence, bundled models come last."""
    found: dict[str, str] = {}
    lists = [load_styles(generation) for generation in _GENERATIONS]
    lists += [load_styles("", file.parent) for file in sorted(paths.resources().glob(f"models/*/{STYLES_FILE}"))]
    for preset in (preset for styles in lists for preset in styles.presets):
        for name in _names(preset):
            found.setdefault(name, preset.family)
    return found


def _names(preset: Preset) -> tuple[str, ...]:
    names = (preset.id, preset.family, preset.label_en, preset.label_zh, preset.instruction)
    return tuple(name.casefold() for name in names)
