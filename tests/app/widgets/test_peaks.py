"""The peaks drawn at any zoom are the peaks of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.app.widgets.peaks import Peaks, outline_of

RATE = 24_000


def noise(num_samples: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, num_samples).astype(np.float32)


@pytest.mark.parametrize(("num_samples", "num_columns"), [(100_000, 10), (100_000, 250), (5_000, 500), (700, 700)])
def test_each_column_spans_its_samples(num_samples: int, num_columns: int) -> None:
    samples = noise(num_samples)
    outline = Peaks(RATE, samples).outline(0.0, num_samples / RATE, num_columns)
    per_column = num_samples // num_columns
    columns = samples[: per_column * num_columns].reshape(num_columns, per_column)
    if per_column < 128:  # computed from single samples
        np.testing.assert_array_equal(outline.lows, columns.min(axis=1))
        np.testing.assert_array_equal(outline.highs, columns.max(axis=1))
    else:  # computed from blocks: a column may include a little of its neighbours
        assert (outline.lows <= columns.min(axis=1) + 0.05).all()
        assert outline.lows.min() == samples.min()
        assert outline.highs.max() == samples.max()


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=12))
def test_appended_audio_has_the_same_peaks(lengths: list[int]) -> None:
    samples = noise(sum(lengths) + 1)
    growing = Peaks(RATE)
    start = 0
    for length in [*lengths, 1]:
        growing.append(samples[start : start + length])
        start += length
    whole = Peaks(RATE, samples)
    np.testing.assert_array_equal(growing.samples, samples)
    for num_columns in (1, 7, 300):
        expected = whole.outline(0.0, whole.seconds, num_columns)
        found = growing.outline(0.0, growing.seconds, num_columns)
        np.testing.assert_array_equal(found.lows, expected.lows)
        np.testing.assert_array_equal(found.highs, expected.highs)


def test_a_click_is_visible_at_any_zoom() -> None:
    samples = np.zeros(60 * RATE, np.float32)
    samples[1_234_567] = 0.9
    outline = Peaks(RATE, samples).outline(0.0, 60.0, 100)
    (columns,) = np.nonzero(outline.highs)
    assert columns.tolist() == [1_234_567 * 100 // (60 * RATE)]
    assert outline.loudest == pytest.approx(0.9)


def test_peaks_are_zero_outside_the_audio() -> None:
    outline = Peaks(RATE, np.ones(RATE, np.float32)).outline(-1.0, 3.0, 8)
    assert outline.highs.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


def test_empty_audio_has_peaks() -> None:
    assert Peaks(RATE).outline(0.0, 1.0, 4).highs.tolist() == [0, 0, 0, 0]
    assert outline_of(np.zeros(0, np.float32), 3).loudest == 0.0


def test_appending_does_not_change_the_given_samples() -> None:
    given_samples = np.ones(10, np.float32)
    peaks = Peaks(RATE, given_samples)
    peaks.append(np.zeros(5, np.float32))
    assert given_samples.tolist() == [1.0] * 10
    assert peaks.num_samples == 15


def test_drawing_an_hour_of_audio_reads_few_values() -> None:
    peaks = Peaks(RATE, np.zeros(60 * 60 * RATE, np.float32))
    block, low, _ = peaks._level_for(60 * 60 * RATE / 1000)
    assert len(low) < 30_000
    assert block > 1000
