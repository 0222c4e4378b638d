"""Export from the window: the queue synthesises missing lines, then all files are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import soundfile

from studio import settings as declared
from studio.app.export_dialog.dialog import ExportDialog
from studio.project.changes import InsertLines
from studio.project.lines import Line


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


def test_missing_lines_are_spoken_and_the_files_equal_their_takes(bench: Any) -> None:
    open_script(bench, "One two three.", "Four five.")
    dialog = open_dialog(bench)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert dialog.outcome.title.text() == "Export finished", dialog.outcome.details.text()
    assert files(bench) == ["001 Anna One two three.wav", "002 Anna Four five.wav"]
    project = bench.session.editor.project
    for line_id, name in (("0", files(bench)[0]), ("1", files(bench)[1])):
        take = project.chosen_take(line_id)
        exported, _ = soundfile.read(bench.folder / "target" / name, dtype="float32")
        np.testing.assert_array_equal(exported, project.samples_of(take.id))


def test_nothing_is_exported_if_a_line_fails(bench: Any) -> None:
    open_script(bench, "One two three.", "memory")
    dialog = open_dialog(bench)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert "could not be spoken" in dialog.outcome.title.text()
    assert not (bench.folder / "target").exists()


def test_cancelling_removes_the_lines_from_the_queue(bench: Any) -> None:
    open_script(bench, "One wait", "Two three.")
    dialog = open_dialog(bench)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: bench.session.queue.current is not None)
    bench.loop.call_soon(dialog.progress.cancel.click)
    bench.until(lambda: dialog.pages.currentWidget() is dialog.outcome and bench.session.queue.current is None)
    assert dialog.outcome.title.text() == "Export cancelled"
    assert bench.session.queue.waiting == ()


def test_a_closed_dialog_ignores_the_queue(bench: Any) -> None:
    open_script(bench, "One two three.")
    dialog = open_dialog(bench)
    bench.loop.call_soon(dialog.reject)
    bench.until(lambda: bench.window.findChild(ExportDialog) is None)
    bench.session.queue.speak(["0"])
    bench.until(lambda: bench.session.editor.project.chosen_take("0") is not None)
