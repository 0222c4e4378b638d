"""The work of writing a change grows with the number of changed lines, not with its square."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from project_samples import insert, speak

from studio.project.changes import Change, EditLines, RemoveLines
from studio.project.project import Project


def other_voices(project: Project) -> Change:
    return EditLines({line.id: {"voice": "Anna"} for line in project.lines})


def removal(project: Project) -> Change:
    return RemoveLines(tuple(line.id for line in project.lines))


def num_instructions(project: Project, change: Change) -> int:
    """Return how many instructions, in hundreds, SQLite executes for ``change``."""
    count = 0

    def on_progress() -> None:
        nonlocal count
        count += 1

    project._storage._connection.set_progress_handler(on_progress, 100)
    project.apply(change)
    project._storage._connection.set_progress_handler(None, 0)
    return count


@pytest.mark.parametrize("change_of", [other_voices, removal])
def test_many_lines_with_takes_are_changed_in_one_pass(tmp_path: Path, change_of: Callable[[Project], Change]) -> None:
    """Choosing a voice for 9,000 lines stopped the window for 19 seconds."""
    counts = []
    for num_lines in (40, 160):
        with Project.create(tmp_path / str(num_lines)) as project:
            for line_id in insert(project, *map(str, range(num_lines))):
                speak(project, line_id, seconds=0.001)
            counts.append(num_instructions(project, change_of(project)))
    assert counts[1] < 6 * counts[0]
