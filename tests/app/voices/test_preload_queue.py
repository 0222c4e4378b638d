"""Preparation of voices: one at a time, new ones first, paused while lines are spoken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytestqt.qtbot import QtBot
from thread_worker import ThreadWorker

from studio.app.voices.preload_queue import Preparation, PreparationState, VoicePreloadQueue
from studio.errors import ClipTooShort
from studio.pipeline.request import VoiceReference, VoiceSummary
from studio.voices.library import Voice
from studio.worker.client import WorkerClient


def voice(name: str, generation: str | None = None) -> Voice:
    return Voice(name, Path(f"{name}.wav"), None, 4.0, generation=generation)


class Preparer:
    """Fake worker bridge whose preparations finish after ``may_finish`` is set."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.cancelled: list[str] = []
        self.may_finish = asyncio.Event()

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary:
        self.requested.append(voice.name)
        if on_progress:
            on_progress("voice", 0.5)
        try:
            await self.may_finish.wait()
        except asyncio.CancelledError:
            self.cancelled.append(voice.name)
            raise
        if voice.name == "bug":
            raise ZeroDivisionError
        if voice.name == "broken":
            raise ClipTooShort("Too short.", remedy="Another.")
        return VoiceSummary(voice.name, 4.0, 100, 10)


async def run_pending_callbacks() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def run(scenario: Callable[[VoicePreloadQueue, Preparer], Coroutine[Any, Any, None]]) -> None:
    async def play() -> None:
        await scenario(VoicePreloadQueue(), Preparer())

    asyncio.run(play())


@pytest.fixture(autouse=True)
def _application(qtbot: QtBot) -> None:
    """Signals need a QApplication."""


def test_voices_are_prepared_in_order_with_progress() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        states: list[tuple[str, PreparationState]] = []
        queue.changed.connect(lambda name, preparation: states.append((name, preparation.state)))
        queue.use(preparer)
        for name in ("a", "b"):
            queue.request(voice(name), is_urgent=False)
        await run_pending_callbacks()
        assert queue.of("a") == Preparation(PreparationState.RUNNING, 0.5)
        assert queue.of("b").state is PreparationState.WAITING
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert [queue.of(name).state for name in "ab"] == [PreparationState.READY] * 2
        assert states[-1] == ("b", PreparationState.READY)

    run(scenario)


def test_a_new_voice_comes_first() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer)
        for name in ("a", "b", "c"):
            queue.request(voice(name), is_urgent=False)
        queue.request(voice("new"))
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert preparer.requested == ["a", "new", "b", "c"]

    run(scenario)


def test_the_queue_continues_after_a_failure() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer)
        queue.request(voice("broken"), is_urgent=False)
        queue.request(voice("bug"), is_urgent=False)
        queue.request(voice("fine"), is_urgent=False)
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert queue.of("broken").state is PreparationState.FAILED
        assert str(queue.of("broken").error) == "Too short. Another."
        assert queue.of("bug").state is PreparationState.FAILED
        assert queue.of("fine").state is PreparationState.READY

    run(scenario)


def test_pause_cancels_and_resume_restarts() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer)
        queue.request(voice("a"))
        await run_pending_callbacks()
        queue.pause()
        await run_pending_callbacks()
        assert preparer.cancelled == ["a"]
        assert queue.of("a").state is PreparationState.WAITING
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert queue.of("a").state is PreparationState.WAITING
        queue.resume()
        await run_pending_callbacks()
        assert queue.of("a").state is PreparationState.READY

    run(scenario)


def test_a_forgotten_voice_is_not_prepared() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer)
        for name in ("a", "b", "c"):
            queue.request(voice(name), is_urgent=False)
        await run_pending_callbacks()
        queue.discard("a")
        queue.discard("b")
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert preparer.requested == ["a", "c"]
        assert queue.of("a").state is PreparationState.UNKNOWN

    run(scenario)


def test_another_model_resets_all_states() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer, "CosyVoice3")
        queue.request(voice("stored", generation="cosyvoice2"))
        queue.request(voice("own", generation="cosyvoice3"))
        await run_pending_callbacks()
        assert queue.of("stored").state is PreparationState.OTHER_MODEL
        assert queue.of("own").state is PreparationState.RUNNING
        queue.use(None)
        await run_pending_callbacks()
        assert queue.of("own").state is PreparationState.UNKNOWN
        assert preparer.cancelled == ["own"]
        queue.request(voice("x"))
        assert queue.of("x").state is PreparationState.UNKNOWN

    run(scenario)


def test_a_renamed_voice_keeps_its_state() -> None:
    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        queue.use(preparer)
        preparer.may_finish.set()
        queue.request(voice("a"))
        await run_pending_callbacks()
        queue.rename("a", "b")
        assert queue.of("b").state is PreparationState.READY
        assert preparer.requested == ["a"]
        preparer.may_finish.clear()
        queue.request(voice("c"))
        await run_pending_callbacks()
        queue.rename("c", "d")
        preparer.may_finish.set()
        await run_pending_callbacks()
        assert preparer.requested == ["a", "c", "d"]
        assert queue.of("d").state is PreparationState.READY
        assert queue.of("c").state is PreparationState.UNKNOWN

    run(scenario)


def test_prepare_through_the_worker_client() -> None:
    """With the real client and a worker with a fake model."""

    async def play() -> None:
        async with WorkerClient(Path("fake"), start_worker=ThreadWorker) as client:
            queue = VoicePreloadQueue()
            shares: list[float] = []
            queue.changed.connect(lambda _name, preparation: shares.append(preparation.share))
            queue.use(client, "CosyVoice3")
            queue.request(voice("Anna"))
            async with asyncio.timeout(20):
                while queue.of("Anna").state is not PreparationState.READY:
                    await asyncio.sleep(0.01)
            assert 0.5 in shares

    asyncio.run(play())


def test_the_time_of_a_preparation_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("studio.app.voices.preload_queue.time", SimpleNamespace(monotonic=lambda: now))

    async def scenario(queue: VoicePreloadQueue, preparer: Preparer) -> None:
        nonlocal now
        reported: list[tuple[str, float]] = []
        queue.prepared.connect(lambda prepared, seconds: reported.append((prepared.name, seconds)))
        queue.use(preparer)
        queue.request(voice("a"))
        await run_pending_callbacks()
        now = 45.0
        preparer.may_finish.set()
        await run_pending_callbacks()
        queue.request(voice("broken"))
        await run_pending_callbacks()
        assert reported == [("a", 45.0)]

    run(scenario)
