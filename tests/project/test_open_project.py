"""Open projects: working copy, saving, failing disks, invalid files, line states."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project_samples import RATE, changes, insert, parameters, sound, speak

from studio.errors import CannotWrite, DiskFull, ProjectChangedElsewhere, StudioError, TakeNotFound, UnreadableProject
from studio.project import database, saving
from studio.project.changes import (
    AddTake,
    ChooseTake,
    EditDictionary,
    EditLines,
    InsertLines,
    MoveLines,
    RemoveLines,
    RemoveTakes,
    RenameProject,
)
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import Line, LineState, LineStyle
from studio.project.project import Project


def reopened(project: Project, path: Path, drafts: Path) -> Project:
    project.save(path)
    return Project.open(path, drafts)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_a_saved_file_contains_the_changed_script(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, Project.create(Path(folder)) as project:
        inverses, states = [], []
        for _ in range(data.draw(st.integers(1, 8))):
            states.append(project.script)
            inverses.append(project.apply(data.draw(changes(project.script))))
            assert project._storage.read() == project.script
        with reopened(project, Path(folder) / "a.timbre", Path(folder)) as again:
            assert again.script == project.script
            assert not again.is_modified
        while inverses:
            project.apply(inverses.pop())
            assert project.script == states.pop()
            assert project._storage.read() == project.script


@pytest.mark.slow
def test_the_audio_of_a_take_is_stored_exactly(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id, 1.0, seed=3)
    assert take.audio_seconds == 1.0
    np.testing.assert_array_equal(project.samples_of(take.id), sound(1.0, seed=3))
    with reopened(project, tmp_path / "a.timbre", drafts) as again:
        np.testing.assert_array_equal(again.samples_of(take.id), sound(1.0, seed=3))
        assert again.samples_of(take.id).dtype == np.float32


def test_the_audio_of_a_removed_take_is_kept_for_undo_but_not_saved(
    project: Project, drafts: Path, tmp_path: Path
) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id)
    undo = project.apply(RemoveTakes((take.id,)))
    with reopened(project, tmp_path / "a.timbre", drafts) as again, pytest.raises(TakeNotFound):
        again.samples_of(take.id)
    project.apply(undo)
    assert len(project.samples_of(take.id)) == RATE // 2
    with reopened(project, tmp_path / "a.timbre", drafts) as again:
        assert len(again.samples_of(take.id)) == RATE // 2


def test_a_saved_file_has_its_application_id_and_no_working_data(project: Project, tmp_path: Path) -> None:
    insert(project, "Hello.")
    project.save(tmp_path / "a.timbre")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.timbre"]
    connection = sqlite3.connect(tmp_path / "a.timbre")
    assert connection.execute("PRAGMA application_id").fetchone() == (database.APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (database.VERSION,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert connection.execute("SELECT COUNT(*) FROM working_copy").fetchone() == (0,)
    connection.close()


def test_a_project_is_modified_if_it_differs_from_its_file(project: Project, tmp_path: Path) -> None:
    assert not project.is_modified
    assert project.path is None
    undo = project.apply(InsertLines(0, (Line(id="a"),)))
    assert project.is_modified
    project.apply(undo)
    assert not project.is_modified
    insert(project, "Hello.")
    project.save(tmp_path / "a.timbre")
    assert not project.is_modified
    assert project.path == tmp_path / "a.timbre"
    undo = project.apply(RenameProject("Tale"))
    assert project.is_modified
    project.apply(undo)
    assert not project.is_modified


def test_changes_during_a_save_are_not_in_the_file(
    project: Project, drafts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(project, "Before.")
    is_copying, should_continue = threading.Event(), threading.Event()
    copy = saving.Snapshot._copy

    def slow_copy(self: saving.Snapshot, part: Path, save_id: str) -> bytes:
        is_copying.set()
        assert should_continue.wait(30)
        return copy(self, part, save_id)

    monkeypatch.setattr(saving.Snapshot, "_copy", slow_copy)
    saver = threading.Thread(target=project.save, args=(tmp_path / "a.timbre",))
    saver.start()
    assert is_copying.wait(30)
    insert(project, "Meanwhile.")
    should_continue.set()
    saver.join()
    assert project.is_modified
    with Project.open(tmp_path / "a.timbre", drafts) as again:
        assert [line.text for line in again.lines] == ["Before."]
    project.save()
    assert not project.is_modified


@pytest.mark.slow
def test_a_file_changed_by_another_program_is_not_overwritten(project: Project, drafts: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.timbre"
    insert(project, "Mine.")
    project.save(path)
    with Project.open(path, drafts) as other:
        insert(other, "Theirs.")
        other.save()
        other.save()
    insert(project, "Mine too.")
    with pytest.raises(ProjectChangedElsewhere, match=r"a\.timbre was changed by another program"):
        project.save()
    assert project.is_modified
    project.save(tmp_path / "b.timbre")
    project.save()
    path.unlink()
    project.save(path)  # the user chose this path
    project.save()
    path.unlink()
    project.save()  # now this is the project file


def test_a_foreign_file_can_be_replaced_explicitly(project: Project, drafts: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.timbre"
    project.save(path)
    with Project.open(path, drafts) as other:
        other.apply(RenameProject("Theirs"))
        other.save()
    project.save(replaces_foreign=True)
    with Project.open(path, drafts) as again:
        assert again.name == ""


def test_saving_follows_links_and_keeps_permissions(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "a.timbre"
    project.save(path)
    path.chmod(0o600)
    link = tmp_path / "link.timbre"
    link.symlink_to(path)
    project.apply(RenameProject("Tale"))
    project.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_closed_project_leaves_no_draft(drafts: Path) -> None:
    project = Project.create(drafts)
    insert(project, "Hello.")
    project.close()
    assert list(drafts.iterdir()) == []


# Failing disks and folders.


def fill_disk(project: Project) -> None:
    connection = project._storage._connection
    (num_pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {num_pages}")


def free_disk(project: Project) -> None:
    project._storage._connection.execute("PRAGMA max_page_count = 1000000")


def test_changes_are_kept_in_memory_while_the_disk_is_full(project: Project) -> None:
    insert(project, "Hello.")
    written = project.script
    fill_disk(project)
    insert(project, "x" * 100_000)
    undo = project.apply(EditLines({"line0": {"text": "y" * 100_000}}))
    insert(project, "z" * 100_000)
    project.apply(undo)
    assert project.unwritten is not None
    assert project.unwritten.num_changes == 2  # the undone change does not count
    assert str(project.unwritten.error).startswith("The disk is full")
    assert project._storage.read() == written
    project.write_again()
    assert project.unwritten is not None
    free_disk(project)
    project.write_again()
    assert project.unwritten is None
    assert project._storage.read() == project.script
    assert len(project.lines) == 3


def test_the_next_change_also_writes_earlier_ones(project: Project) -> None:
    insert(project, "Hello.")
    fill_disk(project)
    insert(project, "x" * 100_000)
    free_disk(project)
    project.apply(RenameProject("Tale"))
    assert project.unwritten is None
    assert project._storage.read() == project.script


def test_unwritten_changes_are_saved_to_another_disk(project: Project, drafts: Path, tmp_path: Path) -> None:
    insert(project, "Hello.")
    fill_disk(project)
    insert(project, "x" * 100_000)
    refuse_all(project)
    project.save(tmp_path / "a.timbre")
    assert not project.is_modified
    assert project.unwritten is None
    with Project.open(tmp_path / "a.timbre", drafts) as again:
        assert again.script == project.script
    insert(project, "More.")
    assert project.unwritten is not None
    project.save()  # the file is recognised, although the previous save was not recorded
    accept_all(project)
    free_disk(project)
    insert(project, "And more.")
    assert project._storage.binding() == (tmp_path / "a.timbre", True)
    assert project._storage.read() == project.script


def test_a_full_disk_while_saving_leaves_the_old_file(
    project: Project, drafts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.timbre"
    insert(project, "Old.")
    project.save(path)
    insert(project, "x" * 100_000)
    create_tables = database.create_tables

    def on_small_disk(connection: sqlite3.Connection) -> None:
        create_tables(connection)
        connection.execute("PRAGMA max_page_count = 12")

    with monkeypatch.context() as patch:
        patch.setattr(database, "create_tables", on_small_disk)
        with pytest.raises(DiskFull, match=r"a\.timbre could not be written"):
            project.save()
    assert project.is_modified
    assert {found.name for found in tmp_path.iterdir()} == {"a.timbre", "drafts"}
    with Project.open(path, drafts) as again:
        assert [line.text for line in again.lines] == ["Old."]
    project.save()
    assert not project.is_modified


@pytest.mark.parametrize("path", ["/proc/a.timbre", "/nowhere/at/all/a.timbre"])
def test_an_unwritable_folder_is_an_error(project: Project, path: str) -> None:
    insert(project, "Hello.")
    with pytest.raises(CannotWrite, match="cannot be written"):
        project.save(Path(path))
    assert project.is_modified
    assert project.path is None


def test_a_drafts_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotWrite, match="cannot be written"):
        Project.create(tmp_path / "file" / "drafts")


def refuse_all(project: Project) -> None:
    """Reject every write to the working copy."""
    project._storage._connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE) else 0
    )


def accept_all(project: Project) -> None:
    project._storage._connection.set_authorizer(None)


# Files that are not projects.


def test_damaged_and_foreign_files_are_errors(project: Project, drafts: Path, tmp_path: Path) -> None:
    insert(project, *(f"line {number} " * 200 for number in range(20)))
    good = tmp_path / "good.timbre"
    project.save(good)
    whole = good.read_bytes()
    other = sqlite3.connect(tmp_path / "other.timbre")
    other.execute("CREATE TABLE t (x)")
    other.close()
    (tmp_path / "empty.timbre").touch()
    (tmp_path / "text.timbre").write_text("Hello, I am text. " * 100)
    (tmp_path / "cut.timbre").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "folder.timbre").mkdir()
    for name, words in {
        "missing": "There is no file",
        "empty": "is not a project",
        "text": "is not a project",
        "other": "is not a project",
        "cut": "is truncated",
        "folder": "is a folder",
    }.items():
        with pytest.raises(UnreadableProject, match=words):
            Project.open(tmp_path / f"{name}.timbre", drafts)
    assert {path.stem for path in drafts.glob("*.draft")} == {project.draft_path.stem}


def test_a_newer_file_requires_a_newer_version(project: Project, drafts: Path, tmp_path: Path) -> None:
    project.save(tmp_path / "a.timbre")
    connection = sqlite3.connect(tmp_path / "a.timbre")
    connection.execute(f"PRAGMA user_version = {database.VERSION + 1}")
    connection.close()
    with pytest.raises(UnreadableProject, match="newer version"):
        Project.open(tmp_path / "a.timbre", drafts)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE takes SET sample_rate = 0",
        "DELETE FROM project",
        "DROP TABLE takes",
    ],
)
def test_invalid_content_is_an_error(project: Project, drafts: Path, tmp_path: Path, statement: str) -> None:
    (line_id,) = insert(project, "Hello.")
    speak(project, line_id)
    project.save(tmp_path / "a.timbre")
    connection = sqlite3.connect(tmp_path / "a.timbre")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(StudioError) as caught:
        Project.open(tmp_path / "a.timbre", drafts)
    assert caught.value.code == "unreadable-project"
    assert "a.timbre is damaged" in str(caught.value.problem)
    assert {path.stem for path in drafts.glob("*.draft")} == {project.draft_path.stem}


@pytest.mark.slow
@settings(max_examples=50)
@given(st.data())
def test_files_with_random_damage_open_or_are_errors(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Project.create(folder / "d") as project:
            (line_id,) = insert(project, "Hello.")
            speak(project, line_id, 0.05)
            project.save(folder / "a.timbre")
        content = bytearray((folder / "a.timbre").read_bytes())
        for _ in range(data.draw(st.integers(1, 10))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        (folder / "a.timbre").write_bytes(content)
        remedy = "none needed"
        try:
            Project.open(folder / "a.timbre", folder / "d").close()
        except StudioError as error:
            remedy = str(error.remedy)
        assert remedy
        assert list((folder / "d").iterdir()) == []


def test_incomplete_audio_is_an_error(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id)
    project.save(tmp_path / "a.timbre")
    connection = sqlite3.connect(tmp_path / "a.timbre")
    connection.execute("UPDATE sounds SET samples = x'010203' WHERE number = 0")
    connection.commit()
    connection.close()
    with Project.open(tmp_path / "a.timbre", drafts) as again, pytest.raises(UnreadableProject, match="is incomplete"):
        again.samples_of(take.id)


# Line states.


def test_a_line_is_draft_then_ready_then_outdated_then_ready(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    assert project.state_of(line_id) is LineState.DRAFT
    take = speak(project, line_id)
    assert project.state_of(line_id) is LineState.READY
    undo = project.apply(EditLines({line_id: {"text": "Goodbye."}}))
    assert project.state_of(line_id) is LineState.OUTDATED
    project.apply(undo)
    assert project.state_of(line_id) is LineState.READY
    assert project.chosen_take(line_id) == take
    project.apply(ChooseTake(line_id, None))
    assert project.state_of(line_id) is LineState.DRAFT


def test_an_incomplete_take_is_outdated(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    recorder = project.begin_take(line_id, parameters(project.fingerprint_of(line_id)), RATE)
    recorder.append(sound(0.5, 0))
    stopped = recorder.stop()
    assert stopped is not None
    project.apply(AddTake(stopped))
    assert project.state_of(line_id) is LineState.OUTDATED
    speak(project, line_id)
    assert project.state_of(line_id) is LineState.READY


def test_lines_with_a_new_dictionary_word_become_outdated(project: Project) -> None:
    chinese, english = insert(project, "重庆很大。", "A big city.")
    for line_id in (chinese, english):
        speak(project, line_id)
    entry = DictionaryEntry("重庆", pronunciation="chong2 qing4")
    undo = project.apply(EditDictionary(project.dictionary.with_entry(entry)))
    assert [project.state_of(each) for each in (chinese, english)] == [LineState.OUTDATED, LineState.READY]
    project.apply(undo)
    assert project.state_of(chinese) is LineState.READY
    project.global_dictionary = PronunciationDictionary((DictionaryEntry("city", alias="town"),))
    assert [project.state_of(each) for each in (chinese, english)] == [LineState.READY, LineState.OUTDATED]
    project.apply(EditDictionary(PronunciationDictionary((DictionaryEntry("city", alias="metropolis"),))))
    assert [entry.alias for entry in project.dictionary_in_force.entries] == ["metropolis"]


def test_moving_and_locking_a_line_keeps_it_ready(project: Project) -> None:
    first, _ = insert(project, "One.", "Two.")
    speak(project, first)
    project.apply(MoveLines((first,), 2))
    project.apply(EditLines({first: {"is_locked": True, "pause_after_seconds": 2.0, "file_name": "x", "seed": 5}}))
    assert project.state_of(first) is LineState.READY
    project.apply(EditLines({first: {"style": LineStyle(instruct="gently")}}))
    assert project.state_of(first) is LineState.OUTDATED


def test_concurrent_takes_have_consecutive_numbers(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    recorders = [project.begin_take(line_id, parameters(), RATE) for _ in range(3)]
    assert [recorder.number for recorder in recorders] == [1, 2, 3]
    for recorder in reversed(recorders):
        recorder.append(sound(0.1))
        project.apply(AddTake(recorder.finish()))
    assert [take.number for take in project.takes_of(line_id)] == [1, 2, 3]
    assert project.begin_take(line_id, parameters(), RATE).number == 4


def test_later_changes_do_not_change_an_earlier_script(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    before = project.script
    project.apply(EditLines({line_id: {"text": "Goodbye."}}))
    assert before.line(line_id).text == "Hello."
    assert project.line(line_id) == replace(before.line(line_id), text="Goodbye.")


@pytest.mark.slow
def test_long_scripts_are_edited_quickly(project: Project) -> None:
    """In a script of ten thousand lines, a keystroke in any line takes milliseconds."""
    import time

    lines = tuple(Line(id=f"l{number}", text="One sentence of a long book.") for number in range(10_000))
    project.apply(InsertLines(0, lines))
    started = time.process_time()
    for number in range(50):
        project.apply(EditLines({"l5000": {"text": f"{number}"}}))
    edit_seconds = (time.process_time() - started) / 50
    started = time.process_time()
    project.apply(InsertLines(0, (Line(id="new"),)))
    project.apply(RemoveLines(("l9000",)))
    assert edit_seconds < 0.05
    assert time.process_time() - started < 0.5
    states = {project.state_of(line.id) for line in project.lines}
    assert states == {LineState.DRAFT}


@pytest.mark.slow
def test_a_copy_of_the_file_is_an_independent_project(project: Project, drafts: Path, tmp_path: Path) -> None:
    insert(project, "Hello.")
    project.save(tmp_path / "a.timbre")
    shutil.copyfile(tmp_path / "a.timbre", tmp_path / "b.timbre")
    with Project.open(tmp_path / "b.timbre", drafts) as copy:
        insert(copy, "Other.")
        copy.save()
    project.save()
    assert len(project.lines) == 1
