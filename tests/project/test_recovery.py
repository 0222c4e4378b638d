"""Recovery of drafts after the program was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from project_samples import RATE, parameters, sound

from studio.errors import ProjectInUse, StudioError
from studio.project.changes import AddTake, InsertLines, RemoveLines
from studio.project.drafts import WorkingCopy, discard_draft, recoverable_drafts
from studio.project.lines import Line, LineState
from studio.project.project import Project

_EDITING_PROGRAM = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import numpy as np
from project_samples import RATE, parameters, sound
from studio.project.changes import AddTake, EditLines, InsertLines
from studio.project.lines import Line
from studio.project.project import Project

drafts, saved = Path(sys.argv[1]), sys.argv[2]
is_new = saved in ("", "saves")
project = Project.create(drafts) if is_new else Project.open(Path(saved), drafts)
project.apply(InsertLines(len(project.lines), (Line(id="spoken", text="Spoken."),)))
done = project.begin_take("spoken", parameters(project.fingerprint_of("spoken"), voice_name=""), RATE)
done.append(sound(0.5, seed=1))
project.apply(AddTake(done.finish()))
running = project.begin_take("spoken", parameters(), RATE)
running.append(sound(0.5, seed=2))
time.sleep(0.5)
print("recording", flush=True)
number = 0
while saved == "saves":
    project.apply(InsertLines(len(project.lines), (Line(id=f"n{{number}}", text="x" * 5000),)))
    project.save(drafts.parent / "often.timbre")
    print(number, flush=True)
    number += 1
while True:
    project.apply(InsertLines(len(project.lines), (Line(id=f"n{{number}}", text="x"),)))
    project.apply(EditLines({{f"n{{number}}": {{"text": f"text {{number}}"}}}}))
    print(number, flush=True)
    number += 1
"""


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    return tmp_path / "drafts"


@contextmanager
def editing_process(drafts: Path, saved: Path | str | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start a process that edits a script and records takes until it is killed, and wait until it records."""
    code = _EDITING_PROGRAM.format(tests=str(Path(__file__).parent))
    command = [sys.executable, "-c", code, str(drafts), str(saved or "")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "recording\n"
        try:
            yield process
        finally:
            process.kill()


def kill_after(process: subprocess.Popen[str], num_lines: int) -> int:
    """Kill the process and return the number of the last line that it reported as written."""
    assert process.stdout is not None
    last = -1
    while last < num_lines:
        last = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    for words in process.stdout:
        if words.endswith("\n"):
            last = int(words)
    process.wait()
    return last


@pytest.mark.slow
@pytest.mark.parametrize("num_lines", [0, 3, 40])
def test_a_killed_program_loses_nothing_of_an_unsaved_project(drafts: Path, num_lines: int) -> None:
    with editing_process(drafts) as process:
        assert recoverable_drafts(drafts) == []  # the draft is in use
        last = kill_after(process, num_lines)
    (draft,) = recoverable_drafts(drafts)
    assert draft.project_path is None
    assert draft.first_words == "Spoken."
    assert draft.num_takes == 2
    with Project.recover(draft) as project:
        assert project.is_modified
        written = [line.text for line in project.lines if line.id != "spoken"]
        assert written[: last + 1] == [f"text {number}" for number in range(last + 1)]
        assert len(written) - (last + 1) in (0, 1)
        complete, stopped = project.takes_of("spoken")
        assert (complete.is_complete, stopped.is_complete) == (True, False)
        assert stopped.audio_seconds == 0.5
        np.testing.assert_array_equal(project.samples_of(complete.id), sound(0.5, seed=1))
        np.testing.assert_array_equal(project.samples_of(stopped.id), sound(0.5, seed=2))
        assert project.state_of("spoken") is LineState.READY
        assert project.line("spoken").chosen_take == complete.id


@pytest.mark.slow
def test_a_killed_program_loses_nothing_of_a_saved_project(drafts: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.timbre"
    with Project.create(drafts) as project:
        project.apply(InsertLines(0, (Line(id="old", text="Old."),)))
        project.save(path)
    before = path.read_bytes()
    with editing_process(drafts, path) as process:
        last = kill_after(process, 2)
    assert path.read_bytes() == before
    (draft,) = recoverable_drafts(drafts)
    assert draft.project_path == path
    with Project.recover(draft) as project:
        assert project.path == path
        assert len(project.lines) >= last + 3
        project.save()
    assert recoverable_drafts(drafts) == []
    with Project.open(path, drafts) as again:
        assert len(again.lines) >= last + 3


@pytest.mark.slow
@pytest.mark.parametrize("num_saves", [1, 2, 4, 8])
def test_a_program_killed_while_saving_leaves_an_intact_file(drafts: Path, tmp_path: Path, num_saves: int) -> None:
    with editing_process(drafts, "saves") as process:
        last = kill_after(process, num_saves)
    with Project.open(tmp_path / "often.timbre", drafts) as project:
        assert len(project.lines) in (last + 2, last + 3)
        assert len(project.samples_of(project.takes_of("spoken")[0].id)) == RATE // 2
    for draft in recoverable_drafts(drafts):
        with Project.recover(draft) as recovered:
            assert len(recovered.lines) >= last + 2
            recovered.save()


def test_a_project_can_be_saved_again_after_a_killed_save(drafts: Path, tmp_path: Path) -> None:
    """The program was killed after the file was written, but before this was recorded in the draft."""
    path = tmp_path / "a.timbre"
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a"),)))
    project.save(path)
    project.apply(InsertLines(0, (Line(id="b"),)))
    confirm_save = project._storage.confirm_save
    project._storage.confirm_save = lambda *_, **__: None  # type: ignore[method-assign]
    project.save()
    project._storage.confirm_save = confirm_save  # type: ignore[method-assign]
    project.close(keeps_draft=True)
    (draft,) = recoverable_drafts(drafts)
    with Project.recover(draft) as recovered:
        recovered.save()
        assert not recovered.is_modified


def test_drafts_without_unsaved_work_are_deleted(drafts: Path, tmp_path: Path) -> None:
    Project.create(drafts).close(keeps_draft=True)
    unused = Project.create(drafts)
    unused.apply(InsertLines(0, (Line(id="a", text="  "),)))
    unused.close(keeps_draft=True)
    saved = Project.create(drafts)
    saved.apply(InsertLines(0, (Line(id="a"),)))
    saved.save(tmp_path / "a.timbre")
    saved.close(keeps_draft=True)
    (drafts / "20200101-000000-abcd.part").write_bytes(b"half a copy")
    assert recoverable_drafts(drafts) == []
    assert list(drafts.iterdir()) == []


def test_the_newest_draft_comes_first_and_can_be_discarded(drafts: Path) -> None:
    for text in ("Older.", "Newer."):
        project = Project.create(drafts)
        project.apply(InsertLines(0, (Line(id="a", text=text),)))
        project.close(keeps_draft=True)
        for path in drafts.iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 100))
    found = recoverable_drafts(drafts)
    assert [draft.first_words for draft in found] == ["Newer.", "Older."]
    discard_draft(found[0])
    assert [draft.first_words for draft in recoverable_drafts(drafts)] == ["Older."]
    discard_draft(found[1])
    assert list(drafts.iterdir()) == []


def test_a_draft_in_use_is_not_offered_adopted_or_discarded(drafts: Path) -> None:
    with Project.create(drafts) as project:
        project.apply(InsertLines(0, (Line(id="a"),)))
        assert recoverable_drafts(drafts) == []
        with pytest.raises(ProjectInUse, match="open in another window"):
            Project.recover(project.draft_path)
        project.apply(InsertLines(0, (Line(id="b"),)))


def test_a_draft_that_another_window_only_looks_at_is_recovered(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Words."),)))
    project.close(keeps_draft=True)
    # A window that has just been started locks each draft while it reads it.
    looked_at = WorkingCopy.open_existing(project.draft_path)
    threading.Timer(0.3, lambda: looked_at.close(keeps_draft=True)).start()
    with Project.recover(project.draft_path) as recovered:
        assert [line.text for line in recovered.lines] == ["Words."]


def test_a_damaged_draft_does_not_affect_others(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Good."),)))
    project.close(keeps_draft=True)
    (drafts / "20200101-000000-abcd.draft").write_bytes(b"rubbish")
    assert [draft.first_words for draft in recoverable_drafts(drafts)] == ["Good."]
    assert (drafts / "20200101-000000-abcd.damaged").exists()


def test_a_damaged_draft_is_reported_once_and_kept(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line("a", "Hours of work. " * 1000),)))
    project.close(keeps_draft=True)
    whole = project.draft_path.read_bytes()
    project.draft_path.write_bytes(whole[:5000])
    told: list[StudioError] = []
    assert recoverable_drafts(drafts, on_damage=told.append) == []
    assert recoverable_drafts(drafts, on_damage=told.append) == []
    (error,) = told
    assert str(error).startswith("Unsaved work is damaged")
    kept = project.draft_path.with_suffix(".damaged")
    assert str(kept) in str(error.remedy)
    assert kept.read_bytes() == whole[:5000]


def test_a_draft_of_a_newer_version_is_kept(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line("a", "From the future."),)))
    project.close(keeps_draft=True)
    with contextlib.closing(sqlite3.connect(project.draft_path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    told: list[StudioError] = []
    assert recoverable_drafts(drafts, on_damage=told.append) == []
    assert told == []
    assert project.draft_path.exists()


def test_a_draft_that_is_deleted_during_listing_is_ignored(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Good."),)))
    project.close(keeps_draft=True)
    (drafts / "20200101-000000-abcd.draft").symlink_to(drafts / "nothing")  # listed but missing
    assert [draft.first_words for draft in recoverable_drafts(drafts)] == ["Good."]


def test_a_draft_that_was_opened_since_the_listing_is_not_discarded(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Mine."),)))
    project.close(keeps_draft=True)
    (draft,) = recoverable_drafts(drafts)
    with Project.recover(draft) as recovered:
        discard_draft(draft)
        assert [line.text for line in recovered.lines] == ["Mine."]
        assert draft.path.exists()


def test_a_missing_drafts_folder_has_no_drafts(drafts: Path) -> None:
    assert recoverable_drafts(drafts) == []


def test_a_take_of_a_removed_line_is_not_recovered(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Here."), Line(id="b", text="Gone."))))
    for line_id in ("a", "b"):
        recorder = project.begin_take(line_id, parameters(), RATE)
        recorder.append(sound(0.1))
        recorder.finish()
    project.apply(RemoveLines(("b",)))
    project.close(keeps_draft=True)
    (draft,) = recoverable_drafts(drafts)
    with Project.recover(draft) as recovered:
        (take,) = recovered.takes_of("a")
        assert take.is_complete
        assert recovered.line("a").chosen_take == take.id
        assert recovered._storage.recordings() == []


def test_a_removed_take_is_not_recovered(drafts: Path) -> None:
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id="a", text="Hello."),)))
    recorder = project.begin_take("a", parameters(), RATE)
    recorder.append(sound(0.1))
    undo = project.apply(AddTake(recorder.finish()))
    project.apply(undo)
    project.close(keeps_draft=True)
    with Project.recover(recoverable_drafts(drafts)[0]) as recovered:
        assert recovered.takes_of("a") == ()
