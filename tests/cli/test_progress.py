"""The changing line is shown only on terminals. Messages are also written to pipes."""

from __future__ import annotations

import io

import pytest

from studio.cli import progress
from studio.cli.progress import ProgressLine


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 0.0)


def test_a_terminal_shows_one_changing_line() -> None:
    screen = Screen()
    line = ProgressLine(screen)
    line.stage("load", 0.0)
    line.stage("voice", 0.4)
    line.spoken(1.24, 2, 5)
    line.spoken(1.24, 1, 1)
    line.clear()
    line.clear()
    assert screen.getvalue().split("\r\x1b[K") == [
        "", "loading the model …", "preparing the voice 40%", "1.2 s of speech, sentence 2 of 5", "1.2 s of speech", "",
    ]  # fmt: skip


def test_a_message_is_printed_above_the_line() -> None:
    screen = Screen()
    line = ProgressLine(screen)
    line.show("working")
    line.say("By the way.")
    line.show("working on")
    assert screen.getvalue() == "\r\x1b[Kworking\r\x1b[KBy the way.\n\r\x1b[Kworking on"


def test_a_file_receives_only_messages() -> None:
    file = io.StringIO()
    line = ProgressLine(file)
    line.show("working")
    line.say("By the way.")
    line.clear()
    assert file.getvalue() == "By the way.\n"


def test_the_line_is_redrawn_at_a_limited_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 60.0)
    screen = Screen()
    line = ProgressLine(screen)
    for seconds in range(100):
        line.spoken(seconds, 1, 1)
    assert screen.getvalue().count("speech") == 1
