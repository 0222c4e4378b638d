"""A clip becomes a prompt of suitable length; only silence is removed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from studio.errors import UnreadableClip
from studio.model.checkpoint import open_checkpoint
from studio.model.generations import COSYVOICE3
from studio.pipeline.enrolment import (
    Frontend,
    aligned_prompt_length,
    build_prompt,
    feature_arrays,
    prompt_key,
    read_features,
)
from studio.pipeline.request import VoiceReference


@given(st.integers(13, 750), st.integers(0, 40))
def test_only_as_much_trailing_silence_is_dropped_as_needed(num_tokens: int, droppable: int) -> None:
    kept = aligned_prompt_length(num_tokens, droppable, 25)
    assert num_tokens - droppable <= kept <= num_tokens
    good = [n for n in range(num_tokens - droppable, num_tokens + 1) if 8 <= -n % 25 <= 12]
    assert kept == (max(good) if good else num_tokens)


@pytest.fixture(scope="module")
def frontend(reference: Path) -> Frontend:
    checkpoint = open_checkpoint(reference / "cosyvoice3" / "checkpoint")
    return Frontend(
        checkpoint.load_speech_tokenizer(1),
        checkpoint.load_speaker_encoder(1),
        checkpoint.prompt_mel,
        checkpoint.generation,
        checkpoint.flow.chunk_tokens,
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


def test_features_are_restored_exactly_from_a_file(reference: Path, frontend: Frontend, tmp_path: Path) -> None:
    prompt = build_prompt(VoiceReference(reference / "inputs" / "prompt_a.wav"), frontend, "key")
    save_file(feature_arrays(prompt), tmp_path / "voice.safetensors")
    voice = VoiceReference(tmp_path / "voice.safetensors", transcript="T", name="stored")
    stored = build_prompt(voice, frontend, "other")
    assert (stored.key, stored.name, stored.transcript) == ("other", "stored", "T")
    assert stored.speech_tokens == prompt.speech_tokens
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
    [broken_features(5, 9), broken_features(0, 4), broken_features(5, 10, 79), broken_features(5, 10, value=np.nan)],
)
def test_inconsistent_features_are_rejected(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    path = tmp_path / "voice.safetensors"
    save_file(arrays, path)
    with pytest.raises(UnreadableClip, match=r"voice\.safetensors"):
        read_features(path, COSYVOICE3)


def test_the_key_depends_on_clip_and_front_end_but_not_on_the_transcript(tmp_path: Path) -> None:
    clip = tmp_path / "a.wav"
    clip.write_bytes(b"one")
    key = prompt_key(VoiceReference(clip, transcript="x"), "front")
    assert key == prompt_key(VoiceReference(clip, transcript="y", name="n"), "front")
    assert key != prompt_key(VoiceReference(clip), "another front end")
    clip.write_bytes(b"two")
    assert key != prompt_key(VoiceReference(clip), "front")
