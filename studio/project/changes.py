"""Changes of a script. Each change is a value that has an inverse.

``change.apply(script)`` returns the new script and the inverse change, which restores the old script exactly. It raises
``KeyError`` if the script does not contain an id in the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Protocol

from studio.project.details import ProjectDetails
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line, sanitize
from studio.project.script import Script
from studio.project.takes import Take
from studio.take_checks.records import TakeCheck, Verdict

_EDITABLE = frozenset(each.name for each in fields(Line)) - {"id", "chosen_take"}
_EDITABLE_OF_TAKE = frozenset({"is_kept", "trim_start_seconds", "trim_end_seconds", "check"})


class Change(Protocol):
    def apply(self, script: Script) -> tuple[Script, Change]: ...


@dataclass(frozen=True, slots=True)
class InsertLines:
    """Insert new lines at ``index``."""

    index: int
    lines: tuple[Line, ...]

    def apply(self, script: Script) -> tuple[Script, Change]:
        assert 0 <= self.index <= len(script.lines), "index out of range"
        _require_new(script, self.lines)
        assert all(line.chosen_take is None for line in self.lines), "a new line has no takes"
        lines = (*script.lines[: self.index], *self.lines, *script.lines[self.index :])
        return script.with_lines(lines), RemoveLines(tuple(line.id for line in self.lines))


@dataclass(frozen=True, slots=True)
class RemoveLines:
    """Remove lines and their takes."""

    ids: tuple[str, ...]

    def apply(self, script: Script) -> tuple[Script, Change]:
        places = sorted(script.index_of[line_id] for line_id in self.ids)
        inverse = RestoreLines(
            lines=tuple((index, script.lines[index]) for index in places),
            takes={line_id: script.takes[line_id] for line_id in self.ids if line_id in script.takes},
        )
        removed = set(self.ids)
        kept = script.with_lines(line for line in script.lines if line.id not in removed)
        return kept.with_takes(dict.fromkeys(removed, ())), inverse


@dataclass(frozen=True, slots=True)
class RestoreLines:
    """Insert removed lines at their former indexes, with their takes."""

    lines: tuple[tuple[int, Line], ...]
    takes: Mapping[str, tuple[Take, ...]]

    def apply(self, script: Script) -> tuple[Script, Change]:
        _require_new(script, tuple(line for _, line in self.lines))
        lines = list(script.lines)
        for index, line in self.lines:
            lines.insert(index, line)
        restored = script.with_lines(lines).with_takes(self.takes)
        return restored, RemoveLines(tuple(line.id for _, line in self.lines))


@dataclass(frozen=True, slots=True)
class EditLines:
    """Set fields of lines: ``{line id: {field: value}}``. :class:`ChooseTake` sets ``chosen_take``."""

    edits: Mapping[str, Mapping[str, object]]

    def apply(self, script: Script) -> tuple[Script, Change]:
        edited: dict[str, Line] = {}
        before: dict[str, dict[str, object]] = {}
        for line_id, values in self.edits.items():
            assert set(values) <= _EDITABLE, f"fields that cannot be edited: {set(values) - _EDITABLE}"
            line = script.line(line_id)
            before[line_id] = {name: getattr(line, name) for name in values}
            edited[line_id] = replace(line, **values)  # type: ignore[arg-type]  # names are checked, values by Line
        return script.with_edited(edited), EditLines(before)


@dataclass(frozen=True, slots=True)
class MoveLines:
    """Move lines before the line that is at ``index``. The moved lines keep their order."""

    ids: tuple[str, ...]
    index: int

    def apply(self, script: Script) -> tuple[Script, Change]:
        assert 0 <= self.index <= len(script.lines), "index out of range"
        moved_ids = set(self.ids)
        moved = [line for line in script.lines if line.id in moved_ids]
        assert len(moved) == len(moved_ids), "an id is not in the script"
        before = [line for line in script.lines[: self.index] if line.id not in moved_ids]
        after = [line for line in script.lines[self.index :] if line.id not in moved_ids]
        order = tuple(line.id for line in (*before, *moved, *after))
        return ReorderLines(order).apply(script)


@dataclass(frozen=True, slots=True)
class ReorderLines:
    """Reorder all lines of the script as in ``ids``."""

    ids: tuple[str, ...]

    def apply(self, script: Script) -> tuple[Script, Change]:
        assert len(self.ids) == len(script.lines), "not all lines"
        inverse = ReorderLines(tuple(line.id for line in script.lines))
        return script.with_lines(script.line(line_id) for line_id in self.ids), inverse


@dataclass(frozen=True, slots=True)
class AddTake:
    """Add a take to its line, by default as the chosen one."""

    take: Take
    is_chosen: bool = True

    def apply(self, script: Script) -> tuple[Script, Change]:
        line = script.line(self.take.line_id)
        added = script.with_takes({line.id: _in_order(*script.takes_of(line.id), self.take)})
        back: Change = RemoveTakes((self.take.id,))
        if self.is_chosen:
            added = added.with_edited({line.id: replace(line, chosen_take=self.take.id)})
            back = CompositeChange((ChooseTake(line.id, line.chosen_take), back))
        return added, back


@dataclass(frozen=True, slots=True)
class RemoveTakes:
    """Remove takes. If the chosen take of a line is removed, its newest remaining take becomes the chosen one."""

    ids: tuple[str, ...]

    def apply(self, script: Script) -> tuple[Script, Change]:
        removed = set(self.ids)
        line_ids = {script.take(take_id).line_id for take_id in self.ids}
        kept = {
            line_id: tuple(take for take in script.takes_of(line_id) if take.id not in removed) for line_id in line_ids
        }
        edited = {
            line.id: replace(line, chosen_take=kept[line.id][-1].id if kept[line.id] else None)
            for line in map(script.line, line_ids)
            if line.chosen_take in removed
        }
        inverse = RestoreTakes(
            takes=tuple(script.take(take_id) for take_id in self.ids),
            chosen={line_id: script.line(line_id).chosen_take for line_id in edited},
        )
        return script.with_takes(kept).with_edited(edited), inverse


@dataclass(frozen=True, slots=True)
class RestoreTakes:
    """Add removed takes again, and restore which takes are chosen."""

    takes: tuple[Take, ...]
    chosen: Mapping[str, str | None]

    def apply(self, script: Script) -> tuple[Script, Change]:
        restored = script.with_takes(
            {
                line_id: _in_order(*script.takes_of(line_id), *(take for take in self.takes if take.line_id == line_id))
                for line_id in {take.line_id for take in self.takes}
            }
        )
        edited = {
            line_id: replace(script.line(line_id), chosen_take=take_id) for line_id, take_id in self.chosen.items()
        }
        return restored.with_edited(edited), RemoveTakes(tuple(take.id for take in self.takes))


@dataclass(frozen=True, slots=True)
class ChooseTake:
    """Choose the take of a line that is played and exported, or choose none."""

    line_id: str
    take_id: str | None

    def apply(self, script: Script) -> tuple[Script, Change]:
        line = script.line(self.line_id)
        assert self.take_id is None or script.take(self.take_id).line_id == self.line_id, "a take of another line"
        chosen = script.with_edited({line.id: replace(line, chosen_take=self.take_id)})
        return chosen, ChooseTake(line.id, line.chosen_take)


@dataclass(frozen=True, slots=True)
class EditTakes:
    """Set fields of takes: ``{take id: {field: value}}``."""

    edits: Mapping[str, Mapping[str, object]]

    def apply(self, script: Script) -> tuple[Script, Change]:
        edited: dict[str, Take] = {}
        before: dict[str, dict[str, object]] = {}
        for take_id, values in self.edits.items():
            assert set(values) <= _EDITABLE_OF_TAKE, f"fields that cannot be edited: {set(values) - _EDITABLE_OF_TAKE}"
            take = script.take(take_id)
            before[take_id] = {name: getattr(take, name) for name in values}
            edited[take_id] = replace(take, **values)  # type: ignore[arg-type]  # names are checked
        return _with_changed_takes(script, edited), EditTakes(before)


@dataclass(frozen=True, slots=True)
class SetTakeChecks:
    """Set the checks of takes: ``{take id: check}``. A take that was accepted stays accepted.

    Takes that were removed in the meantime are ignored.
    """

    checks: Mapping[str, TakeCheck | None]

    def apply(self, script: Script) -> tuple[Script, Change]:
        edits: dict[str, dict[str, object]] = {}
        for take_id in self.checks.keys() & script.line_of_take.keys():
            check, former = self.checks[take_id], script.take(take_id).check
            if check is not None and former is not None:
                check = replace(check, is_accepted=check.is_accepted or former.is_accepted)
            edits[take_id] = {"check": check}
        return EditTakes(edits).apply(script)


@dataclass(frozen=True, slots=True)
class AcceptTakes:
    """Set whether the user accepts takes despite their problems: ``{take id: is_accepted}``."""

    is_accepted: Mapping[str, bool]

    def apply(self, script: Script) -> tuple[Script, Change]:
        before: dict[str, bool] = {}
        changed: dict[str, Take] = {}
        for take_id, is_accepted in self.is_accepted.items():
            take = script.take(take_id)
            check = take.check or TakeCheck(Verdict.NOT_CHECKED)
            before[take_id] = check.is_accepted
            changed[take_id] = replace(take, check=replace(check, is_accepted=is_accepted))
        return _with_changed_takes(script, changed), AcceptTakes(before)


@dataclass(frozen=True, slots=True)
class EditDictionary:
    """Replace the pronunciation dictionary of the project."""

    dictionary: PronunciationDictionary

    def apply(self, script: Script) -> tuple[Script, Change]:
        return replace(script, dictionary=self.dictionary), EditDictionary(script.dictionary)


@dataclass(frozen=True, slots=True)
class EditDetails:
    """Replace the details of the project: title, cast and so on."""

    details: ProjectDetails

    def apply(self, script: Script) -> tuple[Script, Change]:
        return replace(script, details=self.details), EditDetails(script.details)


@dataclass(frozen=True, slots=True)
class RenameProject:
    name: str

    def apply(self, script: Script) -> tuple[Script, Change]:
        return replace(script, name=sanitize(self.name)), RenameProject(script.name)


@dataclass(frozen=True, slots=True)
class CompositeChange:
    """Apply several changes in order, as one change."""

    changes: tuple[Change, ...]

    def apply(self, script: Script) -> tuple[Script, Change]:
        inverses: list[Change] = []
        for change in self.changes:
            script, inverse = change.apply(script)
            inverses.append(inverse)
        return script, CompositeChange(tuple(reversed(inverses)))


def _with_changed_takes(script: Script, changed: Mapping[str, Take]) -> Script:
    """Return a script with ``changed`` in place of the takes with the same ids."""
    line_ids = {take.line_id for take in changed.values()}
    return script.with_takes(
        {line_id: tuple(changed.get(take.id, take) for take in script.takes_of(line_id)) for line_id in line_ids}
    )


def _in_order(*takes: Take) -> tuple[Take, ...]:
    return tuple(sorted(takes, key=lambda take: (take.number, take.id)))


def _require_new(script: Script, lines: tuple[Line, ...]) -> None:
    ids = {line.id for line in lines}
    assert len(ids) == len(lines), "duplicate ids"
    assert ids.isdisjoint(script.index_of), "an id is already in the script"
