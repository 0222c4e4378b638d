"""Concurrent jobs, and urgent jobs that start before them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import noise_models
import numpy as np
import pytest
from fake_model import CHUNK_SAMPLES, FakeModel
from PySide6.QtCore import Qt
from thread_worker import ThreadWorker
from window_bench import Bench

from studio.app.bridge import EngineState
from studio.app.export_dialog.export_task import ExportState
from studio.app.export_dialog.opening import open_export_dialog
from studio.app.synthesis.queue import JobState
from studio.errors import WorkerDied
from studio.pipeline.request import EngineOptions, RequestControl
from studio.project.changes import InsertLines, RemoveLines
from studio.project.lines import Line, LineState, new_id
from studio.settings import EXPORT_FOLDER

WORDS = ("one wait", "one two wait", "one two three wait", "one two", "one")


class KillingModel(FakeModel):
    """Model whose word "poison" kills the worker while two other requests with the word "beside" run."""

    num_running = 0
    has_killed = False

    def _execute(self, word: str, control: RequestControl) -> None:
        match word:
            case "poison":
                while not KillingModel.has_killed and KillingModel.num_running < 2:
                    control.raise_if_cancelled()
                KillingModel.has_killed = True
                ThreadWorker.created[-1].kill()
                word = "wait"
            case "beside":
                KillingModel.num_running += 1
                word = "one" if KillingModel.has_killed else "wait"
        super()._execute(word, control)


def open_script(
    make_bench: Callable[..., Bench], model: Path, words: Sequence[str] = WORDS, **options: object
) -> Bench:
    bench = make_bench(model=model, **options)
    bench.add_voice()
    bench.open_window()
    lines = tuple(Line(new_id(), text, voice="Anna") for text in words)
    bench.session.editor.apply(InsertLines(0, lines))
    return bench


def three_at_once(folder: Path) -> Path:
    model = folder / "three-at-once"
    shutil.copytree(noise_models.V3, model)
    return model


@pytest.fixture
def bench(make_bench: Callable[..., Bench], tmp_path: Path) -> Bench:
    """A bench whose model supports three concurrent lines."""
    return open_script(make_bench, three_at_once(tmp_path))


def running_texts(bench: Bench) -> list[str]:
    return [job.text for job in bench.session.queue.running]


def all_have_audio(bench: Bench) -> bool:
    sounds = [job.synthesis and job.synthesis.audio for job in bench.session.queue.running]
    return all(sound and sound.num_samples for sound in sounds)


def take_lengths(bench: Bench, line: int) -> list[int]:
    project = bench.session.editor.project
    return [len(project.samples_of(take.id)) // CHUNK_SAMPLES for take in project.takes_of(bench.lines[line].id)]


@pytest.mark.slow
def test_three_jobs_run_and_a_fourth_follows(bench: Bench) -> None:
    bench.trigger("speak.stale")
    bench.until(lambda: len(running_texts(bench)) == 3)
    assert running_texts(bench) == list(WORDS[:3])
    shown = [bench.session.line_statuses.of(line.id) for line in bench.lines[:5]]
    assert [live.state for live in shown if live] == 3 * [LineState.SPEAKING] + 2 * [LineState.QUEUED]
    first = bench.session.queue.running[0]
    bench.until(lambda: first.synthesis and first.synthesis.audio and first.synthesis.audio.num_samples)
    bench.until(lambda: first.stage == "speech")
    shown_texts: list[str] = []
    assert bench.window
    bench.window.tasks.task_changed.connect(lambda words, *_: shown_texts.append(words))
    bench.window.tasks.show()
    assert shown_texts[-1].startswith("Speaking line 1, 2 more in parallel, 2 queued")
    assert shown_texts[-1].endswith("2 queued (Esc twice clears the queue)")
    bench.session.queue.cancel(first)
    bench.until(lambda: [take_lengths(bench, line) for line in (3, 4)] == [[2], [1]])
    assert first.state is JobState.CANCELLED
    assert take_lengths(bench, 0) == [1], "the audio generated so far is kept"
    assert running_texts(bench) == list(WORDS[1:3])
    bench.session.queue.cancel_all()
    bench.until(lambda: not running_texts(bench))
    assert [take_lengths(bench, line) for line in (1, 2)] == [[2], [3]]


@pytest.mark.slow
def test_esc_twice_cancels_all_waiting_jobs(bench: Bench) -> None:
    assert bench.window
    bench.window.script.view.select_lines([line.id for line in bench.lines[:5]])
    bench.trigger("speak.line")
    bench.until(lambda: len(running_texts(bench)) == 3 and bench.session.playback.player.is_playing)
    assert len(bench.session.queue.jobs) == 5
    stop = bench.window.actions_by_id["play.stop"]
    stop.trigger()
    stop.trigger()  # before the worker has stopped the first line
    assert not bench.session.queue.waiting
    bench.session.queue.cancel_all()
    bench.until(lambda: not running_texts(bench))


@pytest.mark.slow
def test_an_urgent_job_starts_first_and_stopping_it_keeps_the_others(bench: Bench) -> None:
    bench.trigger("speak.stale")
    bench.until(lambda: len(running_texts(bench)) == 3)
    session = bench.session
    session.queue.cancel_waiting()
    session.synthesis.speak([bench.lines[3].id])
    bench.until(lambda: take_lengths(bench, 3) == [2])
    bench.until(lambda: not session.playback.player.is_playing)
    assert np.array_equal(bench.card.heard, session.editor.project.samples_of(bench.lines[3].chosen_take or ""))
    session.editor.apply(InsertLines(5, (Line(new_id(), "four wait", voice="Anna"),)))
    session.synthesis.speak([bench.lines[5].id])
    bench.until(lambda: session.playback.player.is_playing)
    assert session.queue.current
    assert session.queue.current.text == "four wait"
    session.playback.stop_and_cancel()
    bench.until(lambda: take_lengths(bench, 5) == [1])
    assert running_texts(bench) == list(WORDS[:3])


@pytest.mark.slow
def test_pausing_lets_running_jobs_finish(bench: Bench) -> None:
    bench.trigger("speak.stale")
    bench.until(lambda: len(running_texts(bench)) == 3)
    bench.session.queue.set_paused(True)
    bench.session.queue.cancel(bench.session.queue.running[0])
    bench.until(lambda: len(running_texts(bench)) == 2)
    bench.live(0.05)
    assert running_texts(bench) == list(WORDS[1:3])
    bench.session.queue.set_paused(False)
    bench.until(lambda: take_lengths(bench, 4) == [1])


def test_without_a_concurrent_engine_jobs_run_one_by_one(make_bench: Callable[..., Bench]) -> None:
    bench = open_script(make_bench, noise_models.V3)
    bench.trigger("speak.stale")
    bench.until(lambda: running_texts(bench))
    first = bench.session.queue.running[0]
    bench.until(lambda: first.synthesis and first.synthesis.audio and first.synthesis.audio.num_samples)
    bench.live(0.05)
    assert running_texts(bench) == [WORDS[0]]
    bench.session.queue.cancel(first)
    bench.until(lambda: running_texts(bench) == [WORDS[1]])


@pytest.mark.slow
def test_a_job_that_kills_the_worker_does_not_fail_the_others(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    bench = open_script(
        make_bench,
        three_at_once(tmp_path),
        ("one beside", "one poison", "one two beside", "one two"),
        start_worker=lambda: ThreadWorker(KillingModel),
    )
    bench.trigger("speak.stale")
    bench.until(lambda: all(job.state.is_over for job in bench.session.queue.jobs) and bench.session.queue.jobs)
    states = [job.state for job in bench.session.queue.jobs]
    assert states == [JobState.DONE, JobState.FAILED, JobState.DONE, JobState.DONE]
    assert isinstance(bench.session.queue.jobs[1].error, WorkerDied)
    project = bench.session.editor.project
    lengths = [len(project.samples_of(bench.lines[row].chosen_take or "")) // CHUNK_SAMPLES for row in (0, 2, 3)]
    assert lengths == [2, 3, 2]


class RestartedModel(FakeModel):
    """Model whose word "wait" blocks in the first worker until it is killed, but not in the next one."""

    num_created = 0

    def __init__(self, folder: Path, options: EngineOptions) -> None:
        super().__init__(folder, options)
        RestartedModel.num_created += 1
        self._is_first = RestartedModel.num_created == 1

    def _execute(self, word: str, control: RequestControl) -> None:
        super()._execute("go" if word == "wait" and not self._is_first else word, control)


@pytest.fixture
def restarting_bench(make_bench: Callable[..., Bench], tmp_path: Path) -> Bench:
    RestartedModel.num_created = 0
    return open_script(make_bench, three_at_once(tmp_path), start_worker=lambda: ThreadWorker(RestartedModel))


@pytest.mark.slow
def test_script_playback_continues_with_a_retried_line(restarting_bench: Bench) -> None:
    session, heard = restarting_bench.session, []
    session.playback.player.started.connect(lambda sound: heard.append(sound.line_id))
    restarting_bench.trigger("speak.stale")
    restarting_bench.until(lambda: len(running_texts(restarting_bench)) == 3 and all_have_audio(restarting_bench))
    session.playback.script_player.start(restarting_bench.lines[1].id)
    restarting_bench.until(lambda: heard)
    ThreadWorker.created[-1].kill()
    restarting_bench.until(lambda: not session.playback.script_player.is_active)
    ids = [line.id for line in restarting_bench.lines]
    assert heard == [ids[1], ids[1], *ids[2:5]]


@pytest.mark.slow
def test_an_urgent_job_is_played_when_retried(restarting_bench: Bench) -> None:
    session, heard = restarting_bench.session, []
    session.playback.player.started.connect(lambda sound: heard.append(sound.take_id))
    restarting_bench.trigger("speak.stale")
    restarting_bench.until(lambda: len(running_texts(restarting_bench)) == 3 and all_have_audio(restarting_bench))
    session.synthesis.speak([restarting_bench.lines[3].id])
    session.synthesis.speak([restarting_bench.lines[1].id])
    restarting_bench.until(lambda: restarting_bench.session.queue.current and heard)
    ThreadWorker.created[-1].kill()
    restarting_bench.until(
        lambda: (
            not running_texts(restarting_bench) and not session.queue.waiting and not session.playback.player.is_playing
        )
    )
    assert heard[-1] == session.editor.project.takes_of(restarting_bench.lines[1].id)[-1].id


@pytest.mark.slow
def test_stop_ends_the_played_job_after_the_worker_died(restarting_bench: Bench) -> None:
    session = restarting_bench.session
    session.synthesis.speak([restarting_bench.lines[1].id, restarting_bench.lines[2].id], plays=False)
    restarting_bench.until(lambda: len(running_texts(restarting_bench)) == 2 and all_have_audio(restarting_bench))
    session.synthesis.speak([restarting_bench.lines[0].id])
    restarting_bench.until(lambda: session.playback.player.is_playing and all_have_audio(restarting_bench))
    heard = next(job for job in session.queue.running if job.is_urgent)
    session.queue.set_paused(True)
    ThreadWorker.created[-1].kill()
    restarting_bench.until(lambda: len(session.queue.waiting) == 3)
    assert session.playback.stop_and_cancel()
    assert heard.state is JobState.CANCELLED
    session.queue.set_paused(False)
    restarting_bench.until(lambda: not running_texts(restarting_bench) and not session.queue.waiting)
    assert take_lengths(restarting_bench, 0) == [1], "only the audio generated before is kept"


@pytest.mark.slow
def test_stop_keeps_a_job_whose_line_plays_another_take(bench: Bench) -> None:
    session, samples = bench.session, np.full(2_400, 0.1, np.float32)
    take = bench.add_take(samples, line=0)
    session.playback.play_take(take.id)
    bench.until(lambda: session.playback.player.is_playing)
    bench.until(lambda: not session.playback.player.is_playing)
    session.synthesis.speak([bench.lines[0].id], plays=False)
    bench.until(lambda: running_texts(bench))
    assert not session.playback.stop_and_cancel()
    bench.live(0.05)
    assert running_texts(bench) == [WORDS[0]]


def test_another_take_of_the_line_does_not_end_its_playback(bench: Bench) -> None:
    session = bench.session
    first, second = session.queue.speak([bench.lines[0].id], num_takes=2)
    bench.until(lambda: len(running_texts(bench)) == 2)
    session.queue.speak([bench.lines[1].id])
    session.playback.script_player.start(bench.lines[0].id)
    session.playback.player.stop()
    played_lines: list[str] = []
    session.playback.script_player.line_changed.connect(played_lines.append)
    session.queue.cancel(second)
    bench.until(lambda: second.state.is_over)
    assert played_lines == []
    session.queue.cancel(first)
    bench.until(lambda: played_lines == [bench.lines[1].id])


def test_jobs_stopped_by_a_model_change_are_cancelled(bench: Bench) -> None:
    session = bench.session
    bench.trigger("speak.stale")
    bench.until(lambda: len(running_texts(bench)) == 3)
    bench.until(lambda: all_have_audio(bench))
    jobs = session.queue.running
    session.queue.cancel_waiting()
    session.model_selection.use_model(session.model_selection.local_folder().name)
    bench.until(lambda: all(job.state.is_over for job in jobs))
    assert [job.state for job in jobs] == 3 * [JobState.CANCELLED]


class BlockingModel(FakeModel):
    """Model whose word "held" blocks until ``may_continue`` is set."""

    may_continue = threading.Event()

    def _execute(self, word: str, control: RequestControl) -> None:
        if word == "held":
            BlockingModel.may_continue.wait(60)
        super()._execute(word, control)


@pytest.mark.slow
def test_an_export_includes_a_line_that_is_deleted_while_it_is_spoken(
    make_bench: Callable[..., Bench], tmp_path: Path
) -> None:
    BlockingModel.may_continue.clear()
    model = three_at_once(tmp_path)
    bench = open_script(make_bench, model, ("one held", "two held"), start_worker=lambda: ThreadWorker(BlockingModel))
    session = bench.session
    bench.settings[EXPORT_FOLDER] = str(tmp_path / "target")
    dialog = open_export_dialog(bench.window, session)
    dialog.start()
    bench.until(lambda: len(running_texts(bench)) == 2 and all_have_audio(bench))
    session.editor.apply(RemoveLines((bench.lines[1].id,)))
    BlockingModel.may_continue.set()
    task = session.parts.exports.current
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE, (task.error, task.failures)
    assert [path.name for path in sorted((tmp_path / "target").iterdir())] == [
        "001 Anna one held.wav",
        "002 Anna two held.wav",
    ]


def test_a_job_cancelled_as_the_worker_dies_is_not_retried(restarting_bench: Bench) -> None:
    session = restarting_bench.session
    restarting_bench.trigger("speak.stale")
    restarting_bench.until(lambda: len(running_texts(restarting_bench)) == 3 and all_have_audio(restarting_bench))
    jobs = session.queue.jobs
    session.bridge.engine_changed.connect(session.queue.cancel_all, Qt.ConnectionType.SingleShotConnection)
    ThreadWorker.created[-1].kill()
    restarting_bench.until(lambda: all(job.state.is_over for job in jobs) and not session.queue._tasks)
    assert [take_lengths(restarting_bench, row) for row in range(3)] == [[1], [2], [3]], (
        "the audio generated before is kept"
    )


def test_a_job_waiting_for_the_model_can_be_cancelled(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    loaded = threading.Event()

    class SlowModel(FakeModel):
        def __init__(self, folder: Path, options: EngineOptions) -> None:
            loaded.wait(60)
            super().__init__(folder, options)

    bench = open_script(make_bench, three_at_once(tmp_path), start_worker=lambda: ThreadWorker(SlowModel))
    session = bench.session
    (job,) = session.queue.speak([bench.lines[0].id])
    bench.live(0.01)
    session.queue.cancel(job)
    bench.until(lambda: job.state is JobState.CANCELLED, seconds=5)
    assert session.bridge.engine.state is EngineState.LOADING, "loading continues"
    loaded.set()
    bench.until(lambda: session.bridge.engine.state is EngineState.READY)
    assert bench.session.editor.project.takes_of(bench.lines[0].id) == ()
