"""The preview of the normalised text, while requests run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import noise_models
import pytest
from thread_worker import ThreadWorker

from studio.errors import ModelNotFound, NothingToSpeak
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient
from studio.worker.normalization import normalized_text

MODEL = noise_models.V3


def test_numbers_become_words_and_pauses_stay() -> None:
    words = normalized_text("At 3 o'clock. [pause 0.5] 12 lamps. [breath] Good.", MODEL)
    assert "3" not in words
    assert "[pause 0.5]" in words
    assert "twelve lamps" in words
    assert "[breath]" in words


@pytest.mark.parametrize(
    ("text", "folder", "error"), [("...", MODEL, NothingToSpeak), ("Hi.", Path("no"), ModelNotFound)]
)
def test_unspeakable_text_is_an_error(text: str, folder: Path, error: type[Exception]) -> None:
    with pytest.raises(error):
        normalized_text(text, folder)


def test_normalization_does_not_wait_for_a_running_request() -> None:
    async def ask() -> str:
        async with WorkerClient(MODEL, start_worker=ThreadWorker) as client:
            await client.load()
            running = client.synthesize(SynthesisRequest("wait", VoiceReference(Path("clip.wav"))))
            async with asyncio.timeout(20):
                words = await client.spell_out("It is 3 o'clock.")
            assert not running.is_over
            running.cancel()
            return words

    assert "three" in asyncio.run(ask())


def test_errors_of_normalization_keep_their_class() -> None:
    async def ask() -> None:
        async with WorkerClient(Path("no such folder"), start_worker=ThreadWorker) as client:
            await client.spell_out("Hi.")

    with pytest.raises(ModelNotFound):
        asyncio.run(ask())
