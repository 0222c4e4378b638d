"""A generation converts between seconds, speech tokens and mel frames."""

from __future__ import annotations

import pytest

from studio.model.generations import COSYVOICE1, COSYVOICE2, COSYVOICE3, GENERATIONS, Generation


def test_later_generations_have_two_frames_per_token() -> None:
    for generation in (COSYVOICE2, COSYVOICE3):
        assert generation.tokens_of_seconds(3.99) == 99
        assert generation.seconds_of_tokens(100) == 4.0
        assert generation.frames_of_tokens(100) == 200
        assert (generation.tokens_of_frames(200), generation.tokens_of_frames(201)) == (100, 100)


def test_frames_per_token_are_fractional_in_the_first_generation() -> None:
    """50 tokens a second, and frames of 256 samples at 22050 Hz."""
    assert COSYVOICE1.tokens_of_seconds(2.0) == 100
    assert COSYVOICE1.seconds_of_tokens(100) == 2.0
    assert COSYVOICE1.frames_of_tokens(100) == 172


@pytest.mark.parametrize("generation", GENERATIONS)
def test_tokens_of_frames_is_the_largest_number_that_fits(generation: Generation) -> None:
    for num_frames in range(500):
        num_tokens = generation.tokens_of_frames(num_frames)
        assert generation.frames_of_tokens(num_tokens) <= num_frames < generation.frames_of_tokens(num_tokens + 1)
