"""Recording of takes during synthesis, with failing disks and concurrent edits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest
from project_samples import RATE, parameters, sound

from studio.errors import DiskFull
from studio.pipeline.request import LengthFinding, LengthVerdict, Mode, SynthesisReport
from studio.project.changes import AddTake, EditTakes, InsertLines, RemoveLines, RemoveTakes, RenameProject
from studio.project.lines import Line, LineState
from studio.project.project import Project
from studio.project.recording import TakeRecorder


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path) as project:
        project.apply(InsertLines(0, (Line(id="a", text="Hello."),)))
        yield project


@pytest.fixture
def recorder(project: Project) -> TakeRecorder:
    return project.begin_take("a", parameters(), RATE)


def report(**values: object) -> SynthesisReport:
    plain = {
        "first_audio_seconds": 0.8,
        "audio_seconds": 2.0,
        "total_seconds": 1.0,
        "sample_rate": RATE,
        "mode": Mode.INSTRUCT,
        "num_speech_tokens": 50,
        "stages": {"flow": 0.5},
        "engine": {"flow": "torch float32"},
        "spoken_text": ("one hundred", " and two"),
    }
    return SynthesisReport(**(plain | values))  # type: ignore[arg-type]


@pytest.mark.parametrize("verdict", list(LengthVerdict))
def test_a_take_of_unusual_length_needs_a_check_until_kept(
    project: Project, tmp_path: Path, verdict: LengthVerdict
) -> None:
    line = project.line("a")
    recorder = project.begin_take("a", parameters(project.fingerprint_of("a"), voice_name=""), RATE)
    recorder.append(sound(1.0))
    take = recorder.finish(report(odd_lengths=(LengthFinding(line.text, verdict),)))
    project.apply(AddTake(take))
    assert project.state_of("a") is LineState.CHECK
    project.save(tmp_path / "saved.timbre")
    with Project.open(tmp_path / "saved.timbre", tmp_path / "drafts") as opened:
        assert opened.take(take.id).parameters.odd_length is verdict
        assert opened.state_of("a") is LineState.CHECK
    project.apply(EditTakes({take.id: {"is_kept": True}}))
    assert project.state_of("a") is LineState.READY


def test_a_finished_take_records_its_measurements(project: Project, recorder: TakeRecorder) -> None:
    recorder.append(sound(2.0))
    take = recorder.finish(report(), num_underruns=1)
    assert take.is_complete
    assert (take.audio_seconds, take.first_audio_seconds, take.real_time_factor, take.num_underruns) == (
        2.0,
        0.8,
        0.5,
        1,
    )
    assert take.parameters.spoken_text == "one hundred and two"
    assert take.parameters.mode == "instruct"
    assert take.parameters.engine == {"flow": "torch float32"}
    assert take.seed == take.parameters.seed == 7
    project.apply(AddTake(take))
    assert project.take(take.id) == take


def test_a_stopped_take_contains_the_audio_so_far(project: Project, recorder: TakeRecorder) -> None:
    recorder.append(sound(0.5, seed=1))
    recorder.append(sound(0.25, seed=2))
    take = recorder.stop(num_underruns=0)
    assert take is not None
    assert not take.is_complete
    assert take.audio_seconds == 0.75
    np.testing.assert_array_equal(project.samples_of(take.id), np.concatenate([sound(0.5, 1), sound(0.25, 2)]))


def test_the_number_of_a_removed_take_is_not_reused(project: Project, recorder: TakeRecorder) -> None:
    """Undo may restore the removed take."""
    recorder.append(sound(0.5))
    first = recorder.finish(report(), num_underruns=0)
    project.apply(AddTake(first))
    bring_back = project.apply(RemoveTakes((first.id,)))
    again = project.begin_take("a", parameters(), RATE)
    again.append(sound(0.5))
    second = again.finish(report(), num_underruns=0)
    project.apply(AddTake(second))
    project.apply(bring_back)
    assert [take.number for take in project.takes_of("a")] == [1, 2]


def test_stopping_before_the_first_chunk_creates_no_take(project: Project, recorder: TakeRecorder) -> None:
    assert recorder.stop() is None
    assert project._storage.recordings() == []
    assert project.begin_take("a", parameters(), RATE).number == 1


def test_a_discarded_take_leaves_nothing(project: Project, recorder: TakeRecorder) -> None:
    recorder.append(sound(0.5))
    recorder.discard()
    recorder.append(sound(0.5))
    assert project._storage.recordings() == []
    assert len(project._storage.samples(recorder.take_id)) == 0


def test_appended_samples_may_be_overwritten(project: Project, recorder: TakeRecorder) -> None:
    block = sound(0.1)
    expected = block.copy()
    recorder.append(block)
    block[:] = 0
    take = recorder.finish()
    np.testing.assert_array_equal(project.samples_of(take.id), expected)


def test_audio_may_arrive_on_another_thread_during_edits(project: Project, recorder: TakeRecorder) -> None:
    blocks = [sound(0.02, seed) for seed in range(100)]

    def arrive() -> None:
        for block in blocks:
            recorder.append(block)

    thread = threading.Thread(target=arrive)
    thread.start()
    for number in range(30):
        project.apply(InsertLines(0, (Line(id=f"new{number}"),)))
    thread.join()
    take = recorder.finish()
    np.testing.assert_array_equal(project.samples_of(take.id), np.concatenate(blocks))


def test_a_full_disk_loses_no_audio(project: Project, recorder: TakeRecorder) -> None:
    connection = project._storage._connection
    recorder.append(sound(0.1, seed=1))
    recorder._writer.submit(lambda: None).result()
    (num_pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {num_pages}")
    recorder.append(sound(1.0, seed=2))
    recorder.append(sound(0.1, seed=3))
    with pytest.raises(DiskFull, match="nothing is lost"):
        recorder.finish()
    connection.execute("PRAGMA max_page_count = 1000000")
    take = recorder.finish()
    expected = np.concatenate([sound(0.1, 1), sound(1.0, 2), sound(0.1, 3)])
    np.testing.assert_array_equal(project.samples_of(take.id), expected)


def test_a_take_that_could_not_be_written_is_added_with_the_next_change(
    project: Project, recorder: TakeRecorder
) -> None:
    connection = project._storage._connection
    (num_pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {num_pages}")
    recorder.append(sound(1.0, seed=2))
    with pytest.raises(DiskFull):
        recorder.finish(report(), num_underruns=3)
    project.apply(RenameProject("a"))  # this is small enough for the disk, which is too full for audio
    assert project.takes_of("a") == ()
    connection.execute("PRAGMA max_page_count = 1000000")
    undo = project.apply(RenameProject("b"))
    (take,) = project.takes_of("a")
    assert (take.is_complete, take.num_underruns, take.first_audio_seconds) == (True, 3, 0.8)
    assert project.line("a").chosen_take == take.id
    np.testing.assert_array_equal(project.samples_of(take.id), sound(1.0, seed=2))
    project.apply(undo)
    assert project.takes_of("a") == (take,)
    assert not recorder.is_waiting


def test_a_finishing_take_is_added_once_during_edits(
    project: Project, recorder: TakeRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens, for example, if two lines end at the same time."""
    storage, is_writing, may_write = project._storage, threading.Event(), threading.Event()
    add_sound = storage.add_sound

    def add_sound_slowly(*arguments: object) -> None:
        is_writing.set()
        assert may_write.wait(60)
        add_sound(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "add_sound", add_sound_slowly)
    recorder.append(sound(0.5))
    with ThreadPoolExecutor(2) as pool:
        ending = pool.submit(recorder.finish, report())
        assert is_writing.wait(60)
        while not recorder._ended_take:
            threading.Event().wait(0.001)
        editing = pool.submit(project.apply, RenameProject("another"))
        editing_waits = not _finishes_within(editing, 0.2)
        may_write.set()
        take = ending.result(10)
        editing.result(10)
    assert project.takes_of("a") == ()
    assert not editing_waits, "an edit waits for the disk"
    project.apply(AddTake(take))
    assert project.takes_of("a") == (take,)


def _finishes_within(work: Future[object], seconds: float) -> bool:
    return not wait([work], timeout=seconds).not_done


def test_a_line_may_be_removed_during_synthesis(project: Project, recorder: TakeRecorder) -> None:
    project.apply(RemoveLines(("a",)))
    recorder.append(sound(0.1))
    assert not project.has_line(recorder.line_id)
    assert recorder.finish().line_id == "a"
