"""Task texts of the status bar."""

from __future__ import annotations

from pathlib import Path

import pytest
from window_bench import Bench

from studio.app.bridge import Engine, EngineState


@pytest.mark.parametrize(("state", "words"), [
    (EngineState.LOADING, "Line 1: loading the model"),
    (EngineState.READY, "Speaking line 1"),
])  # fmt: skip
def test_loading_is_shown_only_while_the_model_loads(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, state: EngineState, words: str
) -> None:
    """Each job requests the model, which is usually loaded."""
    window = bench.open_window()
    window.script.set_field("text", "Words.", "Edit")
    bench.session.queue.set_paused(True)
    (job,) = bench.session.queue.speak([bench.lines[0].id])
    job.stage = "load"
    monkeypatch.setattr(type(bench.session.queue), "current", property(lambda _: job))
    monkeypatch.setattr(type(bench.session.bridge), "engine", property(lambda _: Engine(Path("model"), state)))
    shown: list[str] = []
    window.tasks.task_changed.connect(lambda words, *_: shown.append(words))
    window.tasks.show()
    assert shown[-1].startswith(words)
    monkeypatch.undo()


def test_an_empty_line_is_a_hint_and_not_an_error(bench: Bench) -> None:
    """It was marked as failed, in red, with a button for a report."""
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("voice", "Anna", "Change voice")
    bench.trigger("speak.line")
    bench.until(lambda: window.notices.words)
    assert window.notices.words == "This line is empty. Write some text first."
    assert window.notices.error is None
    assert bench.session.queue.jobs == ()
