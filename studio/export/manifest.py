"""CSV table of exported lines. Its columns text, voice, style and file can be imported as a script.

The columns of an imported table follow. One with the name of a column of this program is marked as imported.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from studio.export.provenance import Provenance
from studio.export.subtitles import LineTiming
from studio.export.target_folder import FileRecord

# Excel recognises UTF-8 only with a byte order mark.
TEXT_ENCODING = "utf-8-sig"


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """One exported line.

    Attributes:
        file: The file of the line, or else the joined file.
        record: The record of the line's file, or None if the line has no file.
    """

    timing: LineTiming
    file: str
    record: FileRecord | None
    provenance: Provenance


_COLUMNS: dict[str, Callable[[ManifestRow], object]] = {
    "index": lambda row: row.timing.item.index,
    "file": lambda row: row.file,
    "text": lambda row: row.timing.item.text,
    "voice": lambda row: row.timing.item.voice,
    "style": lambda row: row.timing.item.style,
    "start_seconds": lambda row: f"{row.timing.start_seconds:.3f}",
    "duration_seconds": lambda row: f"{row.timing.seconds:.3f}",
    "sample_rate": lambda row: row.timing.sample_rate,
    "loudness_lufs": lambda row: _level(row.record.loudness_lufs if row.record else None),
    "true_peak_dbtp": lambda row: _level(row.record.true_peak_dbtp if row.record else None),
    "seed": lambda row: "" if row.timing.item.seed is None else row.timing.item.seed,
    "model": lambda row: row.timing.item.model or row.provenance.model,
    "licence": lambda row: row.provenance.licence,
    "synthetic": lambda _: "yes",
}


def manifest(rows: Iterable[ManifestRow]) -> str:
    """Return the table as CSV with column names."""
    rows = tuple(rows)
    imported = tuple(dict.fromkeys(name for row in rows for name in row.timing.item.columns))
    columns = dict(_COLUMNS)
    if any(row.timing.item.character for row in rows) and "character" not in map(str.casefold, imported):
        columns["character"] = lambda row: row.timing.item.character
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow([*columns, *(f"{name} (imported)" if name.casefold() in columns else name for name in imported)])
    for row in rows:
        cells = row.timing.item.columns
        table.writerow([*(value(row) for value in columns.values()), *(cells.get(name, "") for name in imported)])
    return text.getvalue()


def _level(level: float | None) -> str:
    return "" if level is None else f"{level:.2f}"
