"""When play may begin: never with a gap, never later than needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig
from studio.pipeline.pacing import (
    ComingChunk,
    FlowChunk,
    Pace,
    flow_work,
    gapless_start_seconds,
    unfinished_prompt_tokens,
)

FLOW = FlowConfig(
    num_speech_tokens=6561,
    input_size=80,
    look_ahead=LookAheadConfig(80, 1024),
    dit=DiTConfig(size=1024, depth=22, num_heads=16, head_size=64, feed_forward_ratio=2),
)

chunks = st.lists(st.builds(ComingChunk, st.floats(0, 20), st.floats(0.01, 5)), max_size=20)


@given(st.floats(0, 10), st.floats(0.01, 5), chunks)
def test_no_chunk_comes_too_late(now: float, ready: float, coming: list[ComingChunk]) -> None:
    start = gapless_start_seconds(now, ready, coming)
    clock, position = now, ready
    for chunk in coming:
        clock += chunk.production_seconds
        assert clock <= start + position + 1e-9
        position += chunk.audio_seconds


def test_a_fast_machine_starts_at_once() -> None:
    assert gapless_start_seconds(0.4, 0.3, [ComingChunk(0.2, 1.0)] * 9) == 0.4


def test_a_slow_machine_waits_for_what_it_lacks() -> None:
    # 10 chunks of 2 s that each take 5 s: 50 s of work for 20 s of sound, 1 s of which is ready.
    start = gapless_start_seconds(0.0, 1.0, [ComingChunk(5.0, 2.0)] * 10)
    assert start == pytest.approx(50 * 1.04 - 1 - 18)


def test_cost_follows_what_was_seen() -> None:
    pace = Pace(FLOW)
    # P = 90: 75 tokens are cached, so the first 10 are made together with 15 of the prompt: one 50-frame block.
    first, next_block = FlowChunk(90, 0, 10), FlowChunk(90, 10, 35)
    assert pace.decode_seconds(first) == 0.0
    pace.saw_flow(4.0, first)
    pace.saw_vocoder(0.5, 50)
    pace.saw_speech_lm(1.0, 25)
    assert pace.decode_seconds(first) == pytest.approx(4.0 + 20 * 0.01)
    growth = flow_work(FLOW, 50, 200) / flow_work(FLOW, 50, 150)
    assert pace.decode_seconds(next_block) == pytest.approx(4.0 * growth + 50 * 0.01)
    assert pace.speech_lm_seconds(50) == pytest.approx(2.0)


@pytest.mark.parametrize(("prompt", "unfinished"), [(3, 3), (25, 25), (27, 27), (28, 3), (75, 25), (90, 15)])
def test_the_prompts_end_is_made_with_the_first_chunk(prompt: int, unfinished: int) -> None:
    assert unfinished_prompt_tokens(prompt, FLOW) == unfinished


def test_context_costs_what_the_architecture_says() -> None:
    # performance figures: attention over 500 frames adds about 12 % of the linear work of CosyVoice3.
    ratio = flow_work(FLOW, 50, 475) / flow_work(FLOW, 50, 0)
    assert 1.08 < ratio < 1.16


def test_length_is_guessed_until_the_voice_was_heard() -> None:
    pace = Pace(FLOW)
    assert 2 * 10 <= pace.tokens_for(10) <= 20 * 10
    pace.saw_sentence(10, 90)
    assert pace.tokens_for(20) == 180


def test_the_first_chunk_ever_is_believed_only_until_there_is_another() -> None:
    pace = Pace(FLOW)
    first, second = FlowChunk(90, 0, 10), FlowChunk(90, 10, 35)
    pace.saw_flow(6.0, first)
    assert not pace.is_settled
    assert pace.decode_seconds(first) == pytest.approx(6.0)
    pace.saw_flow(4.0, second)
    assert pace.is_settled
    assert pace.decode_seconds(second) == pytest.approx(4.0)
