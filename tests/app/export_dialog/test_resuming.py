"""Interrupted exports are offered to be continued, and forgotten when declined."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from export_window_child import begin_export
from setting_values import other_value
from window_bench import Bench

from studio import settings as declared
from studio.app.export_dialog.export_options import FormChoices
from studio.app.export_dialog.export_records import ExportRecords, discard_records, interrupted_exports
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.app.notifications import NotificationBar
from studio.export.presets import EXPORT_OPTIONS
from studio.project.changes import EditLines

RATE = 24_000


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "exports"


@pytest.fixture
def interrupted(bench: Bench, tmp_path: Path, records: Path) -> Bench:
    """A saved script whose export left the record of an ended process."""
    bench.open_window()
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": "A line.", "voice": "Anna"}}))
    bench.add_take(np.zeros(RATE, np.float32))
    bench.settings[declared.EXPORT_FOLDER] = str(tmp_path / "target")
    bench.run(bench.window.documents._save(tmp_path / "story.timbre"))
    task = begin_export(bench)
    bench.until(lambda: task.state is ExportState.DONE)
    bench.until(lambda: not list(records.glob("*.json")))  # a complete export leaves no record
    write_record(records, task, process_ended=True)
    for file in (tmp_path / "target").glob("*.wav"):
        file.unlink()
    return bench


def write_record(folder: Path, task: ExportTask, *, process_ended: bool) -> Path:
    """Write the record of an export by this process, or by one that has ended."""
    kept = ExportRecords(folder)
    name = kept.keep(task.order)
    assert name is not None
    kept.write(name)
    values: dict[str, Any] = json.loads((folder / name).read_text("utf-8"))
    values["process_started"] -= 1000 if process_ended else 0
    (folder / name).write_text(json.dumps(values), "utf-8")
    return folder / name


def notice(bench: Bench) -> NotificationBar:
    assert bench.window is not None
    bench.window.notices.hide()  # the notice of the complete export
    bench.parts.export_resuming.begin()
    bench.until(lambda: "interrupted" in bench.window.notices.words)
    return bench.window.notices


def test_one_click_continues_with_the_same_options(interrupted: Bench, tmp_path: Path, records: Path) -> None:
    notices = notice(interrupted)
    assert notices.words == "The export of “story” was interrupted. 1 of 1 line spoken."
    notices._offer.click()
    interrupted.until(lambda: list((tmp_path / "target").glob("*.wav")))
    interrupted.until(lambda: not list(records.iterdir()))
    assert "interrupted" not in notices.words


def test_a_record_of_an_earlier_version_is_continued(interrupted: Bench, tmp_path: Path, records: Path) -> None:
    """Earlier versions did not record whether the export waits for checks."""
    (record,) = records.glob("*.json")
    values = json.loads(record.read_text("utf-8"))
    del values["values"][declared.EXPORT_WAITS_FOR_CHECKS.key]
    record.write_text(json.dumps(values), "utf-8")
    notice(interrupted)._offer.click()
    interrupted.until(lambda: list((tmp_path / "target").glob("*.wav")))


def test_a_record_keeps_every_choice(interrupted: Bench, records: Path) -> None:
    values = {setting: other_value(setting) for setting in EXPORT_OPTIONS}
    choices = FormChoices(values, "all", "1-3", replaces_files=True)
    task = begin_export(interrupted)
    interrupted.until(lambda: task.state is ExportState.DONE)
    task.order = replace(task.order, choices=choices, replaceable=frozenset({PurePosixPath("one/a.wav")}))
    discard_records(records.glob("*.json"))
    path = write_record(records, task, process_ended=True)
    (found,) = interrupted_exports(records)
    order, project = task.order, task.order.project
    assert found.record == path
    assert (found.name, found.folder, found.project_path) == (order.name, order.folder, project.path)
    assert found.line_ids == tuple(line.id for line in order.lines)
    assert found.belongs_to(project)
    assert found.choices == choices
    assert found.replaceable == order.replaceable


def test_a_declined_export_is_forgotten(interrupted: Bench, tmp_path: Path, records: Path) -> None:
    notices = notice(interrupted)
    (decline,) = notices._others
    assert decline.text() == "Don't continue"
    decline.click()
    interrupted.until(lambda: not list(records.iterdir()))
    assert not list((tmp_path / "target").glob("*.wav"))
    assert notices.words == ""


@pytest.mark.slow
def test_a_saved_script_is_opened_for_it(interrupted: Bench, tmp_path: Path) -> None:
    interrupted.window.documents.new()
    interrupted.until(lambda: interrupted.session.editor.project.path is None)
    notices = notice(interrupted)
    assert notices._offer.text() == "Open and continue"
    notices._offer.click()
    interrupted.until(lambda: list((tmp_path / "target").glob("*.wav")))
    assert interrupted.session.editor.project.path == tmp_path / "story.timbre"


def test_an_export_by_hand_replaces_it(interrupted: Bench, records: Path) -> None:
    notice(interrupted)
    begin_export(interrupted)
    interrupted.until(lambda: not list(records.iterdir()))


def test_running_exports_and_damaged_records_are_not_offered(interrupted: Bench, records: Path) -> None:
    (old,) = records.iterdir()
    task = interrupted.session.parts.exports.current
    assert task is not None
    running = write_record(records, task, process_ended=False)
    damaged = records / "damaged.json"
    damaged.write_text("{", "utf-8")
    assert [each.record for each in interrupted_exports(records)] == [old]
    assert running.exists()
    assert not damaged.exists()
