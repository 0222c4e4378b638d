"""Codes of the mark: their patterns and their keys."""

from __future__ import annotations

import numpy as np
import pytest

from studio.provenance.mark_code import (
    NUM_SLOTS,
    PATTERNS,
    PLAIN_CODE,
    SlotSearch,
    file_id,
    gains_of,
    is_code,
    keyed_code,
    number_of,
)

FRAMES_PER_SLOT = 75.0


def test_patterns_are_orthogonal_signs() -> None:
    np.testing.assert_array_equal(PATTERNS @ PATTERNS.T, 128 * np.eye(128))


def test_the_halves_of_a_slot_cancel_out() -> None:
    gains = gains_of("0123456789ab")
    assert gains.shape == (2 * NUM_SLOTS, 128)
    np.testing.assert_array_equal(gains[::2], -gains[1::2])


@pytest.mark.parametrize("code", [PLAIN_CODE, "0123456789ab", "ffffffffffff", "fedcba987654"])
@pytest.mark.parametrize("first_frame", [0, 31, 200])
def test_a_code_is_read_from_its_gains(code: str, first_frame: int) -> None:
    """In noise that is three times as strong."""
    frames = np.arange(1_500) + first_frame
    halves = (frames // (FRAMES_PER_SLOT / 2)).astype(int) % (2 * NUM_SLOTS)
    noise = np.random.default_rng(1).standard_normal((len(frames), 128))
    search = SlotSearch.of((gains_of(code)[halves] + 3 * noise).astype(np.float32))
    score, offset = search.place(FRAMES_PER_SLOT)
    assert score > 10
    assert code in search.codes(FRAMES_PER_SLOT, offset)
    score, _ = SlotSearch.of(noise.astype(np.float32)).place(FRAMES_PER_SLOT)
    assert score < 5


def test_a_number_belongs_to_its_key() -> None:
    number = file_id("text", "7")
    code = keyed_code(number, b"key")
    assert is_code(code)
    assert number_of((PLAIN_CODE, code), b"key") == number
    assert number_of((code,), b"other") == ""
    assert file_id("text7") != number
    for text in ("", "012345678", "0123456789AB", "0123456789ag", "0123456789abc"):
        assert not is_code(text)
