"""The export dialog for scripts with times in a video."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from export_bench import RATE, ExportBench, speak
from PySide6.QtGui import QStandardItem, QStandardItemModel
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.project.changes import CompositeChange, EditDetails, EditLines
from studio.project.lines import Slot
from studio.project.project import Project
from studio.settings_store import Settings


def is_offered(exporting: ExportBench) -> bool:
    return exporting.dialog.form.editor(declared.EXPORT_PLACEMENT).control.isVisibleTo(exporting.dialog)


def test_a_script_without_times_ignores_the_stored_choice(qtbot: QtBot, project: Project, settings: Settings) -> None:
    settings.change({declared.EXPORT_PLACEMENT: "times", declared.EXPORT_FILES: "joined"})
    exporting = ExportBench(qtbot, project, settings)
    assert not is_offered(exporting)
    exporting.export()
    assert exporting.task.state.is_over


@pytest.mark.parametrize("placement", ["times", "characters", "languages"])
def test_lines_are_exported_at_their_times(qtbot: QtBot, project: Project, settings: Settings, placement: str) -> None:
    project.apply(
        EditLines(
            {
                "a": {"slot": Slot(0.5, 1.0), "character": "Mira"},
                "b": {"slot": Slot(5.25, 6.0), "character": "Bo", "text": "第二行。"},
            }
        )
    )
    speak(project, "b")
    exporting = ExportBench(qtbot, project, settings)
    assert is_offered(exporting)
    for setting, value in (
        (declared.EXPORT_FILES, "joined"),
        (declared.EXPORT_PLACEMENT, placement),
        (declared.EXPORT_ENCODING, "wav32f"),
        (declared.EXPORT_SAMPLE_RATE, RATE),
    ):
        editor = exporting.dialog.form.editor(setting)
        editor.set_value(value)
        editor.changed.emit()
    assert is_offered(exporting)
    exporting.dialog.form.joined_name.setText("dub")
    task = exporting.export()
    names = {"times": ["dub"], "characters": ["dub Bo", "dub Mira"], "languages": ["dub en", "dub zh"]}[placement]
    assert sorted(path.stem for path in task.order.folder.iterdir()) == names
    parts = [soundfile.read(task.order.folder / f"{name}.wav", dtype="float32") for name in names]
    rate = parts[0][1]
    mixed = sum(samples for samples, _ in parts)
    for line_id, seconds in (("a", 0.5), ("b", 5.25)):
        take = project.chosen_take(line_id)
        assert take is not None
        heard, start = project.samples_of(take.id), round(seconds * rate)
        np.testing.assert_array_equal(mixed[start : start + len(heard)], heard)
    assert not mixed[: round(0.5 * rate)].any()


@pytest.mark.usefixtures("no_spare_silence")
def test_takes_that_are_too_long_are_listed_before_the_export(
    qtbot: QtBot, project: Project, settings: Settings
) -> None:
    project.apply(EditLines({"a": {"slot": Slot(0.5, 0.6)}, "b": {"slot": Slot(5.0, 9.0)}}))
    settings.change({declared.EXPORT_PLACEMENT: "times", declared.EXPORT_FILES: "joined"})
    dialog = ExportBench(qtbot, project, settings).dialog
    qtbot.waitUntil(dialog.findings.isVisible)
    assert [words.partition(":")[0] for words in dialog.findings.texts if "Too long for the slot" in words] == [
        "Line 1"
    ]
    assert not dialog.form.editor(declared.EXPORT_HAS_ONE_PAUSE).control.isVisible(), "the times decide, not pauses"


def test_the_preset_for_a_dub_track_writes_one_file_at_the_times(
    qtbot: QtBot, project: Project, settings: Settings
) -> None:
    assert not dub_preset(ExportBench(qtbot, project, settings)).isEnabled()
    project.apply(EditLines({"a": {"slot": Slot(0.5, 1.0)}, "b": {"slot": Slot(5.25, 6.0)}}))
    speak(project, "b")
    exporting = ExportBench(qtbot, project, settings)
    assert dub_preset(exporting).isEnabled()
    form = exporting.dialog.form
    form.preset.setCurrentIndex(dub_preset(exporting).row())
    form.preset.activated.emit(form.preset.currentIndex())
    assert form.preset.currentData().name == "dub"
    form.joined_name.setText("dub")
    task = exporting.export()
    (track,) = task.order.folder.iterdir()
    samples, rate = soundfile.read(track, dtype="float32")
    assert rate == 48_000
    start = int(np.flatnonzero(np.abs(samples) > 1e-4)[0])
    assert start / rate == pytest.approx(0.5, abs=0.01)


def test_the_preset_for_dub_tracks_writes_one_file_per_character_as_long_as_the_video(
    qtbot: QtBot, project: Project, settings: Settings, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "film.wav", np.zeros(8 * 16_000 + 4_000, np.float32), 16_000)
    details = replace(project.script.details, guide_track=str(tmp_path / "film.wav"))
    lines = EditLines(
        {"a": {"slot": Slot(0.5, 1.0), "character": "Mira"}, "b": {"slot": Slot(5.25, 6.0), "character": "To\u00adm"}}
    )
    project.apply(CompositeChange((EditDetails(details), lines)))
    speak(project, "b")
    exporting = ExportBench(qtbot, project, settings)
    form = exporting.dialog.form
    form.preset.setCurrentIndex(dub_preset(exporting, "dub-characters").row())
    form.preset.activated.emit(form.preset.currentIndex())
    form.joined_name.setText("dub")
    task = exporting.export()
    tracks = sorted(task.order.folder.iterdir())
    assert [track.name for track in tracks] == ["dub Mira.wav", "dub Tom.wav"]
    assert [(soundfile.info(track).frames, soundfile.info(track).samplerate) for track in tracks] == [
        (396_000, 48_000)
    ] * 2


def dub_preset(exporting: ExportBench, name: str = "dub") -> QStandardItem:
    preset = exporting.dialog.form.preset
    model = preset.model()
    assert isinstance(model, QStandardItemModel)
    row = next(row for row in range(preset.count()) if getattr(preset.itemData(row), "name", "") == name)
    return model.item(row)


def test_the_dub_preset_is_proposed_for_new_subtitles(qtbot: QtBot, project: Project, settings: Settings) -> None:
    project.apply(EditLines({"a": {"slot": Slot(0.5, 1.0)}, "b": {"slot": Slot(5.25, 6.0)}}))
    exporting = ExportBench(qtbot, project, settings)
    form = exporting.dialog.form
    assert form.preset.currentData().name == "dub"
    form.editor(declared.EXPORT_FILES).set_value("lines")
    form.editor(declared.EXPORT_FILES).changed.emit()
    exporting.export()
    again = ExportBench(qtbot, project, settings).dialog.form
    assert again.preset.currentData() is None, "the last choice for this script stays"
    assert again.values[declared.EXPORT_FILES] == "lines"


def test_the_stored_choice_of_original_times_is_kept(qtbot: QtBot, project: Project, settings: Settings) -> None:
    project.apply(EditLines({"a": {"slot": Slot(0.5, 1.0)}, "b": {"slot": Slot(5.25, 6.0)}}))
    settings.change({declared.EXPORT_PLACEMENT: "characters", declared.EXPORT_FILES: "both"})
    values = ExportBench(qtbot, project, settings).dialog.form.values
    assert (values[declared.EXPORT_PLACEMENT], values[declared.EXPORT_FILES]) == ("characters", "both")
