"""Qualities in the window: of lines and the script, marks of drafts, and drafts that become final."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from fake_model import FakeModel, open_fake
from thread_worker import ThreadWorker
from window_bench import Bench

from studio.app.inspector.take_rows import mark_texts, take_rows, tool_tip
from studio.app.quality.quality_dialog import QualityDialog
from studio.model.options import Quality
from studio.pipeline.request import KnownTokens
from studio.project.changes import AddTake, EditDetails, EditLines, InsertLines
from studio.project.lines import Line
from studio.project.takes import Take

MakeBench = Callable[..., Bench]


def draft_of(bench: Bench, *, model_key: str) -> Take:
    """Add a draft to the first line, with evidence as the worker reports it, and choose it."""
    project = bench.session.editor.project
    take = bench.add_take(np.full(24_000, 0.1, np.float32), seed=5)
    parameters = replace(
        take.parameters, quality=Quality.DRAFT, quality_distortion_db=0.5, model_key=model_key, text="Hello there."
    )
    recorder = project.begin_take(take.line_id, parameters, 24_000)
    recorder.append(np.full(24_000, 0.1, np.float32))
    draft = replace(recorder.finish(), trim_start_seconds=0.125)
    project._storage.put_evidence(draft.id, '[{"spoken_text": "Hello there.", "speech_tokens": [7, 8]}]')
    bench.session.editor.apply(AddTake(draft))
    return draft


@pytest.mark.slow
def test_quality_of_lines_is_chosen_in_the_inspector_and_of_the_script_in_a_dialog(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    editor = bench.session.editor
    box = window.inspector.form._quality
    assert [box.itemText(row) for row in range(box.count())] == ["Same as script (Exact)", "Exact", "Fast", "Draft"]
    assert box.currentIndex() == 0
    box.setCurrentIndex(3)
    box.activated.emit(3)
    assert bench.lines[0].quality is Quality.DRAFT
    bench.trigger("edit.undo")
    assert bench.lines[0].quality is None
    editor.apply(InsertLines(1, (Line(id="other", text="Other.", quality=Quality.FAST),)))
    window.script.view.select_lines([line.id for line in bench.lines])
    assert (box.currentIndex(), box.placeholderText()) == (-1, "(mixed)")

    bench.trigger("speak.quality")
    (dialog,) = window.findChildren(QualityDialog)
    dialog.buttons.button(1).setChecked(True)
    dialog.accept()
    assert editor.script.details.quality is Quality.FAST
    assert box.itemText(0) == "Same as script (Fast)"
    bench.trigger("edit.undo")
    assert editor.script.details.quality is Quality.EXACT


@pytest.mark.slow
def test_takes_are_spoken_in_the_quality_of_line_or_script_and_marked(bench: Bench) -> None:
    bench.add_voice()
    bench.open_window()
    editor = bench.session.editor
    editor.apply(EditDetails(replace(editor.script.details, quality=Quality.FAST)))
    lines = (
        Line(id="fast", text="Hello.", voice="Anna"),
        Line(id="draft", text="Hello.", voice="Anna", quality=Quality.DRAFT),
        Line(id="exact", text="Hello.", voice="Anna", quality=Quality.EXACT),
    )
    editor.apply(InsertLines(0, lines))
    bench.session.synthesis.speak([line.id for line in lines], plays=False)
    bench.until(lambda: all(editor.project.line(line.id).chosen_take for line in lines))
    rows = [take_rows(editor.project, line.id)[0] for line in lines]
    assert [row.take.parameters.quality for row in rows] == [Quality.FAST, Quality.DRAFT, Quality.EXACT]
    assert [mark_texts(row) for row in rows] == [["Fast"], ["Draft"], []]
    assert "Quality: Draft, 0.25 dB from exact." in tool_tip(rows[1])
    assert "dB from exact" not in tool_tip(rows[2])


@pytest.mark.slow
def test_a_draft_is_made_final_with_the_same_reading(make_bench: MakeBench) -> None:
    models: list[FakeModel] = []

    def open_recorded(*arguments: object) -> FakeModel:
        models.append(open_fake(*arguments))  # type: ignore[arg-type]
        return models[-1]

    bench = make_bench(start_worker=lambda: ThreadWorker(open_recorded))
    bench.add_voice()
    line = bench.lines[0]
    bench.session.editor.apply(EditLines({line.id: {"text": "Other words now.", "voice": "Anna"}}))
    draft = draft_of(bench, model_key=f"weights of {bench.session.model_selection.local_folder().name}")
    bench.open_window()
    editor = bench.session.editor
    assert editor.project.evidence_of(draft.id)[0].speech_tokens == (7, 8)
    bench.trigger("speak.final")
    bench.until(lambda: editor.project.line(line.id).chosen_take != draft.id)
    final = editor.project.chosen_take(line.id)
    assert final is not None
    assert not final.is_draft
    assert (final.seed, final.parameters.text, final.trim_start_seconds) == (5, "Hello there.", 0.125)
    assert final.parameters.line_fingerprint == draft.parameters.line_fingerprint
    (request,) = models[-1].requests
    assert request.known_tokens == (KnownTokens("Hello there.", (7, 8)),)  # type: ignore[union-attr]
    assert request.quality is Quality.EXACT
    assert draft.id in editor.script.line_of_take, "the draft is kept"
    bench.trigger("speak.final")
    bench.until(lambda: "no draft" in bench.window.status.task_text)


@pytest.mark.slow
def test_a_draft_of_another_model_is_not_made_final(bench: Bench) -> None:
    bench.add_voice()
    line = bench.lines[0]
    bench.session.editor.apply(EditLines({line.id: {"text": "Hello there.", "voice": "Anna"}}))
    draft = draft_of(bench, model_key="another model")
    bench.open_window()
    bench.trigger("speak.final")
    bench.until(lambda: bench.session.queue.jobs and bench.session.queue.jobs[-1].error is not None)
    error = bench.session.queue.jobs[-1].error
    assert error is not None
    assert "model" in str(error.message)
    assert bench.session.editor.project.line(line.id).chosen_take == draft.id
