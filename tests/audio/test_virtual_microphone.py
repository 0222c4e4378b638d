"""Through a real sound server and PortAudio: what is played into a microphone that exists only in memory is recorded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import soundfile

pytestmark = [
    pytest.mark.sound,
    pytest.mark.skipif(
        sys.platform != "linux" or not all(map(shutil.which, ("pulseaudio", "pactl", "paplay"))),
        reason="needs the Debian packages libportaudio2 libasound2-plugins pulseaudio pulseaudio-utils",
    ),
]

RATE = 48_000

RECORD = """
import sys, time
import numpy as np
from studio.audio.portaudio import device_names
from studio.audio.recording import Recorder
from studio.errors import NoAudioDevice
from studio.voices.speech_watch import SpeechWatch

try:
    with Recorder() as recorder:
        watch = SpeechWatch(recorder.sample_rate)
        recorder.start()
        print("listening", len(device_names("input")) > 0, recorder.sample_rate, flush=True)
        started = time.monotonic()
        while not watch.is_over and time.monotonic() - started < 30:
            watch.hear(recorder.read_new().kept)
            time.sleep(0.02)
        print("over", watch.is_over, "gaps", recorder.has_gaps)
except NoAudioDevice as error:
    print("error", error)
np.save(sys.argv[1], recorder.stop().samples)
"""


@dataclass
class Room:
    """A private PulseAudio in which what is played into ``mic_feed`` is heard by the microphone ``virtual_mic``."""

    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    folder: Path
    recorders: list[subprocess.Popen[str]] = field(default_factory=list)

    def start_recording(self) -> subprocess.Popen[str]:
        """In a process of its own, as PortAudio looks for devices only once. Returns when it listens."""
        recorder = subprocess.Popen(
            [sys.executable, "-c", RECORD, str(self.folder / "heard.npy")],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert recorder.stdout is not None
        self.recorders.append(recorder)
        assert recorder.stdout.readline() == f"listening True {RATE}\n"
        return recorder

    def play(self, samples: np.ndarray) -> None:
        soundfile.write(self.folder / "said.wav", samples, RATE, "FLOAT")
        subprocess.run(
            ["paplay", "--device=mic_feed", str(self.folder / "said.wav")], env=self.environment, check=True, timeout=60
        )


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with tempfile.TemporaryDirectory(prefix="mic") as short:  # a socket's path must be short
        folder = Path(short)
        (folder / "home").mkdir()
        environment = {
            **{
                name: value for name, value in os.environ.items() if name not in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
            },
            "HOME": str(folder / "home"),
            "XDG_RUNTIME_DIR": short,
            "PULSE_RUNTIME_PATH": short,
        }
        modules = (
            f"module-native-protocol-unix auth-anonymous=1 socket={short}/native",
            f"module-null-sink sink_name=mic_feed rate={RATE} channels=1 format=float32le",
            "module-remap-source source_name=virtual_mic master=mic_feed.monitor",
        )
        options = [option for module in modules for option in ("-L", module)]
        process = subprocess.Popen(
            [
                "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=no",
                "--high-priority=no", "--disable-shm=yes", *options,
            ],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        environment["PULSE_SERVER"] = f"unix:{short}/native"
        environment["PULSE_SOURCE"] = "virtual_mic"
        room = Room(process, environment, tmp_path)
        try:
            _wait_for_server(environment)
            yield room
        finally:
            process.terminate()
            process.wait()
            for recorder in room.recorders:
                recorder.kill()
                recorder.communicate()


def _wait_for_server(environment: dict[str, str]) -> None:
    for _ in range(100):
        if subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise TimeoutError("the sound server does not start")


def speech_like(seconds: float) -> np.ndarray:
    """Syllables of noise; begins with near silence, for a sink that is asleep swallows the first moment."""
    num_samples = int(seconds * RATE)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(num_samples) / RATE)
    sound = np.random.default_rng(3).normal(0, 0.1, num_samples) * syllables
    return np.concatenate([np.full(RATE // 2, 1e-6), sound, np.full(RATE, 1e-6)]).astype(np.float32)


def test_what_is_said_is_recorded_and_ends_by_itself(room: Room) -> None:
    recorder = room.start_recording()
    said = speech_like(3.0)
    room.play(said)
    output, errors = recorder.communicate(timeout=60)
    assert output == "over True gaps False\n", errors
    heard = np.load(room.folder / "heard.npy")
    (loud,) = np.nonzero(np.abs(heard) > 0.02)
    (sounding,) = np.nonzero(np.abs(said) > 0.02)
    span = sounding[-1] - sounding[0] + 1
    np.testing.assert_allclose(heard[loud[0] : loud[0] + span], said[sounding[0] : sounding[-1] + 1], atol=1e-4)
    assert len(heard) / RATE < 12.0


def test_a_sound_server_that_dies_leaves_what_was_heard(room: Room) -> None:
    recorder = room.start_recording()
    room.play(speech_like(1.0))
    room.process.kill()
    output, _ = recorder.communicate(timeout=60)
    assert output.startswith("error The microphone vanished.")
    assert np.abs(np.load(room.folder / "heard.npy")).max() > 0.1
