"""Recording through PortAudio from a virtual microphone of a real sound server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from virtual_sound_server import RATE, SoundServer, needs_sound_server, sound_server, speech_like

pytestmark = [pytest.mark.sound, needs_sound_server]

RECORD = """
import sys, time
import numpy as np
from studio.audio.portaudio import device_names
from studio.audio.recording import Recorder
from studio.errors import NoAudioDevice
from studio.voices.loudness import EndpointDetector

try:
    with Recorder() as recorder:
        watch = EndpointDetector(recorder.sample_rate)
        recorder.start()
        print("listening", len(device_names("input")) > 0, recorder.sample_rate, flush=True)
        started = time.monotonic()
        while not watch.is_over and time.monotonic() - started < 30:
            watch.add(recorder.read_new().recorded)
            time.sleep(0.02)
        print("over", watch.is_over, "gaps", recorder.has_gaps)
except NoAudioDevice as error:
    print("error", error)
np.save(sys.argv[1], recorder.stop().samples)
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path) as server:
        yield server


def start_recording(server: SoundServer) -> subprocess.Popen[str]:
    """Wait until the recorder runs."""
    recorder = server.start(RECORD, str(server.folder / "heard.npy"))
    assert recorder.stdout is not None
    assert recorder.stdout.readline() == f"listening True {RATE}\n"
    return recorder


@pytest.mark.slow
def test_audio_is_recorded_up_to_the_maximum_length(server: SoundServer) -> None:
    recorder = start_recording(server)
    said = speech_like(3.0)
    server.play(said)
    output, errors = recorder.communicate(timeout=60)
    assert output == "over True gaps False\n", errors
    heard = np.load(server.folder / "heard.npy")
    (loud,) = np.nonzero(np.abs(heard) > 0.02)
    (sounding,) = np.nonzero(np.abs(said) > 0.02)
    span = sounding[-1] - sounding[0] + 1
    np.testing.assert_allclose(heard[loud[0] : loud[0] + span], said[sounding[0] : sounding[-1] + 1], atol=1e-4)
    assert len(heard) / RATE < 12.0


def test_a_crash_of_the_sound_server_keeps_the_recording(server: SoundServer) -> None:
    recorder = start_recording(server)
    server.play(speech_like(1.0))
    server.process.kill()
    output, _ = recorder.communicate(timeout=60)
    assert output.startswith("error The microphone was disconnected.")
    assert np.abs(np.load(server.folder / "heard.npy")).max() > 0.1
