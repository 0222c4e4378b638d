"""CSV table of exported lines.

Its columns text, voice, style and file can be imported as a script. The columns of an imported table follow; those
whose names are already used are marked as imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from studio.export.line_checks import LineCheck
from studio.export.provenance import Provenance
from studio.export.subtitles import LineTiming
from studio.export.target_folder import FileRecord
from studio.project.csv_table import csv_table
from studio.take_checks.sentences import reason, verdict_name

# Excel recognises UTF-8 only with a byte order mark.
TEXT_ENCODING = "utf-8-sig"


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """One exported line.

    Attributes:
        file: The file of the line, or else the joined file.
        record: The record of the line's file, or None if the line has no file.
        style: The name of the line's style.
    """

    timing: LineTiming
    file: str
    record: FileRecord | None
    provenance: Provenance
    style: str = ""
    check: LineCheck | None = None


def _seed(row: ManifestRow) -> object:
    """Return the seed of the take. If the line was spoken again, the line has another one."""
    seed = row.timing.item.seed if row.check is None else row.check.seed
    return "" if seed is None else seed


_COLUMNS: dict[str, Callable[[ManifestRow], object]] = {
    "index": lambda row: row.timing.item.index,
    "file": lambda row: row.file,
    "text": lambda row: row.timing.item.text,
    "voice": lambda row: row.timing.item.voice,
    "style": lambda row: row.style,
    "start_seconds": lambda row: f"{row.timing.start_seconds:.3f}",
    "duration_seconds": lambda row: f"{row.timing.seconds:.3f}",
    "sample_rate": lambda row: row.timing.sample_rate,
    "loudness_lufs": lambda row: _level(row.record.loudness_lufs if row.record else None),
    "true_peak_dbtp": lambda row: _level(row.record.true_peak_dbtp if row.record else None),
    "seed": _seed,
    "model": lambda row: row.timing.item.model or row.provenance.model,
    "licence": lambda row: row.provenance.licence,
    "synthetic": lambda _: "yes",
}


# If any line was checked.
_CHECK_COLUMNS: dict[str, Callable[[ManifestRow], object]] = {
    "verdict": lambda row: "" if row.check is None else str(verdict_name(row.check.check)).casefold(),
    "problems": lambda row: "" if row.check is None or not row.check.check.problems else str(reason(row.check.check)),
}


def manifest(rows: Iterable[ManifestRow]) -> str:
    """Return the table as CSV with column names."""
    rows = tuple(rows)
    imported = tuple(dict.fromkeys(name for row in rows for name in row.timing.item.columns))
    columns = dict(_COLUMNS)
    if any(row.timing.item.character for row in rows) and "character" not in map(str.casefold, imported):
        columns["character"] = lambda row: row.timing.item.character
    if any(row.check is not None for row in rows):
        columns |= _CHECK_COLUMNS
    names = [*columns, *(f"{name} (imported)" if name.casefold() in columns else name for name in imported)]
    return csv_table(
        [
            names,
            *(
                [value(row) for value in columns.values()]
                + [row.timing.item.columns.get(name, "") for name in imported]
                for row in rows
            ),
        ]
    )


def _level(level: float | None) -> str:
    return "" if level is None else f"{level:.2f}"
