"""Line edits and text replacement as project changes, independent of widgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from studio.project.changes import Change, CompositeChange, EditLines, InsertLines, MoveLines, RemoveLines
from studio.project.lines import Line, new_id
from studio.project.script import Script
from studio.text.language import detect_language
from studio.voices.voice import name_key


def copy_line_settings(line: Line | None, text: str = "") -> Line:
    """Return a new line with the voice and settings of ``line``."""
    if line is None:
        return Line(id=new_id(), text=text)
    return replace(
        line,
        id=new_id(),
        text=text,
        chosen_take=None,
        is_locked=False,
        file_name=None,
        origin=None,
        begins_paragraph=False,
        is_speaker_sure=None,
    )


def insert_texts(script: Script, index: int, paragraphs: Sequence[Sequence[str]]) -> InsertLines:
    """Insert one line for each text of the paragraphs, with the settings of the line before ``index``."""
    model = script.lines[index - 1] if index > 0 else (script.lines[0] if script.lines else None)
    has_gaps = any(len(texts) > 1 for texts in paragraphs)
    lines = [
        replace(copy_line_settings(model, text), begins_paragraph=has_gaps and number == 0)
        for texts in paragraphs
        for number, text in enumerate(texts)
    ]
    return InsertLines(index, tuple(lines))


def insert_lines(script: Script, index: int, lines: Sequence[Line]) -> InsertLines:
    """Insert imported lines. Lines without a voice get the voice of the line before ``index``."""
    model = script.lines[index - 1] if index > 0 else (script.lines[0] if script.lines else None)
    voice = model.voice if model is not None else None
    return InsertLines(index, tuple(replace(line, voice=line.voice or voice) for line in lines))


def duplicate(script: Script, line_ids: Sequence[str]) -> InsertLines:
    """Insert copies below the last of the lines, without takes."""
    lines = [line for line in script.lines if line.id in set(line_ids)]
    index = script.index_of[lines[-1].id] + 1
    return InsertLines(index, tuple(replace(copy_line_settings(line, line.text), file_name=None) for line in lines))


def remove(script: Script, line_ids: Sequence[str]) -> Change:
    """Remove lines; if all are removed, insert an empty one, as a script has at least one line."""
    removal = RemoveLines(tuple(line_ids))
    if len(removal.ids) < len(script.lines):
        return removal
    return CompositeChange((removal, InsertLines(0, (copy_line_settings(script.lines[0]),))))


def split(script: Script, line_id: str, offset: int) -> Change | None:
    """Split a line at ``offset``; return None if one part would be empty."""
    line = script.line(line_id)
    first, second = line.text[:offset].rstrip(), line.text[offset:].lstrip()
    if not first or not second:
        return None
    rest = replace(copy_line_settings(line, second), is_speaker_sure=line.is_speaker_sure)
    below = InsertLines(script.index_of[line_id] + 1, (rest,))
    return CompositeChange((EditLines({line_id: {"text": first}}), below))


def merge(script: Script, line_ids: Sequence[str]) -> Change | None:
    """Merge all lines into the first; a single line is merged with the one below.

    Return None if there is nothing to merge or a line is locked.
    """
    lines = [line for line in script.lines if line.id in set(line_ids)]
    if len(lines) == 1 and script.index_of[lines[0].id] + 1 < len(script.lines):
        lines.append(script.lines[script.index_of[lines[0].id] + 1])
    if len(lines) < 2 or any(line.is_locked for line in lines):
        return None
    texts = [text for line in lines if (text := line.text.strip())]
    joint = "" if detect_language("".join(texts)).writes_without_spaces else " "
    return CompositeChange(
        (
            EditLines({lines[0].id: {"text": joint.join(texts)}}),
            RemoveLines(tuple(line.id for line in lines[1:])),
        )
    )


def move(script: Script, line_ids: Sequence[str], step: int) -> MoveLines | None:
    """Move lines up (-1) or down (1) by one line; return None at the end of the script."""
    rows = sorted(script.index_of[line_id] for line_id in line_ids)
    if not rows or (step < 0 and rows[0] == 0) or (step > 0 and rows[-1] == len(script.lines) - 1):
        return None
    index = rows[0] - 1 if step < 0 else rows[-1] + 2
    return MoveLines(tuple(line_ids), index)


def move_to(script: Script, line_ids: Sequence[str], index: int) -> MoveLines | None:
    """Move lines before the line at ``index``; return None if they are already there."""
    rows = sorted(script.index_of[line_id] for line_id in line_ids)
    is_together = bool(rows) and rows[-1] - rows[0] == len(rows) - 1
    if not rows or (is_together and rows[0] <= index <= rows[-1] + 1):
        return None
    return MoveLines(tuple(line_ids), index)


def set_field(script: Script, line_ids: Sequence[str], field: str, value: object) -> EditLines | None:
    """Set ``field`` to ``value`` where it differs; return None if no line differs."""
    changed: dict[str, dict[str, object]] = {
        line.id: {field: value} for line in map(script.line, line_ids) if getattr(line, field) != value
    }
    return EditLines(changed) if changed else None


def set_character(script: Script, line_ids: Sequence[str], character: str | None) -> EditLines | None:
    """Give lines to a character, with its voice if it has one; return None if no line differs."""
    voice = _voice_of(script, character) if character else None
    changed: dict[str, dict[str, object]] = {}
    for line in map(script.line, line_ids):
        fields: dict[str, object] = {
            "character": character,
            "voice": voice or line.voice,
            "is_speaker_sure": None if line.is_speaker_sure is None else True,
        }
        differing = {name: value for name, value in fields.items() if getattr(line, name) != value}
        if differing:
            changed[line.id] = differing
    return EditLines(changed) if changed else None


def _voice_of(script: Script, character: str) -> str | None:
    key = name_key(character)
    member = script.details.cast.get(key)
    if member is not None and member.voice:
        return member.voice
    return next((line.voice for line in script.lines if line.voice and name_key(line.character or "") == key), None)


def set_structure(script: Script, line_ids: Sequence[str], **fields: object) -> EditLines | None:
    """Set ``heading`` and ``is_spoken`` where they differ; return None if no line differs."""
    changed: dict[str, dict[str, object]] = {}
    for line_id in line_ids:
        line = script.line(line_id)
        differing = {name: value for name, value in fields.items() if getattr(line, name) != value}
        if differing:
            changed[line_id] = differing
    return EditLines(changed) if changed else None


def changed_rows(before: Script, after: Script) -> list[int]:
    """Return the rows of ``after`` whose line or takes differ; if none do, those whose position differs."""
    rows = [row for row in after.changed_rows(before) if _differs(after.lines[row].id, before, after)]
    if rows:
        return rows
    return [row for row, pair in enumerate(zip(before.lines, after.lines, strict=False)) if pair[0].id != pair[1].id]


def _differs(line_id: str, before: Script, after: Script) -> bool:
    is_new = line_id not in before.index_of
    return is_new or before.line(line_id) != after.line(line_id) or before.takes_of(line_id) != after.takes_of(line_id)


class Match(NamedTuple):
    """A match in the text of a line. A tuple, because there may be tens of thousands of matches."""

    line_id: str
    start: int
    end: int


def find_matches(
    script: Script,
    wanted: str,
    *,
    is_case_sensitive: bool,
    details_of: Callable[[Line], Iterable[str]] = lambda _: (),
) -> list[Match]:
    """Return all matches in the order of the script; none for an empty text.

    If only the ``details_of`` a line match, the match is empty and at the start of the line.
    """
    if not wanted:
        return []
    pattern = _pattern(wanted, is_case_sensitive)
    matches = []
    for line in script.lines:
        found = [Match(line.id, match.start(), match.end()) for match in pattern.finditer(line.text)]
        if not found and any(pattern.search(words) for words in details_of(line)):
            found = [Match(line.id, 0, 0)]
        matches += found
    return matches


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
