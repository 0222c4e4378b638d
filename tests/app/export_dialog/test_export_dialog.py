"""The export dialog: name preview, stored options, progress, cancellation and questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from event_loop_monitor import LONGEST_STALL_SECONDS, EventLoopMonitor
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QMessageBox, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_options import REMEMBERED, default_folder
from studio.app.synthesis.queue import JobState, SynthesisJob
from studio.app.translation import use_language
from studio.errors import DiskFull, NoSpeechMade, StudioError, VoiceNotFound
from studio.export.exporter import Exporter
from studio.export.provenance import Provenance
from studio.pipeline.request import Mode, SynthesisReport
from studio.project.changes import AddTake, EditLines, InsertLines
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.settings_store import Settings

Report = Callable[[QWidget], str]  # returns the text that "Copy report" copies

RATE = 24_000


def speak(project: Project, line_id: str) -> np.ndarray:
    """Give the line a take of half a second, like the queue."""
    line = project.line(line_id)
    parameters = TakeParameters(
        line.text, 1, project.fingerprint_of(line_id), "zero-shot", line.voice or "", "", "a model", ""
    )
    recorder = project.begin_take(line_id, parameters, RATE)
    samples = np.random.default_rng(len(line.text)).uniform(-0.5, 0.5, RATE // 2).astype(np.float32)
    recorder.append(samples)
    take = recorder.finish(SynthesisReport(0.1, 0.5, 0.3, RATE, Mode.ZERO_SHOT, 5, {}, {}))
    project.apply(AddTake(take, is_chosen=True))
    return samples


@pytest.fixture(autouse=True)
def english(qapp: QApplication) -> None:
    use_language(qapp, QLocale("en_US"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))
    project = Project.create(tmp_path / "drafts")
    lines = (Line("a", "The first line.", "Anna"), Line("b", "The second line.", "Ben"), Line("c", "", "Ben"))
    project.apply(InsertLines(0, lines))
    speak(project, "a")
    speak(project, "b")
    yield project
    project.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(tmp_path / "settings.json")
    settings[declared.EXPORT_FOLDER] = str(tmp_path / "target")
    return settings


@pytest.fixture
def dialog(qtbot: QtBot, project: Project, settings: Settings) -> ExportDialog:
    return make(qtbot, project, settings)


def make(qtbot: QtBot, project: Project, settings: Settings, **export_options: object) -> ExportDialog:
    dialog = ExportDialog(project, settings, provenance=Provenance("a model", "Apache-2.0"), **export_options)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def names(dialog: ExportDialog) -> list[str]:
    model = dialog.preview.list.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def choose(dialog: ExportDialog, setting: object, value: object) -> None:
    editor = dialog.form.editor(setting)  # type: ignore[arg-type]
    editor.set_value(value)
    editor.changed.emit()


def export(qtbot: QtBot, dialog: ExportDialog) -> None:
    with qtbot.waitSignal(dialog.exported):
        dialog.export_button.click()


def finish(dialog: ExportDialog, line_id: str, error: StudioError | None = None) -> None:
    state = JobState.DONE if error is None else JobState.FAILED
    dialog.on_job_finished(SynthesisJob(line_id, "", 1, state=state, error=error))


def begin_synthesis(qtbot: QtBot, dialog: ExportDialog) -> None:
    with qtbot.waitSignal(dialog.speak_wanted):
        dialog.export_button.click()


def test_the_names_change_with_the_options(qtbot: QtBot, dialog: ExportDialog) -> None:
    assert names(dialog) == ["001 Anna The first line.wav", "002 Ben The second line.wav"]
    choose(dialog, declared.EXPORT_PATTERN, "{voice}/{index}")
    choose(dialog, declared.EXPORT_ENCODING, "flac24")
    choose(dialog, declared.EXPORT_FILES, "both")
    choose(dialog, declared.EXPORT_SUBTITLES, "both")
    dialog.form.joined_name.setText("My story")
    expected = ["Anna/001.flac", "Ben/002.flac", "My story.flac", "My story.srt", "My story.vtt"]
    qtbot.waitUntil(lambda: names(dialog) == expected)
    assert "5" in dialog.preview.label.text()


def test_the_names_change_with_the_script(qtbot: QtBot, dialog: ExportDialog, project: Project) -> None:
    project.apply(EditLines({"a": {"text": "Another text."}}))
    dialog.on_lines_changed()
    qtbot.waitUntil(lambda: names(dialog)[0] == "001 Anna Another text.wav")


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        (declared.EXPORT_PATTERN, "{voic}", "Did you mean {voice}?"),
        (declared.EXPORT_PATTERN, "", "name pattern is empty"),
        (declared.EXPORT_FOLDER, "", "No folder is chosen"),
    ],
)
def test_invalid_options_are_reported_and_disable_the_button(
    qtbot: QtBot, dialog: ExportDialog, report_of: Report, setting: object, value: object, sentence: str
) -> None:
    choose(dialog, setting, value)
    qtbot.waitUntil(lambda: sentence in dialog.preview.problem.words)
    assert report_of(dialog).startswith("error: unusable-setting\n")
    assert not dialog.export_button.isEnabled()
    assert names(dialog) == []


def test_opus_rejects_unsupported_sample_rates(qtbot: QtBot, dialog: ExportDialog) -> None:
    choose(dialog, declared.EXPORT_ENCODING, "opus")
    choose(dialog, declared.EXPORT_SAMPLE_RATE, 44_100)
    qtbot.waitUntil(lambda: "does not support 44100 Hz" in dialog.preview.problem.words)
    choose(dialog, declared.EXPORT_SAMPLE_RATE, 48_000)
    qtbot.waitUntil(dialog.export_button.isEnabled)
    assert not dialog.preview.problem.isVisibleTo(dialog)


def test_irrelevant_controls_are_disabled(dialog: ExportDialog) -> None:
    def is_enabled(setting: object) -> bool:
        return dialog.form.editor(setting).control.isEnabled()  # type: ignore[arg-type]

    assert not is_enabled(declared.EXPORT_LUFS)
    choose(dialog, declared.EXPORT_MATCHES_LOUDNESS, True)
    assert is_enabled(declared.EXPORT_LUFS)
    choose(dialog, declared.EXPORT_FILES, "joined")
    assert not is_enabled(declared.EXPORT_PATTERN)
    assert not is_enabled(declared.EXPORT_PAUSE_SECONDS)
    choose(dialog, declared.EXPORT_HAS_ONE_PAUSE, True)
    assert is_enabled(declared.EXPORT_PAUSE_SECONDS)


def test_exported_lines_equal_their_takes(qtbot: QtBot, dialog: ExportDialog, project: Project) -> None:
    choose(dialog, declared.EXPORT_ENCODING, "wav32f")
    export(qtbot, dialog)
    target = dialog.form.folder
    heard = project.samples_of(project.chosen_take("a").id)  # type: ignore[union-attr]
    np.testing.assert_array_equal(soundfile.read(target / "001 Anna The first line.wav", dtype="float32")[0], heard)
    assert dialog.pages.currentWidget() is dialog.outcome
    assert dialog.outcome.title.text() == "Export finished"
    assert "2 files written" in dialog.outcome.details.text()
    assert dialog.outcome.open_folder.isEnabled()
    dialog.outcome.back.click()
    export(qtbot, dialog)
    assert dialog.outcome.details.text() == "0 files written. 2 files up to date."


def test_only_the_selected_lines_are_exported(qtbot: QtBot, project: Project, settings: Settings) -> None:
    dialog = make(qtbot, project, settings, selected_ids=["b"])
    assert dialog.form.all_lines.isChecked(), "a single selected line is ignored"
    dialog.form.selected_lines.setChecked(True)
    qtbot.waitUntil(lambda: names(dialog) == ["002 Ben The second line.wav"])
    export(qtbot, dialog)
    assert [path.name for path in dialog.form.folder.iterdir()] == ["002 Ben The second line.wav"]
    several = make(qtbot, project, settings, selected_ids=["a", "b"])
    assert several.form.selected_lines.isChecked()


def test_options_are_remembered(qtbot: QtBot, dialog: ExportDialog, project: Project, settings: Settings) -> None:
    export_options = {
        declared.EXPORT_FILES: "both",
        declared.EXPORT_PATTERN: "{index} of {project}",
        declared.EXPORT_ENCODING: "flac16",
        declared.EXPORT_SAMPLE_RATE: 48_000,
        declared.EXPORT_MATCHES_LOUDNESS: True,
        declared.EXPORT_LUFS: -19.0,
        declared.EXPORT_IS_TRIMMED: True,
        declared.EXPORT_SUBTITLES: "vtt",
        declared.EXPORT_HAS_MANIFEST: True,
        declared.EXPORT_HAS_ONE_PAUSE: True,
        declared.EXPORT_PAUSE_SECONDS: 1.5,
    }
    for setting, value in export_options.items():
        choose(dialog, setting, value)
    export(qtbot, dialog)
    again = make(qtbot, project, Settings(settings.path))
    assert {setting: again.form.values[setting] for setting in export_options} == export_options
    assert set(again.form.values) == set(REMEMBERED)


def test_the_default_folder_is_beside_the_project_file(tmp_path: Path, project: Project) -> None:
    project.save(tmp_path / "Talk.timbre")
    assert default_folder(project, "", "Talk") == tmp_path / "Talk sound"
    assert default_folder(project, "/elsewhere", "Talk") == Path("/elsewhere")


def test_lines_without_a_fresh_take_are_spoken_first(qtbot: QtBot, dialog: ExportDialog, project: Project) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}, "c": {"text": "Now it has text."}}))
    dialog.on_lines_changed()
    qtbot.waitUntil(lambda: len(names(dialog)) == 3)
    assert dialog.form.speak_first.isVisible()
    with qtbot.waitSignal(dialog.speak_wanted) as wanted:
        dialog.export_button.click()
    assert wanted.args == [["a", "c"]]
    assert dialog.pages.currentWidget() is dialog.progress
    assert dialog.progress.title.text() == "Speaking line 1 of 2"
    speak(project, "a")
    finish(dialog, "a")
    finish(dialog, "b")  # not a pending line
    assert dialog.progress.title.text() == "Speaking line 2 of 2"
    speak(project, "c")
    with qtbot.waitSignal(dialog.exported):
        finish(dialog, "c")
    assert len(list(dialog.form.folder.iterdir())) == 3


def test_an_unwritable_folder_is_reported_before_lines_are_synthesized(
    qtbot: QtBot, dialog: ExportDialog, project: Project, report_of: Report, tmp_path: Path
) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    (tmp_path / "a file").write_bytes(b"not a folder")
    choose(dialog, declared.EXPORT_FOLDER, str(tmp_path / "a file" / "target"))
    requested: list[list[str]] = []
    dialog.speak_wanted.connect(requested.append)
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert str(tmp_path / "a file" / "target") in dialog.outcome.title.text()
    assert report_of(dialog).startswith("error: cannot-write\n")
    assert requested == []


def test_the_folder_field_spans_the_dialog(qtbot: QtBot, dialog: ExportDialog) -> None:
    field = dialog.form.editor(declared.EXPORT_FOLDER).control
    assert field.width() > dialog.form.width()


def test_lines_without_a_fresh_take_may_be_left_out(qtbot: QtBot, dialog: ExportDialog, project: Project) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    dialog.on_lines_changed()
    dialog.form.leave_out.setChecked(True)
    qtbot.waitUntil(lambda: names(dialog) == ["002 Ben The second line.wav"])
    export(qtbot, dialog)
    assert [path.name for path in dialog.form.folder.iterdir()] == ["002 Ben The second line.wav"]


def test_lines_that_cannot_be_spoken_are_listed(
    qtbot: QtBot, dialog: ExportDialog, project: Project, report_of: Report
) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}, "b": {"text": "Changed as well."}}))
    begin_synthesis(qtbot, dialog)
    finish(dialog, "a", NoSpeechMade("The model produced no speech.", remedy="Try another seed."))
    finish(dialog, "b", VoiceNotFound("There is no voice {name}.", remedy="Add it.", name="Anna"))
    assert dialog.pages.currentWidget() is dialog.outcome
    assert "could not be spoken" in dialog.outcome.title.text()
    shown = [dialog.outcome.failures.item(row).text() for row in range(dialog.outcome.failures.count())]
    assert shown == ["The model produced no speech. Try another seed.", "There is no voice Anna. Add it."]
    assert report_of(dialog).startswith("error: no-speech-made\n")
    dialog.outcome.failures.setCurrentRow(1)
    assert report_of(dialog).startswith("error: voice-not-found\n")
    assert not dialog.form.folder.exists()


def test_a_line_that_changes_while_it_is_spoken_is_reported(
    qtbot: QtBot, dialog: ExportDialog, project: Project
) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    begin_synthesis(qtbot, dialog)
    speak(project, "a")
    project.apply(EditLines({"a": {"text": "Changed again."}}))
    finish(dialog, "a")
    assert "changed while" in dialog.outcome.title.text()


def test_cancelling_while_lines_are_synthesized(qtbot: QtBot, dialog: ExportDialog, project: Project) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    begin_synthesis(qtbot, dialog)
    with qtbot.waitSignal(dialog.speaking_unwanted) as unwanted:
        dialog.progress.cancel.click()
    assert unwanted.args == [["a"]]
    assert dialog.outcome.title.text() == "Export cancelled"
    assert not dialog.is_busy


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


def test_cancelling_keeps_the_finished_files(qtbot: QtBot, dialog: ExportDialog, held_export: threading.Event) -> None:
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog.progress.title.text() == "Writing line 1 of 2")
    assert dialog.progress.line.text() == "The first line."
    dialog.progress.cancel.click()
    assert not dialog.progress.cancel.isEnabled()
    held_export.set()
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert dialog.outcome.title.text() == "Export cancelled"
    assert [path.name for path in dialog.form.folder.iterdir()] == ["001 Anna The first line.wav"]


def test_closing_during_an_export_cancels_it_first(
    qtbot: QtBot, dialog: ExportDialog, held_export: threading.Event
) -> None:
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog.progress.title.text() == "Writing line 1 of 2")
    dialog.reject()
    assert dialog.isVisible()
    held_export.set()
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert not dialog.is_busy


def test_a_full_disk_is_reported(
    qtbot: QtBot, dialog: ExportDialog, report_of: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Exporter) -> None:
        raise DiskFull("The disk is full.", remedy="Free some space and export again.")

    monkeypatch.setattr(Exporter, "run", full)
    dialog.export_button.click()
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert dialog.outcome.title.text() == "The disk is full."
    assert "Free some space" in dialog.outcome.details.text()
    assert report_of(dialog).startswith("error: disk-full\n")
    dialog.outcome.show_cancelled()
    assert dialog.outcome.copy_report.isHidden()


def answer_question(qtbot: QtBot, dialog: ExportDialog, words: str) -> str:
    """Click the button with the text ``words`` and return the text of the question."""
    qtbot.waitUntil(lambda: any(box.isVisible() for box in dialog.findChildren(QMessageBox)))
    (box,) = dialog.findChildren(QMessageBox)
    text = box.informativeText()
    next(each for each in box.buttons() if each.text().replace("&", "") == words).click()
    return text


def test_files_of_other_programs_are_replaced_only_if_allowed(qtbot: QtBot, dialog: ExportDialog) -> None:
    target = dialog.form.folder
    target.mkdir()
    (target / "001 Anna The first line.wav").write_bytes(b"mine")
    dialog.export_button.click()
    answer_question(qtbot, dialog, "Cancel")
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert (target / "001 Anna The first line.wav").read_bytes() == b"mine"
    dialog.outcome.back.click()
    dialog.form.replace_files.setChecked(True)
    export(qtbot, dialog)
    assert soundfile.info(target / "001 Anna The first line.wav").frames == RATE // 2


def test_fields_are_inserted_at_the_cursor(dialog: ExportDialog) -> None:
    field = dialog.form.editor(declared.EXPORT_PATTERN).control
    field.setText("take ")  # type: ignore[attr-defined]
    (button,) = [found for found in dialog.form.findChildren(QToolButton) if found.menu()]
    button.menu().actions()[0].trigger()
    assert field.text() == "take {index}"  # type: ignore[attr-defined]


def test_every_control_has_a_name(dialog: ExportDialog) -> None:
    from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QListView

    for kind in (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QListView):
        for control in dialog.findChildren(kind):
            is_qts_own = control.objectName().startswith("qt_") or isinstance(control.parent(), QLineEdit)
            if is_qts_own or not control.isVisibleTo(dialog):
                continue
            name = control.accessibleName() or getattr(control, "text", lambda: "")()
            assert name, f"{type(control).__name__} {control.objectName()}"


def test_only_the_first_lines_of_a_long_script_are_previewed(
    qtbot: QtBot, project: Project, settings: Settings
) -> None:
    lines = tuple(Line(f"long{number}", f"Line {number}.", "Anna") for number in range(1, 1501))
    project.apply(InsertLines(3, lines))
    settings[declared.EXPORT_FILES] = "both"
    dialog = make(qtbot, project, settings)
    shown = names(dialog)
    assert shown[0] == "0001 Anna The first line.wav"
    assert len(shown) == 202
    assert shown[-2:] == ["… and 1302 more lines", "Script.wav"]
    assert "1503" in dialog.preview.label.text()


def test_the_window_responds_during_an_export(qtbot: QtBot, project: Project, settings: Settings) -> None:
    """The export normalises the loudness of sixty lines."""
    lines = tuple(Line(f"beat{number}", f"Line {number}.", "Anna") for number in range(60))
    project.apply(InsertLines(3, lines))
    for line in lines:
        speak(project, line.id)
    settings[declared.EXPORT_MATCHES_LOUDNESS] = True
    settings[declared.EXPORT_FILES] = "both"
    dialog = make(qtbot, project, settings)
    import pyloudnorm  # noqa: F401 - its slow import is not measured

    monitor = EventLoopMonitor()
    export(qtbot, dialog)
    words = monitor.stop()
    print("\nstalls:", words)  # noqa: T201 - pytest -rA shows it
    assert max(monitor.stalls) < LONGEST_STALL_SECONDS, words


def other_project(tmp_path: Path) -> Project:
    other = Project.create(tmp_path / "drafts")
    other.apply(InsertLines(0, (Line("z", "The first line.", "Anna"),)))
    speak(other, "z")
    return other


def test_unsaved_scripts_are_exported_into_separate_folders(
    qtbot: QtBot, settings: Settings, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    settings[declared.EXPORT_FOLDER] = ""
    first = make(qtbot, project, settings)
    choose(first, declared.EXPORT_FILES, "both")
    export(qtbot, first)
    exported = {path: path.read_bytes() for path in first.form.folder.rglob("*.wav")}
    assert len(exported) == 3
    other = other_project(tmp_path)
    monkeypatch.setattr(Project, "begun", project.begun)  # created in the same second
    second = make(qtbot, other, settings)
    choose(second, declared.EXPORT_FILES, "both")
    assert second.form.folder != first.form.folder
    export(qtbot, second)
    assert {path: path.read_bytes() for path in exported} == exported
    assert settings[declared.EXPORT_FOLDER] == ""
    assert make(qtbot, project, settings).form.folder == first.form.folder
    other.close()


def test_each_unsaved_script_gets_a_subfolder_of_the_remembered_folder(
    qtbot: QtBot, settings: Settings, dialog: ExportDialog, tmp_path: Path
) -> None:
    export(qtbot, dialog)
    other = other_project(tmp_path)
    second = make(qtbot, other, settings)
    assert second.form.folder.parent == tmp_path / "target"
    export(qtbot, second)
    assert settings[declared.EXPORT_FOLDER] == str(tmp_path / "target")
    other.close()


@pytest.mark.parametrize("answer", ["Cancel", "Replace"])
def test_replacing_files_of_another_script_is_confirmed(
    qtbot: QtBot, settings: Settings, dialog: ExportDialog, tmp_path: Path, answer: str
) -> None:
    export(qtbot, dialog)
    target = tmp_path / "target"
    before = {path: path.read_bytes() for path in target.iterdir()}
    other = other_project(tmp_path)
    second = make(qtbot, other, settings)
    choose(second, declared.EXPORT_FOLDER, str(target))
    choose(second, declared.EXPORT_SAMPLE_RATE, 48_000)
    second.export_button.click()
    assert "001 Anna The first line.wav" in answer_question(qtbot, second, answer)
    qtbot.waitUntil(lambda: second.pages.currentWidget() is second.outcome)
    changed = {path.name for path in before if path.read_bytes() != before[path]}
    assert changed == ({"001 Anna The first line.wav"} if answer == "Replace" else set())
    other.close()


@pytest.mark.parametrize("answer", ["Cancel", "Replace"])
def test_replacing_files_is_confirmed_before_lines_are_synthesized(
    qtbot: QtBot, settings: Settings, dialog: ExportDialog, tmp_path: Path, answer: str
) -> None:
    export(qtbot, dialog)
    other = other_project(tmp_path)
    other.apply(InsertLines(1, (Line("y", "Not spoken yet.", "Anna"),)))
    second = make(qtbot, other, settings)
    choose(second, declared.EXPORT_FOLDER, str(tmp_path / "target"))
    requested: list[list[str]] = []
    second.speak_wanted.connect(requested.append)
    second.export_button.click()
    answer_question(qtbot, second, answer)
    if answer == "Cancel":
        qtbot.waitUntil(lambda: second.pages.currentWidget() is second.outcome)
        assert requested == []
    else:
        qtbot.waitUntil(lambda: requested == [["y"]])
        speak(other, "y")
        with qtbot.waitSignal(second.exported):  # without another question
            finish(second, "y")
        assert (tmp_path / "target" / "002 Anna Not spoken yet.wav").exists()
    other.close()


def test_replacing_files_that_appear_during_synthesis_is_confirmed(
    qtbot: QtBot, dialog: ExportDialog, project: Project
) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    begin_synthesis(qtbot, dialog)
    target = dialog.form.folder
    target.mkdir()
    (target / "001 Anna Changed.wav").write_bytes(b"mine")
    speak(project, "a")
    finish(dialog, "a")
    assert "001 Anna Changed.wav" in answer_question(qtbot, dialog, "Cancel")
    qtbot.waitUntil(lambda: dialog.pages.currentWidget() is dialog.outcome)
    assert (target / "001 Anna Changed.wav").read_bytes() == b"mine"
