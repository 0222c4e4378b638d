"""CSV tables: one line per row, with text, voice, style, file name, speed and pause."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import regex

from studio.errors import StudioError, UnreadableScript
from studio.project.lines import DEFAULT_PAUSE_SECONDS, Line, LineStyle, new_id
from studio.project.splitting import unwrap
from studio.text.styles import Preset, load_styles

_COLUMNS = {
    "text": ("text", "line", "words", "script", "文本", "台词", "内容", "文字"),
    "voice": ("voice", "speaker", "character", "role", "音色", "声音", "说话人", "角色"),
    "style": ("style", "emotion", "instruct", "instruction", "preset", "风格", "情感", "指令"),
    "file_name": ("file", "filename", "name", "output", "文件", "文件名", "名称"),
    "speed": ("speed", "rate", "语速", "速度"),
    "pause": ("pause", "pauseafter", "gap", "停顿", "间隔"),
}
_COLUMN_OF_NAME = {name: column for column, names in _COLUMNS.items() for name in names}
_DELIMITERS = ",;\t|"
_NOT_IN_NAMES = regex.compile(r"[\s_-]+")
_SOUND_SUFFIX = regex.compile(r"\.(?:wav|flac|mp3|ogg|opus|m4a)\Z", regex.IGNORECASE)
_GENERATIONS = ("cosyvoice3", "cosyvoice2")


def read_table(text: str, name: str) -> list[Line]:
    """Return the lines of a table. If it has no column names, the first column contains the text.

    Errors contain the file name ``name``. Raise ``UnreadableScript``.
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)) if any(row)]
    except csv.Error as error:
        raise UnreadableScript(
            "{name} is not a readable table ({reason}).", remedy="Save it again as CSV.", name=name, reason=error
        ) from error
    if not rows:
        return []
    columns = _columns(rows[0])
    has_names = "text" in columns
    if not has_names:
        columns = {"text": 0}
    lines: list[Line] = []
    for number, row in enumerate(rows[has_names:], start=1 + has_names):
        cells = {column: row[at].strip() for column, at in columns.items() if at < len(row)}
        if not cells.get("text"):
            continue
        try:
            lines.append(_line(cells))
        except (StudioError, ValueError) as error:
            raise UnreadableScript(
                "Row {number} of {name}: {reason}",
                remedy="Correct that row and import again.",
                number=number,
                name=name,
                reason=error,
            ) from error
    return lines


def style_named(words: str) -> LineStyle:
    """Return the style preset whose id, label or instruction is ``words``, or else ``words`` as an instruction."""
    wanted = words.strip().casefold()
    if not wanted:
        return LineStyle()
    for generation in _GENERATIONS:
        for preset in load_styles(generation).presets:
            if wanted in _names(preset):
                return LineStyle(preset=preset.family)
    return LineStyle(instruct=words.strip())


def _names(preset: Preset) -> tuple[str, ...]:
    names = (preset.id, preset.family, preset.label_en, preset.label_zh, preset.instruction)
    return tuple(name.casefold() for name in names)


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = regex.sub(r'"[^"]*"', "", first)
    return max(_DELIMITERS, key=unquoted.count)


def _columns(row: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for at, title in enumerate(row):
        column = _COLUMN_OF_NAME.get(_NOT_IN_NAMES.sub("", title.strip().casefold()))
        if column is not None:
            found.setdefault(column, at)
    return found


def _line(cells: Mapping[str, str]) -> Line:
    file_name = cells.get("file_name", "").replace("\\", "/").rpartition("/")[2]
    return Line(
        id=new_id(),
        text=unwrap(cells["text"]),
        voice=cells.get("voice") or None,
        style=style_named(cells.get("style", "")),
        speed=_number(cells.get("speed"), 1.0),
        pause_after_seconds=_number(cells.get("pause"), DEFAULT_PAUSE_SECONDS),
        file_name=_SOUND_SUFFIX.sub("", file_name) or None,
    )


def _number(cell: str | None, default: float) -> float:
    if not cell:
        return default
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        raise ValueError(f"“{cell}” is not a number.") from None
