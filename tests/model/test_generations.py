"""A generation converts between seconds, speech tokens and mel frames."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.model.generations import COSYVOICE2, GENERATIONS, Generation

# The rates of CosyVoice-300M: 50 tokens a second, frames of 256 samples at 22050 Hz.
FRACTIONAL = replace(COSYVOICE2, token_rate=50, frame_rate=22_050 / 256)


def test_released_generations_have_two_frames_per_token() -> None:
    for generation in GENERATIONS:
        assert generation.tokens_of_seconds(3.99) == 99
        assert generation.seconds_of_tokens(100) == 4.0
        assert generation.frames_of_tokens(100) == 200
        assert (generation.tokens_of_frames(200), generation.tokens_of_frames(201)) == (100, 100)


def test_frames_per_token_may_be_fractional() -> None:
    assert FRACTIONAL.tokens_of_seconds(2.0) == 100
    assert FRACTIONAL.seconds_of_tokens(100) == 2.0
    assert FRACTIONAL.frames_of_tokens(100) == 172


@pytest.mark.parametrize("generation", [*GENERATIONS, FRACTIONAL])
def test_tokens_of_frames_is_the_largest_number_that_fits(generation: Generation) -> None:
    for num_frames in range(500):
        num_tokens = generation.tokens_of_frames(num_frames)
        assert generation.frames_of_tokens(num_tokens) <= num_frames < generation.frames_of_tokens(num_tokens + 1)
