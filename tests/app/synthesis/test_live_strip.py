"""Live figures below the script: opened from the View menu and the status bar, and without cost while closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtWidgets import QMenu, QToolButton
from window_bench import Bench

from studio.app.synthesis import live_strip
from studio.app.synthesis.live_strip import LiveStrip
from studio.catalog.machine import Gpu
from studio.pipeline.request import Mode, NetworkFigures, SynthesisReport
from studio.project.changes import EditLines
from studio.settings import SHOWS_LIVE_FIGURES


@pytest.fixture
def window(bench: Bench) -> Any:
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "one two", "voice": "Anna"}}))
    return bench.open_window()


def speak(bench: Bench) -> None:
    bench.trigger("speak.line")
    bench.until(lambda: bench.session.editor.script.takes_of(bench.lines[0].id))
    bench.until(lambda: bench.session.queue.current is None)


def test_figures_of_a_spoken_line_and_memory_appear(bench: Bench, window: Any) -> None:
    bench.trigger("view.live")
    strip = bench.parts.live_figures.strip
    assert strip is not None
    assert strip.isVisible()
    assert strip.last_line.text() == "Stage times appear after the next line"
    speak(bench)
    assert strip.last_line.text() == (
        "Last line: language model 0.10 s · flow 0.20 s · vocoder 0.10 s · RTF 2.00 · latency 0.20 s"
    )
    bench.until(lambda: strip.memory.text().startswith("Memory: worker "))
    bench.until(lambda: strip.now.text() == "Idle · up to 1 line at once")


@pytest.mark.slow
def test_a_line_that_is_being_spoken_is_counted(bench: Bench, window: Any) -> None:
    bench.trigger("view.live")
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "one wait"}}))
    bench.trigger("speak.line")
    strip = bench.parts.live_figures.strip
    assert strip is not None
    bench.until(lambda: strip.now.text().startswith("1 of up to 1 line at once · RTF "))
    bench.trigger("speak.cancel")


def test_the_status_bar_opens_it_and_its_button_closes_it(bench: Bench, window: Any) -> None:
    window.status.engine_clicked.emit()
    menu = next(menu for menu in window.findChildren(QMenu) if window.actions_by_id["view.live"] in menu.actions())
    window.actions_by_id["view.live"].trigger()
    menu.close()
    figures = bench.parts.live_figures
    assert figures._timer.isActive()
    assert bench.settings[SHOWS_LIVE_FIGURES] is True
    assert figures.strip is not None
    figures.strip.findChildren(QToolButton)[0].click()
    assert not figures.strip.isVisible()
    assert not figures._timer.isActive()
    assert bench.settings[SHOWS_LIVE_FIGURES] is False


def test_nothing_is_built_or_measured_until_it_is_opened(
    bench: Bench, window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(live_strip, "process_memory_bytes", lambda _: calls.append(1))
    speak(bench)
    assert bench.parts.live_figures.strip is None
    assert not calls


def test_memory_of_the_gpu_in_use_is_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    gib = 1 << 30
    gpus = (Gpu("A", 8 * gib, "580", gib), Gpu("B", 24 * gib, "580", 18 * gib))
    monkeypatch.setattr(live_strip, "list_gpus", lambda: gpus)
    strip = LiveStrip()
    strip.show_memory(live_strip._memory(None, "cuda:1"))
    assert strip.memory.text() == "Memory: no model loaded · GPU 6.0 GB of 24.0 GB"
    strip.show_memory(live_strip._memory(None, "cpu"))
    assert strip.memory.text() == "Memory: no model loaded"
    strip.show_report(SynthesisReport(0.1, 1.0, 0.5, 24_000, Mode.ZERO_SHOT, 5, {"flow": 0.25}, {}))
    assert strip.last_line.text() == "Last line: flow 0.25 s · RTF 0.50 · latency 0.10 s"


def test_the_share_of_the_network_is_shown(bench: Bench) -> None:
    strip = LiveStrip()
    report = SynthesisReport(0.1, 1.0, 0.5, 24_000, Mode.ZERO_SHOT, 5, {}, {}, network_seconds=0.02)
    strip.show_report(report)
    assert strip.last_line.text() == "Last line: RTF 0.50 · latency 0.10 s · network 0.02 s"
    strip.show_report(replace(report, network=NetworkFigures(0.02, 0.0, 0.4, 0.03)))
    assert strip.last_line.text().endswith("network 0.02 s · RTF there 0.40 · network delays up to 0.03 s")
