"""Flite from Debian: its statistical voices, with the times of their phones."""

from __future__ import annotations

import subprocess
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.corpus.utterance import CorpusFailed
from training.synthesizers.phones import Timed, of_radio
from training.synthesizers.spoken import Spoken, segments_of

_MAX_SECONDS = 120


@dataclass(frozen=True, slots=True)
class FliteVoice:
    """Default settings of a voice."""

    name: str
    f0_mean_hz: float
    f0_deviation_hz: float
    duration_stretch: float = 1.0


VOICES = {
    voice.name: voice
    for voice in (
        FliteVoice("slt", 172.0, 27.0),
        FliteVoice("awb", 132.0, 25.0),
        FliteVoice("rms", 98.0, 24.0),
        FliteVoice("kal16", 95.0, 11.0, 1.1),
    )
}


def say(text: str, *, voice: str, f0_mean_hz: float, duration_stretch: float) -> Spoken:
    """Return speech with an F0 of about ``f0_mean_hz``, ``duration_stretch`` times as long as the default.

    The F0 range grows with its mean, as in natural speech. Raise ``CorpusFailed`` if flite is not installed.
    """
    usual = VOICES[voice]
    deviation = usual.f0_deviation_hz * f0_mean_hz / usual.f0_mean_hz
    with tempfile.TemporaryDirectory(prefix="flite-") as folder:
        path = Path(folder) / "speech.wav"
        command = ["flite", "-voice", voice, "-psdur", "-o", str(path)]
        command += ["--setf", f"int_f0_target_mean={f0_mean_hz:.2f}", "--setf", f"int_f0_target_stddev={deviation:.2f}"]
        command += ["--setf", f"duration_stretch={usual.duration_stretch * duration_stretch:.4f}", "-t", text]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_MAX_SECONDS, check=False)
        except FileNotFoundError:
            raise CorpusFailed("flite is missing. Install it: apt-get install flite") from None
        if ended.returncode != 0 or not path.exists():
            raise CorpusFailed(f"flite could not say {text!r}: {ended.stderr.strip()}")
        with wave.open(str(path), "rb") as file:
            sample_rate = file.getframerate()
            pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    samples = pcm.astype(np.float32) / np.float32(32_768)
    seconds = len(samples) / sample_rate
    return Spoken(samples, sample_rate, segments_of(_phones(ended.stdout, seconds), seconds))


def _phones(listing: str, seconds: float) -> list[tuple[Timed, float]]:
    """Parse lines such as "pau:0.200 hh:0.310 ..." into the labels and start of each phone."""
    phones: list[tuple[Timed, float]] = []
    sentence_start = 0.0
    for line in listing.splitlines():
        start = sentence_start
        for field in line.split():
            name, _, end = field.rpartition(":")
            phones.append((of_radio(name), min(seconds, start)))
            start = sentence_start + float(end)
        sentence_start = start
    return phones
