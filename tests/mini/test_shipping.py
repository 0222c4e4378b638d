"""What ships is a folder like any other: the program opens it, speaks with it, and finds its instructions."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import fake_table
from mini_speech_lm_cases import TEXTS, small_speech_lm, small_vocabulary
from samplers import GreedySampler
from torch import nn

from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.stages import SpeechTokenRequest
from studio.model.vocoder.network import CausalHiFT
from studio.model.weights import read_tensors
from studio.take_checks.recognizers.choice import recognizer_of_model
from studio.take_checks.recognizers.model_phones import ModelPhones
from studio.text.styles import load_styles
from studio.text.tags import COSYVOICE3_SPECIAL_TOKENS
from training.corpus.phones import LABELS
from training.corpus.styles import DELIVERY_OF_STYLE
from training.corpus.tokens import TABLE_FILE
from training.shipping import ship
from training.shipping.folder import write_model_folder
from training.shipping.half_precision import write_halved_tensors
from training.shipping.instructions import BRITISH, read_instructions, write_presets
from training.shipping.respellings import SYLLABLES_FILE, VOCABULARY_FOLDER
from training.shipping.text_vocabulary import num_base_text_tokens
from training.trainers.checkpoints import write_checkpoint
from training.trainers.flow_network import LearningFlow, facts_of_config, flow_config
from training.trainers.options import TrainingFailed
from training.trainers.sound_recognizer import SoundRecognizer
from training.trainers.speaker_network import SpeakerNetwork
from training.trainers.speaker_onnx import write_speaker_onnx
from training.trainers.tokenizer_network import SpeechTokenizerNetwork
from training.trainers.tokenizer_onnx import write_tokenizer_onnx
from training.trainers.vocoder_sizes import vocoder_config
from training.trainers.vocoder_start import start


def write_stage(
    work: Path, stage: str, network: nn.Module, facts: Mapping[str, int], *, network_name: str = ""
) -> None:
    """A trainer's checkpoint of an untrained network, as far as exporters read it."""
    state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    write_checkpoint(
        work / f"{stage}.pt",
        {"averages": {network_name or stage: state}, "networks": {network_name or stage: state}, "facts": dict(facts)},
    )


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    work = tmp_path_factory.mktemp("work")
    tokenizer = small_vocabulary(work / VOCABULARY_FOLDER)
    sizes = {"hidden_size": 32, "num_layers": 2, "num_heads": 2, "num_kv_heads": 1, "intermediate_size": 48}
    write_stage(work, "speech_lm", small_speech_lm(tokenizer), {"num_text_rows": tokenizer.num_tokens, **sizes})
    table = fake_table()
    table.write(work / TABLE_FILE)
    flow = flow_config(64, 1, 2, 16)
    write_stage(work, "flow", LearningFlow(flow, table), facts_of_config(flow))
    vocoder = CausalHiFT(vocoder_config(base_channels=16, f0_channels=8))
    start(vocoder, torch.Generator().manual_seed(0))
    write_stage(work, "vocoder", vocoder, {"base_channels": 16, "f0_channels": 8})
    write_tokenizer_onnx(SpeechTokenizerNetwork(table, width=16, num_blocks=1, front_width=8), work / "tokenizer.onnx")
    write_speaker_onnx(SpeakerNetwork(16, 32), work / "speaker_encoder.onnx")
    sizes = {"width": 64, "num_blocks": 1, "front_width": 8}
    recognizer = SoundRecognizer(**sizes)
    write_stage(work, "recognizer", recognizer, sizes, network_name="sound_recognizer")
    (work / SYLLABLES_FILE).write_text('{"hao": [27, 42, 48], "ni": [19, 37]}', "utf-8")
    return work


@pytest.fixture(scope="module")
def folder(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    assert write_model_folder(work, folder) == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return folder


@pytest.mark.slow
def test_the_program_opens_every_stage(folder: Path) -> None:
    checkpoint = open_checkpoint(folder)
    assert checkpoint.generation.name == "cosyvoice3"
    tokenizer = checkpoint.load_text_tokenizer()
    request = SpeechTokenRequest(
        text_tokens=tokenizer.encode("A red house.", allow_special=False),
        prompt_text_tokens=checkpoint.generation.text.cross_lingual(tokenizer),
        min_tokens=3,
        max_tokens=5,
    )
    tokens = list(checkpoint.load_speech_lm(Precision.FLOAT32, "cpu").generate(request, GreedySampler()))
    assert 3 <= len(tokens) <= 5
    assert all(token < 6561 for token in tokens)
    assert checkpoint.load_flow(Precision.FLOAT32, "cpu").lookahead_tokens == 3
    assert checkpoint.load_vocoder(Precision.FLOAT32, "cpu").sample_rate == 24_000
    assert checkpoint.load_speech_tokenizer(1)
    assert checkpoint.load_speaker_encoder(1)


def test_takes_can_be_made_before_the_recogniser_is_trained(work: Path, tmp_path: Path) -> None:
    shutil.copytree(work, tmp_path / "work")
    (tmp_path / "work" / "recognizer.pt").unlink()
    write_model_folder(tmp_path / "work", tmp_path / "model")
    assert not (tmp_path / "model" / "recognizer.onnx").exists()
    assert open_checkpoint(tmp_path / "model").generation.name == "cosyvoice3"


def test_the_program_opens_the_recogniser(folder: Path) -> None:
    recognizer = ModelPhones("model", folder)
    assert recognizer.log_probabilities(np.zeros(16_000, np.float32)).shape == (50, len(LABELS))
    found = recognizer.phones(["你", "好", "one", "green"])
    assert found[:2] == [[19, 37], [27, 42, 48]]
    assert [LABELS[number] for number in found[2]] == ["w", "ʌ", "n"]
    assert found[3]  # from its letters
    available = recognizer_of_model(folder)
    assert available is not None
    assert available.languages == {"en", "zh"}


def test_a_repeated_token_is_no_reason_to_draw_again(folder: Path) -> None:
    """Anchored tokens last: the official rule would break every long vowel."""
    sampling = open_checkpoint(folder).speech_lm.sampling
    assert sampling.window_tokens * sampling.repetition_ratio == sampling.window_tokens == 25


def test_the_layout_is_the_official_one(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "CosyVoice-BlankEN", "campplus.onnx", "cosyvoice3.yaml", "flow.pt", "hift.pt", "llm.pt",
        "recognizer.json", "recognizer.onnx", "speech_tokenizer_v3.onnx", "styles.json", "tokens.json",
    }  # fmt: skip
    tensors = read_tensors(folder / "llm.pt")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    table, head = tensors["llm.model.model.embed_tokens.weight"], tensors["llm.model.lm_head.weight"]
    assert table.data_ptr() == head.data_ptr()
    config = json.loads((folder / "CosyVoice-BlankEN" / "config.json").read_text("utf-8"))
    assert config["model_type"] == "qwen2"
    assert config["vocab_size"] == table.shape[0]


def test_special_tokens_follow_the_vocabulary_in_official_order(folder: Path) -> None:
    tokenizer = open_checkpoint(folder).load_text_tokenizer()
    first = num_base_text_tokens(folder / "CosyVoice-BlankEN")
    assert tokenizer.special_ids["<|endoftext|>"] == first
    added = [token for token in COSYVOICE3_SPECIAL_TOKENS if token not in ("<|im_start|>", "<|im_end|>")]
    assert [tokenizer.special_ids[token] for token in added] == list(range(first + 3, first + 3 + len(added)))
    assert tokenizer.num_tokens == first + 3 + len(added)
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text, allow_special=False)) == text


@pytest.mark.slow
def test_a_folder_too_large_to_ship_is_refused(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.shipping.folder.MAX_BYTES", 100_000)
    with pytest.raises(TrainingFailed, match="are allowed"):
        write_model_folder(work, tmp_path)


def test_a_missing_stage_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match="Train speech_lm first"):
        write_model_folder(tmp_path / "work", tmp_path / "folder")


def test_numbers_that_sixteen_bits_cannot_store_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match="16 bits"):
        write_halved_tensors(tmp_path / "x.pt", {"weight": torch.tensor([1e6])})
    with pytest.raises(TrainingFailed, match="16 bits"):
        write_halved_tensors(tmp_path / "x.pt", {"weight": torch.tensor([float("nan")])})


def test_every_style_of_the_corpus_has_an_instruction() -> None:
    assert set(read_instructions()) == {*DELIVERY_OF_STYLE, BRITISH} - {"normal"}


def test_instructions_are_presets_of_the_app(tmp_path: Path) -> None:
    write_presets(tmp_path, ["fast", BRITISH, "normal"])
    styles = load_styles("cosyvoice3", tmp_path)
    assert [preset.id for preset in styles.presets] == ["v3.speed.fast", "v3.dialect.british"]
    assert styles.preset("speed.fast").instruction == read_instructions()["fast"].canonical
    assert styles.tags == ()


def test_no_sentence_trains_two_styles() -> None:
    sentences = [sentence for each in read_instructions().values() for sentence in each.sentences]
    assert len(sentences) == len(set(sentences))


@pytest.mark.slow
def test_one_command_ships_or_says_what_is_missing(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ship.main(["--work", str(work), "--to", str(tmp_path / "model")]) == 0
    assert "MB" in capsys.readouterr().out
    assert open_checkpoint(tmp_path / "model").generation.name == "cosyvoice3"
    assert ship.main(["--work", str(tmp_path), "--to", str(tmp_path / "other")]) == 1
    assert "Train speech_lm first" in capsys.readouterr().err


def test_the_checksums_of_the_weights_are_listed_in_the_catalog(tmp_path: Path) -> None:
    folder, catalog = tmp_path / "model", tmp_path / "model.json"
    (folder / "CosyVoice-BlankEN").mkdir(parents=True)
    (folder / "llm.pt").write_bytes(b"weights")
    (folder / "CosyVoice-BlankEN" / "letter_sounds.npz").write_bytes(b"more")
    (folder / "styles.json").write_text("{}")
    for listed in ("", '{"path": "old.pt", "size_bytes": 1, "sha256": ""}'):
        catalog.write_text(f'{{\n  "rank": 9,\n  "files": [{listed}]\n}}\n')
        ship.list_files(folder, catalog)
        content = json.loads(catalog.read_text())
        assert content["rank"] == 9
        assert [file["path"] for file in content["files"]] == ["CosyVoice-BlankEN/letter_sounds.npz", "llm.pt"]
        assert content["files"][1]["size_bytes"] == 7
        assert content["files"][1]["sha256"] == hashlib.sha256(b"weights").hexdigest()
