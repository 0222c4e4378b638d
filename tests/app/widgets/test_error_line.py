"""Inline errors: language, report and log."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.app.widgets import error_line
from studio.app.widgets.error_line import ErrorLine
from studio.errors import ClipTooShort, SilentClip, StudioError


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    codes: list[str] = []
    monkeypatch.setattr(error_line, "note_shown", lambda error: codes.append(error.code))
    return codes


@pytest.fixture
def place(qtbot: QtBot) -> QWidget:
    place = QWidget()
    qtbot.addWidget(place)
    QVBoxLayout(place)
    place.show()
    return place


@pytest.fixture
def line(place: QWidget) -> ErrorLine:
    line = ErrorLine()
    layout = place.layout()
    assert layout is not None
    layout.addWidget(line)
    return line


def too_short(seconds: float) -> StudioError:
    return ClipTooShort("It lasts {seconds:.1f} s.", remedy="Record more.", seconds=seconds)


def test_the_line_is_visible_while_there_is_an_error(
    place: QWidget, line: ErrorLine, recorded: list[str], report_of: Callable[[QWidget], str]
) -> None:
    assert not line.isVisible()
    line.show_error(too_short(0.4))
    assert line.isVisible()
    assert line.words == line.accessibleName() == "It lasts 0.4 s. Record more."
    assert report_of(place).startswith("error: clip-too-short\nhappened: It lasts 0.4 s.\n")
    line.show_error(None)
    assert not line.isVisible()
    assert line.words == ""


def test_a_changing_error_is_logged_once_and_reported_as_shown(
    place: QWidget, line: ErrorLine, recorded: list[str], report_of: Callable[[QWidget], str]
) -> None:
    for seconds in (0.4, 0.5, 0.6):
        line.show_error(too_short(seconds))
    assert "lasts 0.6 s" in report_of(place)
    line.show_error(SilentClip("The clip is silent."))
    line.clear()
    line.show_error(SilentClip("The clip is silent."))
    assert recorded == ["clip-too-short", "silent-clip", "silent-clip"]
