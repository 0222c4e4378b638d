"""A clip becomes a prompt of suitable length. Only silence is removed, and the flow may begin later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from studio.errors import UnreadableClip
from studio.model.checkpoint import open_checkpoint
from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig, Precision, PromptMelConfig
from studio.model.generations import COSYVOICE3
from studio.model.stages import FlowPrompt, SpeakerEncoder, SpeechTokenizer
from studio.pipeline.enrolment import (
    CPU_FIRST_HOPS_TOKENS,
    GPU_FIRST_HOPS_TOKENS,
    Frontend,
    aligned_prompt_length,
    build_prompt,
    feature_arrays,
    flow_start_tokens,
    read_features,
)
from studio.pipeline.pacing import (
    ChunkSchedule,
    CostModel,
    FlowChunk,
    PredictedChunk,
    earliest_gapless_start,
    first_chunk_blocks,
)
from studio.pipeline.request import VoicePrompt, VoiceReference

FLOW = FlowConfig(
    num_speech_tokens=6561,
    input_size=80,
    lookahead=LookAheadConfig(80, 1024),
    dit=DiTConfig(size=1024, depth=22, num_heads=16, head_size=64, feed_forward_ratio=2),
)
GRID = Frontend(
    cast("SpeechTokenizer", None), cast("SpeakerEncoder", None), cast("PromptMelConfig", None), COSYVOICE3, 25, 3
)


@given(st.integers(13, 750), st.integers(0, 40))
def test_only_as_much_trailing_silence_is_dropped_as_needed(num_tokens: int, droppable: int) -> None:
    kept = aligned_prompt_length(num_tokens, droppable, 25)
    assert num_tokens - droppable <= kept <= num_tokens
    good = [n for n in range(num_tokens - droppable, num_tokens + 1) if 8 <= -n % 25 <= 12]
    assert kept == (max(good) if good else num_tokens)


def prompt_of(num_tokens: int, loudness: np.ndarray | None = None) -> VoicePrompt:
    mel = np.random.default_rng(num_tokens).standard_normal((2 * num_tokens, 80)).astype(np.float32)
    if loudness is not None:
        mel = np.repeat(loudness.astype(np.float32)[:, None], 80, axis=1)
    return VoicePrompt("", "", None, num_tokens / 25, tuple(range(num_tokens)), mel, np.zeros(192, np.float32))


def distance(num_tokens: int, hops: range) -> int:
    hop = -num_tokens % 25 or 25
    return max(hops[0] - hop, hop - hops[-1], 0)


@pytest.mark.parametrize("hops", [GPU_FIRST_HOPS_TOKENS, CPU_FIRST_HOPS_TOKENS])
@given(num_tokens=st.integers(13, 750))
def test_the_first_chunk_takes_one_block_after_any_prompt_of_two_seconds(num_tokens: int, hops: range) -> None:
    start = flow_start_tokens(prompt_of(num_tokens), replace(GRID, first_hops_tokens=hops))
    assert 0 <= start <= 14
    if num_tokens >= 54:
        assert first_chunk_blocks(num_tokens - start, 25, 3) == 1
        assert distance(num_tokens - start, hops) <= 6
    if first_chunk_blocks(num_tokens, 25, 3) == 1:
        assert distance(num_tokens - start, hops) <= distance(num_tokens, hops)
        if -num_tokens % 25 in hops:
            assert start == 0


@pytest.mark.parametrize("quiet", [8, 9, 10, 11, 12])
def test_the_flow_begins_at_the_quietest_place(quiet: int) -> None:
    loudness = np.zeros(150)
    loudness[2 * quiet - 1 : 2 * quiet + 1] = -6.0
    prompt = prompt_of(75, loudness)
    assert flow_start_tokens(prompt, GRID) == quiet
    shorter = replace(prompt, flow_start_tokens=quiet)
    assert shorter.num_tokens == 75
    assert shorter.flow_tokens == tuple(range(quiet, 75))
    np.testing.assert_array_equal(shorter.flow_mel, prompt.mel[2 * quiet :])


def costs(seconds_per_token: float, seconds_per_block: float) -> CostModel:
    model = CostModel(FLOW)
    for _ in range(5):
        model.observe_first_token(4 * seconds_per_token)
        model.observe_speech_lm(100 * seconds_per_token, 100)
        model.observe_flow(seconds_per_block, FlowChunk(75, 9, 34))
        model.observe_vocoder(0.05 * seconds_per_block, 50)
    return model


def predicted_start(
    model: CostModel, prompt_tokens: int, num_tokens: int, silence_seconds: float = 0.0
) -> tuple[float, float]:
    """Return when the first chunk of a line is ready, and when the line can start to play without gaps.

    ``silence_seconds`` at the start of the line are not played.
    """
    made, coming = 0, []
    for start, end in ChunkSchedule(prompt_tokens, 25).remaining_chunks(0, num_tokens, 3):
        needed = min(end + 3, num_tokens)
        seconds = model.speech_lm_seconds(made, needed)
        seconds += model.decode_seconds(FlowChunk(prompt_tokens, start, end, needed - end))
        silent = min(silence_seconds, (end - start) / 25)
        coming.append(PredictedChunk(seconds, (end - start) / 25 - silent))
        silence_seconds -= silent
        made = needed
    first, *rest = coming
    start = earliest_gapless_start(first.production_seconds, first.audio_seconds, rest, margin=0)
    return first.production_seconds, start


@pytest.mark.parametrize("num_tokens", [50, 51, 52, 69, 72, 74, 75, 76, 77, 95, 250, 251, 252])
@pytest.mark.parametrize("line_tokens", [40, 130, 400])
def test_speech_starts_earlier_on_any_machine(num_tokens: int, line_tokens: int) -> None:
    shorter = num_tokens - flow_start_tokens(prompt_of(num_tokens), GRID)
    assert shorter < num_tokens
    for seconds_per_token in (0.004, 0.02, 0.04):
        for seconds_per_block in (0.05, 0.3, 0.6, 1.0, 3.0, 6.0):  # a block is one second of speech
            model = costs(seconds_per_token, seconds_per_block)
            ready, start = predicted_start(model, shorter, line_tokens)
            ready_before, start_before = predicted_start(model, num_tokens, line_tokens)
            assert ready < 0.7 * ready_before
            # Without gaps, the sizes of the later chunks, which also differ, matter as much.
            assert start < 1.05 * start_before + 0.2


@pytest.mark.parametrize("num_tokens", [63, 64, 66, 75, 88, 91, 92])
def test_on_two_cores_the_first_chunk_lasts_until_the_second_is_ready(num_tokens: int) -> None:
    """Costs of the bundled model in the window, and its leading silence, on two cores at 2.6 GHz."""
    model = costs(0.0053, 0.32)
    starts = {
        hops: predicted_start(
            model,
            num_tokens - flow_start_tokens(prompt_of(num_tokens), replace(GRID, first_hops_tokens=hops)),
            75,
            silence_seconds=0.16,
        )[1]
        for hops in (GPU_FIRST_HOPS_TOKENS, CPU_FIRST_HOPS_TOKENS)
    }
    assert starts[CPU_FIRST_HOPS_TOKENS] < 0.9 * starts[GPU_FIRST_HOPS_TOKENS]


@pytest.fixture(scope="module")
def frontend(reference: Path) -> Frontend:
    checkpoint = open_checkpoint(reference / "cosyvoice3" / "checkpoint")
    return Frontend(
        checkpoint.load_speech_tokenizer(1),
        checkpoint.load_speaker_encoder(1),
        checkpoint.prompt_mel,
        checkpoint.generation,
        checkpoint.flow.chunk_tokens,
        checkpoint.flow.lookahead_tokens,
    )


@pytest.mark.reference
@pytest.mark.parametrize("name", ["prompt_a", "prompt_b"])
def test_an_enrolled_clip_has_two_mel_frames_per_token(reference: Path, frontend: Frontend, name: str) -> None:
    prompt = build_prompt(VoiceReference(reference / "inputs" / f"{name}.wav"), frontend, "key", keep_length=True)
    golden = reference / "cosyvoice3" / "golden"
    described = json.loads((golden / "frontend.json").read_text("utf-8"))["model_input"]
    modes = [mode for mode, given in described.items() if given.get("prompt_wav") == name and mode != "vc"]
    if not modes:
        pytest.skip(f"{name} is not a prompt in this reference folder")
    theirs = load_file(golden / "frontend.safetensors")[f"model_input/{modes[0]}/flow_prompt_speech_token"][0]
    assert prompt.num_tokens == len(theirs)
    assert prompt.mel.shape == (2 * prompt.num_tokens, 80)
    assert prompt.embedding.shape == (192,)


def test_a_clip_of_three_seconds_is_spoken_from_whole_prompt_and_one_block(
    reference: Path, frontend: Frontend, tmp_path: Path
) -> None:
    samples, rate = soundfile.read(reference / "inputs" / "prompt_a.wav", dtype="float32")
    clip = tmp_path / "three.wav"
    soundfile.write(clip, np.resize(samples, 3 * rate), rate)
    whole = build_prompt(VoiceReference(clip), frontend, "key", keep_length=True)
    prompt = build_prompt(VoiceReference(clip), frontend, "key")
    assert whole.num_tokens == 75
    assert whole.flow_start_tokens == 0
    assert prompt.speech_tokens == whole.speech_tokens
    flow = open_checkpoint(reference / "cosyvoice3" / "checkpoint").load_flow(Precision.FLOAT32, "cpu")
    blocks = []
    for each in (whole, prompt):
        state = flow.prepare_prompt(FlowPrompt(each.flow_tokens, each.flow_mel, each.embedding))
        end = each.num_flow_tokens + ChunkSchedule.of(flow, each.num_flow_tokens).end_tokens
        blocks.append((end - state.num_cached_tokens) / flow.chunk_tokens)
    assert blocks == [2, 1]


def test_features_are_restored_exactly_from_a_file(reference: Path, frontend: Frontend, tmp_path: Path) -> None:
    prompt = build_prompt(VoiceReference(reference / "inputs" / "prompt_a.wav"), frontend, "key")
    save_file(feature_arrays(prompt), tmp_path / "voice.safetensors")
    voice = VoiceReference(tmp_path / "voice.safetensors", transcript="T", name="stored")
    stored = build_prompt(voice, frontend, "other")
    assert (stored.key, stored.name, stored.transcript) == ("other", "stored", "T")
    assert stored.speech_tokens == prompt.speech_tokens
    assert stored.flow_start_tokens == prompt.flow_start_tokens
    np.testing.assert_array_equal(stored.mel, prompt.mel)
    np.testing.assert_array_equal(stored.embedding, prompt.embedding)


def broken_features(tokens: int, frames: int, bins: int = 80, value: float = 0.0) -> dict[str, np.ndarray]:
    return {
        "speech_tokens": np.zeros(tokens, np.int32),
        "mel": np.full((frames, bins), value, np.float32),
        "embedding": np.zeros(192, np.float32),
    }


@pytest.mark.parametrize(
    "arrays",
    [
        broken_features(5, 9),
        broken_features(0, 4),
        broken_features(5, 10, 79),
        broken_features(5, 10, value=np.nan),
        broken_features(5, 10, value=3e38),
        broken_features(751, 1502),  # more than 30 s
        broken_features(5, 10) | {"mel": np.zeros((10, 80), np.int32)},
        broken_features(5, 10) | {"embedding": np.full(192, 1e300)},
        broken_features(5, 10) | {"clip_seconds": np.array([np.nan])},
        broken_features(5, 10) | {"clip_seconds": np.array([-1e300])},
        broken_features(5, 10) | {"speech_tokens": np.full(5, 1.5, np.float32)},
        broken_features(5, 10) | {"speech_tokens": np.full(5, 1 << 62, np.int64)},
        broken_features(5, 10) | {"speech_tokens": np.zeros((5, 3), np.int32)},
        broken_features(5, 10) | {"speech_tokens": np.zeros((), np.int32)},
    ],
)
def test_inconsistent_features_are_rejected(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    path = tmp_path / "voice.safetensors"
    save_file(arrays, path)
    with pytest.raises(UnreadableClip, match=r"voice\.safetensors"):
        read_features(path, COSYVOICE3)
