"""Chunks end on the prompt's grid, per utterance, and are predicted exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import OffGridCut
from studio.pipeline.schedule import ChunkSchedule, first_hops


def ends(schedule: ChunkSchedule, count: int) -> list[int]:
    result = []
    for _ in range(count):
        result.append(schedule.end_tokens)
        schedule.advance()
    return result


@given(st.integers(1, 750))
def test_every_chunk_ends_on_the_grid(prompt_tokens: int) -> None:
    for end in ends(ChunkSchedule(prompt_tokens, 25), 8):
        assert (prompt_tokens + end) % 25 == 0


@given(st.integers(1, 750))
def test_the_first_hop_is_the_shortest_with_enough_audio(prompt_tokens: int) -> None:
    first = ChunkSchedule(prompt_tokens, 25).end_tokens
    assert 7 <= first <= 31
    assert first in first_hops(prompt_tokens, 25)


def test_hops_double_up_to_a_hundred_tokens() -> None:
    assert ends(ChunkSchedule(90, 25), 6) == [10, 35, 85, 185, 285, 385]


def test_the_official_schedule_is_possible() -> None:
    # Specification H2 for P = 37: pad 13, hops 25 + 13, 50, 100, ...
    assert ends(ChunkSchedule(37, 25, first_hop_tokens=38), 4) == [38, 88, 188, 288]


@pytest.mark.parametrize("hop", [0, -10, 9, 11, 25, 36])
def test_a_first_hop_off_the_grid_is_refused_with_the_right_values(hop: int) -> None:
    with pytest.raises(OffGridCut, match=r"Use 10, or 10 plus a multiple of 25"):
        ChunkSchedule(90, 25, first_hop_tokens=hop)


@given(st.integers(1, 300), st.integers(1, 900))
def test_the_predicted_chunks_match_the_schedule(prompt_tokens: int, total_tokens: int) -> None:
    schedule = ChunkSchedule(prompt_tokens, 25)
    foretold = list(schedule.remaining_chunks(0, total_tokens, 3))
    happened, done = [], 0
    while done < total_tokens:
        is_last = schedule.end_tokens + 3 > total_tokens
        end = total_tokens if is_last else schedule.end_tokens
        happened.append((done, end))
        done = end
        schedule.advance()
    assert foretold == happened
