"""A private sound server without hardware, whose output is the input of a virtual microphone."""

from __future__ import annotations

import contextlib
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

RATE = 48_000

needs_sound_server = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("pulseaudio", "pactl", "paplay"))),
    reason="needs the Debian packages libportaudio2 libasound2-plugins pulseaudio pulseaudio-utils",
)


@dataclass
class SoundServer:
    """A private PulseAudio server. Its microphone ``virtual_mic`` records what is played to ``mic_feed``."""

    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, code: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a Python process that uses this server. A new one is needed because PortAudio lists devices only once."""
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def play(self, samples: np.ndarray) -> None:
        soundfile.write(self.folder / "input.wav", samples, RATE, "FLOAT")
        subprocess.run(
            ["paplay", "--device=mic_feed", str(self.folder / "input.wav")],
            env=self.environment,
            check=True,
            timeout=60,
        )


@contextlib.contextmanager
def sound_server(folder_of_files: Path) -> Iterator[SoundServer]:
    with tempfile.TemporaryDirectory(prefix="mic") as short:  # the path of a socket must be short
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
        server = SoundServer(process, environment, folder_of_files)
        try:
            _wait_for_server(environment)
            yield server
        finally:
            process.terminate()
            process.wait()
            for started in server.started:
                started.kill()
                started.communicate()


def _wait_for_server(environment: dict[str, str]) -> None:
    for _ in range(100):
        if subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise TimeoutError("the sound server does not start")


def speech_like(seconds: float) -> np.ndarray:
    """Return syllables of noise after near silence, because a sleeping sink drops the first samples."""
    num_samples = int(seconds * RATE)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(num_samples) / RATE)
    sound = np.random.default_rng(3).normal(0, 0.1, num_samples) * syllables
    return np.concatenate([np.full(RATE // 2, 1e-6), sound, np.full(RATE, 1e-6)]).astype(np.float32)
