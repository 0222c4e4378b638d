"""Model folders are recognised by content, and each kind of damage has its error message."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from studio.errors import (
    BadModelSettings,
    DamagedModelFile,
    MissingModelFile,
    ModelNotFound,
    StudioError,
    UnknownGeneration,
    WrongTensors,
)
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions


@pytest.fixture
def folder(reference: Path, family: str, tmp_path: Path) -> Path:
    """Copy the miniature checkpoint, which a test may damage."""
    copy = tmp_path / "model"
    shutil.copytree(reference / family / "checkpoint", copy)
    os.chmod(copy, 0o755)
    for path in copy.rglob("*"):
        os.chmod(path, 0o755)
    return copy


def load_everything(checkpoint: Checkpoint) -> None:
    checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    checkpoint.load_flow(Precision.FLOAT32, "cpu")
    checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    checkpoint.load_text_tokenizer()
    checkpoint.load_speech_tokenizer(1)
    checkpoint.load_speaker_encoder(1)


@pytest.mark.slow
def test_yaml_determines_generation_and_settings(folder: Path, family: str) -> None:
    checkpoint = open_checkpoint(folder)
    assert checkpoint.generation.name == family
    assert checkpoint.vocoder.sample_rate == 24_000
    assert checkpoint.prompt_mel.max_hz == {"cosyvoice2": 8000.0, "cosyvoice3": None}[family]
    assert (checkpoint.flow.unet is None) == (family == "cosyvoice3")
    load_everything(checkpoint)


def test_generation_does_not_depend_on_the_yaml_name(folder: Path, family: str) -> None:
    (folder / f"{family}.yaml").rename(folder / "cosyvoice.yaml")
    assert open_checkpoint(folder).generation.name == family


def rewrite_yaml(folder: Path, change: Callable[[str], str]) -> None:
    path = next(folder.glob("cosyvoice*.yaml"))
    path.write_text(change(path.read_text("utf-8")), "utf-8")


def test_classes_of_two_generations_are_refused(folder: Path, family: str) -> None:
    rewrite_yaml(folder, lambda text: text.replace("HiFTGenerator", "OtherGenerator"))
    with pytest.raises(UnknownGeneration, match="OtherGenerator"):
        open_checkpoint(folder)


def as_first_release(text: str) -> str:
    """Return the yaml of a CosyVoice2 folder from before January 2025."""
    text = text.replace("decoder.CausalConditionalDecoder", "decoder.ConditionalDecoder")
    kept = [line for line in text.splitlines() if "chunk_size" not in line and "left_chunks" not in line]
    return "\n".join(kept) + "\n"


@pytest.mark.parametrize("family", ["cosyvoice2"])
def test_first_release_is_refused_and_the_error_names_the_newer_one(folder: Path) -> None:
    shutil.copy(folder / "cosyvoice2.yaml", folder / "newer.txt")
    rewrite_yaml(folder, as_first_release)
    (folder / "cosyvoice2.yaml").rename(folder / "cosyvoice.yaml")
    with pytest.raises(UnknownGeneration, match=r"cosyvoice\.yaml describes the first release of CosyVoice2") as caught:
        open_checkpoint(folder)
    assert "cosyvoice2.yaml" in str(caught.value.remedy)
    # The newer release, downloaded into the same folder.
    (folder / "newer.txt").rename(folder / "cosyvoice2.yaml")
    assert open_checkpoint(folder).generation.name == "cosyvoice2"


def test_disagreeing_sizes_are_refused(folder: Path) -> None:
    rewrite_yaml(folder, lambda text: text.replace("vocab_size:", "vocab_size: 512 #"))
    with pytest.raises(BadModelSettings, match="disagree about the number of speech tokens"):
        open_checkpoint(folder)


def test_missing_and_empty_folders_are_reported(tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(ModelNotFound):
            open_checkpoint(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt", "campplus.onnx", "speech_tokenizer_v*.onnx"])
@pytest.mark.parametrize("damage", ["missing", "truncated", "garbage"])
def test_a_damaged_file_is_named(folder: Path, name: str, damage: str) -> None:
    path = next(folder.glob(name))
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            path.read_bytes()[: path.stat().st_size // 2] if damage == "truncated" else b"\x00garbage" * 99
        )
    with pytest.raises(MissingModelFile if damage == "missing" else DamagedModelFile) as caught:
        load_everything(open_checkpoint(folder))
    assert path.name in str(caught.value.problem)
    assert str(caught.value.remedy)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
@pytest.mark.parametrize("change", ["lost", "added", "reshaped"])
def test_missing_unknown_and_misshapen_tensors_are_named(folder: Path, name: str, change: str) -> None:
    tensors = torch.load(folder / name, weights_only=True)
    key = next(key for key in reversed(tensors) if tensors[key].dim() > 1 and "lm_head" not in key)
    if change == "lost":
        del tensors[key]
    elif change == "added":
        key = "surprise.weight"
        tensors[key] = torch.zeros(2, 2)
    else:
        tensors[key] = tensors[key][..., :-1].clone()
    torch.save(tensors, folder / name)
    with pytest.raises(WrongTensors) as caught:
        load_everything(open_checkpoint(folder))
    assert name in str(caught.value.problem)
    layer = key.replace(".parametrizations.weight.original1", "").replace(".parametrizations.weight.original0", "")
    assert layer in str(caught.value.problem)


@pytest.mark.slow
def test_weights_of_another_generation_are_refused(reference: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(reference / "cosyvoice3" / "checkpoint", mixed)
    os.chmod(mixed, 0o755)
    for name in ("llm.pt", "flow.pt", "hift.pt"):
        (mixed / name).unlink()
        shutil.copy(reference / "cosyvoice2" / "checkpoint" / name, mixed / name)
    checkpoint = open_checkpoint(mixed)
    for load in (checkpoint.load_speech_lm, checkpoint.load_flow, checkpoint.load_vocoder):
        with pytest.raises(WrongTensors):
            load(Precision.FLOAT32, "cpu")


@pytest.mark.slow
def test_the_variant_after_reinforcement_learning_is_opened_on_request(folder: Path) -> None:
    checkpoint = open_checkpoint(folder)
    with pytest.raises(MissingModelFile, match=r"llm\.rl\.pt"):
        checkpoint.load_speech_lm(Precision.FLOAT32, "cpu", variant="rl")
    shutil.copy(folder / "llm.pt", folder / "llm.rl.pt")
    checkpoint.load_speech_lm(Precision.FLOAT32, "cpu", variant="rl")


@pytest.mark.parametrize(
    "config",
    ["{", "[]", "{}", '{"vocab_size": "many"}', json.dumps({"vocab_size": 0, "hidden_size": 7})],
)
def test_damaged_text_model_config_is_reported(folder: Path, config: str) -> None:
    (folder / "CosyVoice-BlankEN" / "config.json").write_text(config)
    with pytest.raises(StudioError, match=r"config\.json"):
        open_checkpoint(folder)


@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
def test_a_model_without_a_weight_file_is_reported_before_loading(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(MissingModelFile, match=f"{name} is missing"):
        load_synthesizer(folder, EngineOptions())


def test_front_end_key_depends_on_its_files(folder: Path) -> None:
    checkpoint = open_checkpoint(folder)
    before = checkpoint.front_end_key()
    assert before == open_checkpoint(folder).front_end_key()
    path = folder / "campplus.onnx"
    path.write_bytes(path.read_bytes() + b"\0")
    assert checkpoint.front_end_key() != before


def test_weights_key_does_not_depend_on_the_folder(folder: Path, tmp_path: Path) -> None:
    before = open_checkpoint(folder).weights_key()
    elsewhere = folder.rename(tmp_path / "another name")
    assert open_checkpoint(elsewhere).weights_key() == before
    weights = torch.load(elsewhere / "flow.pt")
    some = next(tensor for tensor in weights.values() if tensor.is_floating_point())
    some.view(-1)[0] += 1  # one of millions, so the file size does not change
    torch.save(weights, elsewhere / "flow.pt")
    assert open_checkpoint(elsewhere).weights_key() != before
