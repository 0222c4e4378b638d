"""Details of lines, takes and the project: stored, restored, undone, and absent from files of earlier versions."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from project_samples import RATE, insert, parameters, speak

from studio.errors import UnusableSetting
from studio.project import database
from studio.project.changes import AddTake, EditDetails, EditLines, EditTakes
from studio.project.details import CastMember, ProjectDetails
from studio.project.lines import Heading, Line, LineState, LineStyle, Slot
from studio.project.project import Project
from studio.storage import sqlite

DETAILS = ProjectDetails(
    title="The Harbour",
    author="A. Writer",
    narrator="N. Reader",
    cover=b"\xff\xd8\xff",
    cast={"mira": CastMember("Anna", LineStyle(preset="emotion.happy")), "bandit": CastMember()},
    columns=("ID", "Text", "Notes"),
    guide_track="/videos/harbour.mp4",
)
LINE = {
    "character": "Mira",
    "heading": Heading.CHAPTER,
    "is_spoken": False,
    "note": "slower",
    "slot": Slot(1.25, 2.5),
    "gain_db": -3.0,
    "fade_in_seconds": 0.1,
    "fade_out_seconds": 0.5,
    "columns": {"ID": "d0001", "备注": "慢"},
}


def test_details_are_the_same_after_saving_and_opening(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id, seconds=1.0)
    project.apply(EditLines({line_id: LINE}))
    project.apply(EditDetails(DETAILS))
    project.apply(EditTakes({take.id: {"trim_start_seconds": 0.1, "trim_end_seconds": 0.2}}))
    path = tmp_path / "a.timbre"
    project.save(path)
    with Project.open(path, drafts) as opened:
        assert opened.script == project.script
        assert opened.notice is None
        assert opened.script.details == DETAILS
        assert {name: getattr(opened.line(line_id), name) for name in LINE} == LINE
        assert opened.take(take.id).trim_end_seconds == 0.2


def test_details_of_a_draft_are_recovered(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    project.apply(EditLines({line_id: LINE}))
    project.apply(EditDetails(DETAILS))
    script = project.script
    project.close(keeps_draft=True)
    with Project.recover(project.draft_path) as recovered:
        assert recovered.script == script


def test_every_change_of_details_can_be_undone(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id, seconds=1.0)
    before = project.script
    inverses = [
        project.apply(change)
        for change in (
            EditLines({line_id: LINE}),
            EditDetails(DETAILS),
            EditTakes({take.id: {"trim_start_seconds": 0.1, "trim_end_seconds": 0.2}}),
        )
    ]
    for inverse in reversed(inverses):
        project.apply(inverse)
    assert project.script == before


def test_a_file_of_the_first_version_opens_with_default_details(drafts: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.timbre"
    with contextlib.closing(sqlite.connect(path)) as connection, sqlite.transaction(connection):
        connection.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        sqlite.migrate(connection, database._MIGRATIONS[:1])
        connection.execute(
            "INSERT INTO lines VALUES ('a', 1, 'Hello.', 'Anna', NULL, NULL, 1.25, 7, NULL, 0.3, 0, NULL, 'intro')"
        )
    with Project.open(path, drafts) as opened:
        line = Line(id="a", text="Hello.", voice="Anna", speed=1.25, seed=7, file_name="intro")
        assert opened.lines == (line,)
        assert opened.script.details == ProjectDetails()
        assert opened.notice is None


def test_invalid_details_are_replaced_by_defaults_and_reported(project: Project, drafts: Path, tmp_path: Path) -> None:
    insert(project, "Hello.")
    path = tmp_path / "a.timbre"
    project.save(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(
            """UPDATE lines SET details = '{"slot": [3, 1], "gain_db": 900, "heading": 7, "note": []}'"""
        )
        connection.execute("""UPDATE project SET details = '{"cast": {"a": 3}, "columns": [1], "title": 5}'""")
        connection.commit()
    with Project.open(path, drafts) as opened:
        (line,) = opened.lines
        assert (line.slot, line.gain_db, line.heading, line.note) == (None, 0.0, Heading.NONE, "")
        assert opened.script.details == ProjectDetails(title="5")
        assert opened.notice is not None


def test_a_take_is_stretched_to_the_speed_of_its_line(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id, seconds=1.0)
    recorded = project.samples_of(take.id)
    project.apply(EditLines({line_id: {"speed": 1.25}}))
    assert project.state_of(line_id) is LineState.READY
    assert len(project.samples_of(take.id)) == round(len(recorded) / 1.25)
    assert project.seconds_of(take) == pytest.approx(0.8)
    project.apply(EditLines({line_id: {"speed": 1.0}}))
    np.testing.assert_array_equal(project.samples_of(take.id), recorded)


def test_a_text_edited_after_the_speed_needs_a_new_take(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    speak(project, line_id)
    project.apply(EditLines({line_id: {"speed": 1.25, "text": "Goodbye."}}))
    assert project.state_of(line_id) is LineState.OUTDATED


def test_a_take_spoken_slowly_is_not_stretched_eightfold(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    project.apply(EditLines({line_id: {"speed": 0.5}}))
    slow = replace(parameters(project.fingerprint_of(line_id), voice_name=""), speed=0.5)
    recorder = project.begin_take(line_id, slow, RATE)
    recorder.append(np.zeros(RATE, np.float32))
    take = recorder.finish()
    project.apply(AddTake(take))
    assert project.state_of(line_id) is LineState.READY
    project.apply(EditLines({line_id: {"speed": 4.0}}))
    assert project.state_of(line_id) is LineState.OUTDATED
    assert len(project.samples_of(take.id)) == RATE


@pytest.mark.parametrize("values", [{"gain_db": 40.0}, {"fade_in_seconds": -1.0}, {"fade_out_seconds": 99.0}])
def test_values_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(UnusableSetting, match="out of range"):
        Line(id="a", **values)  # type: ignore[arg-type]


def test_a_slot_cannot_end_before_it_starts() -> None:
    with pytest.raises(UnusableSetting, match="out of order"):
        Slot(2.0, 1.0)
