"""Model of the script with one row per line, for the manuscript and the compact table.

Edits go to the project editor, which emits a signal for every change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from operator import ne
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from studio.app.checking.verdicts import VerdictMark, verdict_mark
from studio.app.error_text import format_error
from studio.app.script.edits import set_field
from studio.app.script.line_statuses import LineStatusStore, odd_length_warning
from studio.app.script.outline import LengthCache, Section, find_sections, seconds_of
from studio.app.script.project_editor import ProjectEditor
from studio.app.script.row_words import slot_fit, time_text
from studio.app.translation import join_clauses, join_phrases, with_label
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import StudioError
from studio.project.lines import Heading, Line, LineState, LineStyle, is_removed
from studio.project.script import Script, shared_ends
from studio.project.takes import Take
from studio.project.text_places import TextRange, problem_ranges
from studio.take_checks.records import Verdict

Index = QModelIndex | QPersistentModelIndex


class Column(IntEnum):
    NUMBER = 0
    STATE = 1
    VOICE = 2
    TEXT = 3
    STYLE = 4
    DURATION = 5
    TAKE = 6
    CHARACTER = 7
    FILE_NAME = 8
    NOTE = 9
    VERDICT = 10
    START = 11
    SLOT = 12


LINE_ROLE = Qt.ItemDataRole.UserRole  # Line
STATE_ROLE = Qt.ItemDataRole.UserRole + 1  # LineState
PROGRESS_ROLE = Qt.ItemDataRole.UserRole + 2  # progress of a line being spoken, 0..1
SUMMARY_ROLE = Qt.ItemDataRole.UserRole + 3  # number of lines and length below a heading
SLOT_ROLE = Qt.ItemDataRole.UserRole + 4  # SlotFit, or None without a slot
VERDICT_ROLE = Qt.ItemDataRole.UserRole + 5  # VerdictMark of the chosen take, or None
PROBLEMS_ROLE = Qt.ItemDataRole.UserRole + 6  # TextRange of each problem to review in the text
ATTENTION_ROLE = (
    Qt.ItemDataRole.UserRole + 7
)  # text with the number of lines below a heading that failed or need review
# Fields of a line by the column in which they are edited.
_EDITED_FIELDS = {
    Column.TEXT: "text",
    Column.VOICE: "voice",
    Column.STYLE: "style",
    Column.CHARACTER: "character",
    Column.FILE_NAME: "file_name",
    Column.NOTE: "note",
}
_NUMERIC_COLUMNS = (Column.NUMBER, Column.DURATION, Column.TAKE, Column.START, Column.SLOT)
_ALIGN_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

# MIME type of dragged lines: their ids, one per line.
_LINES_FORMAT = "application/x-timbre-lines"
# Combined once, because Qt requests the flags of every cell of a selection.
_READ_ONLY = (
    Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
    | Qt.ItemFlag.ItemIsDragEnabled
)
_EDITABLE = _READ_ONLY | Qt.ItemFlag.ItemIsEditable


@paints_safely
class LineModel(QAbstractTableModel):
    """Shows the editor's script. ``style_text`` returns the name of a style in the window's language."""

    columns_changed = Signal()  # the script has its first verdict or character, or its last character is gone

    def __init__(
        self,
        editor: ProjectEditor,
        line_statuses: LineStatusStore,
        style_text: Callable[[LineStyle], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        # The script in the view. While the editor emits a change, its own script is already newer.
        self._script = editor.script
        self._sections: tuple[Script, list[Section]] | None = None  # sections of ``_script``
        self._lengths = LengthCache()
        self._has_verdicts = _has_verdicts(editor.script)
        self._statuses = line_statuses
        self._style_text = style_text
        editor.script_changed.connect(self._on_script_changed)
        editor.project_replaced.connect(self._on_project_replaced)
        line_statuses.changed.connect(self._on_status_changed)

    def line_at(self, row: int) -> Line:
        return self._script.lines[row]

    def line_by_id(self, line_id: str) -> Line:
        return self._script.line(line_id)

    def row_of(self, line_id: str) -> int | None:
        return self._script.index_of.get(line_id)

    @property
    def script(self) -> Script:
        """The script that is shown."""
        return self._script

    @property
    def sections(self) -> list[Section]:
        """Chapters and scenes in their order."""
        if self._sections is None or self._sections[0] is not self._script:
            self._sections = (self._script, find_sections(self._script, self._lengths))
        return self._sections[1]

    @property
    def has_characters(self) -> bool:
        return any(line.character for line in self._script.lines)

    @property
    def has_slots(self) -> bool:
        return any(line.slot is not None for line in self._script.lines)

    def cell_text(self, row: int, column: Column) -> str:
        """Return the text of a cell."""
        return self._display_text(self.line_at(row), column, row)

    def state_of(self, line: Line) -> LineState:
        status = self._statuses.of(line.id)
        return status.state if status else self._editor.saved_state(line.id)

    def refresh_styles(self) -> None:
        """Refresh all rows after a change of style names."""
        self._rows_changed(0, self.rowCount() - 1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's own default
        return 0 if parent.isValid() else len(self._script.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(Column)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _NUMERIC_COLUMNS:
            return _ALIGN_RIGHT
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return {
            Column.NUMBER: self.tr("No."),
            Column.STATE: self.tr("State"),
            Column.VOICE: self.tr("Voice"),
            Column.TEXT: self.tr("Text"),
            Column.STYLE: self.tr("Style"),
            Column.DURATION: self.tr("Length"),
            Column.TAKE: self.tr("Take"),
            Column.CHARACTER: self.tr("Character"),
            Column.FILE_NAME: self.tr("File"),
            Column.NOTE: self.tr("Note"),
            Column.VERDICT: self.tr("Verdict"),
            Column.START: self.tr("Start"),
            Column.SLOT: self.tr("Slot"),
        }[Column(section)]

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled  # between two lines
        is_editable = index.column() in _EDITED_FIELDS and not self.line_at(index.row()).is_locked
        return _EDITABLE if is_editable else _READ_ONLY

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802
        return [_LINES_FORMAT]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802
        rows = sorted({index.row() for index in indexes})
        mime = QMimeData()
        mime.setData(_LINES_FORMAT, "\n".join(self.line_at(row).id for row in rows).encode("utf-8"))
        return mime

    def dragged_lines(self, mime: QMimeData) -> list[str]:
        """Return the ids of the dragged lines; empty if they belong to another script."""
        ids = mime.data(_LINES_FORMAT).toStdString().split("\n")
        return ids if all(self.row_of(line_id) is not None for line_id in ids) else []

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: PLR0911 - one return per role
        line, column = self.line_at(index.row()), Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._display_text(line, column, index.row())
            case Qt.ItemDataRole.EditRole:
                return getattr(line, _EDITED_FIELDS[column]) if column in _EDITED_FIELDS else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tool_tip(line, column)
            case Qt.ItemDataRole.AccessibleTextRole:
                words = self._row_text(line, index.row()) if column is Column.TEXT else ""
                return words or self._display_text(line, column, index.row()) or self.tr("Empty")
            case Qt.ItemDataRole.TextAlignmentRole if column in _NUMERIC_COLUMNS:
                return _ALIGN_RIGHT
        if role == LINE_ROLE:
            return line
        if role == STATE_ROLE:
            return self.state_of(line)
        if role == SUMMARY_ROLE:
            return self._summary(index.row())
        if role == ATTENTION_ROLE:
            return self._attention(index.row())
        if role == SLOT_ROLE:
            return slot_fit(self._script, line)
        if role == VERDICT_ROLE:
            return self.verdict_of(line)
        if role == PROBLEMS_ROLE:
            return self._problems(line)
        return self._progress(line) if role == PROGRESS_ROLE else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802
        if role != Qt.ItemDataRole.EditRole:
            return False
        line, column = self.line_at(index.row()), Column(index.column())
        title = {
            Column.TEXT: self.tr("Edit text"),
            Column.VOICE: self.tr("Change voice"),
            Column.STYLE: self.tr("Change style"),
            Column.CHARACTER: self.tr("Change character"),
            Column.FILE_NAME: self.tr("Change file name"),
            Column.NOTE: self.tr("Edit note"),
        }[column]
        if column in (Column.CHARACTER, Column.FILE_NAME):
            value = value.strip() or None
        change = set_field(self._editor.script, [line.id], _EDITED_FIELDS[column], value)
        if change is not None:
            self._editor.push(change, title)
        return True

    def write_text(self, index: Index, text: str, merge_key: str) -> None:
        """Set the text of a line. All changes with the same ``merge_key`` are one undo step."""
        change = set_field(self._editor.script, [self.line_at(index.row()).id], "text", text)
        if change is not None:
            self._editor.push(change, self.tr("Edit text"), merge_key=merge_key, merge_seconds=math.inf)

    def autosave_text(self, index: Index, text: str, merge_key: str) -> bool:
        """Call ``write_text``; if it fails, let the editor report the error and return False."""
        try:
            self.write_text(index, text, merge_key)
        except StudioError as error:
            self._editor.failed.emit(error)
            return False
        return True

    def restore_text(self, index: Index, text: str, merge_key: str) -> None:
        """Restore ``text``, the text before the step ``merge_key``.

        Without later steps, undo is used, and can be redone.
        """
        if self.line_at(index.row()).text != text and not self._editor.undo_merged(merge_key):
            self.setData(index, text)

    def state_text(self, state: LineState) -> str:
        return {
            LineState.DRAFT: self.tr("New"),
            LineState.OUTDATED: self.tr("Changed"),
            LineState.CHECK: self.tr("Review"),
            LineState.QUEUED: self.tr("Queued"),
            LineState.SPEAKING: self.tr("Speaking"),
            LineState.READY: self.tr("Ready"),
            LineState.FAILED: self.tr("Failed"),
        }[state]

    def _line_state_text(self, line: Line) -> str:
        """Return the state, with progress or, for a line to review, why it is to be reviewed."""
        state, progress, mark = self.state_of(line), self._progress(line), self.verdict_of(line)
        if state is LineState.OUTDATED and self._is_stopped(line):
            return self.tr("Stopped")
        if state is LineState.CHECK:
            live = self._statuses.of(line.id)
            if live is not None and live.error is not None:
                return self.tr("Not spoken")
            if mark is not None and mark.verdict is not Verdict.NOT_CHECKED:
                return mark.name
        return f"{self.state_text(state)} {progress:.0%}" if progress > 0 else self.state_text(state)

    def _display_text(self, line: Line, column: Column, row: int) -> str:  # noqa: PLR0911 - one return per column
        match column:
            case Column.NUMBER:
                return str(row + 1)
            case Column.STATE:
                return self._line_state_text(line)
            case Column.VOICE:
                return line.voice or self.tr("No voice")
            case Column.TEXT:
                return line.text
            case Column.STYLE:
                return self._style_text(line.style)
            case Column.DURATION:
                return self._duration(line)
            case Column.TAKE:
                return self._take_text(line)
            case Column.CHARACTER | Column.FILE_NAME | Column.NOTE:
                return getattr(line, _EDITED_FIELDS[column]) or ""
            case Column.VERDICT:
                mark = self.verdict_of(line)
                return "" if mark is None else mark.name
            case Column.START:
                return time_text(line.slot.start_seconds) if line.slot is not None else ""
            case Column.SLOT:
                return time_text(line.slot.seconds) if line.slot is not None else ""

    def _row_text(self, line: Line, row: int) -> str:
        """Return the number, character, voice, text and state of a line for screen readers."""
        text = line.text or self.tr("Empty")
        if line.heading is not Heading.NONE:
            kind = self.tr("Chapter") if line.heading is Heading.CHAPTER else self.tr("Scene")
            return join_clauses((with_label(join_phrases((str(row + 1), kind)), text), self._summary(row)))
        if not line.is_spoken:
            return with_label(join_phrases((str(row + 1), self.tr("Note"))), text)
        state = self._display_text(line, Column.STATE, row)
        parts = [with_label(join_phrases((str(row + 1), self.speaker_text(line))), text), state]
        mark = self.verdict_of(line)
        if mark is not None:
            parts.append(with_label(mark.name, mark.reason))
        return join_clauses([*parts, *([self.tr("Locked")] if line.is_locked else [])])

    def speaker_text(self, line: Line) -> str:
        """Return the voice of a line, after its character if it has one."""
        voice = line.voice or self.tr("No voice")
        return join_phrases(filter(None, (line.character, voice)))

    def _summary(self, row: int) -> str:
        section = next((each for each in self.sections if each.row == row), None)
        if section is None:
            return ""
        if is_removed(self._script.lines[row]):  # the lines below are not spoken
            return self.tr("%n line(s)", "", section.end - row - 1)
        words = self.tr("%n line(s)", "", section.num_lines) if section.num_lines else ""
        return " · ".join(filter(None, (words, time_text(section.seconds) if section.seconds else "")))

    def _attention(self, row: int) -> str:
        section = next((each for each in self.sections if each.row == row), None)
        if section is None:
            return ""
        states = (self.state_of(line) for line in self._script.lines[row + 1 : section.end] if line.is_spoken)
        count = sum(state in (LineState.FAILED, LineState.CHECK) for state in states)
        return self.tr("%n need attention", "", count) if count else ""

    def _progress(self, line: Line) -> float:
        """Return the progress of a line being spoken, 0..1; 0 in other states."""
        live = self._statuses.of(line.id)
        return live.share if live is not None and live.state is LineState.SPEAKING else 0.0

    def _tool_tip(self, line: Line, column: Column) -> str | None:
        match column:
            case Column.STATE:
                return self._state_reason(line)
            case Column.VERDICT:
                mark = self.verdict_of(line)
                return None if mark is None else mark.reason
            case Column.TEXT:
                return line.text or None
            case Column.NUMBER if line.is_locked:
                return self.tr("This line is locked.")
        return None

    def _state_reason(self, line: Line) -> str | None:
        live = self._statuses.of(line.id)
        if live is not None and live.error is not None:
            return format_error(live.error)
        if live is None and self._is_stopped(line):
            return self.tr("The chosen take was stopped before the end of the line.")
        state, take, mark = self.state_of(line), self._chosen_take(line), self.verdict_of(line)
        if mark is not None and state in (LineState.CHECK, LineState.READY):
            return mark.reason
        return {
            LineState.CHECK: "" if take is None else odd_length_warning(take),
            LineState.DRAFT: self.tr("This line has not been spoken yet."),
            LineState.OUTDATED: self.tr("This line has changed since its take was spoken."),
            LineState.QUEUED: self.tr("Waiting to be spoken."),
            LineState.READY: self.tr("The chosen take matches the text."),
        }.get(state)

    def verdict_of(self, line: Line) -> VerdictMark | None:
        """Return the verdict on the chosen take, or None if it was not checked."""
        return verdict_mark(self._chosen_take(line))

    @property
    def has_verdicts(self) -> bool:
        """Whether a take of the script was checked."""
        return self._has_verdicts

    def _problems(self, line: Line) -> tuple[TextRange, ...]:
        take = self._chosen_take(line)
        return () if take is None else problem_ranges(take, line)

    def _chosen_take(self, line: Line) -> Take | None:
        return None if line.chosen_take is None else self._script.take(line.chosen_take)

    def _is_stopped(self, line: Line) -> bool:
        take = self._chosen_take(line)
        return take is not None and not take.is_complete

    def _duration(self, line: Line) -> str:
        if line.chosen_take is None:
            return ""
        return time_text(seconds_of(self._script, line))

    def _take_text(self, line: Line) -> str:
        takes = self._script.takes_of(line.id)
        if line.chosen_take is None or not takes:
            return ""
        number = self._script.take(line.chosen_take).number
        return self.tr("{number} of {count}").format(number=number, count=len(takes)) if len(takes) > 1 else str(number)

    def _on_project_replaced(self) -> None:
        self.beginResetModel()
        self._script = self._editor.script
        self._lengths = LengthCache()
        self._has_verdicts = _has_verdicts(self._script)
        self.endResetModel()

    def _on_status_changed(self, line_id: str) -> None:
        row = self.row_of(line_id)
        if row is not None:
            self._rows_changed(row, row)

    def _on_script_changed(self, before: Script, after: Script) -> None:
        had_columns = (self._has_verdicts, self.has_characters)
        if not self._has_verdicts and before.takes is not after.takes:
            self._has_verdicts = _has_verdicts(after)
        if before.index_of is not after.index_of:
            self._change_order(before, after)
        self._script = after
        if (self._has_verdicts, self.has_characters) != had_columns:
            self.columns_changed.emit()
        if before is after or before.dictionary != after.dictionary:
            self._rows_changed(0, self.rowCount() - 1)
            return
        for rows in runs(row for row in after.changed_rows(before) if after.lines[row].id in before.index_of):
            self._rows_changed(*rows)

    def _change_order(self, before: Script, after: Script) -> None:
        """Insert and remove rows, or move them if some lines only change places."""
        head, tail = shared_ends(before.lines, after.lines)
        old, new = ([line.id for line in each.lines[head : len(each.lines) - tail]] for each in (before, after))
        same_above, same_below = shared_ends(old, new, differs=ne)
        removed, added = old[same_above : len(old) - same_below], new[same_above : len(new) - same_below]
        if not set(removed).isdisjoint(added):
            self._move_rows(before, after)
            return
        first = head + same_above
        if added:
            place = first + len(removed)
            self.beginInsertRows(QModelIndex(), place, place + len(added) - 1)
            self._script = _before_removal(before, after, place, after.lines[first : first + len(added)])
            self.endInsertRows()
        if removed:
            self.beginRemoveRows(QModelIndex(), first, first + len(removed) - 1)
            self._script = after
            self.endRemoveRows()
        self._script = after
        if first + len(added) < self.rowCount():
            self.dataChanged.emit(
                self.index(first + len(added), Column.NUMBER), self.index(self.rowCount() - 1, Column.NUMBER)
            )

    def _move_rows(self, before: Script, after: Script) -> None:
        """Move selection and open editors with their lines."""
        self.layoutAboutToBeChanged.emit()
        persistent = self.persistentIndexList()
        rows = [after.index_of.get(before.lines[index.row()].id) for index in persistent]
        self._script = after
        moved = [
            QModelIndex() if row is None else self.createIndex(row, index.column())
            for index, row in zip(persistent, rows, strict=True)
        ]
        self.changePersistentIndexList(persistent, moved)
        self.layoutChanged.emit()

    def _rows_changed(self, first: int, last: int) -> None:
        if first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(Column) - 1))


def _has_verdicts(script: Script) -> bool:
    return any(take.check is not None for takes in script.takes.values() for take in takes)


def _before_removal(before: Script, after: Script, place: int, added: Sequence[Line]) -> Script:
    """Return a script with the lines ``added`` at ``place`` that still contains the removed lines."""
    lines = (*before.lines[:place], *added, *before.lines[place:])
    return replace(after, lines=lines, takes={**before.takes, **after.takes})


def runs(rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each run of consecutive rows. ``rows`` is sorted."""
    first = last = None
    for row in rows:
        if first is None or last is None:
            first = row
        elif row > last + 1:
            yield first, last
            first = row
        last = row
    if first is not None and last is not None:
        yield first, last
