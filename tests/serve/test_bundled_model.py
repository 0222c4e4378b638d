"""The service with the bundled model: the samples of `timbre say`, and word times."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import numpy as np
import psutil
import pytest
import running_service
import soundfile
from running_service import RunningService
from websockets.asyncio.client import connect

from studio.catalog.built_in_speakers import open_voice_library
from studio.paths import resources
from studio.pipeline.request import EngineOptions
from studio.serve.word_times import open_aligning_checks
from studio.worker.process import WorkerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MODEL = resources() / "models" / "studio-mini"
RATE = 24_000
TEXT = "The captain folded the map. Then he looked toward the distant shore, and smiled."


@pytest.fixture(scope="module")
def bundled() -> Iterator[RunningService]:
    with running_service.serve(
        library=open_voice_library(),
        folder=MODEL,
        start_worker=WorkerProcess,
        open_checks=open_aligning_checks,
        engine_options=EngineOptions(flow_precision="auto"),  # as `timbre serve` and `timbre say` load the model
    ) as running:
        yield running


def speak(service: RunningService, **values: object) -> httpx2.Response:
    body = {"input": TEXT, "voice": "Ada", "seed": 11, **values}
    answer = httpx2.post(f"{service.url}/v1/audio/speech", json=body, timeout=300)
    assert answer.status_code == 200, answer.text
    return answer


def samples(file: bytes, number: int) -> np.ndarray:
    """Return the first ``number`` 16-bit samples of a file. libsndfile reads no FLAC without its length in the header."""
    if file.startswith(b"fLaC"):
        file = file[:22] + number.to_bytes(4, "big") + file[26:]
    with soundfile.SoundFile(io.BytesIO(file)) as sound:
        assert sound.samplerate == RATE
        return sound.read(number, dtype="int16")


def say(path: Path, *options: str, text: str = TEXT) -> np.ndarray:
    """Return the 16-bit samples that `timbre say` writes to ``path``. Standard input is the text, for ``-``."""
    words = [
        "say",
        text,
        "--voice",
        "Ada",
        "--seed",
        "11",
        "--model",
        str(MODEL),
        "-o",
        str(path),
        "--unmarked",
        *options,
    ]
    said = subprocess.run(
        [sys.executable, "-m", "studio.start", *words],
        input=TEXT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert said.returncode == 0, said.stderr
    return soundfile.read(path, dtype="int16")[0]


@pytest.mark.parametrize("format_name", ["wav", "flac"])
def test_what_is_served_is_what_say_writes(bundled: RunningService, tmp_path: Path, format_name: str) -> None:
    said = say(tmp_path / f"said.{format_name}")
    assert len(said) > 2 * RATE
    assert np.array_equal(samples(speak(bundled, response_format=format_name).content, len(said)), said)
    if format_name == "wav":  # FLAC is rounded differently
        pcm = speak(bundled, response_format="pcm").content
        assert np.array_equal(np.frombuffer(pcm, "<i2"), said)
    whole = speak(bundled, response_format=format_name, stream_format="json").json()
    assert np.array_equal(samples(base64.b64decode(whole["audio"]), len(said)), said)


def test_text_that_arrives_is_what_say_writes(bundled: RunningService, tmp_path: Path) -> None:
    """Over a WebSocket in small pieces, from standard input, and from there through the service."""

    async def talk() -> bytes:
        async with connect(f"ws{bundled.url[4:]}/v1/audio/speech/stream") as socket:
            await socket.send(json.dumps({"type": "start", "voice": "Ada", "seed": 11}))
            for start in range(0, len(TEXT), 7):
                await socket.send(json.dumps({"type": "text", "text": TEXT[start : start + 7]}))
            await socket.send(json.dumps({"type": "end"}))
            return b"".join([message async for message in socket if isinstance(message, bytes)])

    said = say(tmp_path / "said.wav", text="-")
    assert len(said) > 2 * RATE
    assert np.array_equal(np.frombuffer(asyncio.run(talk()), "<i2"), said)
    assert np.array_equal(say(tmp_path / "there.wav", "--server", bundled.url, text="-"), said)


def test_speed_and_style_give_the_same_samples_too(bundled: RunningService, tmp_path: Path) -> None:
    style = bundled.service.styles.presets[0].id
    said = say(tmp_path / "said.wav", "--speed", "1.2", "--preset", style)
    pcm = speak(bundled, response_format="pcm", speed=1.2, preset=style).content
    assert np.array_equal(np.frombuffer(pcm, "<i2"), said)


def test_words_have_times_in_the_audio(bundled: RunningService) -> None:
    values = speak(bundled, response_format="pcm", stream_format="json", timestamp_granularities=["word"]).json()
    seconds = len(base64.b64decode(values["audio"])) / 2 / RATE
    words = values["words"]
    spoken = TEXT.replace(".", "").replace(",", "").split()
    assert [each["word"] for each in words if each["word"] not in spoken] == []
    assert len(words) >= len(spoken) - 2, "the recogniser may miss a word"
    starts = [each["start"] for each in words]
    assert starts == sorted(starts)
    assert all(0.0 <= each["start"] < each["end"] <= seconds for each in words)
    assert starts[-1] > 0.6 * seconds


def test_the_process_that_aligns_words_has_the_usual_priority(bundled: RunningService) -> None:
    """Clients wait for it beside a synthesis; at low priority it took eight times as long."""
    speak(bundled, response_format="pcm", stream_format="json", timestamp_granularities=["word"])
    checks = bundled.service._aligner._checks
    assert checks is not None
    assert psutil.Process(checks.pid).nice() == psutil.Process().nice()
