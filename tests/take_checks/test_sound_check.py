"""Faults of the sound, in synthetic speech-like signals."""

from __future__ import annotations

import numpy as np
import pytest

from studio.take_checks.confidence import ramp
from studio.take_checks.records import Problem, ProblemKind
from studio.take_checks.sound import analysed
from studio.take_checks.sound_check import sound_problems

RATE = 24_000
RANDOM = np.random.default_rng(5)


def vowels(seconds: float) -> np.ndarray:
    """Return a buzz of 120 Hz with syllables of 0.2 s, and silence around it."""
    time = np.arange(round(seconds * RATE)) / RATE
    buzz = sum(np.sin(2 * np.pi * 120 * k * time) / k**1.5 for k in range(1, 30))
    syllables = 0.4 + 0.6 * np.abs(np.sin(2 * np.pi * 2.5 * time))
    ends = np.minimum(1.0, np.minimum(time, time[::-1]) / 0.05)
    silence = 1e-5 * RANDOM.normal(size=round(0.2 * RATE))
    return np.concatenate([silence, 0.1 * buzz * syllables * ends, silence]).astype(np.float32)


def found(samples: np.ndarray, pauses: tuple[float, ...] = ()) -> dict[ProblemKind, Problem]:
    problems = sound_problems(analysed(samples, RATE), [(0.0, len(samples) / RATE)], pauses, ())
    return {problem.kind: problem for problem in problems if problem.confidence >= 0.5}


def test_plain_speech_has_no_fault() -> None:
    assert found(vowels(3.0)) == {}


def test_a_pause_is_a_fault_only_where_no_punctuation_allows_it() -> None:
    speech = vowels(1.0)
    samples = np.concatenate([speech, np.zeros(round(0.6 * RATE), np.float32), speech])
    place = found(samples)[ProblemKind.LONG_SILENCE]
    assert place.from_seconds == pytest.approx(1.2, abs=0.1)
    assert place.to_seconds == pytest.approx(2.2, abs=0.1)
    assert found(samples, pauses=(1.3,)) == {}


def test_a_noise_burst_is_found_at_its_place_and_a_fricative_is_not() -> None:
    for seconds, is_found in ((0.4, True), (0.1, False)):
        samples = vowels(3.0)
        noise = RANDOM.normal(scale=0.08, size=round(seconds * RATE))
        samples[RATE : RATE + len(noise)] += noise.astype(np.float32)
        problems = found(samples)
        assert (ProblemKind.NOISE in problems) == is_found
        if is_found:
            assert problems[ProblemKind.NOISE].from_seconds == pytest.approx(1.0, abs=0.05)
            assert problems[ProblemKind.NOISE].to_seconds == pytest.approx(1.4, abs=0.05)


def test_whispered_takes_are_not_noise() -> None:
    samples = vowels(3.0)
    samples[:] = RANDOM.normal(scale=0.05, size=len(samples)) * np.abs(np.sin(np.arange(len(samples)) / 4000))
    assert ProblemKind.NOISE not in found(samples)


def test_clipping_dc_and_cut_ends() -> None:
    speech = vowels(2.0)
    assert ProblemKind.CLIPPING in found(np.clip(speech * 20, -1, 1))
    assert ProblemKind.DC_OFFSET in found(speech + np.float32(0.05))
    assert ProblemKind.CUT_END in found(speech[: round(1.23 * RATE)])
    assert ProblemKind.CUT_END not in found(speech)


def test_silence_is_reported_for_the_whole_take() -> None:
    silent = found(np.full(RATE, 1e-6, np.float32))
    assert list(silent) == [ProblemKind.LONG_SILENCE]
    assert found(np.zeros(0, np.float32)).keys() == {ProblemKind.LONG_SILENCE}


def test_ramp_reaches_a_half_at_the_limit() -> None:
    assert ramp(2.0, 2.0, 4.0) == 0.5
    assert ramp(4.0, 2.0, 4.0) == pytest.approx(0.95)
    assert ramp(-9.0, 2.0, 4.0) == 0.0
    assert ramp(-4.0, -2.0, -1.0) < 0.5 < ramp(-1.5, -2.0, -1.0)
