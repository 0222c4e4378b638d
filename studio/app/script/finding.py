"""Where a text stands in the script, and the change that puts another in its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from studio.project.changes import EditLines
from studio.project.script import Script


class Match(NamedTuple):
    """A tuple, for a long script has one letter in tens of thousands of places."""

    line_id: str
    start: int
    end: int


def find_places(script: Script, wanted: str, *, is_case_sensitive: bool) -> list[Match]:
    """In the order of the script; nothing for an empty text."""
    if not wanted:
        return []
    pattern = _pattern(wanted, is_case_sensitive)
    return [
        Match(line.id, match.start(), match.end()) for line in script.lines for match in pattern.finditer(line.text)
    ]


def replace_places(
    script: Script, wanted: str, replacement: str, *, is_case_sensitive: bool, only: Match | None = None
) -> EditLines | None:
    """All places, or ``only`` that one. Locked lines are left alone; None where nothing is left to do."""
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
