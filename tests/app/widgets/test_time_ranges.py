"""Zoom, scrolling and selection limits of the waveform view, and its time ruler."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from studio.app.theme.colors import LIGHT
from studio.app.widgets.time_ranges import ClipSelection, Handle, Viewport
from studio.app.widgets.waveform_painting import Scale, paint_ruler, ruler_marks, time_text


def test_zoom_keeps_the_time_under_the_pointer() -> None:
    view = Viewport(10.0)
    view.zoom(2.0, around_seconds=2.5)
    assert (view.start_seconds, view.end_seconds) == (1.25, 6.25)
    view.zoom(0.5, around_seconds=2.5)
    assert view.is_fitting


def test_the_view_stays_within_the_audio() -> None:
    view = Viewport(10.0)
    view.show(8.0, 12.0)
    assert (view.start_seconds, view.end_seconds) == (6.0, 10.0)
    view.scroll_to(-5.0)
    assert view.start_seconds == 0.0
    view.zoom(1e9, around_seconds=5.0)
    assert view.visible_seconds == pytest.approx(0.005)


def test_the_time_axis_of_growing_audio_is_extended_in_steps() -> None:
    view = Viewport(0.0, is_growing=True)
    ends = []
    for tenths in range(200):
        view.total_seconds = tenths / 10
        ends.append(view.end_seconds)
        assert view.end_seconds >= view.total_seconds
    assert len(set(ends)) < 7
    view.is_growing = False
    assert view.end_seconds == view.total_seconds


def test_the_view_scrolls_with_the_cursor() -> None:
    view = Viewport(10.0)
    assert not view.reveal(9.0), "the whole waveform is visible"
    view.show(0.0, 2.0)
    assert not view.reveal(1.5)
    assert view.reveal(3.0)
    assert view.start_seconds <= 3.0 <= view.end_seconds


def test_handles_respect_the_limits() -> None:
    selection = ClipSelection(2.0, 6.0, 20.0, shortest_seconds=3.0, longest_seconds=10.0)
    assert selection.moved(Handle.START, 5.0).start_seconds == 3.0
    assert selection.moved(Handle.END, 19.0).end_seconds == 12.0
    assert selection.moved(Handle.END, 1.0).end_seconds == 5.0
    assert selection.moved(Handle.START, -1.0).start_seconds == 0.0
    assert selection.moved(Handle.END, 12.0).moved(Handle.START, 0.0).start_seconds == 2.0
    moved = selection.shifted(100.0)
    assert (moved.start_seconds, moved.end_seconds) == (16.0, 20.0)


def test_ruler_marks_are_round_and_limited() -> None:
    assert ruler_marks(0.0, 4.2, 5) == [(0, "0:00"), (1, "0:01"), (2, "0:02"), (3, "0:03"), (4, "0:04")]
    for span in (0.004, 0.03, 1.0, 7.0, 90.0, 4000.0):
        marks = ruler_marks(0.0, span, 8)
        assert 1 <= len(marks) <= 9
        assert len({words for _, words in marks}) == len(marks), "no two labels are the same"


@pytest.mark.parametrize(
    ("seconds", "decimals", "words"),
    [(7.46, 1, "0:07.5"), (59.96, 1, "1:00.0"), (3725.0, 0, "1:02:05"), (0.0, 2, "0:00.00")],
)
def test_time_formatting(seconds: float, decimals: int, words: str) -> None:
    assert time_text(seconds, decimals) == words


def test_a_label_that_does_not_fit_is_omitted(qapp: Any) -> None:
    class Painter(QPainter):
        def __init__(self, device: QImage) -> None:
            super().__init__(device)
            self.written: list[str] = []

        def drawText(self, _: Any, words: str) -> None:  # noqa: N802 - the name in Qt
            self.written.append(words)

    image = QImage(500, 60, QImage.Format.Format_RGB32)
    for seconds, written in ((4.05, ["0:00", "0:01", "0:02", "0:03"]), (4.5, ["0:00", "0:01", "0:02", "0:03", "0:04"])):
        painter = Painter(image)
        paint_ruler(painter, QRectF(0, 20, 500, 40), Scale(0.0, seconds, 500), LIGHT)
        painter.end()
        assert painter.written == written
