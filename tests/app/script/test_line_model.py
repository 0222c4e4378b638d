"""The table model equals the project after every change, and persistent indexes follow their lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from studio.app.script import edits
from studio.app.script.line_model import Column, LineModel
from studio.app.script.line_statuses import LineStatus, LineStatusStore
from studio.app.script.project_editor import ProjectEditor
from studio.project.changes import CompositeChange, EditLines, InsertLines, MoveLines, RemoveLines
from studio.project.lines import Line, LineState
from studio.project.project import Project

TEXTS = ("one", "two", "three", "four", "five")


class NamedRows(LineModel):
    """Shows ids instead of numbers: the model tester requires the same data after a row has moved."""

    def data(self, index: Any, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and index.column() == Column.NUMBER and role == Qt.ItemDataRole.DisplayRole:
            return self.line_at(index.row()).id
        return super().data(index, role)


class Table:
    def __init__(self, folder: Path) -> None:
        self.project = Project.create(folder)
        self.project.apply(InsertLines(0, tuple(Line(id=text, text=text) for text in TEXTS)))
        self.editor = ProjectEditor(self.project)
        self.line_statuses = LineStatusStore()
        self.model = NamedRows(self.editor, self.line_statuses, lambda style: style.preset or "")
        self.tester = QAbstractItemModelTester(self.model, QAbstractItemModelTester.FailureReportingMode.Fatal)

    @property
    def shown(self) -> list[str]:
        return [self.model.index(row, Column.TEXT).data() for row in range(self.model.rowCount())]


@pytest.fixture
def table(qapp: Any, tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.project.close()


def test_every_kind_of_change_is_shown_and_undone(table: Table) -> None:
    editor = table.editor
    for change in (
        InsertLines(2, (Line(id="new", text="new"),)),
        RemoveLines(("one", "two")),
        MoveLines(("five",), 0),
        EditLines({"five": {"text": "FIVE"}}),
        CompositeChange((EditLines({"four": {"text": "4"}}), RemoveLines(("five",)))),
        CompositeChange((InsertLines(0, (Line(id="last", text="last"),)), RemoveLines(("three",)))),
    ):
        editor.push(change, "Edit")
        assert table.shown == [line.text for line in table.project.lines]
    while editor.undo_stack.canUndo():
        editor.undo_stack.undo()
        assert table.shown == [line.text for line in table.project.lines]
    assert table.shown == list(TEXTS)
    while editor.undo_stack.canRedo():
        editor.undo_stack.redo()
        assert table.shown == [line.text for line in table.project.lines]


def test_a_persistent_index_follows_its_line(table: Table) -> None:
    kept = QPersistentModelIndex(table.model.index(3, Column.TEXT))
    table.editor.push(MoveLines(("four",), 0), "Move")
    assert (kept.row(), kept.data()) == (0, "four")
    table.editor.push(RemoveLines(("four",)), "Remove")
    assert not kept.isValid()


@pytest.mark.slow
@settings(max_examples=25)
@given(steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=8))
def test_any_sequence_of_changes_is_shown(table: Table, steps: list[tuple[int, int, int]]) -> None:
    for kind, one, other in steps:
        script = table.editor.script
        ids = [line.id for line in script.lines]
        first, second = ids[one % len(ids)], ids[other % len(ids)]
        change = (
            edits.insert_texts(script, one % (len(ids) + 1), [["a", "b"]]),
            edits.remove(script, [first, second] if first != second else [first]),
            edits.move(script, [first], -1 if other % 2 else 1),
            edits.duplicate(script, [first]),
            edits.merge(script, [first]),
        )[kind]
        if change is not None:
            table.editor.push(change, "Edit")
        if other % 5 == 0:
            table.editor.undo_stack.undo()
        assert table.shown == [line.text for line in table.project.lines]


def test_editing_a_cell_is_an_undo_step(table: Table) -> None:
    cell = table.model.index(1, Column.TEXT)
    assert table.model.setData(cell, "TWO")
    assert table.project.lines[1].text == "TWO"
    assert table.editor.undo_stack.undoText() == "Edit text"
    assert table.model.setData(cell, "TWO")  # no change
    assert table.editor.undo_stack.count() == 1
    table.editor.undo_stack.undo()
    assert table.shown[1] == "two"


def test_successive_changes_of_a_value_are_one_undo_step(table: Table) -> None:
    for speed in (1.1, 1.2, 1.3):
        table.editor.push(EditLines({"one": {"speed": speed}}), "Speed", merge_key="speed:one")
    assert table.editor.undo_stack.count() == 1
    table.editor.undo_stack.undo()
    assert table.project.lines[0].speed == 1.0
    table.editor.undo_stack.redo()
    assert table.project.lines[0].speed == 1.3


def test_locked_lines_are_not_editable(table: Table) -> None:
    table.editor.push(EditLines({"one": {"is_locked": True}}), "Lock")
    for column in (Column.TEXT, Column.VOICE, Column.STYLE):
        assert not table.model.index(0, column).flags() & Qt.ItemFlag.ItemIsEditable
        assert table.model.index(1, column).flags() & Qt.ItemFlag.ItemIsEditable


def test_state_texts_and_progress(table: Table) -> None:
    state = table.model.index(0, Column.STATE)
    assert state.data() == "New"
    table.line_statuses.set("one", LineStatus(LineState.QUEUED))
    assert state.data() == "Queued"
    table.line_statuses.set("one", LineStatus(LineState.SPEAKING, 0.42))
    assert state.data() == "Speaking 42%"
    table.line_statuses.set("one", None)
    assert state.data() == "New"


def test_only_changed_rows_are_updated(table: Table) -> None:
    changed: list[tuple[int, int]] = []
    table.model.dataChanged.connect(lambda top, bottom: changed.append((top.row(), bottom.row())))
    table.editor.push(EditLines({"three": {"text": "3"}}), "Edit")
    assert changed == [(2, 2)]


def test_neighbouring_rows_are_updated_together(table: Table) -> None:
    """A change of thousands of lines blocked the window for seconds, because each row was updated separately."""
    changed: list[tuple[int, int]] = []
    table.model.dataChanged.connect(lambda top, bottom: changed.append((top.row(), bottom.row())))
    table.editor.push(EditLines({text: {"voice": "Anna"} for text in ("one", "two", "three", "five")}), "Voice")
    assert changed == [(0, 2), (4, 4)]


def test_replacing_a_line_moves_no_rows(table: Table) -> None:
    moved: list[object] = []
    table.model.layoutChanged.connect(lambda: moved.append(True))
    pasted = tuple(Line(id=text, text=text) for text in ("six", "seven"))
    table.editor.push(CompositeChange((InsertLines(3, pasted), RemoveLines(("three",)))), "Paste")
    assert table.shown == ["one", "two", "six", "seven", "four", "five"]
    table.editor.undo_stack.undo()
    assert table.shown == list(TEXTS)
    assert not moved


def test_only_numbers_change_below_a_new_line(table: Table) -> None:
    changed: list[tuple[int, int, int]] = []
    table.model.dataChanged.connect(lambda top, end: changed.append((top.row(), end.row(), end.column())))
    table.editor.push(InsertLines(2, (Line(id="six", text="six"),)), "Insert")
    assert changed == [(3, 5, Column.NUMBER)]


def test_every_cell_has_an_accessible_text(table: Table) -> None:
    for column in Column:
        words = table.model.index(0, column).data(Qt.ItemDataRole.AccessibleTextRole)
        assert words
