"""The engine manager with fake candidates that are correct, wrong, slow, too large or broken."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import engine_fakes
import numpy as np
import pytest
from engine_fakes import ThreadTrial
from trial_inputs import MakeManager

from studio.engines import manager as manager_module
from studio.engines.candidate import EngineTarget
from studio.engines.ladder import why_not
from studio.engines.manager import EngineManager
from studio.engines.overview import CandidateView, EngineStatus, Status, Suspension
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.engines.task import Report

ENCODER = Stage.SPEAKER_ENCODER


def views(manager: EngineManager) -> dict[str, CandidateView]:
    (stage,) = manager.overview().stages
    return {view.name: view for view in stage.candidates}


def chosen(manager: EngineManager) -> str:
    (stage,) = manager.overview().stages
    return stage.chosen


def started_build(make_manager: MakeManager) -> tuple[EngineManager, threading.Thread]:
    """Return a manager during a build, and the thread of ``improve``."""
    has_begun = threading.Event()

    def watch(overview: EngineStatus) -> None:
        if overview.work and overview.work.name == "built" and overview.work.share > 0.3:
            has_begun.set()

    manager = make_manager("UNHURRIED", on_change=watch)
    improving = threading.Thread(target=manager.improve)
    improving.start()
    assert has_begun.wait(60)
    return manager, improving


def test_reference_is_used_before_any_trial(make_manager: MakeManager) -> None:
    manager = make_manager("RIGHT")
    assert chosen(manager) == "plain"
    assert manager.open_choice(ENCODER) is None
    assert {view.status for view in views(manager).values()} == {Status.UNTRIED}


def test_manager_reports_whether_the_choice_opens_slowly(make_manager: MakeManager) -> None:
    manager = make_manager("TARDY")
    assert not manager.opens_slowly(ENCODER), "the reference is still the choice"
    manager.improve()
    assert chosen(manager) == "quick"
    assert manager.opens_slowly(ENCODER)


def test_fastest_correct_candidate_is_chosen_and_others_have_reasons(make_manager: MakeManager) -> None:
    manager = make_manager("RIGHT")
    manager.improve()
    found = views(manager)
    assert chosen(manager) == "quick"
    assert found["quick"].speedup > 1.05 > found["slow"].speedup
    assert "slower" in str(why_not(found["slow"], found["quick"]))
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "quick"


def test_results_are_kept_and_nothing_is_tried_twice(make_manager: MakeManager) -> None:
    make_manager("RIGHT").improve()
    num_tasks = len(ThreadTrial.tasks)
    manager = make_manager("RIGHT")
    assert chosen(manager) == "quick"
    manager.improve()
    assert len(ThreadTrial.tasks) == num_tasks


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("wrong", Status.REJECTED, "its output differs from float32 by 10.00%, more than 0.10%"),
        ("overflowing", Status.REJECTED, "it produces values that are not finite"),
        ("greedy", Status.BACKED_OFF, "there is not enough memory"),
        ("failing", Status.BACKED_OFF, "The plan cannot be built."),
        ("disk", Status.BACKED_OFF, "a file cannot be written or read: the disk is full"),
        ("absent", Status.UNUSABLE, "the library is not installed"),
        ("vast", Status.INSUFFICIENT_RESOURCES, "it needs 1073741824.0 GB of memory"),
    ],
)
def test_every_failure_has_a_reason(make_manager: MakeManager, name: str, status: Status, words: str) -> None:
    manager = make_manager("BAD")
    manager.improve()
    assert chosen(manager) == "plain"
    view = views(manager)[name]
    assert view.status is status
    assert words in str(view.reason)


def test_rejected_candidates_are_not_retried_and_failed_ones_once(make_manager: MakeManager) -> None:
    make_manager("BAD").improve()
    ThreadTrial.tasks.clear()
    again = make_manager("BAD")
    again.improve()
    assert sorted(task.name for task in ThreadTrial.tasks) == ["disk", "failing", "greedy"]
    ThreadTrial.tasks.clear()
    third = make_manager("BAD")
    third.improve()
    assert ThreadTrial.tasks == []
    resting = views(third)["failing"]
    assert resting.status is Status.BACKED_OFF
    assert "it failed 2 times and is not tried again automatically" in str(resting.reason)


def test_backed_off_candidate_is_retried_on_request(make_manager: MakeManager) -> None:
    for _ in range(2):
        make_manager("BAD").improve()
    manager = make_manager("BAD")
    ThreadTrial.tasks.clear()
    manager.improve(again=[views(manager)["failing"].key])
    assert [task.name for task in ThreadTrial.tasks] == ["failing"]


def test_build_reports_progress_and_writes_a_manifest(make_manager: MakeManager, store: EngineStore) -> None:
    seen: list[EngineStatus] = []
    manager = make_manager("ONE_BUILT", on_change=seen.append)
    manager.improve()
    view = views(manager)["built"]
    assert view.status is Status.VERIFIED
    assert view.num_bytes == len(engine_fakes.PLAN)
    (manifest,) = [manifest for manifest in store.all_manifests() if manifest.key == view.key]
    assert manifest.facts["candidate: library"] == "1"
    assert set(manifest.phase_seconds) >= {"preparing", "writing"}
    shares = [overview.work.share for overview in seen if overview.work and overview.work.name == "built"]
    assert shares == sorted(shares)
    assert len(set(shares)) >= 4
    assert {overview.work.index for overview in seen if overview.work} == {1, 2}
    assert seen[-1].work is None


def test_a_timing_on_a_busy_machine_is_repeated(make_manager: MakeManager) -> None:
    busy = [True]
    manager = make_manager("ONE_BUILT", was_disturbed=lambda _: busy[0])
    manager.improve()
    assert views(manager)["built"].was_disturbed
    keys = manager.disturbed_keys()
    assert views(manager)["built"].key in keys
    assert make_manager("ONE_BUILT").disturbed_keys() == keys, "also after a restart"
    busy[0] = False
    manager.improve(again=keys)
    assert manager.disturbed_keys() == frozenset()
    assert not views(manager)["built"].was_disturbed


def test_second_build_has_a_time_estimate(make_manager: MakeManager) -> None:
    make_manager("ONE_BUILT").improve()
    seen: list[EngineStatus] = []
    manager = make_manager("ONE_BUILT", on_change=seen.append)
    manager.improve(again=[views(manager)["built"].key])
    remaining = [overview.work.remaining_seconds for overview in seen if overview.work and overview.work.step]
    assert remaining
    assert None not in remaining


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing"])
def test_damaged_build_is_detected_before_use_and_rebuilt(
    make_manager: MakeManager, store: EngineStore, damage: str
) -> None:
    make_manager("ONE_BUILT").improve()
    manager = make_manager("ONE_BUILT")
    plan = store.folder / "built" / views(manager)["built"].key / "plan.bin"
    match damage:
        case "flipped":
            content = bytearray(plan.read_bytes())
            content[1234] ^= 1
            plan.write_bytes(content)
        case "truncated":
            plan.write_bytes(plan.read_bytes()[:-1])
        case "missing":
            plan.unlink()
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "plain"
    assert "was damaged on disk and will be rebuilt" in str(manager.overview().notes[0])
    manager.improve()
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "built"


def test_new_library_version_gets_its_own_build(make_manager: MakeManager, store: EngineStore) -> None:
    make_manager("ONE_BUILT").improve()
    newer = make_manager("OF_A_NEWER_LIBRARY")
    assert views(newer)["built"].status is Status.UNTRIED
    newer.improve()
    assert len([manifest for manifest in store.all_manifests() if manifest.files]) == 2


def test_build_from_another_machine_is_not_used(make_manager: MakeManager, store: EngineStore) -> None:
    """The folder has the right name, but its manifest contains other facts."""
    make_manager("ONE_BUILT").improve()
    manager = make_manager("ONE_BUILT")
    manifest_path = store.folder / "built" / views(manager)["built"].key / "manifest.json"
    words = manifest_path.read_text("utf-8")
    manifest_path.write_text(words.replace('"threads": "1"', '"threads": "64"'), "utf-8")
    assert views(manager)["built"].status is Status.UNTRIED
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "plain"


def test_next_engine_is_opened_with_a_note_if_memory_is_too_small(make_manager: MakeManager) -> None:
    manager = make_manager("TOO_LARGE")
    manager.improve()
    assert chosen(manager) == "large"
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "slower"
    assert "not enough memory for fake in float32 now" in str(manager.overview().notes[0])
    assert chosen(manager) == "slower"


def test_build_is_kept_if_the_gpu_is_lost(make_manager: MakeManager, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = make_manager("ONE_BUILT")
    manager.improve()

    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: unknown error")

    with monkeypatch.context() as failing:
        failing.setattr(engine_fakes.Built, "open", fail)
        with pytest.raises(RuntimeError, match="unknown error"):
            manager.open_choice(ENCODER)
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    assert opened.view.name == "built"


def test_faster_engine_is_opened_once_memory_suffices_again(
    make_manager: MakeManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Free memory is checked again when the model is loaded again for the next line."""
    manager = make_manager("ONE_BUILT")
    manager.improve()
    assert chosen(manager) == "built"
    names = []
    for free in (0, 0, 8 << 30):
        monkeypatch.setattr(manager_module, "budget_bytes", lambda place, free=free: free)
        opened = manager.open_choice(ENCODER)
        assert opened is not None
        names.append(opened.view.name)
    assert names == ["plain", "plain", "built"]
    assert len(manager.overview().notes) == 1, "a note is not repeated"


def test_cancelled_build_leaves_nothing_and_is_not_a_failure(make_manager: MakeManager, store: EngineStore) -> None:
    manager, improving = started_build(make_manager)
    manager.cancel()
    improving.join(60)
    assert not improving.is_alive()
    assert views(manager)["built"].status is Status.UNTRIED
    assert [path for path in (store.folder / "building").iterdir() if path.is_dir()] == []
    assert chosen(manager) == "plain"


def test_interruption_waits_for_the_end_of_the_trial(make_manager: MakeManager) -> None:
    """Its memory is free then. Also if the trial is paused."""
    manager, improving = started_build(make_manager)
    manager.suspend(Suspension.REQUEST)
    manager.cancel(at_once=True)
    assert manager._trial is None
    improving.join(60)
    assert views(manager)["built"].status is Status.UNTRIED
    manager.cancel(at_once=True)  # without a trial, it does not wait


def test_memory_that_would_suffice_for_trials(make_manager: MakeManager) -> None:
    manager = make_manager("BAD")
    assert not manager.could_try_with(1 << 30)
    assert manager.could_try_with(1 << 62)
    assert not make_manager("ONE_BUILT").could_try_with(1 << 62), "it lacks nothing"


def test_engine_that_does_not_fit_beside_the_reference_is_tried(
    make_manager: MakeManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference is timed and closed before the engine is opened."""
    opened: weakref.WeakSet[engine_fakes.Encoder] = weakref.WeakSet()
    most: list[int] = []
    real = engine_fakes.Encoder.__init__

    def open_one(encoder: engine_fakes.Encoder, embed: engine_fakes.Embed) -> None:
        real(encoder, embed)
        opened.add(encoder)
        most.append(len(opened))

    monkeypatch.setattr(engine_fakes.Encoder, "__init__", open_one)
    for module in ("candidate_states", "trial_run"):
        monkeypatch.setattr(f"studio.engines.{module}.budget_bytes", lambda _device: 3 << 30)
    manager = make_manager("LARGE")
    manager.improve()
    assert max(most) == 1
    quick = views(manager)["quick"]
    assert quick.status is Status.VERIFIED
    assert quick.timing is not None
    assert quick.timing.speedup > 2
    most.clear()
    for module in ("candidate_states", "trial_run"):
        monkeypatch.setattr(f"studio.engines.{module}.budget_bytes", lambda _device: 4 << 30)
    manager.clear()
    manager.improve()
    assert max(most) == 2, "with enough memory, both are timed in turn"


@pytest.mark.slow
def test_paused_build_stops_and_resumes(make_manager: MakeManager) -> None:
    seen: list[float] = []
    has_begun, is_over = threading.Event(), threading.Event()

    def watch(overview: EngineStatus) -> None:
        if overview.work and overview.work.name == "built":
            seen.append(overview.work.share)
            if overview.work.share > 0.3:
                has_begun.set()

    manager = make_manager("UNHURRIED", on_change=watch)
    improving = threading.Thread(target=lambda: (manager.improve(), is_over.set()))
    improving.start()
    assert has_begun.wait(60)
    manager.suspend(Suspension.PAUSED)
    assert manager.overview().is_paused
    is_over.wait(0.3)  # a step that was on its way may still come
    num_seen = len(seen)
    assert not is_over.wait(0.5)
    assert len(seen) <= num_seen + 1
    manager.resume(Suspension.PAUSED)
    is_over.wait(0.5)
    assert len(seen) > num_seen + 1
    manager.cancel()
    improving.join(60)


def test_end_of_a_request_does_not_undo_a_pause(make_manager: MakeManager) -> None:
    """The fake trial's ``resume`` waits, so that a pause on another thread can occur in between."""
    has_begun = threading.Event()
    pausing: list[threading.Thread] = []
    trials: list[ThreadTrial] = []

    class Overtaken(ThreadTrial):
        def reports(self) -> Iterator[Report]:
            trials.append(self)
            has_begun.set()
            return super().reports()

        def resume(self) -> None:
            pausing.append(threading.Thread(target=manager.suspend, args=(Suspension.PAUSED,)))
            pausing[0].start()
            pausing[0].join(0.2)
            super().resume()

    manager = make_manager("UNHURRIED", start_trial=Overtaken)
    improving = threading.Thread(target=manager.improve)
    manager.suspend(Suspension.REQUEST)
    improving.start()
    assert has_begun.wait(60)
    manager.resume(Suspension.REQUEST)
    pausing[0].join(60)
    assert manager.overview().is_paused
    assert not trials[0].may_run.is_set()
    manager.cancel()
    improving.join(60)


def test_two_managers_do_not_build_the_same_candidate(make_manager: MakeManager, store: EngineStore) -> None:
    manager = make_manager("ONE_BUILT")
    key = views(manager)["built"].key
    with store.workspace(key):
        manager.improve()
        assert views(manager)["built"].status is Status.BUSY
    assert [task.name for task in ThreadTrial.tasks] == ["plain"]
    manager.improve()
    assert views(manager)["built"].status is Status.VERIFIED


def test_clearing_frees_the_disk_and_all_candidates_are_retried(make_manager: MakeManager, store: EngineStore) -> None:
    manager = make_manager("ONE_BUILT")
    manager.improve()
    assert manager.clear() == len(engine_fakes.PLAN)
    assert store.num_bytes() == 0
    assert views(manager)["built"].status is Status.UNTRIED
    manager.improve()
    assert views(manager)["built"].status is Status.VERIFIED


def test_build_is_deleted_if_verification_rejects_it(
    make_manager: MakeManager, store: EngineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        engine_fakes, "ONE_BUILT", (engine_fakes.RIGHT[0], engine_fakes.Built("built", engine_fakes.wrong))
    )
    manager = make_manager("ONE_BUILT")
    manager.improve()
    assert views(manager)["built"].status is Status.REJECTED
    assert store.num_bytes() == 0


def test_opened_engine_computes_what_was_verified(make_manager: MakeManager, target: EngineTarget) -> None:
    manager = make_manager("ONE_BUILT")
    manager.improve()
    opened = manager.open_choice(ENCODER)
    assert opened is not None
    fbank = np.ones((10, 80), np.float32)
    np.testing.assert_array_equal(opened.engine.embed(fbank), engine_fakes.exact(fbank))  # type: ignore[union-attr]


def test_read_only_store_is_reported_and_the_reference_is_used(make_manager: MakeManager, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    manager = make_manager("RIGHT", store=EngineStore(tmp_path / "file" / "engines"))
    manager.improve()
    assert chosen(manager) == "plain"
    assert "cannot be written" in str(views(manager)["quick"].reason)
