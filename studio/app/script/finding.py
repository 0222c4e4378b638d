"""Text search in the script, and replacement as a project change."""

from __future__ import annotations

import re
from typing import NamedTuple

from studio.project.changes import EditLines
from studio.project.script import Script


class Match(NamedTuple):
    """A match in the text of a line. A tuple because there may be tens of thousands."""

    line_id: str
    start: int
    end: int


def find_matches(script: Script, wanted: str, *, is_case_sensitive: bool) -> list[Match]:
    """Return all matches in the order of the script; none for an empty text."""
    if not wanted:
        return []
    pattern = _pattern(wanted, is_case_sensitive)
    return [
        Match(line.id, match.start(), match.end()) for line in script.lines for match in pattern.finditer(line.text)
    ]


def replace_matches(
    script: Script, wanted: str, replacement: str, *, is_case_sensitive: bool, only: Match | None = None
) -> EditLines | None:
    """Replace all matches, or ``only`` one, except in locked lines. Return None if nothing changes."""
    pattern = _pattern(wanted, is_case_sensitive)
    edits: dict[str, dict[str, object]] = {}
    for line in script.lines:
        if line.is_locked or (only is not None and line.id != only.line_id):
            continue
        if only is not None:
            text = line.text[: only.start] + replacement + line.text[only.end :]
        else:
            text = pattern.sub(lambda _: replacement, line.text)
        if text != line.text:
            edits[line.id] = {"text": text}
    return EditLines(edits) if edits else None


def _pattern(wanted: str, is_case_sensitive: bool) -> re.Pattern[str]:
    return re.compile(re.escape(wanted), re.NOFLAG if is_case_sensitive else re.IGNORECASE)
