"""Prompts of CosyVoice-300M: features, text of every mode, and voices without a clip."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import noise_models
import numpy as np
import pytest
from reference_limits import limit_of
from safetensors.numpy import load_file, save_file

from studio.audio.waveform import Waveform
from studio.errors import VoiceOfAnotherModel
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.generations import COSYVOICE1, COSYVOICE3
from studio.pipeline.enrolment import Frontend, build_prompt, compute_features, feature_arrays, read_features
from studio.pipeline.request import VoiceReference, speaker_prompt
from studio.text.tokenizer import COSYVOICE1_TEXT, COSYVOICE2_TEXT, LanguageTags, TextTokenizer
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel

FAMILY = "cosyvoice1"
CLIPS = ("prompt_a", "prompt_b")


@pytest.fixture(scope="module")
def golden(reference: Path) -> Path:
    if not (reference / FAMILY).is_dir():
        pytest.skip(f"the reference folder has no {FAMILY}")
    return reference / FAMILY / "golden"


@pytest.fixture(scope="module")
def checkpoint(reference: Path, golden: Path) -> Checkpoint:
    return open_checkpoint(reference / FAMILY / "checkpoint")


def frontend_of(checkpoint: Checkpoint) -> Frontend:
    return Frontend(
        checkpoint.load_speech_tokenizer(1),
        checkpoint.load_speaker_encoder(1),
        checkpoint.prompt_mel,
        checkpoint.generation,
        checkpoint.flow.chunk_tokens,
        checkpoint.flow.lookahead_tokens,
    )


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return TextTokenizer.whisper()


@pytest.mark.reference
@pytest.mark.parametrize("clip", CLIPS)
def test_tokens_mel_and_embedding_equal_the_official_ones(
    reference: Path, golden: Path, checkpoint: Checkpoint, clip: str
) -> None:
    """The mel is that of the rate the model was trained with (specification J2, row 5)."""
    sounds = load_file(reference / "inputs" / "features.safetensors")
    recorded = load_file(golden / "frontend.safetensors")
    at_16k = Waveform(sounds[f"{clip}/speech_16k"][0], 16_000)
    at_22k = Waveform(sounds[f"{clip}/speech_22k"][0], 22_050)
    tokens = checkpoint.load_speech_tokenizer(1).tokenize(whisper_log_mel(at_16k))
    assert tokens == tuple(recorded[f"wav/{clip}/speech_token"][0].tolist())
    mel, wanted = prompt_mel(at_22k, checkpoint.prompt_mel), recorded[f"wav/{clip}/prompt_mel_22k"][0]
    limit = 2 * limit_of(reference, FAMILY, "frontend:wav/*/prompt_mel*")
    np.testing.assert_allclose(mel, wanted, rtol=0, atol=limit)
    embedding = checkpoint.load_speaker_encoder(1).embed(kaldi_fbank(at_16k))
    np.testing.assert_allclose(embedding, recorded[f"wav/{clip}/embedding"][0], rtol=0, atol=5e-4)


@pytest.mark.reference
@pytest.mark.parametrize("clip", CLIPS)
def test_tokens_and_mel_of_a_clip_are_not_trimmed(
    reference: Path, golden: Path, checkpoint: Checkpoint, clip: str
) -> None:
    prompt = build_prompt(VoiceReference(reference / "inputs" / f"{clip}.wav"), frontend_of(checkpoint), "key")
    recorded = load_file(golden / "frontend.safetensors")
    assert prompt.num_tokens == recorded[f"wav/{clip}/speech_token"].shape[1]
    assert abs(len(prompt.mel) - recorded[f"wav/{clip}/prompt_mel_22k"].shape[1]) <= 1


def text_tokens(golden: Path, mode: str, name: str) -> list[int]:
    array = load_file(golden / "frontend.safetensors").get(f"model_input/{mode}/{name}")
    return [] if array is None else array[0].tolist()


@pytest.mark.reference
@pytest.mark.parametrize("mode", ["zero_shot", "zero_shot_b", "cross_lingual", "sft", "instruct"])
def test_text_of_every_mode_has_the_official_tokens(golden: Path, tokenizer: TextTokenizer, mode: str) -> None:
    strings: dict[str, Any] = json.loads((golden / "frontend.json").read_text("utf-8"))["model_input"][mode]
    prompt: tuple[int, ...] = ()
    if "prompt_text" in strings:
        prompt = COSYVOICE1_TEXT.zero_shot(strings["prompt_text"], tokenizer, normalize=False)
    elif "instruct_text" in strings:
        prompt = COSYVOICE1_TEXT.instruct(strings["instruct_text"], tokenizer)
    assert list(prompt) == text_tokens(golden, mode, "prompt_text")
    recorded = text_tokens(golden, mode, "text")
    assert list(tokenizer.encode(strings["tts_text"], allow_special=True)) == recorded


def test_a_typed_language_applies_until_the_next_one() -> None:
    tags = LanguageTags(COSYVOICE1_TEXT)
    sentences = ("Hello there.", "你好。", "<|yue|>你好。", "再见。", "<|ja|>こんにちは。", "Hello.")
    assert [tags.before(sentence) for sentence in sentences] == ["<|en|>", "<|zh|>", "", "<|yue|>", "", "<|ja|>"]


def test_languages_without_a_tag_and_later_generations_have_none() -> None:
    assert LanguageTags(COSYVOICE1_TEXT).before("Привет, мир.") == ""
    assert LanguageTags(COSYVOICE2_TEXT).before("Hello there.") == ""


@pytest.fixture
def speaker(tmp_path: Path) -> Path:
    path = tmp_path / "speaker.safetensors"
    arrays = feature_arrays(speaker_prompt("", np.ones(192, np.float32)))
    save_file(arrays, path, metadata={"generation": FAMILY})
    return path


def test_a_speaker_without_a_clip_is_a_prompt(speaker: Path) -> None:
    frontend = frontend_of(open_checkpoint(noise_models.V1))
    prompt = build_prompt(VoiceReference(speaker, name="Mei"), frontend, "key")
    assert (prompt.name, prompt.num_tokens, prompt.mel.shape, prompt.warnings) == ("Mei", 0, (0, 80), ())
    assert np.array_equal(prompt.embedding, np.ones(192, np.float32))
    assert read_features(speaker, COSYVOICE1).num_tokens == 0


def test_a_speaker_of_another_generation_is_a_sentence(speaker: Path) -> None:
    frontend = frontend_of(open_checkpoint(noise_models.V3))
    with pytest.raises(VoiceOfAnotherModel, match="Mei has no recording and works only with CosyVoice-300M models"):
        build_prompt(VoiceReference(speaker, name="Mei"), frontend, "key")


def test_a_model_that_was_not_trained_with_such_speakers_warns(tmp_path: Path) -> None:
    path = tmp_path / "speaker.safetensors"
    save_file(feature_arrays(speaker_prompt("", np.ones(192, np.float32))), path, metadata={"generation": "cosyvoice3"})
    prompt = build_prompt(VoiceReference(path, name="Mei"), frontend_of(open_checkpoint(noise_models.V3)), "key")
    assert COSYVOICE3.title in prompt.warnings[0]
    assert "Prefer a voice with a recording" in prompt.warnings[0]


def test_features_may_have_any_number_of_frames_but_not_only_frames_or_tokens(tmp_path: Path) -> None:
    frontend = frontend_of(open_checkpoint(noise_models.V1))
    sound = np.random.default_rng(0).standard_normal(48_000).astype(np.float32) * 0.1
    prompt = compute_features(Waveform(sound, 24_000), frontend)
    assert prompt.num_tokens == 100
    path = tmp_path / "voice.safetensors"
    save_file(feature_arrays(replace(prompt, mel=prompt.mel[:-7])), path)
    assert len(read_features(path, COSYVOICE1).mel) == len(prompt.mel) - 7
