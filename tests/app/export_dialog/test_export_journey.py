"""Export from the window: the queue synthesises missing lines, then all files are written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soundfile
from fake_model import FakeModel
from PySide6.QtWidgets import QMessageBox
from thread_worker import ThreadWorker

from studio import settings as declared
from studio.app.documents import new_project
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.pipeline.request import RequestControl
from studio.project.changes import EditLines, InsertLines
from studio.project.lines import Line
from studio.provenance.mark import Marker


def open_dialog(bench: Any) -> ExportDialog:
    bench.trigger("file.export")
    bench.until(lambda: bench.window.findChild(ExportDialog))
    dialog = bench.window.findChild(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    return dialog


def open_script(bench: Any, *texts: str) -> Any:
    """Open a window with these lines in Anna's voice."""
    window = bench.open_window()
    bench.add_voice()
    lines = tuple(Line(str(number), text, "Anna") for number, text in enumerate(texts))
    bench.session.editor.push(InsertLines(0, lines), "write")
    bench.settings[declared.EXPORT_FOLDER] = str(bench.folder / "target")
    bench.settings[declared.EXPORT_ENCODING] = "wav32f"
    return window


def files(bench: Any) -> list[str]:
    return sorted(path.name for path in (bench.folder / "target").iterdir())


class HeldModel(FakeModel):
    """Model whose word "held" waits until ``may_continue`` is set."""

    may_continue = threading.Event()

    def _execute(self, word: str, control: RequestControl) -> None:
        while word == "held" and not self.may_continue.wait(0.005):
            control.raise_if_cancelled()
        super()._execute(word, control)


@pytest.fixture
def held_bench(make_bench: Callable[..., Any]) -> Any:
    HeldModel.may_continue.clear()
    return make_bench(start_worker=lambda: ThreadWorker(HeldModel))


def begin_export(bench: Any) -> ExportTask:
    dialog = open_dialog(bench)
    bench.until(dialog.export_button.isEnabled)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: bench.session.parts.exports.current is not None)
    return bench.session.parts.exports.current


@pytest.mark.slow
def test_missing_lines_are_spoken_and_the_files_are_their_marked_takes(bench: Any) -> None:
    open_script(bench, "One two three.", "Four five.")
    task = begin_export(bench)
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE, task.error
    assert bench.window.notices.words == "2 files exported."
    assert files(bench) == ["001 Anna One two three.wav", "002 Anna Four five.wav"]
    project = bench.session.editor.project
    for line_id, name in (("0", files(bench)[0]), ("1", files(bench)[1])):
        take = project.chosen_take(line_id)
        exported, rate = soundfile.read(bench.folder / "target" / name, dtype="float32")
        np.testing.assert_allclose(exported, Marker(rate)(project.samples_of(take.id)), atol=2 / 32_768)


@pytest.mark.slow
def test_a_disclaimer_is_spoken_for_the_export_only(bench: Any) -> None:
    open_script(bench, "One two three.")
    bench.settings[declared.EXPORT_HAS_DISCLAIMER] = True
    task = begin_export(bench)
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE, task.error
    assert files(bench) == ["000 Anna The following recording was spoken by a.wav", "001 Anna One two three.wav"]
    assert "The following" not in " ".join(line.text for line in bench.lines)


@pytest.mark.slow
def test_the_script_is_edited_while_it_is_exported(held_bench: Any) -> None:
    bench = held_bench
    open_script(bench, "One held", "Two three.")
    task = begin_export(bench)
    bench.until(lambda: bench.session.queue.current is not None)
    bench.session.editor.push(EditLines({"1": {"text": "Edited."}}), "edit")
    assert bench.parts.exports.chip.isVisible()
    HeldModel.may_continue.set()
    bench.until(lambda: task.state.is_over)
    assert files(bench) == ["001 Anna One held.wav", "002 Anna Two three.wav"]
    assert bench.lines[1].text == "Edited."
    assert not bench.parts.exports.chip.isVisible()


@pytest.mark.slow
def test_the_other_lines_are_exported_if_a_line_fails(bench: Any) -> None:
    open_script(bench, "One two three.", "memory")
    task = begin_export(bench)
    bench.until(lambda: task.state is ExportState.UNDECIDED)
    assert "1 line could not be spoken" in bench.window.notices.words
    assert not (bench.folder / "target").exists()
    bench.loop.call_soon(bench.parts.exports.chip.click)
    bench.until(lambda: bench.parts.exports.details is not None)
    details = bench.parts.exports.details
    assert details.outcome.failures.item(0).text().startswith("Line 2: ")
    bench.loop.call_soon(details.outcome.show_lines.click)
    bench.until(lambda: bench.window.script.selected_line_ids == ["1"])
    bench.loop.call_soon(details.outcome.export_others.click)
    bench.until(lambda: task.state.is_over)
    assert files(bench) == ["001 Anna One two three.wav"]


@pytest.mark.slow
def test_an_unknown_voice_is_found_before_the_model_speaks(bench: Any) -> None:
    open_script(bench, "One two three.")
    bench.session.editor.push(EditLines({"0": {"voice": "Nobody"}}), "edit")
    dialog = open_dialog(bench)
    bench.until(dialog.findings.isVisible)
    assert "There is no voice named Nobody" in dialog.findings.texts[0]
    assert not dialog.export_button.isEnabled()
    assert bench.session.queue.jobs == ()


@pytest.mark.slow
def test_clearing_the_queue_keeps_the_export(held_bench: Any) -> None:
    bench = held_bench
    open_script(bench, "One held", "Two three.")
    task = begin_export(bench)
    bench.until(lambda: bench.session.queue.current is not None)
    bench.trigger("play.stop")
    bench.trigger("play.stop")
    assert bench.session.queue.waiting != ()
    assert "Esc twice" not in bench.window.status.task_text
    HeldModel.may_continue.set()
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE
    assert len(files(bench)) == 2


@pytest.mark.slow
def test_closing_asks_whether_to_stop_the_export(held_bench: Any) -> None:
    bench = held_bench
    open_script(bench, "One held", "Two three.")
    task = begin_export(bench)
    bench.until(lambda: bench.session.queue.current is not None)
    bench.loop.call_soon(bench.window.close)
    bench.until(lambda: [box for box in bench.window.findChildren(QMessageBox) if box.isVisible()])
    (box,) = [box for box in bench.window.findChildren(QMessageBox) if box.isVisible()]
    assert box.text() == "Stop the running export?"
    bench.loop.call_soon(box.reject)
    HeldModel.may_continue.set()
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE
    assert bench.window.isVisible()


def test_opening_another_script_ends_the_export(held_bench: Any) -> None:
    bench = held_bench
    open_script(bench, "One held", "Two three.")
    task = begin_export(bench)
    bench.until(lambda: bench.session.queue.current is not None)
    bench.run(bench.session.replace_project(new_project(bench.services.drafts, bench.settings)))
    assert task.state is ExportState.CANCELLED
    assert not bench.session.queue.running
    assert not bench.session.queue.waiting


def test_a_closed_dialog_ignores_the_queue(bench: Any) -> None:
    open_script(bench, "One two three.")
    dialog = open_dialog(bench)
    bench.loop.call_soon(dialog.reject)
    bench.until(lambda: bench.window.findChild(ExportDialog) is None)
    bench.session.queue.speak(["0"])
    bench.until(lambda: bench.session.editor.project.chosen_take("0") is not None)
