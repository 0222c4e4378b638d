"""Delivery of audio: an interruption stops playback at once, and leaves no file and no thread."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sound_card import CardOutputs, SoundCard
from thread_worker import ThreadWorker

from studio.cli.command_context import CommandContext
from studio.cli.delivery import Destination, OutputSink
from studio.cli.progress import ProgressLine
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("text", ["one wait", "one " * 300], ids=["during synthesis", "during playback"])
def test_cancelling_stops_playback_and_leaves_no_file(tmp_path: Path, text: str) -> None:
    card = SoundCard()

    async def cancel() -> None:
        request = SynthesisRequest(text, VoiceReference(tmp_path / "anna.wav"))
        async with WorkerClient(Path("fake"), start_worker=ThreadWorker) as client:
            destination = Destination(tmp_path / "out.wav", is_played=True)
            command_context = CommandContext(outputs=CardOutputs(card))
            delivery = OutputSink(destination, await client.load(), command_context, ProgressLine())
            delivering = asyncio.create_task(delivery.deliver(lambda hooks: client.synthesize(request, hooks=hooks)))
            while card.first_sound is None:
                await asyncio.sleep(0.01)
            delivering.cancel()
            with pytest.raises(asyncio.CancelledError):
                await delivering

    asyncio.run(asyncio.wait_for(cancel(), 30))
    assert len(card.heard) < 24_000 * 3, "playback continued"
    assert list(tmp_path.iterdir()) == []
