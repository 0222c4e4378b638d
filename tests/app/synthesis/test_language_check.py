"""Lines in a language that the model has not learned are not spoken before the user insists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from window_bench import Bench

from studio.app.script.line_model import Column
from studio.app.translation import use_language
from studio.catalog.machine import MachineFacts
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line, LineState

GIB = 1 << 30
MACHINE = MachineFacts("A processor", 2, 8 * GIB, 5 * GIB, 100 * GIB, None)
CHINESE = "大家好，今天我们聊一聊手冲咖啡。"


@pytest.fixture
def bench(make_bench: Any, tmp_path: Path) -> Bench:
    folder = tmp_path / "studio-mini"
    folder.mkdir()
    bench: Bench = make_bench(model=folder)
    bench.add_voice()
    window = bench.open_window()
    bench.parts.language_notices._probe = lambda: MACHINE
    window.show()
    return bench


def write_and_speak(bench: Bench, text: str) -> None:
    window = bench.window
    assert window is not None
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": text, "voice": "Anna"}}))
    bench.trigger("speak.line")


def buttons(bench: Bench) -> dict[str, QPushButton]:
    assert bench.window is not None
    notices = bench.window.notices
    return {button.text(): button for button in notices.findChildren(QPushButton) if button.isVisibleTo(notices)}


def takes(bench: Bench, line: int = 0) -> int:
    return len(bench.session.editor.project.takes_of(bench.lines[line].id))


def state_cell(bench: Bench, role: Qt.ItemDataRole = Qt.ItemDataRole.DisplayRole) -> str:
    assert bench.window is not None
    return str(bench.window.script.view.model().index(0, Column.STATE).data(role))


@pytest.mark.slow
def test_a_chinese_line_is_not_spoken_and_says_so(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    assert bench.window.notices.words == "studio-mini speaks English only. 1 line not spoken."
    assert bench.session.queue.jobs == ()
    assert state_cell(bench) == "Not spoken"
    assert state_cell(bench, Qt.ItemDataRole.ToolTipRole).startswith("studio-mini speaks English only.")
    assert set(buttons(bench)) >= {"Download CosyVoice2-0.5B (3.09 GB)", "Speak anyway", "Always speak"}


def test_the_download_is_one_click(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []
    monkeypatch.setattr(bench.session.parts.models, "install", installed.append)
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    buttons(bench)["Download CosyVoice2-0.5B (3.09 GB)"].click()
    assert installed == ["CosyVoice2-0.5B"]
    assert bench.session.queue.jobs == ()


@pytest.mark.slow
def test_speak_anyway_speaks_this_line(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    bench.loop.call_soon(buttons(bench)["Speak anyway"].click)
    bench.until(lambda: takes(bench) == 1)
    bench.until(lambda: bench.session.queue.current is None)
    assert bench.session.editor.project.state_of(bench.lines[0].id) is LineState.READY
    assert state_cell(bench) == "Ready"
    bench.session.editor.apply(InsertLines(1, (Line("b", "再见。", voice="Anna"),)))
    bench.session.synthesis.speak([bench.lines[1].id])
    bench.until(lambda: bench.window.notices.words)
    assert takes(bench, 1) == 0


def test_always_speak_is_asked_once(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    bench.loop.call_soon(buttons(bench)["Always speak"].click)
    bench.until(lambda: takes(bench) == 1)
    bench.session.editor.apply(InsertLines(1, (Line("b", "再见。", voice="Anna"),)))
    bench.session.synthesis.speak([bench.lines[1].id])
    bench.until(lambda: takes(bench, 1) == 1)
    assert bench.window.notices.words == ""


def test_speaking_all_skips_such_lines_in_one_notice(bench: Bench) -> None:
    lines = tuple(Line(f"n{number}", text, voice="Anna") for number, text in enumerate(("你好。", "one two", "再见。")))
    bench.session.editor.apply(InsertLines(1, lines))
    bench.trigger("speak.stale")
    bench.until(lambda: takes(bench, 2) == 1)
    bench.until(lambda: bench.window.notices.words)
    assert bench.window.notices.words == "studio-mini speaks English only. 2 lines not spoken."
    assert (takes(bench, 1), takes(bench, 3)) == (0, 0)


def test_an_edited_line_is_no_longer_marked(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "Hello everybody."}}))
    assert state_cell(bench) == "New"
    assert bench.window.notices.words == ""


def test_a_line_that_an_export_has_spoken_is_no_longer_held_back(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    bench.session.queue.speak([bench.lines[0].id])  # exports do not ask
    bench.until(lambda: takes(bench) == 1)
    assert bench.window.notices.words == ""


def test_a_model_that_is_installed_is_offered_first(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "CosyVoice2-0.5B"
    other.mkdir()
    found = {"studio-mini": tmp_path / "studio-mini", other.name: other}
    object.__setattr__(bench.session.services, "find_models", lambda: found)
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    bench.loop.call_soon(buttons(bench)["Use CosyVoice2-0.5B"].click)
    bench.until(lambda: bench.session.bridge.engine.folder == other and bench.session.is_ready)
    assert state_cell(bench) == "New"
    bench.trigger("speak.line")
    bench.until(lambda: takes(bench) == 1)


def test_the_notice_is_reached_with_the_keyboard(bench: Bench) -> None:
    write_and_speak(bench, CHINESE)
    bench.until(lambda: bench.window.notices.words)
    button = buttons(bench)["Speak anyway"]
    button.setFocus()
    bench.loop.call_soon(lambda: QTest.keyClick(button, Qt.Key.Key_Space))
    bench.until(lambda: takes(bench) == 1)


def test_the_chinese_notice(bench: Bench, qapp: QApplication) -> None:
    try:
        use_language(qapp, QLocale("zh_CN"))
        write_and_speak(bench, CHINESE)
        bench.until(lambda: bench.window.notices.words)
        assert bench.window.notices.words == "studio-mini 仅支持英语。有 1 行未生成。"
        assert any(text.startswith("下载 CosyVoice2-0.5B（") for text in buttons(bench))
        assert {"仍然生成", "以后不再询问"} <= set(buttons(bench))
    finally:
        use_language(qapp, QLocale("en_US"))
