"""Tolerances for the arrays of a reference folder, from its own rounding errors."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.audio.files import read_audio
from studio.audio.waveform import Waveform

_MAX_BEYOND_LIMIT = 1e-4


@cache
def _tolerances(reference: Path, family: str) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(
        (reference / family / "golden" / "tolerance.json").read_text("utf-8")
    )
    return entries


def limit_of(reference: Path, family: str, *patterns: str) -> float:
    """Return the larger of the difference between two runs of the official program and 8 ulp of the largest value.

    All arrays with matching names are considered, because the difference of a single array is random.
    """
    entries = [
        entry
        for name, entry in _tolerances(reference, family).items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    assert entries, f"no tolerance of {family} is named like {patterns}"
    largest = np.float32(max(entry["max_abs"] for entry in entries))
    return max(*(float(entry["rerun_max_diff"]) for entry in entries), 8 * float(np.spacing(largest)))


def speech_limit(reference: Path, family: str) -> float:
    """Return the limit for audio if all stages are recomputed. F0 is integrated, which amplifies rounding errors."""
    return limit_of(reference, family, "e2e:*/chunk*", "hift:full/speech")


def assert_equal_speech(ours: np.ndarray, theirs: np.ndarray, limit: float) -> None:
    """One of 10,000 samples may be beyond ``limit``, because F0 is integrated, which amplifies rounding errors."""
    assert ours.shape == theirs.shape
    errors = np.abs(ours - theirs)
    assert np.quantile(errors, 1 - _MAX_BEYOND_LIMIT) <= limit
    assert errors.max() <= 10 * limit


def official_first_hop(num_prompt_tokens: int) -> int:
    """Return the official first chunk: 25 tokens, plus the tokens that complete the last block of the prompt."""
    return 25 + -num_prompt_tokens % 25


def limit_of_inputs(reference: Path, pattern: str, *, at_least: float) -> float:
    """Return the limit for ``inputs/features.safetensors``. Its tolerances are in a file of cosyvoice1, if present."""
    if not (reference / "cosyvoice1" / "golden" / "tolerance.json").is_file():
        return at_least
    return max(at_least, limit_of(reference, "cosyvoice1", f"features:{pattern}"))


def clip_of_another_rate(reference: Path, sample_rate: int) -> tuple[str, Waveform]:
    """Return the name of a prompt clip that must be resampled to ``sample_rate``, and the clip."""
    for name in ("prompt_b", "prompt_a"):
        clip = read_audio(reference / "inputs" / f"{name}.wav")
        if clip.sample_rate != sample_rate:
            return name, clip
    pytest.skip(f"every clip of this reference folder has {sample_rate} Hz")
