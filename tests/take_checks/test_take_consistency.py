"""Measures of pitch and pauses, targets of a voice, and takes outside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_takes import USUAL, measures
from test_sound_check import RATE, vowels

from studio.take_checks.consistency import centred, comparable, deviations, drift_problems, drifts, shown, target_of
from studio.take_checks.records import Measure, ProblemKind, Span
from studio.take_checks.sound import analysed
from studio.take_checks.sound_check import inner_pauses


def buzz(pitch_hz: float, seconds: float = 1.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.05 * sum(np.sin(2 * np.pi * pitch_hz * k * time) / k for k in range(1, 15))).astype(np.float32)


@pytest.mark.parametrize("pitch_hz", [70.0, 118.0, 163.0, 237.0, 340.0])
def test_the_pitch_of_voiced_sound_is_measured(pitch_hz: float) -> None:
    pitches = analysed(buzz(pitch_hz), RATE).pitches()
    assert len(pitches) > 80
    assert 12 * abs(np.log2(np.median(pitches) / pitch_hz)) < 0.1, "a tenth of a semitone"


def test_noise_and_silence_have_no_pitch() -> None:
    noise = np.random.default_rng(1).normal(scale=0.05, size=RATE).astype(np.float32)
    assert len(analysed(noise, RATE).pitches()) <= 2
    assert len(analysed(np.zeros(0, np.float32), RATE).pitches()) == 0


def test_only_pauses_between_sounds_count() -> None:
    silence = np.zeros(round(0.4 * RATE), np.float32)
    samples = np.concatenate([silence, buzz(120.0), silence, buzz(120.0), silence])
    assert inner_pauses(analysed(samples, RATE)) == pytest.approx([0.4], abs=0.03)
    assert inner_pauses(analysed(vowels(2.0), RATE)) == []


def test_a_target_is_not_moved_by_a_tenth_of_drifting_takes() -> None:
    random = np.random.default_rng(2)
    takes = [measures(random, drifts=number % 10 == 0) for number in range(200)]
    target = target_of(takes)
    assert shown(target[Measure.PITCH].centre, Measure.PITCH) == pytest.approx(160.0, rel=0.01)
    assert shown(target[Measure.PACE].centre, Measure.PACE) == pytest.approx(5.0, rel=0.02)
    found = [number for number, take in enumerate(takes) if drifts(take, [target], 3.0)]
    assert set(range(0, 200, 10)) <= set(found)
    assert len(found) <= 20 + 5


def test_what_is_hardly_audible_is_within_the_target() -> None:
    target = target_of([USUAL] * 20)
    assert drifts(replace(USUAL, pitch_hz=160.0 * 2 ** (0.9 / 12)), [target], 3.0) == {}
    assert set(drifts(replace(USUAL, pitch_hz=160.0 * 2 ** (1.1 / 12)), [target], 3.0)) == {Measure.PITCH}
    assert drifts(replace(USUAL, pace=1.0 / 1.09), [target], 3.0) == {}
    assert drifts(replace(USUAL, pace=1.0 / 1.15), [target], 3.0)[Measure.PACE] > 1.0
    assert drifts(replace(USUAL, pace=1.15), [target], 3.0)[Measure.PACE] < -1.0


def test_pace_and_pitch_count_together() -> None:
    target = target_of([USUAL] * 20)
    both = replace(USUAL, pitch_hz=160.0 * 2 ** (0.8 / 12), pace=1.0 / 1.08)
    assert set(drifts(both, [target], 3.0)) == {Measure.PITCH}
    assert drifts(replace(both, pace=1.0), [target], 3.0) == {}
    assert drifts(replace(both, pitch_hz=160.0), [target], 3.0) == {}


def test_short_takes_may_deviate_more() -> None:
    target = target_of([USUAL] * 20)
    higher = replace(USUAL, pitch_hz=160.0 * 2 ** (1.3 / 12))
    assert set(drifts(higher, [target], 2.0)) == {Measure.PITCH}
    assert drifts(higher, [target], 1.0) == {}


def test_few_takes_give_wide_targets() -> None:
    few, many = target_of([USUAL] * 3), target_of([USUAL] * 20)
    assert few[Measure.PACE].tolerance == 2 * many[Measure.PACE].tolerance
    assert target_of([]) == {}


def test_more_similarity_to_the_prompt_is_no_drift() -> None:
    target = target_of([replace(USUAL, similarity=0.6)] * 20)
    assert drifts(USUAL, [target], 3.0) == {}
    assert deviations(USUAL, target, 3.0)[Measure.SIMILARITY] == 0.0
    assert set(drifts(replace(USUAL, similarity=0.45), [target], 3.0)) == {Measure.SIMILARITY}


def test_unknown_measures_are_not_compared() -> None:
    target = target_of([USUAL] * 20)
    unknown = replace(USUAL, pitch_hz=0.0, pitch_range_semitones=None, pause_seconds=None, similarity=None, pace=0.0)
    assert set(deviations(unknown, target, 3.0)) == {Measure.LEVEL}
    assert comparable(unknown, Measure.PACE) is None


def test_an_example_moves_the_centre_and_keeps_the_tolerance() -> None:
    target = target_of([USUAL] * 20)
    moved = centred(target, [replace(USUAL, pitch_hz=200.0, pause_seconds=None)])
    assert shown(moved[Measure.PITCH].centre, Measure.PITCH) == pytest.approx(200.0, rel=0.001)
    assert moved[Measure.PITCH].tolerance == target[Measure.PITCH].tolerance
    assert moved[Measure.PAUSES] == target[Measure.PAUSES]


def test_a_take_is_compared_with_all_targets() -> None:
    script, neighbours = {Measure.LEVEL: Span(-18.0, 3.0)}, {Measure.LEVEL: Span(-22.0, 3.0)}
    assert drifts(USUAL, [script], 3.0) == {}
    assert set(drifts(USUAL, [script, neighbours], 3.0)) == {Measure.LEVEL}


def test_drifts_are_problems_with_a_confidence() -> None:
    target = target_of([USUAL] * 20)
    take = replace(USUAL, pitch_hz=160.0 * 2 ** (2.0 / 12))
    (problem,) = drift_problems(take, [target], 2.0)
    assert problem.kind is ProblemKind.ODD_PITCH
    assert problem.confidence == pytest.approx(0.95, abs=0.001)
    assert (problem.from_seconds, problem.to_seconds) == (0.0, 2.0)
    both = drift_problems(replace(take, pace=1.0 / 1.15), [target], 2.0)
    assert {problem.kind for problem in both} == {ProblemKind.ODD_PITCH, ProblemKind.ODD_PACE}
    slightly = drift_problems(replace(USUAL, pitch_hz=160.0 * 2 ** (1.1 / 12)), [target], 2.0)
    assert 0.5 < slightly[0].confidence < 0.6
    assert drift_problems(take, (), 2.0) == []
    assert drift_problems(None, [target], 2.0) == []
