"""Lines on the clipboard: with all their settings for other scripts, as a table for spreadsheets, and as plain text."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData

from studio.errors import StudioError
from studio.project.importing.columns import Field, guess_mapping
from studio.project.importing.tables import ColumnMapping, Table, lines_of_table, read_csv
from studio.project.lines import Line, LineStyle, new_id
from studio.project.records import line_from, line_row
from studio.storage.json_input import parse_json

_LINES_FORMAT = "application/x-timbre-script-lines+json"
_TSV_FORMAT = "text/tab-separated-values"
# Column names that the table importer recognises.
_COLUMNS = ("Character", "Voice", "Style", "Text", "File")
_OWN_MAPPING = {Field.CHARACTER: 0, Field.VOICE: 1, Field.STYLE: 2, Field.TEXT: 3, Field.FILE_NAME: 4}


def make_mime_data(lines: Sequence[Line], style_text: Callable[[LineStyle], str]) -> QMimeData:
    """Return ``lines`` without their takes. ``style_text`` returns the name of a style."""
    rows = [
        (line.character or "", line.voice or "", style_text(line.style), line.text, line.file_name or "")
        for line in lines
    ]
    table = io.StringIO()
    csv.writer(table, delimiter="\t", lineterminator="\n").writerows((_COLUMNS, *rows))

    cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in (_COLUMNS, *rows))
    records = [line_row(_copy(line), rank) for rank, line in enumerate(lines)]
    mime = QMimeData()
    mime.setText("\n".join(line.text for line in lines))
    mime.setData(_TSV_FORMAT, QByteArray(table.getvalue().encode()))
    mime.setHtml("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
    mime.setData(_LINES_FORMAT, QByteArray(json.dumps(records, ensure_ascii=False).encode()))
    return mime


def lines_from(mime: QMimeData) -> list[Line] | None:
    """Return new lines for copied lines or for the cells of a spreadsheet; None for any other text."""
    if mime.hasFormat(_LINES_FORMAT):
        found = _lines_of_records(bytes(mime.data(_LINES_FORMAT).data()))
        if found:
            return found
    text = mime.text()
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t") if row]
        if not rows or min(map(len, rows)) < 2:
            return None
        table = read_csv(text, "", delimiter="\t")
        return list(lines_of_table(table, _mapping_of(table), "", speaks_directions=True).lines) or None
    except (csv.Error, StudioError):  # for example an invalid number: the clipboard is inserted as text
        return None


def _copy(line: Line) -> Line:
    return replace(line, id=new_id(), chosen_take=None, is_locked=False, origin=None)


def _lines_of_records(content: bytes) -> list[Line]:
    """Return the lines of another program's clipboard, which may be damaged."""
    try:
        records: list[dict[str, Any]] = parse_json(content)
        return [_copy(line_from(record, [])) for record in records]
    except (LookupError, TypeError, ValueError, StudioError):
        return []


def _mapping_of(table: Table) -> ColumnMapping:
    """Return the recognised columns.

    Without names, assume those of copied lines, or that the longest column is the text.
    """
    if table.has_names:
        return guess_mapping(table.columns)
    if len(table.columns) == len(_COLUMNS):
        return _OWN_MAPPING
    text = max(range(len(table.columns)), key=lambda at: sum(map(len, table.column(at))))
    return {Field.TEXT: text} if text == 0 else {Field.TEXT: text, Field.CHARACTER: 0}
