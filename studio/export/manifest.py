"""A table of what was exported: one row a line, for spreadsheets and scripts.

The columns text, voice, style and file are those that a script is imported from.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from studio.export.journal import FileRecord
from studio.export.provenance import Provenance
from studio.export.timeline import LineTiming

# Without the mark at its beginning, Excel takes UTF-8 for something else.
TEXT_ENCODING = "utf-8-sig"
_COLUMNS = (
    "index",
    "file",
    "text",
    "voice",
    "style",
    "start_seconds",
    "duration_seconds",
    "sample_rate",
    "loudness_lufs",
    "true_peak_dbtp",
    "seed",
    "model",
    "licence",
    "synthetic",
)


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """``file`` is the line's own, or the joined one; ``record`` is there if the line has a file of its own."""

    span: LineTiming
    file: str
    record: FileRecord | None


def manifest(rows: Iterable[ManifestRow], provenance: Provenance) -> str:
    """CSV with commas and a heading."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(_COLUMNS)
    for row in rows:
        item, span, record = row.span.item, row.span, row.record
        table.writerow(
            (
                item.index,
                row.file,
                item.text,
                item.voice,
                item.style,
                f"{span.start_seconds:.3f}",
                f"{span.seconds:.3f}",
                span.sample_rate,
                _level(record.loudness_lufs if record else None),
                _level(record.true_peak_dbtp if record else None),
                "" if item.seed is None else item.seed,
                item.model or provenance.model,
                provenance.licence,
                "yes",
            )
        )
    return text.getvalue()


def _level(level: float | None) -> str:
    return "" if level is None else f"{level:.2f}"
