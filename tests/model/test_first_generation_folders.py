"""Folders of CosyVoice-300M: all three layouts are recognised, and other variants refused by name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import noise_models
import pytest

from studio.errors import BadModelSettings, UnknownGeneration, WrongTensors
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision, TransformerLMConfig
from studio.model.generations import COSYVOICE1
from studio.model.speech_lm import TransformerSpeechLM


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(noise_models.V1, copy)
    for path in (copy, *copy.rglob("*")):
        os.chmod(path, 0o755)
    return copy


def replace_in_yaml(folder: Path, old: str, new: str) -> None:
    path = folder / "cosyvoice.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("has_speakers", [False, True], ids=["300M", "300M-SFT and -Instruct"])
def test_all_layouts_load(folder: Path, *, has_speakers: bool) -> None:
    if not has_speakers:
        (folder / "spk2info.pt").unlink()
    checkpoint = open_checkpoint(folder)
    assert checkpoint.generation is COSYVOICE1
    assert isinstance(checkpoint.speech_lm, TransformerLMConfig)
    assert (checkpoint.vocoder.sample_rate, checkpoint.prompt_mel.hop_samples) == (22_050, 256)
    assert checkpoint.flow.length_regulator is not None
    assert checkpoint.flow.unet is not None
    assert (checkpoint.flow.unet.num_levels, checkpoint.flow.unet.is_causal) == (2, False)
    assert isinstance(checkpoint.load_speech_lm(Precision.FLOAT32, "cpu"), TransformerSpeechLM)
    assert checkpoint.load_text_tokenizer().num_tokens == checkpoint.speech_lm.vocabulary_size


@pytest.mark.parametrize(
    ("old", "new"),
    [("text_token_size: 51866", "text_token_size: 60515"), ("input_frame_rate: 50", "input_frame_rate: 25")],
)
def test_the_25_hz_experiment_is_refused_by_name(folder: Path, old: str, new: str) -> None:
    replace_in_yaml(folder, old, new)
    with pytest.raises(UnknownGeneration, match="CosyVoice-300M-25Hz") as caught:
        open_checkpoint(folder)
    assert "CosyVoice-300M-SFT" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("text_token_size: 51866", "text_token_size: 51865", "51865 text tokens"),
        ("input_frame_rate: 50", "input_frame_rate: 100", "100 speech tokens"),
        ("sample_rate: 22050", "sample_rate: 16000", "16000 Hz"),
    ],
)
def test_other_variants_are_refused_with_what_differs(folder: Path, old: str, new: str, named: str) -> None:
    replace_in_yaml(folder, old, new)
    with pytest.raises(UnknownGeneration, match=named):
        open_checkpoint(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("attention_heads: 4", "attention_heads: 7"),
        ("static_chunk_size: 1", "static_chunk_size: 0"),
        ("llm_input_size: 64", "llm_input_size: 32"),
        ("channels: [32, 32]", "channels: [32, 16]"),
        ("channels: [32, 32]", "channels: [32]"),
        ("sampling_ratios: [1, 1, 1, 1]", "sampling_ratios: []"),
        ("upsample_rates: [8, 8]", "upsample_rates: [8, 8, 3]"),
    ],
)
def test_impossible_settings_are_a_sentence(folder: Path, old: str, new: str) -> None:
    replace_in_yaml(folder, old, new)
    with pytest.raises(BadModelSettings, match=r"cosyvoice\.yaml"):
        open_checkpoint(folder)


@pytest.mark.parametrize("family", ["cosyvoice2", "cosyvoice3"])
def test_weights_of_another_generation_are_refused(folder: Path, reference: Path, family: str) -> None:
    shutil.copy(reference / family / "checkpoint" / "llm.pt", folder / "llm.pt")
    with pytest.raises(WrongTensors, match=r"llm\.pt does not match"):
        open_checkpoint(folder).load_speech_lm(Precision.FLOAT32, "cpu")
