"""What can be done to lines, as changes: nothing here knows a widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from studio.project.changes import Change, CompositeChange, EditLines, InsertLines, MoveLines, RemoveLines
from studio.project.lines import Line, new_id
from studio.project.script import Script
from studio.text.language import detect_language


def copy_line_settings(line: Line | None, text: str = "") -> Line:
    """A new line that is spoken as ``line`` is: whoever writes on goes on in the same voice."""
    if line is None:
        return Line(id=new_id(), text=text)
    return replace(line, id=new_id(), text=text, chosen_take=None, is_locked=False, file_name=None)


def insert_texts(script: Script, index: int, texts: Sequence[str]) -> InsertLines:
    """A line for each text, spoken as the line before ``index``."""
    model = script.lines[index - 1] if index > 0 else (script.lines[0] if script.lines else None)
    return InsertLines(index, tuple(copy_line_settings(model, text) for text in texts))


def insert_lines(script: Script, index: int, lines: Sequence[Line]) -> InsertLines:
    """Imported lines; those without a voice get that of the line before ``index``."""
    model = script.lines[index - 1] if index > 0 else (script.lines[0] if script.lines else None)
    voice = model.voice if model is not None else None
    return InsertLines(index, tuple(replace(line, voice=line.voice or voice) for line in lines))


def duplicate(script: Script, line_ids: Sequence[str]) -> InsertLines:
    """Copies below the last of them, without their takes."""
    lines = [line for line in script.lines if line.id in set(line_ids)]
    index = script.index_of[lines[-1].id] + 1
    return InsertLines(index, tuple(replace(copy_line_settings(line, line.text), file_name=None) for line in lines))


def remove(script: Script, line_ids: Sequence[str]) -> Change:
    """A script is never without a line: the last one makes way for an empty one."""
    gone = RemoveLines(tuple(line_ids))
    if len(gone.ids) < len(script.lines):
        return gone
    return CompositeChange((gone, InsertLines(0, (copy_line_settings(script.lines[0]),))))


def split(script: Script, line_id: str, offset: int) -> Change | None:
    """Two lines, cut at ``offset``; None where one of them would be empty."""
    line = script.line(line_id)
    first, second = line.text[:offset].rstrip(), line.text[offset:].lstrip()
    if not first or not second:
        return None
    below = InsertLines(script.index_of[line_id] + 1, (copy_line_settings(line, second),))
    return CompositeChange((EditLines({line_id: {"text": first}}), below))


def merge(script: Script, line_ids: Sequence[str]) -> Change | None:
    """All of them in the first; a single line takes in the one below.

    None where there is nothing to merge, or a line is locked.
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
    """Up (-1) or down (1) past one other line; None at the end of the script."""
    places = sorted(script.index_of[line_id] for line_id in line_ids)
    if not places or (step < 0 and places[0] == 0) or (step > 0 and places[-1] == len(script.lines) - 1):
        return None
    index = places[0] - 1 if step < 0 else places[-1] + 2
    return MoveLines(tuple(line_ids), index)


def move_to(script: Script, line_ids: Sequence[str], index: int) -> MoveLines | None:
    """Before the line that is now at ``index``; None where they are there already."""
    places = sorted(script.index_of[line_id] for line_id in line_ids)
    is_together = bool(places) and places[-1] - places[0] == len(places) - 1
    if not places or (is_together and places[0] <= index <= places[-1] + 1):
        return None
    return MoveLines(tuple(line_ids), index)


def set_field(script: Script, line_ids: Sequence[str], field: str, value: object) -> EditLines | None:
    """``value`` for all lines that do not have it yet; None where all have."""
    changed = {line_id: {field: value} for line_id in line_ids if getattr(script.line(line_id), field) != value}
    return EditLines(changed) if changed else None


def changed_rows(before: Script, after: Script) -> list[int]:
    """Rows of ``after`` whose line or takes differ; where none do, those whose place in the order differs."""
    rows = [row for row, line in enumerate(after.lines) if _differs(line.id, before, after)]
    if rows:
        return rows
    return [row for row, pair in enumerate(zip(before.lines, after.lines, strict=False)) if pair[0].id != pair[1].id]


def _differs(line_id: str, before: Script, after: Script) -> bool:
    is_new = line_id not in before.index_of
    return is_new or before.line(line_id) != after.line(line_id) or before.takes_of(line_id) != after.takes_of(line_id)
