"""Playback through PortAudio into a virtual sink of a real sound server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

pytestmark = [
    pytest.mark.sound,
    pytest.mark.skipif(
        sys.platform != "linux" or not all(map(shutil.which, ("pulseaudio", "pactl", "parec"))),
        reason="needs the Debian packages libportaudio2 libasound2-plugins pulseaudio pulseaudio-utils",
    ),
]

RATE = 24_000
Samples = npt.NDArray[np.float32]

PLAY = """
import sys, time
from functools import partial
import numpy as np
from studio.audio.output_device import BufferedOutput
from studio.audio.output_device import PortAudioOutputs
from studio.errors import NoAudioDevice

samples, stop_after_seconds = np.load(sys.argv[1]), float(sys.argv[2])
try:
    with BufferedOutput(24_000, open_output=partial(PortAudioOutputs().open, None)) as player:
        started = time.monotonic()
        for piece in np.array_split(samples, 40):
            player.play(piece)
        if stop_after_seconds:
            while player.heard_seconds < stop_after_seconds:
                time.sleep(0.005)
            player.stop()
    print("gaps", player.num_underruns)
except NoAudioDevice as error:
    print("error", error)
"""


@dataclass
class SoundServer:
    """Private PulseAudio with one sink; playback runs in a subprocess, as PortAudio lists devices only once."""

    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    folder: Path

    def start_playing(self, samples: Samples, stop_after_seconds: float = 0.0) -> subprocess.Popen[str]:
        np.save(self.folder / "samples.npy", samples)
        return subprocess.Popen(
            [sys.executable, "-c", PLAY, str(self.folder / "samples.npy"), str(stop_after_seconds)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def heard_of(self, samples: Samples, stop_after_seconds: float = 0.0) -> tuple[Samples, str]:
        """Return what reached the sink, without surrounding silence, and the player's output."""
        recording = self.folder / "heard.raw"
        with recording.open("wb") as file:
            recorder = subprocess.Popen(
                ["parec", "--device=out.monitor", "--format=float32le", f"--rate={RATE}", "--channels=1", "--raw"],
                stdout=file,
                env=self.environment,
            )
            try:
                until(lambda: recording.stat().st_size > 0)
                said, _ = self.start_playing(samples, stop_after_seconds).communicate(timeout=60)
                time.sleep(0.5)
            finally:
                recorder.terminate()
                recorder.wait()
        return np.trim_zeros(np.fromfile(recording, np.float32)), said.strip()


def until(is_so: object, seconds: float = 60.0) -> None:
    assert callable(is_so)
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with tempfile.TemporaryDirectory(prefix="pa") as folder:  # a socket's path must be short
        environment = {**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": folder, "PULSE_RUNTIME_PATH": folder}
        for name in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "PULSE_SINK"):
            environment.pop(name, None)
        options = (
            "--daemonize=no --use-pid-file=no --exit-idle-time=-1 --realtime=no --high-priority=no --disable-shm=yes"
        )
        modules = [
            f"--load=module-native-protocol-unix auth-anonymous=1 socket={folder}/native",
            f"--load=module-null-sink sink_name=out rate={RATE} channels=1 format=float32le",
        ]
        process = subprocess.Popen(
            ["pulseaudio", "-n", *options.split(), *modules], env=environment, stderr=subprocess.DEVNULL
        )
        environment["PULSE_SERVER"] = f"unix:{folder}/native"
        try:
            until(lambda: _answers(environment))
            yield SoundServer(process, environment, tmp_path)
        finally:
            process.terminate()
            process.wait()


def _answers(environment: dict[str, str]) -> bool:
    return subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False).returncode == 0


def speech_like(seconds: float) -> Samples:
    """Never zero; starts almost silent, because a suspended sink drops the first samples."""
    noise = np.random.default_rng(4).uniform(0.05, 0.5, int(seconds * RATE)).astype(np.float32)
    noise[: RATE // 5] = 1e-6
    return noise


def test_all_samples_reach_the_sound_server(server: SoundServer) -> None:
    samples = speech_like(2.0)
    heard, said = server.heard_of(samples)
    assert said == "gaps 0"
    loud = np.flatnonzero(heard > 0.01)
    np.testing.assert_allclose(heard[loud[0] : loud[-1] + 1], samples[RATE // 5 :], atol=1e-6)


def test_stopping_ends_with_a_fade(server: SoundServer) -> None:
    heard, said = server.heard_of(np.full(10 * RATE, 0.5, np.float32), stop_after_seconds=1.0)
    assert said == "gaps 0"
    assert 0.8 * RATE < len(heard) < 2.5 * RATE
    assert np.abs(np.diff(heard[-2000:])).max() < 0.01


def test_a_crash_of_the_sound_server_raises(server: SoundServer) -> None:
    player = server.start_playing(speech_like(20.0))
    time.sleep(2.5)
    server.process.kill()
    said, _ = player.communicate(timeout=60)
    assert said.startswith("error The output device was disconnected during playback.")


def test_no_sound_card_raises(server: SoundServer) -> None:
    server.environment["PULSE_SERVER"] = f"unix:{server.folder}/none"
    said, _ = server.start_playing(speech_like(1.0)).communicate(timeout=60)
    assert said.startswith("error No output device is available")
