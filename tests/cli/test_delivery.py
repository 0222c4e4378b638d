"""Delivery of audio: interruptions leave no file, and playback survives a lost device."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
import soundfile
from sound_card import CardOutputs, SoundCard
from thread_worker import ThreadWorker

from studio.audio.output_device import AudioOutputs, FillCallback, OutputStream
from studio.cli.command_context import CommandContext
from studio.cli.delivery import Destination, OutputResult, OutputSink
from studio.cli.progress import ProgressLine
from studio.errors import NoAudioDevice
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)


async def deliver(folder: Path, text: str, outputs: AudioOutputs) -> OutputResult:
    request = SynthesisRequest(text, VoiceReference(folder / "anna.wav"))
    async with WorkerClient(Path("fake"), start_worker=ThreadWorker) as client:
        destination = Destination(folder / "out.wav", is_played=True)
        sink = OutputSink(destination, await client.load(), CommandContext(outputs=outputs), ProgressLine())
        return await sink.deliver(lambda hooks: client.synthesize(request, hooks=hooks))


@pytest.mark.parametrize("text", ["one wait", "one " * 300], ids=["during synthesis", "during playback"])
def test_cancelling_stops_playback_and_leaves_no_file(tmp_path: Path, text: str) -> None:
    card = SoundCard()

    async def cancel() -> None:
        delivering = asyncio.create_task(deliver(tmp_path, text, CardOutputs(card)))
        while card.first_sound is None:
            await asyncio.sleep(0.01)
        delivering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await delivering

    asyncio.run(asyncio.wait_for(cancel(), 30))
    assert len(card.heard) < 24_000 * 3, "playback continued"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_playback_continues_when_the_device_is_reconnected(tmp_path: Path) -> None:
    card = SoundCard(vanishes_after=0.3)

    async def reconnect() -> OutputResult:
        delivering = asyncio.create_task(deliver(tmp_path, "one " * 8, CardOutputs(card)))
        while card.num_opened < 2:
            await asyncio.sleep(0.005)
        card.stay()
        return await delivering

    asyncio.run(asyncio.wait_for(reconnect(), 30))
    heard_without_gap = card.heard[card.heard != 0.0]
    np.testing.assert_allclose(heard_without_gap, soundfile.read(tmp_path / "out.wav")[0], atol=1e-4)


def test_an_unexpected_failure_of_the_device_is_reported(tmp_path: Path) -> None:
    class BrokenOutputs(CardOutputs):
        def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
            raise ZeroDivisionError("broken driver")

    with pytest.raises(NoAudioDevice, match=r"Playback failed\."):
        asyncio.run(asyncio.wait_for(deliver(tmp_path, "one", BrokenOutputs(SoundCard())), 30))
    assert list(tmp_path.iterdir()) == []
