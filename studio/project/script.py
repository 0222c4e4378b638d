"""The script: everything in a project that can be edited, as one immutable value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, count, islice
from operator import is_not

from studio.errors import TakeNotFound
from studio.project.details import ProjectDetails
from studio.project.dictionary import PronunciationDictionary
from studio.project.lines import Line, Slot, merge_slots
from studio.project.takes import Take
from studio.text.language import language_of_script


@dataclass(frozen=True)
class Script:
    """Lines, takes, dictionary and details of a project. ``takes`` maps line ids to takes in order of number."""

    name: str = ""
    lines: tuple[Line, ...] = ()
    takes: Mapping[str, tuple[Take, ...]] = field(default_factory=dict)
    dictionary: PronunciationDictionary = PronunciationDictionary()
    details: ProjectDetails = ProjectDetails()

    def line(self, line_id: str) -> Line:
        """Return a line. Raise ``KeyError`` for an unknown id, which is a bug in the caller."""
        return self.lines[self.index_of[line_id]]

    def take(self, take_id: str) -> Take:
        if take_id not in self.line_of_take:
            raise TakeNotFound(
                "This take is no longer in the project.", remedy="Undo its removal, or speak the line again."
            )
        return next(take for take in self.takes[self.line_of_take[take_id]] if take.id == take_id)

    def takes_of(self, line_id: str) -> tuple[Take, ...]:
        return self.takes.get(line_id, ())

    @cached_property
    def language(self) -> str:
        """The code of the language of most lines, or empty."""
        return language_of_script(line.text for line in self.lines)

    # Successive scripts share the objects of unchanged lines and takes.

    def changed_lines(self, before: Script) -> list[int]:
        """Return the rows of lines that are not in ``before``."""
        head, tail = shared_ends(before.lines, self.lines)
        return [row for row in range(head, len(self.lines) - tail) if not before._has(self.lines[row])]

    def changed_rows(self, before: Script) -> list[int]:
        """Return the rows of lines that are not in ``before`` or have other takes there."""
        rows = self.changed_lines(before)
        if self.takes is not before.takes:
            other = {line_id for line_id, takes in self.takes.items() if before.takes.get(line_id) is not takes}
            other |= before.takes.keys() - self.takes.keys()
            rows = sorted({*rows, *(self.index_of[line_id] for line_id in other if line_id in self.index_of)})
        return rows

    def _has(self, line: Line) -> bool:
        """Return whether the script contains this very object."""
        row = self.index_of.get(line.id)
        return row is not None and self.lines[row] is line

    @cached_property
    def index_of(self) -> dict[str, int]:
        return {line.id: index for index, line in enumerate(self.lines)}

    @cached_property
    def line_of_take(self) -> dict[str, str]:
        return {take.id: line_id for line_id, takes in self.takes.items() for take in takes}

    @cached_property
    def speech_slots(self) -> tuple[Slot, ...]:
        """The times of speech in the video, in order and without overlaps.

        If notes follow the last speech, an empty slot marks the end of the last note: the video lasts at least until then.
        """
        timed = [(line.slot, line.is_spoken) for line in self.lines if line.slot is not None]
        if not timed:
            return ()
        end = max(slot.end_seconds for slot, _ in timed)
        return merge_slots([slot for slot, is_spoken in timed if is_spoken] + [Slot(end, end)])

    def with_lines(self, lines: Iterable[Line]) -> Script:
        return self._with_same_takes(replace(self, lines=tuple(lines)))

    def with_edited(self, edited: Mapping[str, Line]) -> Script:
        """Return a script with ``edited`` in place of the lines with the same ids."""
        lines = list(self.lines)
        has_same_slots = "speech_slots" in self.__dict__
        for line_id, line in edited.items():
            before = lines[self.index_of[line_id]]
            has_same_slots &= (before.slot, before.is_spoken) == (line.slot, line.is_spoken)
            lines[self.index_of[line_id]] = line
        script = self._with_same_order(self.with_lines(lines))
        if has_same_slots:
            script.__dict__["speech_slots"] = self.speech_slots
        return script

    def with_takes(self, changed: Mapping[str, tuple[Take, ...]]) -> Script:
        """Return a script in which ``changed`` replaces the takes of its lines."""
        takes = {line_id: found for line_id, found in (dict(self.takes) | dict(changed)).items() if found}
        script = self._with_same_order(replace(self, takes=takes))
        if "speech_slots" in self.__dict__:
            script.__dict__["speech_slots"] = self.speech_slots
        return script

    # Every keystroke creates a script. It reuses those cached indexes of the previous script that are still valid.

    def _with_same_order(self, script: Script) -> Script:
        if "index_of" in self.__dict__:
            script.__dict__["index_of"] = self.index_of
        return script

    def _with_same_takes(self, script: Script) -> Script:
        if "line_of_take" in self.__dict__:
            script.__dict__["line_of_take"] = self.line_of_take
        return script


def shared_ends(
    before: Sequence[object], after: Sequence[object], *, differs: Callable[[object, object], bool] = is_not
) -> tuple[int, int]:
    """Return the lengths of the common start and of the common end of both sequences, which do not overlap."""
    shorter = min(len(before), len(after))
    head = next(compress(count(), map(differs, before, after)), shorter)
    rest = shorter - head
    return head, next(compress(count(), map(differs, islice(reversed(before), rest), reversed(after))), rest)


def removed_group(script: Script, source_id: str) -> tuple[str, ...]:
    """Return the ids of the lines that a file no longer contains, with the heading above them."""
    origins = ((line.id, line.origin) for line in script.lines)
    return tuple(
        line_id
        for line_id, origin in origins
        if origin is not None and origin.is_removed and origin.source == source_id
    )
