"""Update of a project from a new version of an imported file.

Decision: the imported values of each line are stored, and an update sets only what differs in the file. Reason: lines that
were edited, cast or moved here stay as they are until the file changes them. Locked lines never change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path

from studio.errors import UnusableSetting
from studio.project.casting import LibraryNames, cast_lines, uncast_characters
from studio.project.changes import (
    Change,
    CompositeChange,
    EditDetails,
    EditLines,
    InsertLines,
    RemoveLines,
    ReorderLines,
)
from studio.project.details import ImportSource, ProjectDetails
from studio.project.importing.blocks import ImportedScript
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, ScriptFile
from studio.project.importing.sources import (
    IMPORTED_FIELDS,
    checksum_of,
    imported_values,
    row_of_former_version,
    with_source,
)
from studio.project.lines import Heading, Line, LineOrigin, Slot, new_id
from studio.project.row_matching import Row, match_rows
from studio.project.script import Script, removed_group

_MIN_SHARED_ROWS = 3  # fewer may be the same in other files by chance


class UpdateKind(Enum):
    """What an update does with a line."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class LineUpdate:
    """What an update does with a line.

    Attributes:
        before: The line of the project, or None if it is new. A removed line that is in the file again is new, too.
        after: The line after the update.
        fields: The fields that change.
        is_held: Whether the line stays as it is because it is locked.
        text: The text in the file, or that of a removed line.
    """

    kind: UpdateKind
    before: Line | None
    after: Line
    fields: tuple[str, ...] = ()
    is_held: bool = False
    text: str = ""

    @property
    def key(self) -> str:
        """The ID or file name of the row; empty if the file has none."""
        return self.after.origin.key if self.after.origin is not None else ""

    @property
    def edits(self) -> dict[str, object]:
        """The fields of the line that differ after the update."""
        if self.before is None or self.is_held:
            return {}
        names = (*IMPORTED_FIELDS, "columns", "origin", "begins_paragraph")
        return {
            name: getattr(self.after, name) for name in names if getattr(self.before, name) != getattr(self.after, name)
        }


@dataclass(frozen=True)
class ScriptUpdate:
    """The update of ``script`` from a file.

    Attributes:
        lines: The updates in the order of the file; removed lines follow the line before them.
        order: The ids of all lines after the update, without the removed ones.
        uncast: The keys of the characters of new and changed lines that have no voice.
    """

    script: Script
    imported: ImportedScript
    lines: tuple[LineUpdate, ...]
    order: tuple[str, ...] = field(repr=False)
    uncast: frozenset[str] = frozenset()

    @cached_property
    def counts(self) -> dict[UpdateKind, int]:
        found = Counter(update.kind for update in self.lines)
        return {kind: found[kind] for kind in UpdateKind}

    @property
    def is_empty(self) -> bool:
        """Whether no line is new, changed, moved or removed."""
        return len(self.lines) == self.counts[UpdateKind.UNCHANGED]

    @property
    def num_held(self) -> int:
        return sum(update.is_held for update in self.lines)

    @property
    def details(self) -> ProjectDetails:
        """The metadata of the project after the update."""
        return merged_details(self.script.details, self.imported)

    @property
    def removed_ids(self) -> tuple[str, ...]:
        return tuple(each.after.id for each in self.lines if each.kind is UpdateKind.REMOVED and not each.is_held)

    def change(self, title: str, *, deletes: bool = False) -> Change:
        """Return the whole update as one change.

        Removed lines are moved to the end, below a heading named ``title``, unless it ``deletes`` them.
        """
        source = self.imported.source
        assert source is not None, "the file is known"
        edits = {update.after.id: update.edits for update in self.lines if update.edits}
        new = [update.after for update in self.lines if update.before is None]
        back = {update.after.id for update in self.lines if update.kind is not UpdateKind.REMOVED}
        group = [line_id for line_id in removed_group(self.script, source.id) if line_id not in back]
        headings = [line_id for line_id in group if _is_group_heading(self.script.line(line_id))]
        removed = [line_id for line_id in (*group, *self.removed_ids) if line_id not in headings]
        order, deleted = list(self.order), (*headings, *removed)
        if removed and not deletes:
            deleted = ()
            if not headings:
                new.append(_group_heading(title, source.id))
                headings = [new[-1].id]
            order += [*headings, *removed]
        return CompositeChange(
            (
                EditLines(edits),
                InsertLines(len(self.script.lines), tuple(new)),
                RemoveLines(deleted),
                ReorderLines(tuple(order)),
                EditDetails(self.details),
            )
        )


def find_source(script: Script, path: Path) -> ImportSource | None:
    """Return the source that ``path`` is a new version of, or None for a project of an earlier version.

    Raise ``UnusableSetting`` if the project has several sources, and none has this name.
    """
    sources, target = script.details.sources, path.resolve()
    named = [source for source in sources if Path(source.path).name == target.name]
    same = [source for source in named if Path(source.path) == target] or named or list(sources)
    if len(same) > 1 and not named:
        raise UnusableSetting(
            "It is not clear which file of the project {file} replaces.",
            remedy="Give it the name of {known}.",
            file=path.name,
            known=[Path(source.path).name for source in sources],
        )
    return same[0] if same else None


def find_renamed_source(script: Script, imported: ImportedScript) -> ImportSource | None:
    """Return the source with most of the texts of ``imported``, a file of another name that may be its new version.

    Return None if no source has more than half of them, if they are few, or if the project knows the file.
    """
    assert imported.source is not None, "the file is known"
    if any(source.path == imported.source.path for source in script.details.sources):
        return None
    rows = Counter(_text_of_row(line) for line in imported.lines if line.origin is not None)
    former: dict[str, Counter[str]] = {source.id: Counter() for source in script.details.sources}
    for line in script.lines:
        if line.origin is not None and line.origin.source in former and line.origin.position >= 0:
            former[line.origin.source][_text_of_row(line)] += 1
    shared = {source.id: (rows & former[source.id]).total() for source in script.details.sources}
    best = max(script.details.sources, key=lambda source: shared[source.id], default=None)
    if best is None or shared[best.id] < _MIN_SHARED_ROWS or 2 * shared[best.id] <= rows.total():
        return None
    return best


def _text_of_row(line: Line) -> str:
    assert line.origin is not None, "the line was imported"
    return str(line.origin.values.get("text", ""))


def read_update(
    path: Path, file: ScriptFile, source: ImportSource | None, options: ImportOptions, *, encoding: str | None = None
) -> ImportedScript:
    """Return the content of ``file``, read from ``path``, as the new version of ``source``. Raise ``UnreadableScript``."""
    source_id = "" if source is None else source.id
    return with_source(file.script(options), path, file, options, encoding=encoding, source_id=source_id)


def plan_update(script: Script, imported: ImportedScript, voices: LibraryNames) -> ScriptUpdate:
    """Return the update of ``script`` to ``imported``, whose source has the id of the source that is updated.

    Lines of a project of an earlier version, which has no sources, are found by their keys, texts and positions.
    """
    source = imported.source
    assert source is not None, "the file is known"
    former = next((each for each in script.details.sources if each.id == source.id), None)
    old = _old_lines(script, source)
    origins = [line.origin for line in imported.lines if line.origin is not None]
    pairs = _match(old, origins)
    left_out = _left_out(imported.lines, former, old, pairs)
    moved = _moved(pairs)
    updates: list[LineUpdate] = []
    for at, line in enumerate(imported.lines):
        if at in pairs:
            updates.append(_update(*old[pairs[at]], line, script, voices, is_moved=at in moved))
        elif at not in left_out:
            (new,) = cast_lines((line,), script.details.cast, voices)
            updates.append(LineUpdate(UpdateKind.NEW, None, new, text=new.text))
    placed = {old[pairs[at]][0].id for at in moved}
    placed |= {update.after.id for update in updates if update.kind is UpdateKind.NEW}
    listed = _with_removed(updates, old, set(pairs.values()))
    gone = {each.after.id for each in listed if each.kind is UpdateKind.REMOVED and not each.is_held}
    order = _order(
        script, [update.after.id for update in updates], placed, gone | set(removed_group(script, source.id))
    )
    recast = [each.after for each in listed if each.kind is UpdateKind.NEW or "character" in each.fields]
    uncast = uncast_characters(recast, voices)
    return ScriptUpdate(script, imported, _with_voices(listed, order, script), tuple(order), uncast)


def _old_lines(script: Script, source: ImportSource) -> list[tuple[Line, LineOrigin]]:
    """Return the lines of the source with their rows, in the order of the file."""
    if script.details.sources:
        found = [
            (line, line.origin)
            for line in script.lines
            if line.origin is not None and line.origin.source == source.id and line.origin.position >= 0
        ]
        return sorted(found, key=lambda each: each[1].position)
    lines = [line for line in script.lines if line.text.strip()]
    return [(line, row_of_former_version(line, position, source)) for position, line in enumerate(lines)]


def _match(old: Sequence[tuple[Line, LineOrigin]], new: Sequence[LineOrigin]) -> dict[int, int]:
    """Return the places of old lines by the places of their rows. Removed lines match only what is left."""
    pairs: dict[int, int] = {}
    for is_removed in (False, True):
        olds = [at for at, (_, origin) in enumerate(old) if origin.is_removed is is_removed]
        news = [at for at in range(len(new)) if at not in pairs]
        old_rows, new_rows = [_row(old[at][1]) for at in olds], [_row(new[at]) for at in news]
        for at, other in match_rows(old_rows, new_rows).items():
            is_same = new_rows[at].key or new_rows[at].content == old_rows[other].content
            if is_same or not is_removed:
                pairs[news[at]] = olds[other]
    return pairs


def _row(origin: LineOrigin) -> Row:
    slot = origin.values.get("slot")
    return Row(
        origin.key,
        str(origin.values["text"]),
        str(origin.values.get("character") or ""),
        slot if isinstance(slot, Slot) else None,
    )


def _left_out(
    lines: Sequence[Line],
    former: ImportSource | None,
    old: Sequence[tuple[Line, LineOrigin]],
    pairs: Mapping[int, int],
) -> set[int]:
    """Return the places of rows that were in the file before, but whose lines were removed from the project."""
    if former is None:
        return set()
    gone = Counter(former.rows)
    gone.subtract(checksum_of(replace(line, origin=origin)) for line, origin in old)
    found: set[int] = set()
    for at, line in enumerate(lines):
        if at not in pairs and gone[checksum := checksum_of(line)] > 0:
            gone[checksum] -= 1
            found.add(at)
    return found


def _moved(pairs: Mapping[int, int]) -> set[int]:
    """Return the places of the fewest rows whose move explains the new order: those outside the longest rising series."""
    tails: list[int] = []  # the lowest last old place of a rising series of each length
    ends: list[int] = []  # its new place
    before: dict[int, int | None] = {}
    for at in sorted(pairs):
        length = bisect_left(tails, pairs[at])
        before[at] = ends[length - 1] if length else None
        tails[length : length + 1] = [pairs[at]]
        ends[length : length + 1] = [at]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return set(pairs) - kept


def _update(
    before: Line, origin: LineOrigin, row: Line, script: Script, voices: LibraryNames, *, is_moved: bool
) -> LineUpdate:
    """Return the update of a line to its new row."""
    assert row.origin is not None, "the line was imported"
    changed = {
        name: value
        for name, value in row.origin.values.items()
        if name in origin.values and origin.values[name] != value
    }
    if "note" in changed and before.note != origin.values["note"]:
        del changed["note"]  # the user's remark
    changed = {name: value for name, value in changed.items() if getattr(before, name) != value}
    # The pause before the next subtitle follows from the times of both.
    fields = tuple(name for name in changed if row.slot is None or name != "pause_after_seconds")
    if origin.is_removed:
        changed |= {"heading": row.heading, "is_spoken": row.is_spoken}
    if "character" in changed:
        (cast,) = cast_lines((row,), script.details.cast, voices)
        changed |= {"character": cast.character, "voice": cast.voice, "style": cast.style}
    after = replace(before, **changed, columns=row.columns, origin=row.origin)  # type: ignore[arg-type]
    if origin.is_removed:
        return LineUpdate(UpdateKind.NEW, before, after, fields, text=row.text)
    if fields and before.is_locked:
        return LineUpdate(UpdateKind.CHANGED, before, before, fields, is_held=True, text=row.text)
    kind = UpdateKind.CHANGED if fields else UpdateKind.MOVED if is_moved else UpdateKind.UNCHANGED
    return LineUpdate(kind, before, after, fields, text=row.text)


def _with_removed(
    updates: Iterable[LineUpdate], old: Sequence[tuple[Line, LineOrigin]], kept: Collection[int]
) -> list[LineUpdate]:
    """Return ``updates`` with those of removed lines, each below the line that it followed."""
    below: dict[str | None, list[LineUpdate]] = defaultdict(list)
    above: str | None = None
    for at, (line, origin) in enumerate(old):
        if at in kept:
            above = line.id
        elif not origin.is_removed:
            after = replace(line, is_spoken=False, heading=Heading.NONE, origin=replace(origin, is_removed=True))
            is_held = line.is_locked
            removed = LineUpdate(UpdateKind.REMOVED, line, line if is_held else after, is_held=is_held, text=line.text)
            below[above].append(removed)
    listed = below[None]
    for update in updates:
        listed += [update, *below[update.after.id]]
    return listed


def _order(script: Script, rows: Iterable[str], placed: Collection[str], gone: Collection[str]) -> list[str]:
    """Return the order of the lines without those that are ``gone``.

    ``rows`` are the lines in the order of the file. Those that are ``placed`` follow the row before them.
    """
    below: dict[str | None, list[str]] = defaultdict(list)
    above: str | None = None
    first: str | None = None
    for line_id in rows:
        if line_id in placed:
            below[above].append(line_id)
        else:
            above = line_id
            first = first or line_id
    order: list[str] = []
    for line in script.lines:
        if line.id == first:
            order += below[None]
        if line.id not in placed and line.id not in gone:
            order += [line.id, *below[line.id]]
    return order if first is not None else [*order, *below[None]]


def _with_voices(updates: Iterable[LineUpdate], order: Sequence[str], script: Script) -> tuple[LineUpdate, ...]:
    """Return ``updates`` in which new lines without a voice have the voice of the line before them."""
    voices: dict[str, str | None] = {line.id: line.voice for line in script.lines}
    voices |= {update.after.id: update.after.voice for update in updates}
    above: str | None = next((voices[line_id] for line_id in order if voices[line_id]), None)
    for line_id in order:
        above = voices[line_id] = voices[line_id] or above
    return tuple(
        replace(update, after=replace(update.after, voice=voices[update.after.id])) if update.before is None else update
        for update in updates
    )


def _is_group_heading(line: Line) -> bool:
    return line.origin is not None and line.origin.position < 0


def _group_heading(title: str, source_id: str) -> Line:
    line = Line(id=new_id(), text=title, heading=Heading.CHAPTER, is_spoken=False)
    return replace(line, origin=LineOrigin(source_id, -1, values=imported_values(line), is_removed=True))
