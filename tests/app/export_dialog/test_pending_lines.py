"""Speed and remaining time of pending lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from studio.app.export_dialog.pending_lines import PendingLines
from studio.app.export_dialog.progress_page import ProgressPage
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import Take, TakeParameters


@dataclass
class Script:
    """A fake project: ten characters per line, a take of four seconds for each spoken line."""

    spoken: set[str] = field(default_factory=set)

    def line(self, line_id: str) -> Line:
        return Line(line_id, "ten letter")

    def chosen_take(self, line_id: str) -> Take | None:
        if line_id not in self.spoken:
            return None
        parameters = TakeParameters("", 1, "", "zero-shot", "", "", "", "")
        return Take(f"take of {line_id}", line_id, 1, None, 4.0, 24_000, parameters)  # type: ignore[arg-type]


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def test_speed_and_rest_are_of_all_lines_together(qtbot: QtBot) -> None:
    script, clock = Script(), Clock()
    lines = PendingLines(cast("Project", script), ["a", "b", "c", "d"], clock=clock)
    assert (lines.num_lines, lines.num_done, lines.speed, lines.remaining_seconds) == (4, 0, None, None)
    for moment, line_id in ((4.0, "c"), (4.0, "a")):  # spoken side by side, they come almost together
        clock.now = 100.0 + moment
        script.spoken.add(line_id)
        lines.spoke(line_id)
    assert lines.waiting == ["b", "d"]
    assert lines.num_done == 2
    assert lines.speed == pytest.approx(2.0)
    assert lines.remaining_seconds == pytest.approx(4.0)
    page = ProgressPage()
    qtbot.addWidget(page)
    page.show_speaking(lines)
    assert page.title.text() == "Speaking line 3 of 4"
    assert page.figures.text() == "2.0x real time · 4 s left"
    lines.failed("b")
    assert lines.remaining_seconds == pytest.approx(2.0)
    assert "b" not in lines
    assert "d" in lines
