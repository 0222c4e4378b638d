"""What an export will make, replace and keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from speech_fakes import FakeSpeechSource, items_of

from studio.export.exporter import Exporter
from studio.export.forecast import ExportForecast, FileChange, forecast, orphan_findings
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Origin

SETTINGS = ExportSettings(
    pattern="{text}", joined_name="all", subtitles=frozenset([SubtitleFormat.SRT]), origin=Origin(("file:a",))
)


def plan_of(folder: Path, *texts: str, settings: ExportSettings = SETTINGS) -> ExportPlan:
    return ExportPlan.make(items_of(texts), folder / "out", settings)


def forecast_of(folder: Path, plan: ExportPlan) -> ExportForecast:
    return forecast(plan, journals=folder / "journals")


def export(folder: Path, plan: ExportPlan) -> None:
    Exporter(plan, FakeSpeechSource(), journals=folder / "journals").run()


def changes(found: ExportForecast) -> dict[str, str]:
    return {str(file): change.value for file, change in found.changes}


def test_all_files_of_a_first_export_are_new(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "One", "Two")
    assert changes(forecast_of(tmp_path, plan)) == dict.fromkeys(("One.wav", "Two.wav", "all.wav", "all.srt"), "new")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "journals").exists()


def test_a_repeated_export_keeps_all_files(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "One", "Two")
    export(tmp_path, plan)
    assert forecast_of(tmp_path, plan).count(FileChange.KEPT) == 4


def test_a_changed_line_replaces_its_file_and_the_joined_ones(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "One", "Two")
    export(tmp_path, plan)
    changed = replace(plan, items=(replace(plan.items[0], key="another take"), plan.items[1]))
    expected = {"One.wav": "replaced", "Two.wav": "kept", "all.wav": "replaced", "all.srt": "replaced"}
    assert changes(forecast_of(tmp_path, changed)) == expected


def test_files_of_removed_lines_are_listed_and_kept(tmp_path: Path) -> None:
    export(tmp_path, plan_of(tmp_path, "One", "Two"))
    rest = plan_of(tmp_path, "One")
    found = forecast_of(tmp_path, rest)
    assert found.orphans == (PurePosixPath("Two.wav"),)
    (finding,) = orphan_findings(found)
    assert str(finding.message) == "Files of earlier exports that this one does not contain are kept: Two.wav (1)."
    export(tmp_path, rest)
    assert (tmp_path / "out" / "Two.wav").exists()


def test_lines_outside_a_part_and_files_of_other_scripts_are_no_orphans(tmp_path: Path) -> None:
    export(tmp_path, plan_of(tmp_path, "One", "Two"))
    part = replace(SETTINGS, origin=Origin(("file:a",), "1"))
    assert forecast_of(tmp_path, plan_of(tmp_path, "One", settings=part)).orphans == ()
    other = replace(SETTINGS, origin=Origin(("file:b",)), joined_name="other")
    assert forecast_of(tmp_path, plan_of(tmp_path, "Three", settings=other)).orphans == ()
