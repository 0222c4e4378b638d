"""The script of the read-along page in a JavaScript engine, with a page and a player of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtQml import QJSEngine
from PySide6.QtWidgets import QApplication

from studio.export.read_along import read_along_page
from studio.export.speech_source import ExportItem
from studio.export.subtitles import LineTiming
from studio.take_checks.records import WordTime

PAGE = """
var handlers = {};
var audio = {currentTime: 0, paused: true, on: {},
  play() { this.paused = false; this.on.play(); }, pause() { this.paused = true; },
  addEventListener(name, call) { this.on[name] = call; }};
var spans = TIMES.map(([from, to]) => ({dataset: {from, to}, on: {}, isNow: false,
  classList: null, scrollIntoView() {}, addEventListener(name, call) { this.on[name] = call; }}));
spans.forEach(span => span.classList = {add: () => span.isNow = true, remove: () => span.isNow = false});
var document = {querySelector: () => audio, querySelectorAll: () => spans,
  addEventListener(name, call) { handlers[name] = call; }};
var frame = () => {};
var requestAnimationFrame = call => frame = call;
function press(key, target) { let isTaken = false;
  handlers.keydown({key, target: target ?? document, preventDefault: () => isTaken = true}); return isTaken; }
function goTo(seconds) { audio.currentTime = seconds; audio.on.seeked(); }
function now() { return spans.map(span => span.isNow ? 1 : 0).join(""); }
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    (tmp_path / "story.wav").write_bytes(b"RIFF")
    words = (WordTime("今天", 0.1, 0.3, 0, 2), WordTime("天气", 0.4, 0.9, 2, 4), WordTime("好", 1.0, 1.2, 4, 5))
    timing = LineTiming(ExportItem("key", 1, "今天天气好。", words=words), 0, 48_000, 0, 24_000)
    return read_along_page([timing], "story", tmp_path / "story.wav")


@pytest.fixture
def run(page: str, qapp: QApplication) -> Callable[[str], object]:
    engine = QJSEngine()
    times = re.findall(r'data-from="([\d.]+)" data-to="([\d.]+)"', page)
    script = re.search(r"<script>(.*)</script>", page, re.S)
    assert script

    def run(expression: str) -> object:
        value = engine.evaluate(expression)
        assert not value.isError(), value.toString()
        return value.toVariant()

    run(PAGE.replace("TIMES", repr([list(each) for each in times])))
    run(f"(() => {{{script[1]}}})()")
    return run


def test_the_page_has_the_language_of_the_text(page: str) -> None:
    assert '<html lang="zh">' in page


def test_the_spoken_word_is_highlighted(run: Callable[[str], object]) -> None:
    run("spans[1].on.click()")
    assert (run("now()"), run("audio.paused")) == ("010", False)
    run("audio.currentTime = 1.1; frame()")
    assert run("now()") == "001"
    run("goTo(0.35)")
    assert run("now()") == "000"


def test_keys_play_and_go_from_word_to_word(run: Callable[[str], object]) -> None:
    assert run("press(' ')") is True
    assert run("audio.paused") is False
    run("press(' '); goTo(0.5)")
    assert run("audio.paused") is True
    assert (run("press('ArrowRight'); audio.currentTime"), run("press('ArrowRight'); audio.currentTime")) == (1.0, 1.0)
    assert run("press('ArrowLeft'); audio.currentTime") == 0.4
    assert run("press('ArrowLeft'); press('ArrowLeft'); audio.currentTime") == 0.1


def test_other_keys_and_those_of_the_player_are_left_alone(run: Callable[[str], object]) -> None:
    assert run("press('Tab')") is False
    assert run("press(' ', audio)") is False
    assert run("audio.paused") is True
