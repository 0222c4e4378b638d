"""Save, open, recover and import of scripts, with questions about unsaved changes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QMessageBox, QPushButton
from window_bench import Bench

from studio.app.background import end_background_threads
from studio.app.bridge import EngineState
from studio.app.documents import UnsavedChangesChoice
from studio.app.recovery_dialog import RecoveryDialog
from studio.app.script.line_model import Column
from studio.app.widgets.drop_overlay import DraggedFiles
from studio.errors import ProjectChangedElsewhere
from studio.project.changes import EditLines, InsertLines
from studio.project.drafts import recoverable_drafts
from studio.project.lines import Line
from studio.project.project import Project


def write(bench: Bench, text: str) -> None:
    bench.session.editor.push(EditLines({bench.lines[0].id: {"text": text}}), "Edit")


def save_to(bench: Bench, path: Path) -> None:
    assert bench.window is not None
    bench.run(bench.window.documents._save(path))


def press(dialog: QMessageBox | RecoveryDialog, words: str) -> None:
    button = next(button for button in dialog.findChildren(QPushButton) if button.text().replace("&", "") == words)
    button.click()


def test_a_script_is_saved_and_opened_again(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    write(bench, "The harbour was quiet.")
    assert window.isWindowModified()
    save_to(bench, tmp_path / "harbour.timbre")
    assert not window.isWindowModified()
    assert window.windowTitle().startswith("harbour")
    bench.run(window.documents._new())
    assert bench.texts == [""]
    bench.run(window.documents.open_path(tmp_path / "harbour.timbre"))
    assert bench.texts == ["The harbour was quiet."]
    assert not bench.session.editor.undo_stack.canUndo()


def test_an_unchanged_script_is_closed_without_a_question(bench: Bench) -> None:
    window = bench.open_window()
    assert bench.run(window.documents.confirm_close()) is UnsavedChangesChoice.DISCARD


def test_closing_asks_about_unsaved_work(bench: Bench) -> None:
    window = bench.open_window()
    write(bench, "Not saved yet.")
    answers: list[UnsavedChangesChoice] = []
    for words, wish in (("Cancel", UnsavedChangesChoice.CANCEL), ("Don't save", UnsavedChangesChoice.DISCARD)):
        task = bench.session.bridge.run(window.documents.confirm_close())
        press(bench.dialog(QMessageBox), words)
        bench.until(task.done)
        answers.append(task.result())
        assert answers[-1] is wish


@pytest.mark.slow
def test_saving_asks_before_it_replaces_a_script_changed_elsewhere(
    bench: Bench, report_of: Callable[[QDialog], str]
) -> None:
    window = bench.open_window()
    error = ProjectChangedElsewhere("{file} was changed elsewhere.", remedy="Replace it, or cancel.", file="a.timbre")
    for words, is_replaced in (("Cancel", False), ("Replace", True)):
        task = bench.session.bridge.run(window.documents._ask_to_replace(error))
        box = bench.dialog(QMessageBox)
        assert report_of(box).startswith("error: project-changed-elsewhere\n")
        press(box, words)
        bench.until(task.done)
        assert task.result() is is_replaced


def test_save_asks_where_the_first_time(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    write(bench, "Words.")
    bench.trigger("file.save")
    dialog = bench.dialog(QFileDialog)
    dialog.findChild(QLineEdit).setText(str(tmp_path / "words"))
    dialog.accept()
    bench.until(lambda: (tmp_path / "words.timbre").is_file() and not window.isWindowModified())
    write(bench, "Other words.")
    bench.trigger("file.save")
    bench.until(lambda: not window.isWindowModified())


def test_a_file_that_is_not_a_script_shows_an_error(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    (tmp_path / "broken.timbre").write_bytes(b"not a database at all")
    window.documents.open_files(tmp_path / "broken.timbre")
    bench.until(lambda: window.notices.words)
    assert "broken.timbre" in window.notices.words


def test_an_imported_text_is_one_undo_step(bench: Bench, tmp_path: Path) -> None:
    bench.open_window()
    (tmp_path / "story.txt").write_text("The first paragraph.\n\nThe second paragraph.\n", "utf-8")
    bench.parts.drops._take(DraggedFiles((tmp_path / "story.txt",)))
    bench.until(lambda: len(bench.lines) >= 2)
    assert "The second paragraph." in bench.texts
    bench.trigger("edit.undo")
    assert bench.texts == [""]


def test_a_draft_of_a_crash_is_offered_and_recovered(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    died = Project.create(tmp_path / "drafts")
    died.apply(InsertLines(0, (Line(id="x", text="Not lost."),)))
    died.close(keeps_draft=True)
    assert recoverable_drafts(tmp_path / "drafts")
    bench = make_bench()
    bench.open_window()
    dialog = bench.dialog(RecoveryDialog)
    press(dialog, "Recover")
    bench.until(lambda: bench.texts == ["Not lost."])


def test_a_draft_is_offered_when_its_script_is_opened_at_the_start(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    script, drafts = tmp_path / "script.timbre", tmp_path / "drafts"
    died = Project.create(drafts)
    died.apply(InsertLines(0, (Line(id="x", text="As it was saved."),)))
    died.save(script)
    died.apply(InsertLines(1, (Line(id="y", text="What came after."),)))
    died.close(keeps_draft=True)
    bench = make_bench()
    bench.show_window()
    bench.manager.start_working(script)
    dialog = bench.dialog(RecoveryDialog)
    assert bench.texts == ["As it was saved."], "it is open by then"
    press(dialog, "Recover")
    bench.until(lambda: bench.texts == ["As it was saved.", "What came after."])
    assert bench.session.editor.project.path == script


def test_a_deleted_draft_is_not_offered_again(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    died = Project.create(tmp_path / "drafts")
    died.apply(InsertLines(0, (Line(id="x", text="Rubbish."),)))
    died.close(keeps_draft=True)
    (draft,) = (tmp_path / "drafts").glob("*.draft")
    bench = make_bench()
    bench.open_window()
    dialog = bench.dialog(RecoveryDialog)
    press(dialog, "Delete")
    (question,) = dialog.findChildren(QMessageBox)
    press(question, "Keep")
    bench.live(0.05)
    assert draft.exists()
    assert dialog.isVisible()
    press(dialog, "Delete")
    press(dialog.findChildren(QMessageBox)[-1], "Delete permanently")
    bench.until(lambda: not draft.exists())


def test_closing_the_window_ends_everything(bench: Bench) -> None:
    window = bench.open_window()
    closed: list[bool] = []
    window.closed.connect(lambda: closed.append(True))
    bench.until(lambda: bench.session.is_ready)
    window.close()
    bench.until(lambda: closed)
    bench.is_closed = True
    assert not window.isVisible()
    assert recoverable_drafts(bench.services.drafts) == []
    end_background_threads()
    bench.loop.close()


def test_only_the_first_line_of_an_imported_text_is_selected(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    path = tmp_path / "book.txt"
    path.write_text("\n\n".join(f"Line {number} of a long book." for number in range(1, 41)))
    bench.until(lambda: bench.session.bridge.engine.state is EngineState.READY)
    told: list[str] = []
    window.tasks.message_changed.connect(told.append)
    bench.run(window.documents._open_in_order([path]))
    assert len(bench.lines) == 40
    assert "40 lines imported" in told
    assert window.script.selected_line_ids == [bench.lines[0].id]
    bench.trigger("edit.undo")
    assert bench.texts == [""]


def test_texts_opened_in_sequence_keep_their_order(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.txt").write_text(f"The start of {name}.\n\nThe end of {name}.\n")
    window.documents.open_files(tmp_path / "one.txt", tmp_path / "missing.txt", tmp_path / "two.txt")
    bench.until(lambda: len(bench.texts) == 4)
    bench.run(window.documents.open_path(tmp_path / "three.txt"))
    assert bench.texts == [f"The {part} of {name}." for name in ("one", "two", "three") for part in ("start", "end")]


def test_an_imported_text_is_inserted_below_the_current_line(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    (tmp_path / "one.txt").write_text("First of all.\n\nLast of all.\n")
    (tmp_path / "two.txt").write_text("In between.\n")
    bench.run(window.documents.open_path(tmp_path / "one.txt"))
    window.script.view.go_to(bench.lines[1].id)
    window.script.view.go_to(bench.lines[0].id)
    bench.run(window.documents.open_path(tmp_path / "two.txt"))
    assert bench.texts == ["First of all.", "In between.", "Last of all."]


def test_a_script_with_impossible_values_is_shown_with_a_notice(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()
    write(bench, "The harbour was quiet.")
    bench.add_take(np.full(24_000, 0.1, np.float32))
    save_to(bench, tmp_path / "harbour.timbre")
    with contextlib.closing(sqlite3.connect(tmp_path / "harbour.timbre")) as connection:
        connection.execute("UPDATE takes SET audio_seconds = 9e999, created = '0001-01-01T00:00:00+14:00'")
        connection.execute('UPDATE lines SET sampling = \'{"top_k": "x"}\'')
        connection.commit()
    bench.run(window.documents.open_path(tmp_path / "harbour.timbre"))
    bench.until(lambda: "3 invalid values" in window.notices.words)
    assert not window.grab().isNull()
    assert bench.texts == ["The harbour was quiet."]
    model = window.script._model
    assert model.index(0, Column.DURATION).data() == "0:01.0"


def test_the_sample_replaces_an_empty_script_and_offers_voices(bench: Bench) -> None:
    window = bench.open_window()
    window.actions_by_id["edit.select_all"].trigger()
    wanted: list[set[str]] = []
    window.documents.cast_wanted.connect(wanted.append)
    window.actions_by_id["help.sample"].trigger()
    bench.until(lambda: bool(wanted))
    assert wanted == [{"narrator", "mira", "tom"}]
    assert [line.text for line in bench.session.editor.script.lines if line.heading] == ["The Lamp", "The Film"]
    assert window.dubbing.panel.isVisible()
