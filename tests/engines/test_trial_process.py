"""Trials in real processes, which crash, hang or are killed without affecting the program."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import partial

import psutil
import pytest
from engine_fakes import ThreadTrial
from trial_inputs import MakeManager

from studio.engines.manager import EngineManager
from studio.engines.overview import CandidateView, EngineStatus, Status
from studio.engines.store import EngineStore
from studio.engines.task import TrialTask
from studio.engines.trial_process import TrialProcess


def view_of(manager: EngineManager, name: str) -> CandidateView:
    (stage,) = manager.overview().stages
    return next(view for view in stage.candidates if view.name == name)


def in_process(
    task: TrialTask, *, build_timeout_seconds: float, cancel_grace_seconds: float = 10.0
) -> TrialProcess | ThreadTrial:
    """Start a process for every candidate except the reference, whose trial runs in a thread."""
    if task.name == "plain":
        return ThreadTrial(task, build_timeout_seconds=build_timeout_seconds)
    return TrialProcess(task, build_timeout_seconds=build_timeout_seconds, cancel_grace_seconds=cancel_grace_seconds)


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]


class Begun:
    """Set as soon as a build runs; ``pid`` is its process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.event = threading.Event()

    def __call__(self, overview: EngineStatus) -> None:
        if overview.work and overview.work.name == self.name and overview.work.step and overview.work.step.index > 0:
            self.event.set()


@pytest.mark.slow
def test_build_in_a_process_is_verified_and_has_low_priority(make_manager: MakeManager) -> None:
    begun = Begun("built")
    manager = make_manager("UNHURRIED", start_trial=in_process, on_change=begun)
    improving = threading.Thread(target=manager.improve)
    improving.start()
    assert begun.event.wait(120)
    (process,) = children()
    assert process.nice() == 10
    manager.cancel()
    improving.join(30)
    assert children() == []
    assert view_of(manager, "built").status is Status.UNTRIED
    assert view_of(manager, "plain").status is Status.VERIFIED


@pytest.mark.slow
def test_crash_is_reported(make_manager: MakeManager) -> None:
    manager = make_manager("CRASHING", start_trial=in_process)
    manager.improve()
    reason = str(view_of(manager, "crashing").reason)
    assert "its process ended (SIGKILL, possibly out of memory)" in reason


@pytest.mark.slow
def test_hung_trial_is_killed_and_reported(make_manager: MakeManager) -> None:
    manager = make_manager("HANGING", start_trial=in_process)
    manager.improve()
    assert "it made no progress for 1 s and was stopped" in str(view_of(manager, "hanging").reason)
    assert children() == []


@pytest.mark.slow
def test_trial_that_ignores_cancellation_is_killed(make_manager: MakeManager) -> None:
    begun = Begun("deaf")
    manager = make_manager("DEAF", start_trial=partial(in_process, cancel_grace_seconds=0.5), on_change=begun)
    improving = threading.Thread(target=manager.improve)
    improving.start()
    assert begun.event.wait(120)
    manager.cancel()
    improving.join(60)
    assert not improving.is_alive()
    assert view_of(manager, "deaf").status is Status.UNTRIED


@pytest.mark.slow
def test_candidate_killed_twice_is_backed_off(make_manager: MakeManager, store: EngineStore) -> None:
    for _ in range(2):
        begun = Begun("built")
        manager = make_manager("UNHURRIED", start_trial=in_process, on_change=begun)
        improving = threading.Thread(target=manager.improve)
        improving.start()
        assert begun.event.wait(120)
        (process,) = children()
        os.kill(process.pid, signal.SIGKILL)
        improving.join(30)
    view = view_of(make_manager("UNHURRIED"), "built")
    assert view.status is Status.BACKED_OFF
    assert "it failed 2 times and is not tried again automatically" in str(view.reason)
    assert store.num_bytes() == 0
    assert [path for path in (store.folder / "building").iterdir() if path.is_dir()] == []


@pytest.mark.slow
def test_trial_ends_with_the_program_without_a_failure(make_manager: MakeManager, store: EngineStore) -> None:
    begun = Begun("deaf")
    manager = make_manager("DEAF", start_trial=in_process, on_change=begun)
    improving = threading.Thread(target=manager.improve)
    improving.start()
    assert begun.event.wait(120)
    manager.close()
    improving.join(5)
    assert not improving.is_alive()
    assert children() == []
    assert view_of(manager, "deaf").status is Status.UNTRIED
    assert store.attempts(view_of(manager, "deaf").key) is None


@pytest.mark.slow
def test_trial_ends_if_its_parent_is_killed(make_manager: MakeManager) -> None:
    begun = Begun("deaf")
    manager = make_manager("DEAF", start_trial=in_process, on_change=begun)
    improving = threading.Thread(target=manager.improve, daemon=True)
    improving.start()
    assert begun.event.wait(120)
    (process,) = children()
    trial = manager._trial
    assert isinstance(trial, TrialProcess)
    trial._connection.close()  # as the system does when a process is gone
    deadline = time.monotonic() + 10
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            pytest.fail("the trial outlives the program")
        time.sleep(0.05)
    improving.join(60)
