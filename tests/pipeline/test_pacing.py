"""Chunks end on the grid of the prompt, costs follow measurements, and playback starts as early as it can without gaps."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import OffGridCut
from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig
from studio.pipeline.pacing import (
    ChunkSchedule,
    CostModel,
    FlowChunk,
    PredictedChunk,
    earliest_gapless_start,
    first_hops,
    flow_work,
    spare_seconds,
    unfinished_prompt_tokens,
)

FLOW = FlowConfig(
    num_speech_tokens=6561,
    input_size=80,
    lookahead=LookAheadConfig(80, 1024),
    dit=DiTConfig(size=1024, depth=22, num_heads=16, head_size=64, feed_forward_ratio=2),
)

stages = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10), st.floats(0.01, 5)), min_size=1, max_size=20)
chunks = st.lists(st.builds(PredictedChunk, st.floats(0, 20), st.floats(0.01, 5)), max_size=20)


@pytest.mark.slow
@given(st.floats(0, 10), st.floats(0.01, 5), chunks)
def test_the_predicted_start_leaves_no_gap(now: float, ready: float, coming: list[PredictedChunk]) -> None:
    start = earliest_gapless_start(now, ready, coming)
    clock, position = now, ready
    for chunk in coming:
        clock += chunk.production_seconds
        assert clock <= start + position + 1e-9
        position += chunk.audio_seconds


def test_a_fast_machine_starts_at_once() -> None:
    assert earliest_gapless_start(0.4, 0.3, [PredictedChunk(0.2, 1.0)] * 9) == 0.4


def test_a_slow_machine_delays_the_start() -> None:
    # 10 chunks of 2 s that each take 5 s: 50 s of work for 20 s of sound, 1 s of which is ready.
    start = earliest_gapless_start(0.0, 1.0, [PredictedChunk(5.0, 2.0)] * 10)
    assert start == pytest.approx(50 * 1.04 - 1 - 18)


@pytest.mark.slow
@given(st.floats(0, 10), st.floats(0.01, 5), stages)
def test_spare_time_is_the_longest_that_does_not_delay_the_start(
    now: float, ready: float, costs: list[tuple[float, float, float]]
) -> None:
    coming = [PredictedChunk(lm + decode, audio, lm) for lm, decode, audio in costs]
    start = earliest_gapless_start(now, ready, coming, margin=0)
    spare = spare_seconds(now, now, ready, coming, margin=0)
    assert spare >= 0

    def start_after(ahead: float) -> float:
        """Return the start if the language model runs ahead for a time and saves it later."""
        later, left = [], ahead
        for chunk in coming:
            saved = min(left, chunk.speech_lm_seconds)
            left -= saved
            later.append(replace(chunk, production_seconds=chunk.production_seconds - saved))
        return earliest_gapless_start(now + ahead, ready, later, margin=0)

    all_of_it = sum(chunk.speech_lm_seconds for chunk in coming)
    # Play begins at ``start`` if the chunks allow it; the clock may be past it when they are ready in time.
    assert start_after(min(spare, all_of_it)) <= max(start, now + spare) + 1e-9
    if spare + 0.01 < all_of_it:
        assert start_after(spare + 0.01) > start


def test_costs_follow_the_measurements() -> None:
    cost_model = CostModel(FLOW)
    # P = 90: 75 tokens are cached, so the first 10 are made together with 15 of the prompt: one 50-frame block.
    first, next_block = FlowChunk(90, 0, 10), FlowChunk(90, 10, 35)
    assert cost_model.decode_seconds(first) == 0.0
    cost_model.observe_flow(4.0, first)
    cost_model.observe_vocoder(0.5, 50)
    cost_model.observe_speech_lm(1.0, 25)
    assert cost_model.decode_seconds(first) == pytest.approx(4.0 + 20 * 0.01)
    growth = flow_work(FLOW, 50, 200) / flow_work(FLOW, 50, 150)
    assert cost_model.decode_seconds(next_block) == pytest.approx(4.0 * growth + 50 * 0.01)
    assert cost_model.speech_lm_seconds(1, 51) == pytest.approx(2.0)
    cost_model.observe_first_token(0.5)
    assert cost_model.speech_lm_seconds(0, 51) == pytest.approx(2.5)
    assert cost_model.speech_lm_seconds(51, 51) == 0.0


@pytest.mark.parametrize(("prompt", "unfinished"), [(3, 3), (25, 25), (27, 27), (28, 3), (75, 25), (90, 15)])
def test_the_end_of_the_prompt_is_computed_with_the_first_chunk(prompt: int, unfinished: int) -> None:
    assert unfinished_prompt_tokens(prompt, FLOW) == unfinished


def test_the_cost_of_context_follows_from_the_architecture() -> None:
    # performance figures: attention over 500 frames adds about 12 % of the linear work of CosyVoice3.
    ratio = flow_work(FLOW, 50, 475) / flow_work(FLOW, 50, 0)
    assert 1.08 < ratio < 1.16


def test_a_default_length_is_predicted_until_a_sentence_is_measured() -> None:
    cost_model = CostModel(FLOW)
    assert 2 * 10 <= cost_model.tokens_for(10) <= 20 * 10
    cost_model.observe_sentence(10, 90)
    assert cost_model.tokens_for(20) == 180


def test_the_first_measurement_is_dropped_after_the_second() -> None:
    cost_model = CostModel(FLOW)
    first, second = FlowChunk(90, 0, 10), FlowChunk(90, 10, 35)
    cost_model.observe_flow(6.0, first)
    assert not cost_model.is_settled
    assert cost_model.decode_seconds(first) == pytest.approx(6.0)
    cost_model.observe_flow(4.0, second)
    assert cost_model.is_settled
    assert cost_model.decode_seconds(second) == pytest.approx(4.0)


def test_the_margin_depends_on_the_variation_of_measurements() -> None:
    steady, unsteady = CostModel(FLOW), CostModel(FLOW)
    assert steady.margin == pytest.approx(0.04)
    for end in range(25, 500, 25):
        chunk = FlowChunk(90, end - 25, end)
        work = flow_work(FLOW, *steady.computed_frames(chunk))
        steady.observe_flow(1e-9 * work, chunk)
        steady.observe_speech_lm(1.0, 25)
        unsteady.observe_flow(1e-9 * work * (1.0 if end % 50 else 1.5), chunk)
        unsteady.observe_speech_lm(1.0, 25)
    assert steady.margin == pytest.approx(0.0, abs=1e-6)
    assert unsteady.margin == pytest.approx(0.04)


def test_varying_lengths_increase_the_predicted_length() -> None:
    cost_model = CostModel(FLOW)
    unknown = [cost_model.length_margin(index) for index in range(3)]
    assert unknown == sorted(unknown, reverse=True)
    assert unknown[-1] > 0
    for _ in range(8):
        cost_model.observe_sentence(20, 125)
    assert cost_model.length_margin(0) == pytest.approx(0.0)


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
