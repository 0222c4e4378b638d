"""The bundled voices as input of recognisers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from studio import paths
from studio.audio.files import read_audio
from studio.take_checks.comparison import compare
from studio.take_checks.engine import at_recognizer_rate
from studio.take_checks.findings import TextFindings
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, Recognizer, Samples
from studio.take_checks.units import spoken_units


@cache
def clip(name: str) -> tuple[Samples, str]:
    """Return the recording of a bundled voice and its transcript."""
    path: Path = paths.resources() / "voices" / f"{name}.wav"
    waveform = read_audio(path)
    text = path.with_suffix(".txt").read_text("utf-8").strip()
    return at_recognizer_rate(waveform.samples, waveform.sample_rate), text


def findings(recognizer: Recognizer, samples: Samples, text: str) -> TextFindings:
    """Compare an English recording with its text."""
    units = spoken_units(text, "en")
    recognition = recognizer.recognize(samples, [unit.text for unit in units], "en")
    return compare(
        text, units, recognition, seconds=len(samples) / SAMPLE_RATE, recognizer=recognizer.name, language="en"
    )
