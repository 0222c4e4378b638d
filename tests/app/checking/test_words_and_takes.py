"""Words and problems below the waveform, and verdicts in the Takes tab."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from checking_bench import TEXTS, open_script, speak_all, takes
from fake_checks import FakeChecks
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.inspector.take_rows import accessible_text, take_rows, tool_tip, verdict_text
from studio.project.changes import EditLines
from studio.project.text_places import TextRange

MakeBench = Callable[..., Bench]


def open_spoken(make_bench: MakeBench, *spoilt: str) -> Bench:
    bench = open_script(make_bench, FakeChecks(dict.fromkeys(spoilt, 99)))
    speak_all(bench)
    bench.window.resize(1280, 800)
    bench.live(0.1)
    return bench


@pytest.mark.slow
def test_the_words_of_the_take_are_below_its_waveform(make_bench: MakeBench) -> None:
    bench = open_spoken(make_bench)
    bar = bench.window.transport_bar
    bench.until(lambda: [word.text for word in bar.words.words] == ["one", "two", "three"])
    assert bar.words.isVisible()
    assert bar.words.accessibleDescription() == "one two three"
    height = bar.height()
    bench.session.editor.apply(EditLines({"line0": {"speed": 2.0}}))
    bench.until(lambda: abs(bar.words.words[1].from_seconds - 0.05) < 1e-6)
    assert bar.height() == height


@pytest.mark.slow
def test_a_click_on_a_word_plays_from_it_and_marks_it_in_the_text(make_bench: MakeBench) -> None:
    bench = open_spoken(make_bench)
    bar, view = bench.window.transport_bar, bench.window.script.view
    bench.until(lambda: bar.words.words)
    (place,) = (place for place, index in bar.words._lay_out() if index == 1)
    started: list[float] = []
    bench.session.playback.player.moved.connect(started.append)
    bench.loop.call_soon(
        lambda: QTest.mouseClick(bar.words, Qt.MouseButton.LeftButton, pos=place.center().toPoint() or QPoint())
    )
    bench.until(lambda: bench.session.playback.player.is_playing)
    marked: list[tuple[str, TextRange]] = []
    bench.until(lambda: view.text_delegate.spoken_word and not marked.append(view.text_delegate.spoken_word))
    assert marked[0][0] == "line0"
    assert marked[0][1] in (TextRange(4, 7), TextRange(8, 13)), "not the first word"
    bench.session.playback.stop_and_cancel()
    bench.until(lambda: view.text_delegate.spoken_word is None)


@pytest.mark.slow
def test_problems_are_marked_in_the_waveform_until_they_are_accepted(make_bench: MakeBench) -> None:
    bench = open_spoken(make_bench, TEXTS[0])
    bar = bench.window.transport_bar
    bench.until(lambda: bar.waveform.marks == ((0.0, 0.1),))
    bench.trigger("play.accept")
    bench.window.script.view.go_to("line0")
    bench.until(lambda: bar.waveform.marks == () and bar.words.words)


@pytest.mark.slow
def test_the_takes_tab_ranks_the_takes_and_says_why(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[0]: 1}))
    speak_all(bench)
    rows = take_rows(bench.session.editor.project, "line0")
    assert [verdict_text(row) for row in rows] == ["Bad · 2nd", "Good · best"]
    assert "Bad · 2nd: At 0.0 s, “one” is missing." in accessible_text(rows[0], is_chosen=False)
    tip = tool_tip(rows[1])
    assert "Check: Good · best. The check found no problems." in tip
    assert "Wrong words: 0%" in tip
    assert "Similarity of the voice: 0.80" in tip
    assert "Spoken again automatically" in tip
    assert len(takes(bench)) == 2
    bench.window.inspector.show_takes_page()
    bench.live(0.05)
    assert not bench.window.inspector.takes.grab().isNull()
