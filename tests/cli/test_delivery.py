"""Interrupted delivery: playback stops, no file is left, no thread waits."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sound_card import SoundCard
from thread_worker import ThreadWorker

from studio.cli.command_context import CommandContext
from studio.cli.delivery import OutputSink
from studio.cli.destination import Destination
from studio.cli.loudspeaker import Loudspeaker
from studio.cli.progress import ProgressLine
from studio.pipeline.request import AudioChunk, SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("text", ["one wait", "one " * 300], ids=["while speech is made", "while it is heard"])
def test_breaking_off_is_silence_at_once_and_leaves_nothing(tmp_path: Path, text: str) -> None:
    card = SoundCard()

    async def break_off() -> None:
        request = SynthesisRequest(text, VoiceReference(tmp_path / "anna.wav"))
        async with WorkerClient(Path("fake"), start_worker=ThreadWorker) as client:
            destination = Destination(tmp_path / "out.wav", is_played=True)
            command_context = CommandContext(open_output=card.open)
            delivery = OutputSink(destination, await client.load(), command_context, ProgressLine())
            delivering = asyncio.create_task(delivery.deliver(lambda hooks: client.synthesize(request, hooks=hooks)))
            while card.first_sound is None:
                await asyncio.sleep(0.01)
            delivering.cancel()
            with pytest.raises(asyncio.CancelledError):
                await delivering

    asyncio.run(asyncio.wait_for(break_off(), 30))
    assert len(card.heard) < 24_000 * 3, "it went on playing"
    assert list(tmp_path.iterdir()) == []


def test_a_loudspeaker_opens_its_device_while_the_sound_is_being_made_and_closes_it_unheard() -> None:
    card = SoundCard()
    loudspeaker = Loudspeaker(24_000, card.open)

    async def stop() -> None:
        listening = asyncio.create_task(loudspeaker.listen())
        while not card.is_running:
            await asyncio.sleep(0.005)
        assert loudspeaker.started is None
        loudspeaker.add(AudioChunk(np.ones(240, np.float32), 24_000))
        loudspeaker.stop()
        await listening
        while card.is_running:
            await asyncio.sleep(0.005)

    asyncio.run(asyncio.wait_for(stop(), 60))
    assert len(card.heard) == 0
    assert loudspeaker.started is None


def test_what_arrives_while_it_plays_is_heard_after_what_was_there() -> None:
    card = SoundCard()
    loudspeaker = Loudspeaker(24_000, card.open)

    def add_later() -> None:
        time.sleep(0.1)
        loudspeaker.add(AudioChunk(np.full(2400, 0.5, np.float32), 24_000))
        loudspeaker.complete()

    async def listen() -> None:
        loudspeaker.add(AudioChunk(np.full(4800, 0.25, np.float32), 24_000))
        loudspeaker.start()
        threading.Thread(target=add_later).start()
        await loudspeaker.listen()

    asyncio.run(asyncio.wait_for(listen(), 10))
    np.testing.assert_array_equal(card.heard, np.repeat([0.25, 0.5], [4800, 2400]).astype(np.float32))
    assert loudspeaker.num_underruns == 0
