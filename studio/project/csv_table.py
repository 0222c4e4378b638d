"""CSV tables for spreadsheet programs.

These programs compute cells that begin with certain characters, and such a formula can run programs. A text of this kind
gets an apostrophe, with which they mark text, and loses it when the file is read again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import regex

# Numbers, and dashes that a space follows, are no formulas.
_FORMULA = r"(?:[=@\t\r]|[+-](?![+-]*(?:\s|\Z)|[\d.,\s]+\Z))"
_NEEDS_APOSTROPHE = regex.compile(f"'*{_FORMULA}")
_HAS_APOSTROPHE = regex.compile(f"'+{_FORMULA}")


def csv_table(rows: Iterable[Iterable[object]]) -> str:
    """Return ``rows`` as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_escaped(cell) for cell in row] for row in rows)
    return text.getvalue()


def unescape_cell(cell: str) -> str:
    """Return the text that ``csv_table`` wrote as ``cell``."""
    return cell[1:] if _HAS_APOSTROPHE.match(cell) else cell


def _escaped(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _NEEDS_APOSTROPHE.match(cell) else cell
