"""Pages of the export dialog: speed and remaining time, and the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.app.export_dialog.pages import PendingLines, ProgressPage, ResultPage
from studio.app.translation import use_language
from studio.export.exporter import ExportResult
from studio.export.progress import ExportProgress
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import Take, TakeParameters


@dataclass
class FakeProject:
    """Fake project with ten characters in each line and a take of four seconds for each spoken line."""

    spoken: set[str] = field(default_factory=set)

    def line(self, line_id: str) -> Line:
        return Line(line_id, "ten letter")

    def chosen_take(self, line_id: str) -> Take | None:
        if line_id not in self.spoken:
            return None
        parameters = TakeParameters("", 1, "", "zero-shot", "", "", "", "")
        return Take(f"take of {line_id}", line_id, 1, None, 4.0, 24_000, parameters)  # type: ignore[arg-type]


@dataclass
class FakeClock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def test_speed_and_remaining_time_cover_all_lines(qtbot: QtBot) -> None:
    project, clock = FakeProject(), FakeClock()
    lines = PendingLines(cast("Project", project), ["a", "b", "c", "d"], clock=clock)
    assert (lines.num_lines, lines.num_done, lines.speed, lines.remaining_seconds) == (4, 0, None, None)
    clock.now = 104.0
    for line_id in ("c", "a"):  # synthesised concurrently, they end together
        project.spoken.add(line_id)
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


def test_the_progress_page_shows_the_speed_and_the_remaining_time(qtbot: QtBot) -> None:
    page = ProgressPage()
    qtbot.addWidget(page)
    page.show_progress(ExportProgress(1, 4, None, 0.25, remaining_seconds=75.4, speed=4.0))
    assert page.bar.value() == 250
    assert page.figures.text() == "4.0x real time · 1 min left"
    page.show_progress(ExportProgress(1, 4, None, 0.25, remaining_seconds=9.6, speed=4.0))
    assert page.figures.text() == "4.0x real time · 10 s left"


def test_chinese_sentences_of_the_result_are_joined_without_a_space(qtbot: QtBot, qapp: QApplication) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        page = ResultPage()
        qtbot.addWidget(page)
        page.show_result(ExportResult((Path("one.wav"), Path("two.wav")), 1, (), 2.0, 1.0))
        first, second, rest = page.details.text().split("。")
        assert (first, second, rest) == (first.strip(), second.strip(), "")
    finally:
        use_language(qapp, QLocale("en_US"))
