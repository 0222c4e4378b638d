"""Merging of undo steps, and undo of failed changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.app.script.project_editor import ProjectEditor
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line
from studio.project.project import Project


@pytest.fixture
def editor(tmp_path: Path, qapp: Any) -> Iterator[ProjectEditor]:
    with Project.create(tmp_path) as project:
        project.apply(InsertLines(0, (Line(id="a", speed=1.0), Line(id="b", speed=1.1))))
        yield ProjectEditor(project)


def speeds(editor: ProjectEditor) -> list[float]:
    return [line.speed for line in editor.script.lines]


def test_a_merged_step_covers_the_lines_of_all_its_steps(editor: ProjectEditor) -> None:
    editor.push(EditLines({"a": {"speed": 1.1}}), "Change speed", merge_key="speed")
    editor.push(EditLines({"a": {"speed": 1.2}, "b": {"speed": 1.2}}), "Change speed", merge_key="speed")
    assert editor.undo_stack.count() == 1
    editor.undo_stack.undo()
    assert speeds(editor) == [1.0, 1.1]
    editor.undo_stack.redo()
    assert speeds(editor) == [1.2, 1.2]


def test_a_merged_step_without_effect_is_dropped(editor: ProjectEditor) -> None:
    editor.push(EditLines({"b": {"speed": 0.5}}), "Change speed")
    editor.push(EditLines({"a": {"speed": 1.5}}), "Change speed", merge_key="speed")
    editor.push(EditLines({"a": {"speed": 1.0}}), "Change speed", merge_key="speed")
    assert editor.undo_stack.count() == 1
    editor.undo_stack.undo()
    assert speeds(editor) == [1.0, 1.1]


def test_undo_merged_undoes_only_the_last_step(editor: ProjectEditor) -> None:
    editor.push(EditLines({"a": {"speed": 1.5}}), "Change speed", merge_key="first")
    editor.push(EditLines({"a": {"speed": 1.6}}), "Change speed", merge_key="second")
    assert not editor.undo_merged("first")
    assert editor.undo_merged("second")
    assert speeds(editor) == [1.5, 1.1]
