"""The export dialog: name preview, stored options, the check before an export, and questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from event_loop_monitor import MAX_STALL_SECONDS, EventLoopMonitor
from export_bench import RATE, ExportBench, choose, speak
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.app.export_dialog.dialog import DEFAULT_SIZE, ExportDialog
from studio.app.export_dialog.export_options import KnownVoicesAndStyles, default_folder
from studio.app.export_dialog.export_task import ExportState
from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.widgets.screen_fit import ScrolledPage
from studio.errors import VoiceNotFound
from studio.export.presets import EXPORT_OPTIONS, PRESETS, ExportPreset
from studio.project.changes import EditDetails, EditLines, InsertLines
from studio.project.lines import Heading, Line, LineStyle
from studio.project.project import Project
from studio.settings_store import Settings

Report = Callable[[QWidget], str]  # returns the text that "Copy report" copies


@pytest.fixture
def dialog(exporting: ExportBench) -> ExportDialog:
    return exporting.dialog


def names(dialog: ExportDialog) -> list[str]:
    model = dialog.preview.list.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


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


def test_only_options_that_have_an_effect_are_shown(dialog: ExportDialog) -> None:
    def is_shown(setting: object) -> bool:
        return dialog.form.editor(setting).control.isVisibleTo(dialog)  # type: ignore[arg-type]

    assert not is_shown(declared.EXPORT_LUFS)
    choose(dialog, declared.EXPORT_MATCHES_LOUDNESS, True)
    assert is_shown(declared.EXPORT_LUFS)
    choose(dialog, declared.EXPORT_FILES, "joined")
    assert not is_shown(declared.EXPORT_PATTERN)
    assert not is_shown(declared.EXPORT_PAUSE_SECONDS)
    choose(dialog, declared.EXPORT_HAS_ONE_PAUSE, True)
    assert is_shown(declared.EXPORT_PAUSE_SECONDS)
    choose(dialog, declared.EXPORT_STANDARD, "acx")
    assert not is_shown(declared.EXPORT_LUFS)
    loudness = dialog.form.editor(declared.EXPORT_MATCHES_LOUDNESS).control
    assert loudness.text() == "Same loudness for all lines"  # type: ignore[attr-defined]
    dialog.form.show_times(True)
    choose(dialog, declared.EXPORT_PLACEMENT, "times")
    assert not is_shown(declared.EXPORT_STANDARD)
    choose(dialog, declared.EXPORT_FILES, "chapters")
    assert is_shown(declared.EXPORT_STANDARD)
    assert not is_shown(declared.EXPORT_PLACEMENT)


def test_the_default_folder_is_beside_the_project_file(tmp_path: Path, project: Project) -> None:
    project.save(tmp_path / "Talk.timbre")
    assert default_folder(project, "", "Talk") == tmp_path / "Talk sound"
    assert default_folder(project, "/elsewhere", "Talk") == Path("/elsewhere")


def test_the_folder_field_spans_the_dialog(qtbot: QtBot, dialog: ExportDialog) -> None:
    dialog.resize(*DEFAULT_SIZE)
    qtbot.wait(1)
    field = dialog.form.editor(declared.EXPORT_FOLDER).control
    assert field.width() > dialog.form.width()


def answer_question(qtbot: QtBot, dialog: ExportDialog, words: str) -> str:
    """Click the button with the text ``words`` and return the text of the question."""
    qtbot.waitUntil(lambda: any(box.isVisible() for box in dialog.findChildren(QMessageBox)))
    (box,) = dialog.findChildren(QMessageBox)
    text = box.informativeText()
    next(each for each in box.buttons() if each.text().replace("&", "") == words).click()
    return text


def test_files_of_other_programs_are_replaced_only_if_allowed(qtbot: QtBot, exporting: ExportBench) -> None:
    dialog, target = exporting.dialog, exporting.dialog.form.folder
    target.mkdir()
    (target / "001 Anna The first line.wav").write_bytes(b"mine")
    dialog.export_button.click()
    answer_question(qtbot, dialog, "Cancel")
    assert exporting.exports.current is None
    assert dialog.isVisible()
    assert dialog.export_button.isEnabled()
    assert (target / "001 Anna The first line.wav").read_bytes() == b"mine"
    dialog.form.replace_files.setChecked(True)
    exporting.export()
    assert soundfile.info(target / "001 Anna The first line.wav").frames == RATE // 2


def test_the_default_name_pattern_fits_into_its_field(qtbot: QtBot, dialog: ExportDialog) -> None:
    dialog.resize(dialog.minimumSizeHint())
    dialog.show()
    qtbot.waitExposed(dialog)
    field = dialog.form.editor(declared.EXPORT_PATTERN).control
    assert isinstance(field, QLineEdit)
    assert field.fontMetrics().horizontalAdvance(field.text()) < field.width()


def test_fields_are_inserted_at_the_cursor(dialog: ExportDialog) -> None:
    field = dialog.form.editor(declared.EXPORT_PATTERN).control
    field.setText("take ")  # type: ignore[attr-defined]
    (button,) = [found for found in dialog.form.findChildren(QToolButton) if found.menu()]
    button.menu().actions()[0].trigger()
    assert field.text() == "take {index}"  # type: ignore[attr-defined]


def test_exported_lines_equal_their_takes(exporting: ExportBench, project: Project) -> None:
    choose(exporting.dialog, declared.EXPORT_ENCODING, "wav32f")
    task = exporting.export()
    heard = project.samples_of(project.chosen_take("a").id)  # type: ignore[union-attr]
    file = task.order.folder / "001 Anna The first line.wav"
    np.testing.assert_array_equal(soundfile.read(file, dtype="float32")[0], heard)
    details = exporting.details(task)
    assert details.outcome.title.text() == "Export finished"
    assert "2 files written" in details.outcome.details.text()
    assert details.outcome.open_folder.isEnabled()
    exporting.open()
    details = exporting.details(exporting.export())
    assert details.outcome.details.text() == "0 files written. 2 files up to date."


@pytest.mark.parametrize("files", ["chapters", "audiobook"])
def test_the_chapters_of_a_book_are_shown_and_checked(exporting: ExportBench, project: Project, files: str) -> None:
    details = replace(project.script.details, title="Harbour", author="Jane Writer", narrator="Anna")
    project.apply(EditDetails(details))
    project.apply(EditLines({"a": {"heading": Heading.CHAPTER}, "b": {"heading": Heading.CHAPTER}}))
    dialog = exporting.open()
    assert not dialog.book.isVisible()
    choose(dialog, declared.EXPORT_FILES, files)
    choose(dialog, declared.EXPORT_STANDARD, "acx")
    exporting.qtbot.waitUntil(dialog.book.isVisible)
    assert dialog.book.words.text().splitlines()[:2] == ["Harbour, Jane Writer", "Read by Anna"]
    titles = [dialog.book.chapters.item(row).text() for row in range(dialog.book.chapters.count())]
    assert [title.partition(" (")[0] for title in titles] == ["The first line.", "The second line."]
    with exporting.qtbot.waitSignal(dialog.book_wanted):
        dialog.book.edit_button.click()
    result = exporting.details(exporting.export()).outcome
    assert not result.check_levels.isVisible()
    assert result.levels is not None
    exporting.qtbot.waitUntil(lambda: not result.levels.is_busy, timeout=20_000)
    assert result.levels.table.rowCount() == 2
    names = [result.levels.table.item(row, 0).text() for row in range(2)]
    assert result.levels.table.horizontalHeaderItem(0).text() == ("File" if files == "chapters" else "Chapter")
    assert files == "chapters" or names == ["The first line.", "The second line."]
    verdicts = [result.levels.table.item(row, 1).text() for row in range(2)]
    assert all(verdict.startswith(("✓", "✗")) for verdict in verdicts)


def test_only_the_selected_lines_are_exported(qtbot: QtBot, project: Project, settings: Settings) -> None:
    exporting = ExportBench(qtbot, project, settings, selected_ids=("b",))
    dialog = exporting.dialog
    assert dialog.form.all_lines.isChecked(), "a single selected line is ignored"
    dialog.form.selected_lines.setChecked(True)
    qtbot.waitUntil(lambda: names(dialog) == ["002 Ben The second line.wav"])
    task = exporting.export()
    assert [path.name for path in task.order.folder.iterdir()] == ["002 Ben The second line.wav"]
    assert exporting.open(selected_ids=("a", "b")).form.selected_lines.isChecked()


def test_options_are_remembered(exporting: ExportBench, settings: Settings) -> None:
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
        choose(exporting.dialog, setting, value)
    exporting.export()
    exporting.settings = Settings(settings.path)
    again = exporting.open()
    assert {setting: again.form.values[setting] for setting in export_options} == export_options
    assert set(again.form.values) == set(EXPORT_OPTIONS)


def test_an_export_begins_with_a_disclaimer(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    """It is spoken in the voice of the first line, and does not become a line of the script."""
    choose(exporting.dialog, declared.EXPORT_HAS_DISCLAIMER, True)
    qtbot.waitUntil(lambda: len(names(exporting.dialog)) == 3)
    assert names(exporting.dialog)[0].startswith("000 Anna The following recording was")
    num_lines = len(project.lines)
    qtbot.waitUntil(exporting.dialog.export_button.isEnabled)
    exporting.dialog.export_button.click()
    qtbot.waitUntil(lambda: bool(exporting.queue.waiting))
    assert [job.line_id for job in exporting.queue.waiting] == ["disclaimer"]
    exporting.queue.finish("disclaimer")
    qtbot.waitUntil(lambda: exporting.task.state.is_over)
    assert exporting.task.state is ExportState.DONE, exporting.task.error
    assert sorted(path.name for path in exporting.task.order.folder.iterdir())[0].startswith("000 Anna")
    assert len(project.lines) == num_lines
    assert exporting.settings[declared.EXPORT_HAS_DISCLAIMER] is True


def test_no_disclaimer_delays_lines_with_times(dialog: ExportDialog) -> None:
    disclaimer = dialog.form.editor(declared.EXPORT_HAS_DISCLAIMER).control
    choose(dialog, declared.EXPORT_FILES, "joined")
    assert disclaimer.isVisibleTo(dialog)
    dialog.form.show_times(True)
    choose(dialog, declared.EXPORT_PLACEMENT, "times")
    assert not disclaimer.isVisibleTo(dialog)


def test_presets_keep_the_disclaimer() -> None:
    assert not any(declared.EXPORT_HAS_DISCLAIMER in preset.values for preset in PRESETS)


def test_lines_without_a_fresh_take_may_be_left_out(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    exporting.dialog.on_lines_changed()
    exporting.dialog.form.leave_out.setChecked(True)
    qtbot.waitUntil(lambda: names(exporting.dialog) == ["002 Ben The second line.wav"])
    task = exporting.export()
    assert [path.name for path in task.order.folder.iterdir()] == ["002 Ben The second line.wav"]


def test_only_the_first_lines_of_a_long_script_are_previewed(
    qtbot: QtBot, project: Project, settings: Settings
) -> None:
    lines = tuple(Line(f"long{number}", f"Line {number}.", "Anna") for number in range(1, 1501))
    project.apply(InsertLines(3, lines))
    settings[declared.EXPORT_FILES] = "both"
    dialog = ExportBench(qtbot, project, settings).dialog
    shown = names(dialog)
    assert shown[0] == "0001 Anna The first line.wav"
    assert len(shown) == 202
    assert shown[-2:] == ["… and 1302 more lines", "Script.wav"]
    assert "1503" in dialog.preview.label.text()


@pytest.mark.slow
def test_the_window_responds_during_an_export(qtbot: QtBot, project: Project, settings: Settings) -> None:
    """The export normalises the loudness of sixty lines."""
    lines = tuple(Line(f"beat{number}", f"Line {number}.", "Anna") for number in range(60))
    project.apply(InsertLines(3, lines))
    for line in lines:
        speak(project, line.id)
    settings[declared.EXPORT_MATCHES_LOUDNESS] = True
    settings[declared.EXPORT_FILES] = "both"
    exporting = ExportBench(qtbot, project, settings)
    import scipy.signal  # noqa: F401 - its slow import is not measured

    monitor = EventLoopMonitor()
    task = exporting.export()
    words = monitor.stop()
    print("\nstalls:", words)  # noqa: T201 - pytest -rA shows it
    assert task.state is ExportState.DONE
    assert max(monitor.stalls) < MAX_STALL_SECONDS, words


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
    first = ExportBench(qtbot, project, settings)
    choose(first.dialog, declared.EXPORT_FILES, "both")
    folder = first.export().order.folder
    exported = {path: path.read_bytes() for path in folder.rglob("*.wav")}
    assert len(exported) == 3
    other = other_project(tmp_path)
    monkeypatch.setattr(Project, "begun", project.begun)  # created in the same second
    second = ExportBench(qtbot, other, settings)
    choose(second.dialog, declared.EXPORT_FILES, "both")
    assert second.export().order.folder != folder
    assert {path: path.read_bytes() for path in exported} == exported
    assert settings[declared.EXPORT_FOLDER] == ""
    assert first.open().form.folder == folder
    other.close()


def test_each_unsaved_script_gets_a_subfolder_of_the_remembered_folder(
    qtbot: QtBot, settings: Settings, exporting: ExportBench, tmp_path: Path
) -> None:
    exporting.export()
    other = other_project(tmp_path)
    second = ExportBench(qtbot, other, settings)
    assert second.export().order.folder.parent == tmp_path / "target"
    assert settings[declared.EXPORT_FOLDER] == str(tmp_path / "target")
    other.close()


@pytest.mark.parametrize("answer", ["Cancel", "Replace"])
def test_replacing_files_of_another_script_is_confirmed_before_synthesis(
    qtbot: QtBot, settings: Settings, exporting: ExportBench, tmp_path: Path, answer: str
) -> None:
    exporting.export()
    target = tmp_path / "target"
    before = {path: path.read_bytes() for path in target.iterdir()}
    other = other_project(tmp_path)
    other.apply(InsertLines(1, (Line("y", "Not spoken yet.", "Anna"),)))
    second = ExportBench(qtbot, other, settings)
    choose(second.dialog, declared.EXPORT_FOLDER, str(target))
    choose(second.dialog, declared.EXPORT_SAMPLE_RATE, 48_000)
    second.dialog.export_button.click()
    assert "001 Anna The first line.wav" in answer_question(qtbot, second.dialog, answer)
    if answer == "Replace":
        second.wait_for_jobs("y")
        second.queue.finish("y")
        second.wait_until_ended(second.task)
    else:
        assert second.queue.jobs == []
    changed = {path.name for path in before if path.read_bytes() != before[path]}
    assert changed == ({"001 Anna The first line.wav"} if answer == "Replace" else set())
    other.close()


# The check.


def find_voice(name: str) -> None:
    if name != "Ben":
        raise VoiceNotFound("There is no voice named {name}.", remedy="Add it.", name=name)


@pytest.fixture
def unknown_voices(qtbot: QtBot, project: Project, settings: Settings) -> ExportBench:
    """Three of four lines have voices that do not exist, one of these has a take."""
    project.apply(EditLines({"b": {"text": "Changed."}, "c": {"text": "New.", "voice": "Mira"}}))
    project.apply(InsertLines(3, (Line("d", "Last.", "Mira", style=LineStyle(preset="emotion.happy")),)))
    known = KnownVoicesAndStyles(find_voice, has_style=lambda style: not style.preset)
    return ExportBench(qtbot, project, settings, known=known)


def test_what_would_fail_is_listed_before_the_export(qtbot: QtBot, unknown_voices: ExportBench) -> None:
    dialog = unknown_voices.dialog
    qtbot.waitUntil(dialog.findings.isVisible)
    assert dialog.findings.texts == [
        "Lines 3–4: There is no voice named Mira. Add it.",
        "Line 4: Spoken without their style: the model does not support it.",
    ]
    assert not dialog.export_button.isEnabled()
    with qtbot.waitSignal(dialog.lines_wanted) as wanted:
        dialog.findings.show_lines.click()
    assert wanted.args == [["c", "d"]]


def test_the_other_lines_are_exported_after_one_click(qtbot: QtBot, unknown_voices: ExportBench) -> None:
    dialog = unknown_voices.dialog
    qtbot.waitUntil(dialog.findings.isVisible)
    assert dialog.findings.skip.text() == "Skip 2 lines that would fail"
    dialog.findings.skip.click()
    qtbot.waitUntil(dialog.export_button.isEnabled)
    assert names(dialog) == ["001 Anna The first line.wav", "002 Ben Changed.wav"]
    task = unknown_voices.begin()
    unknown_voices.wait_for_jobs("b")
    unknown_voices.queue.finish("b")
    unknown_voices.wait_until_ended(task)
    assert len(list(task.order.folder.iterdir())) == 2


def test_adding_the_voice_removes_the_finding(qtbot: QtBot, unknown_voices: ExportBench, project: Project) -> None:
    dialog = unknown_voices.dialog
    qtbot.waitUntil(dialog.findings.isVisible)
    project.apply(EditLines({"c": {"voice": "Ben"}, "d": {"voice": "Ben", "style": LineStyle()}}))
    dialog.on_lines_changed()
    qtbot.waitUntil(lambda: not dialog.findings.isVisible())
    assert dialog.export_button.isEnabled()


def test_a_problem_found_at_the_last_moment_keeps_the_dialog_open(
    qtbot: QtBot, unknown_voices: ExportBench, project: Project
) -> None:
    """The lines change while the dialog is open, and "Export" is clicked before the list is updated."""
    dialog = unknown_voices.dialog
    project.apply(EditLines({"c": {"voice": "Ben"}, "d": {"voice": "Ben"}}))
    dialog.on_lines_changed()
    qtbot.waitUntil(dialog.export_button.isEnabled)
    project.apply(EditLines({"d": {"voice": "Mira"}}))
    dialog.start()
    qtbot.waitUntil(lambda: "Line 4: There is no voice named Mira. Add it." in dialog.findings.texts)
    assert dialog.isVisible()
    assert unknown_voices.exports.current is None


def test_notes_are_not_exported(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    project.apply(EditLines({"c": {"text": "She enters.", "is_spoken": False}}))
    exporting.dialog.on_lines_changed()
    task = exporting.export()
    assert len(list(task.order.folder.iterdir())) == 2


def test_rows_of_sounds_are_reported_before_and_after_the_export(
    qtbot: QtBot, exporting: ExportBench, project: Project
) -> None:
    project.apply(EditLines({"c": {"text": "(coughs)", "is_spoken": False, "file_name": "vo/c"}}))
    exporting.dialog.on_lines_changed()
    words = "Line 3: Not exported: sounds and stage directions are not spoken."
    qtbot.waitUntil(lambda: words in exporting.dialog.findings.texts)
    task = exporting.export()
    assert task.num_silent == 1
    assert "1 sound or direction not exported." in exporting.details(task).outcome.details.text()


def test_an_unwritable_folder_is_reported_before_lines_are_synthesized(
    qtbot: QtBot, exporting: ExportBench, project: Project, report_of: Report, tmp_path: Path
) -> None:
    project.apply(EditLines({"a": {"text": "Changed."}}))
    (tmp_path / "a file").write_bytes(b"not a folder")
    dialog = exporting.dialog
    choose(dialog, declared.EXPORT_FOLDER, str(tmp_path / "a file" / "target"))
    dialog.export_button.click()
    qtbot.waitUntil(dialog.findings.isVisible)
    assert str(tmp_path / "a file" / "target") in dialog.findings.texts[0]
    assert report_of(dialog).startswith("error: cannot-write\n")
    assert not dialog.export_button.isEnabled()
    assert exporting.queue.jobs == []


def test_a_disk_without_enough_space_is_reported_before_lines_are_synthesized(
    qtbot: QtBot, exporting: ExportBench, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio.export.checks import check_space

    monkeypatch.setattr(check_space, "__kwdefaults__", {"takes_folder": None, "free": lambda _: 1000})
    project.apply(EditLines({"a": {"text": "Changed."}}))
    exporting.dialog.export_button.click()
    qtbot.waitUntil(exporting.dialog.findings.isVisible)
    assert "MB are free in" in exporting.dialog.findings.texts[0]
    assert exporting.queue.jobs == []


def icons_and_names(dialog: ExportDialog) -> list[str]:
    model = dialog.preview.list.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(model.rowCount())]


def test_the_list_shows_what_is_made_replaced_and_kept(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    exporting.export()
    project.apply(EditLines({"a": {"file_name": "renamed"}, "c": {"text": "New."}}))
    speak(project, "b")  # another take
    dialog = exporting.open()
    qtbot.waitUntil(lambda: dialog.preview.label.text() == "3 files: 2 new, 1 replaced")
    assert icons_and_names(dialog) == [
        "renamed.wav\nnew",
        "002 Ben The second line.wav\nwill be replaced",
        "003 Ben New.wav\nnew",
        "001 Anna The first line.wav\nof an earlier export; kept",
    ]
    assert "001 Anna The first line.wav (1)" in dialog.findings.texts[0]
    assert dialog.export_button.isEnabled()


def test_the_list_can_be_limited_to_changes(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    exporting.export()
    speak(project, "b")
    dialog = exporting.open()
    qtbot.waitUntil(lambda: dialog.preview.label.text() == "2 files: 1 replaced, 1 up to date")
    dialog.preview.only_changes.click()
    assert names(dialog) == ["002 Ben The second line.wav"]
    task = exporting.export()
    assert task.result is not None
    assert task.result.num_made == 1


def choose_preset(dialog: ExportDialog, words: str) -> None:
    combo = dialog.form.preset
    (row,) = [row for row in range(combo.count()) if words in combo.itemText(row)]
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def test_a_preset_sets_the_options(qtbot: QtBot, dialog: ExportDialog) -> None:
    assert dialog.form.preset.currentText() == "Custom"
    choose_preset(dialog, "Podcast")
    values = dialog.form.values
    assert (values[declared.EXPORT_ENCODING], values[declared.EXPORT_LUFS]) == ("mp3-192", -16.0)
    qtbot.waitUntil(lambda: names(dialog) == ["Script.mp3"])
    choose(dialog, declared.EXPORT_LUFS, -18.0)
    assert dialog.form.preset.currentText() == "Custom"
    choose(dialog, declared.EXPORT_LUFS, -16.0)
    assert "Podcast" in dialog.form.preset.currentText()


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_can_be_exported(qtbot: QtBot, exporting: ExportBench, preset: ExportPreset) -> None:
    exporting.dialog.form.show_times(has_times=preset.needs_times)
    choose_preset(exporting.dialog, str(preset.title))
    assert exporting.dialog.form.preset.currentData() is preset
    task = exporting.export()
    assert task.state is ExportState.DONE, task.error


@pytest.mark.slow
def test_chapters_are_exported_to_their_own_files(qtbot: QtBot, exporting: ExportBench, project: Project) -> None:
    heading = Line("h", "The harbour", "Anna", heading=Heading.CHAPTER)
    project.apply(InsertLines(0, (heading,)))
    speak(project, "h")
    exporting.dialog.on_lines_changed()
    choose_preset(exporting.dialog, "per chapter")
    qtbot.waitUntil(lambda: names(exporting.dialog) == ["01 The harbour.mp3"])
    task = exporting.export()
    assert [path.name for path in task.order.folder.iterdir()] == ["01 The harbour.mp3"]


def test_each_project_has_a_folder_of_its_own(
    qtbot: QtBot, settings: Settings, project: Project, tmp_path: Path
) -> None:
    project.save(tmp_path / "One.timbre")
    first = ExportBench(qtbot, project, settings)
    choose(first.dialog, declared.EXPORT_FOLDER, str(tmp_path / "of one"))
    first.export()
    other = other_project(tmp_path)
    other.save(tmp_path / "Two.timbre")
    second = ExportBench(qtbot, other, settings)
    assert second.dialog.form.folder == tmp_path / "Two sound", "the folder of the other project is not proposed"
    choose(second.dialog, declared.EXPORT_FOLDER, str(tmp_path / "of two"))
    second.export()
    assert first.open().form.folder == tmp_path / "of one"
    assert second.open().form.folder == tmp_path / "of two"
    other.close()


def test_the_dialog_fits_at_1280_by_800(qtbot: QtBot, qapp: QApplication, unknown_voices: ExportBench) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    dialog = unknown_voices.dialog
    dialog.resize(*DEFAULT_SIZE)
    qtbot.waitUntil(dialog.findings.isVisible)
    (page,) = dialog.findChildren(ScrolledPage)
    layout = page.widget().layout()
    assert layout is not None
    assert layout.minimumSize().height() <= page.viewport().height()
    assert DEFAULT_SIZE[1] <= 740
    dialog.resize(1100, 700)
    assert page.horizontalScrollBar().maximum() == 0
    assert dialog.minimumSizeHint().width() <= 1100
    for size in ((800, 720), (640, 360)):
        dialog.resize(*size)
        qtbot.wait(1)
        assert page.horizontalScrollBar().maximum() == 0, size


def test_an_audiobook_without_chapters_is_noted(qtbot: QtBot, project: Project, settings: Settings) -> None:
    settings.change({declared.EXPORT_FILES: "chapters"})
    without = ExportBench(qtbot, project, settings).dialog
    qtbot.waitUntil(lambda: any("has no chapters" in words for words in without.findings.texts))
    project.apply(EditLines({project.lines[0].id: {"heading": Heading.CHAPTER}}))
    dialog = ExportBench(qtbot, project, settings).dialog
    qtbot.waitUntil(dialog.export_button.isEnabled)
    assert not any("has no chapters" in words for words in dialog.findings.texts)


def test_subtitles_beside_one_file_per_line_are_noted(qtbot: QtBot, project: Project, settings: Settings) -> None:
    """Their times are those of a file that is not exported."""
    settings.change({declared.EXPORT_FILES: "lines", declared.EXPORT_SUBTITLES: "srt"})
    dialog = ExportBench(qtbot, project, settings).dialog
    qtbot.waitUntil(lambda: any("one file of all lines" in words for words in dialog.findings.texts))
    choose(dialog, declared.EXPORT_FILES, "both")
    qtbot.waitUntil(lambda: not any("one file of all lines" in words for words in dialog.findings.texts))
