"""CSV table of exported lines. Its columns text, voice, style and file can be imported as a script."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from studio.export.journal import FileRecord
from studio.export.provenance import Provenance
from studio.export.timeline import LineTiming

# Excel recognises UTF-8 only with a byte order mark.
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
    """``file`` is the line's file or the joined file. ``record`` is None if the line has no file."""

    span: LineTiming
    file: str
    record: FileRecord | None


def manifest(rows: Iterable[ManifestRow], provenance: Provenance) -> str:
    """Return the table as CSV with column names."""
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
