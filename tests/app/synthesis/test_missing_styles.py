"""Lines with a style that the model does not have are spoken without style, marked and counted."""

from __future__ import annotations

import pytest
from window_bench import Bench

from studio.app.inspector.take_rows import mark_texts, take_rows
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line, LineState, LineStyle
from studio.text.styles import Styles


@pytest.mark.slow
def test_a_missing_style_is_spoken_plain_marked_and_counted_once(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    styles = [LineStyle(preset="emotion.very-odd"), LineStyle(preset="emotion.very-odd"), LineStyle(instruct="Slowly.")]
    lines = [Line(id=f"l{n}", text="Hello.", voice="Anna", style=style) for n, style in enumerate(styles)]
    editor = bench.session.editor
    editor.apply(InsertLines(0, tuple(lines)))
    bench.session.synthesis.speak([line.id for line in lines], plays=False)
    bench.until(lambda: all(editor.project.line(line.id).chosen_take for line in lines))
    bench.until(lambda: window.notices.words)
    assert window.notices.words.startswith("2 lines spoken without style: ")
    takes = [editor.project.chosen_take(line.id) for line in lines]
    assert [take.parameters.style for take in takes] == [LineStyle(), LineStyle(), LineStyle(instruct="Slowly.")]
    assert [take.parameters.omitted_style for take in takes] == ["emotion.very-odd", "emotion.very-odd", None]
    assert takes[0].parameters.mode == "zero-shot"
    assert editor.project.state_of("l0") is LineState.READY, "speaking it again would change nothing"
    assert "Without style" in mark_texts(take_rows(editor.project, "l0")[0])
    assert bench.session.model_selection.styles.label(styles[0]) == "very odd", "ids are not shown"
    editor.apply(EditLines({"l0": {"style": LineStyle()}}))
    assert editor.project.state_of("l0") is LineState.OUTDATED


@pytest.mark.slow
def test_sounds_that_the_model_lacks_are_told_before_they_are_spoken(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    styles = bench.session.model_selection.styles
    styles._all = Styles((), ())
    line = bench.lines[0]
    bench.session.editor.apply(EditLines({line.id: {"text": "[laughter]", "voice": "Anna"}}))
    bench.trigger("speak.line")
    assert not bench.session.editor.project.takes_of(line.id)
    model = bench.session.bridge.engine.folder.name
    assert window.notices.words.startswith(f"{model} has not learned the sound [laughter].")
    window.notices.hide()
    bench.trigger("speak.line")
    assert not window.notices.words, "it is told once"
