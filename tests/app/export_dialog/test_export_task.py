"""Exports in the background: snapshot, progress, pause, failures and questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from export_bench import ExportBench, choose, speak
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.app.export_dialog.export_controller import ExportController
from studio.app.export_dialog.export_task import ExportState
from studio.app.notifications import NotificationBar
from studio.app.translation import use_language
from studio.errors import DiskFull, NoSpeechMade, StudioError, TakeNotFound, VoiceNotFound
from studio.export.exporter import Exporter
from studio.project.changes import EditLines, InsertLines, RemoveLines, SetTakeChecks
from studio.project.lines import Line, Slot
from studio.project.project import Project
from studio.settings_store import Settings
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict

Report = Callable[[QWidget], str]  # returns the text that "Copy report" copies


def no_speech() -> StudioError:
    return NoSpeechMade("The model produced no speech.", remedy="Try another seed.")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def unspoken(exporting: ExportBench, project: Project) -> ExportBench:
    """Lines a and c must be spoken, line b has a take."""
    project.apply(EditLines({"a": {"text": "Changed."}, "c": {"text": "Now it has text."}}))
    exporting.dialog.on_lines_changed()
    return exporting


def test_the_dialog_closes_and_missing_lines_are_spoken(unspoken: ExportBench) -> None:
    task = unspoken.begin()
    assert not unspoken.dialog.isVisible()
    unspoken.wait_for_jobs("a", "c")
    details = unspoken.details(task)
    assert details.progress.title.text() == "Speaking line 1 of 2"
    unspoken.queue.finish("c")
    unspoken.qtbot.waitUntil(lambda: details.progress.title.text() == "Speaking line 2 of 2")
    unspoken.queue.finish("a")
    unspoken.wait_until_ended(task)
    assert task.state is ExportState.DONE
    assert files(task.order.folder) == [
        "001 Anna Changed.wav",
        "002 Ben The second line.wav",
        "003 Ben Now it has text.wav",
    ]
    assert details.outcome.title.text() == "Export finished"


def test_edits_during_the_export_do_not_change_it(unspoken: ExportBench, project: Project) -> None:
    task = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    heard = project.samples_of(project.chosen_take("b").id)  # type: ignore[union-attr]
    unspoken.queue.finish("a")
    project.apply(EditLines({"a": {"text": "Edited again."}, "b": {"gain_db": -20.0, "text": "Another text."}}))
    project.apply(InsertLines(0, (Line("new", "A new first line.", "Anna"),)))
    project.apply(RemoveLines(("c",)))
    unspoken.queue.finish("c")
    unspoken.wait_until_ended(task)
    assert task.state is ExportState.DONE, task.error
    folder = task.order.folder
    assert files(folder) == ["001 Anna Changed.wav", "002 Ben The second line.wav", "003 Ben Now it has text.wav"]
    exported, _ = soundfile.read(folder / "002 Ben The second line.wav", dtype="float32")
    np.testing.assert_allclose(exported, heard, atol=1 / 32_768)


def test_a_line_spoken_meanwhile_is_not_spoken_again(qtbot: QtBot, project: Project, settings: Settings) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}, "c": {"text": "Now it has text."}}))
    exporting = ExportBench(qtbot, project, settings, num_ahead=1)
    task = exporting.begin()
    exporting.wait_for_jobs("a")
    speak(project, "c")
    exporting.queue.finish("a")
    exporting.wait_until_ended(task)
    assert task.state is ExportState.DONE
    assert [job.line_id for job in exporting.queue.jobs] == ["a"]


def test_only_some_lines_are_queued_at_once(qtbot: QtBot, project: Project, settings: Settings) -> None:
    project.apply(InsertLines(3, tuple(Line(f"l{n}", f"Line {n}.", "Anna") for n in range(50))))
    exporting = ExportBench(qtbot, project, settings)
    exporting.begin()
    exporting.wait_for_jobs("l0", "l1", "l2", "l3")
    exporting.queue.finish("l0")
    exporting.wait_for_jobs("l1", "l2", "l3", "l4")


def test_an_export_can_be_paused_and_resumed(qtbot: QtBot, project: Project, settings: Settings) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}, "c": {"text": "Now it has text."}}))
    exporting = ExportBench(qtbot, project, settings, num_ahead=1)
    task = exporting.begin()
    exporting.wait_for_jobs("a")
    details = exporting.details(task)
    details.progress.pause.click()
    assert details.progress.pause.text() == "Resume"
    exporting.queue.finish("a")
    qtbot.wait(20)
    assert exporting.queue.waiting == []
    assert details.progress.title.text() == "Paused at line 2 of 2"
    details.progress.pause.click()
    exporting.wait_for_jobs("c")
    exporting.queue.finish("c")
    exporting.wait_until_ended(task)
    assert task.state is ExportState.DONE


def test_removing_a_line_from_the_queue_pauses_the_export(unspoken: ExportBench) -> None:
    task = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    unspoken.queue.cancel(unspoken.queue.waiting[0])
    assert task.state is ExportState.PAUSED
    task.resume()
    unspoken.wait_for_jobs("c", "a")
    for line_id in ("c", "a"):
        unspoken.queue.finish(line_id)
    unspoken.wait_until_ended(task)
    assert task.state is ExportState.DONE


def test_cancelling_removes_the_lines_from_the_queue(unspoken: ExportBench) -> None:
    task = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    details = unspoken.details(task)
    details.progress.cancel.click()
    assert unspoken.queue.waiting == []
    assert details.outcome.title.text() == "Export cancelled"
    assert not unspoken.exports.is_busy
    assert files(task.order.folder) == []


@pytest.fixture
def failed(unspoken: ExportBench) -> ExportBench:
    """An export whose line a could not be spoken."""
    unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    unspoken.queue.finish("a", no_speech())
    unspoken.queue.finish("c")
    unspoken.wait_until_ended(unspoken.task)
    return unspoken


def test_failed_lines_are_listed_with_numbers_and_reasons(failed: ExportBench, report_of: Report) -> None:
    details = failed.details(failed.task)
    assert failed.task.state is ExportState.UNDECIDED
    assert details.outcome.title.text() == "1 line could not be spoken"
    shown = [details.outcome.failures.item(row).text() for row in range(details.outcome.failures.count())]
    assert shown == ["Line 1: The model produced no speech. Try another seed."]
    assert report_of(details).startswith("error: no-speech-made\n")
    assert files(failed.task.order.folder) == []


def test_failed_lines_can_be_shown_in_the_script(failed: ExportBench) -> None:
    details = failed.details(failed.task)
    with failed.qtbot.waitSignal(details.lines_wanted) as wanted:
        details.outcome.show_lines.click()
    assert wanted.args == [["a"]]


def test_the_other_lines_are_exported_with_one_click(failed: ExportBench) -> None:
    details = failed.details(failed.task)
    details.outcome.export_others.click()
    failed.wait_until_ended(failed.task)
    assert files(failed.task.order.folder) == ["002 Ben The second line.wav", "003 Ben Now it has text.wav"]
    assert details.outcome.title.text() == "Export finished"
    assert "1 line missing" in details.outcome.details.text()
    assert details.outcome.failures.count() == 1


def test_only_failed_lines_are_tried_again(failed: ExportBench) -> None:
    details = failed.details(failed.task)
    details.outcome.retry.click()
    failed.wait_for_jobs("a")
    assert details.pages.currentWidget() is details.progress
    failed.queue.finish("a")
    failed.wait_until_ended(failed.task)
    assert failed.task.state is ExportState.DONE
    assert len(files(failed.task.order.folder)) == 3


def test_a_joined_file_without_the_failed_lines_is_made_on_request(
    qtbot: QtBot, project: Project, settings: Settings
) -> None:
    settings[declared.EXPORT_FILES] = "joined"
    project.apply(EditLines({"a": {"text": "Changed."}}))
    exporting = ExportBench(qtbot, project, settings)
    task = exporting.begin()
    exporting.wait_for_jobs("a")
    exporting.queue.finish("a", no_speech())
    exporting.wait_until_ended(task)
    details = exporting.details(task)
    assert "missing from the joined file" in details.outcome.details.text()
    assert files(task.order.folder) == []
    details.outcome.export_others.click()
    exporting.wait_until_ended(task)
    assert files(task.order.folder) == ["Script.wav"]


def test_another_export_waits_for_the_running_one(unspoken: ExportBench) -> None:
    first = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    dialog = unspoken.open()
    dialog.form.leave_out.setChecked(True)
    with unspoken.qtbot.waitSignal(dialog.export_wanted):
        dialog.export_button.click()
    assert unspoken.task is first
    assert unspoken.exports.num_waiting == 1
    for line_id in ("a", "c"):
        unspoken.queue.finish(line_id)
    unspoken.qtbot.waitUntil(lambda: not unspoken.exports.is_busy)
    assert unspoken.exports.num_waiting == 0


@pytest.fixture
def held_export(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Exports wait before their first line until the event is set."""
    may_continue = threading.Event()
    process_line = Exporter._process_line

    def wait(self: Exporter, position: int, item: object) -> None:
        assert may_continue.wait(60)
        process_line(self, position, item)  # type: ignore[arg-type]

    monkeypatch.setattr(Exporter, "_process_line", wait)
    yield may_continue
    may_continue.set()


def test_cancelling_keeps_the_finished_files(exporting: ExportBench, held_export: threading.Event) -> None:
    task = exporting.begin()
    details = exporting.details(task)
    exporting.qtbot.waitUntil(lambda: details.progress.title.text() == "Writing line 1 of 2")
    exporting.qtbot.waitUntil(lambda: details.progress.line.text() == "The first line.")
    details.progress.cancel.click()
    held_export.set()
    exporting.wait_until_ended(task)
    assert details.outcome.title.text() == "Export cancelled"
    assert files(task.order.folder) == ["001 Anna The first line.wav"]


def test_closing_the_details_does_not_end_the_export(exporting: ExportBench, held_export: threading.Event) -> None:
    task = exporting.begin()
    details = exporting.details(task)
    assert details.focusWidget() is details.progress.hide_button  # so that Return does not pause the export
    details.progress.hide_button.click()
    assert not details.isVisible()
    held_export.set()
    exporting.wait_until_ended(task)
    assert task.state is ExportState.DONE


def test_a_full_disk_is_reported(exporting: ExportBench, report_of: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Exporter) -> None:
        raise DiskFull("The disk is full.", remedy="Free some space and export again.")

    monkeypatch.setattr(Exporter, "run", full)
    details = exporting.details(exporting.export())
    assert details.outcome.title.text() == "The disk is full."
    assert "Free some space" in details.outcome.details.text()
    assert report_of(details).startswith("error: disk-full\n")


def test_files_that_appear_during_synthesis_are_replaced_only_on_request(unspoken: ExportBench) -> None:
    task = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    folder = task.order.folder
    folder.mkdir()
    (folder / "001 Anna Changed.wav").write_bytes(b"mine")
    for line_id in ("a", "c"):
        unspoken.queue.finish(line_id)
    unspoken.wait_until_ended(task)
    details = unspoken.details(task)
    assert "001 Anna Changed.wav already exists" in details.outcome.title.text()
    assert (folder / "001 Anna Changed.wav").read_bytes() == b"mine"
    details.outcome.replace.click()
    unspoken.wait_until_ended(task)
    assert task.state is ExportState.DONE
    assert (folder / "001 Anna Changed.wav").read_bytes() != b"mine"


# In the window.


@pytest.fixture
def controller(qtbot: QtBot, exporting: ExportBench) -> ExportController:
    window = QWidget()
    qtbot.addWidget(window)
    notices = NotificationBar()
    qtbot.addWidget(notices)
    controller = ExportController(exporting.exports, notices, window, lambda _: None)
    qtbot.addWidget(controller.chip)
    return controller


def test_the_chip_shows_the_progress_and_a_notice_the_end(unspoken: ExportBench, controller: ExportController) -> None:
    assert controller.chip.isHidden()
    task = unspoken.begin()
    unspoken.wait_for_jobs("a", "c")
    assert controller.chip.text() == "Exporting 0%"
    assert "Speaking line 1 of 2" in controller.chip.toolTip()
    unspoken.queue.finish("a")
    unspoken.qtbot.waitUntil(lambda: controller.chip.text() == "Exporting 48%")
    unspoken.queue.finish("c")
    unspoken.wait_until_ended(task)
    assert controller.chip.isHidden()
    assert controller._notices.words == "3 files exported."
    assert controller._notices._offer.text() == "Show folder"


def test_the_end_of_an_export_names_lines_with_problems(exporting: ExportBench, controller: ExportController) -> None:
    project = exporting.project
    take = project.chosen_take("b")
    assert take is not None
    problem = Problem(ProblemKind.WRONG_WORDS, 0.0, 0.5, confidence=0.8)
    project.apply(SetTakeChecks({take.id: TakeCheck(Verdict.BAD, (problem,))}))
    exporting.dialog.on_lines_changed()
    task = exporting.export()
    assert controller._notices.words.endswith("exported. 1 line with problems.")
    assert "1 line with problems." in exporting.details(task).outcome.details.text()


def test_the_end_of_a_dub_track_names_lines_that_are_too_long(
    exporting: ExportBench, controller: ExportController
) -> None:
    """The dialog warned of the line before the export, and the notice after it did not."""
    exporting.project.apply(EditLines({"a": {"slot": Slot(0.0, 0.2)}, "b": {"slot": Slot(0.2, 9.0)}}))
    exporting.dialog.form.show_times(True)
    exporting.dialog.on_lines_changed()
    choose(exporting.dialog, declared.EXPORT_FILES, "joined")
    choose(exporting.dialog, declared.EXPORT_PLACEMENT, "times")
    task = exporting.export()
    assert controller._notices.words == "1 file exported. 1 line too long for the slot."
    assert "1 line too long for the slot." in exporting.details(task).outcome.details.text()


def test_the_notice_of_a_mastered_export_leads_to_its_levels(
    exporting: ExportBench, controller: ExportController
) -> None:
    choose(exporting.dialog, declared.EXPORT_FILES, "joined")
    choose(exporting.dialog, declared.EXPORT_STANDARD, "acx")
    task = exporting.export()
    assert controller._notices._offer.text() == "Show levels…"
    controller._notices._offer.click()
    assert controller.details is not None
    assert controller.details.task is task
    assert controller.details.outcome.levels is not None


def test_a_notice_leads_to_the_failed_lines(failed: ExportBench, controller: ExportController) -> None:
    """The controller is built after the failure, as after a change of the language."""
    assert controller.chip.text() == "Export: 1 line failed"
    controller.chip.click()
    assert controller.details is not None
    assert controller.details.outcome.export_others.isVisible()
    failed.task.retry_failed()
    failed.wait_for_jobs("a")
    controller.details.accept()
    failed.queue.finish("a", VoiceNotFound("There is no voice {name}.", remedy="Add it.", name="Anna"))
    failed.wait_until_ended(failed.task)
    assert controller._notices.words == "1 line could not be spoken. Nothing has been exported yet."


def test_chinese_sentences_of_the_result_are_joined_without_a_space(exporting: ExportBench, qapp: QApplication) -> None:
    use_language(qapp, QLocale("zh_CN"))
    try:
        exporting.export()
        details = exporting.details(exporting.export())
        first, second, rest = details.outcome.details.text().split("。")
        assert (first, second, rest) == (first.strip(), second.strip(), "")
    finally:
        use_language(qapp, QLocale("en_US"))


def test_a_take_whose_audio_is_missing_is_listed(
    exporting: ExportBench, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = project.chosen_take("a")
    assert take is not None
    recording_of = project.recording_of

    def without_first(take_id: str) -> object:
        if take_id == take.id:
            raise TakeNotFound("The audio of this take is not in the project.", remedy="Speak the line again.")
        return recording_of(take_id)

    monkeypatch.setattr(project, "recording_of", without_first)
    details = exporting.details(exporting.export())
    assert files(exporting.task.order.folder) == ["002 Ben The second line.wav"]
    assert "1 line missing" in details.outcome.details.text()
    assert details.outcome.failures.item(0).text().startswith("Line 1: The audio of this take")
