"""The speaker encoder that ships is the one that was trained, and it learns who speaks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import fake_corpus

from studio.model.onnx_networks import SpeakerEncoder
from training.corpus.store import Corpus
from training.trainers.filter_bank_pool import FilterBankPool, filter_bank_of, some_of_each, usual_indices
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.speaker_encoder import (
    _training_utterances,
    equal_error_rate,
    load_network,
    nearest_is_same,
    train,
)
from training.trainers.speaker_network import SpeakerNetwork
from training.trainers.speaker_onnx import write_speaker_onnx

SMALL = {"channels": "16", "pooled_channels": "24", "rows": "8", "utterances_per_speaker": "4"}


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    fake_corpus(folder, utterances_per_speaker=8)
    return folder


@pytest.fixture(scope="module")
def corpus(corpus_folder: Path) -> Corpus:
    return Corpus.open(corpus_folder)


@pytest.mark.slow
def test_the_shipped_network_says_what_the_trained_one_says(tmp_path: Path, corpus: Corpus) -> None:
    torch.manual_seed(0)
    network = SpeakerNetwork(channels=16, pooled_channels=24)
    for _ in range(3):  # so that the normalisation has something to fold in
        network(3.0 * torch.randn(4, 120, 80) + 1.0)
    network.eval()
    write_speaker_onnx(network, tmp_path / "campplus.onnx")
    shipped = SpeakerEncoder(tmp_path / "campplus.onnx", num_threads=1)
    for index in (0, 5):
        bank = filter_bank_of(corpus, index)
        with torch.no_grad():
            expected = network(torch.from_numpy(bank)[None])[0].numpy()
        np.testing.assert_allclose(shipped.embed(bank), expected, rtol=1e-4, atol=1e-5)
    assert shipped.embed(filter_bank_of(corpus, 0)[:3]).shape == (192,)


@pytest.mark.slow
def test_training_leaves_a_checkpoint_and_an_encoder(tmp_path: Path, corpus: Corpus, corpus_folder: Path) -> None:
    options = TrainingOptions(corpus_folder, tmp_path, minutes=0.06, settings=SMALL)
    values = train(options)
    assert set(values) == {"equal_error_rate", "nearest_is_same", "pitch_error"}
    assert 0.0 <= values["equal_error_rate"] <= 1.0
    network, shipped = load_network(tmp_path / "speaker_encoder.pt"), SpeakerEncoder(tmp_path / "speaker_encoder.onnx")
    bank = filter_bank_of(corpus, 1)
    with torch.no_grad():
        np.testing.assert_allclose(
            shipped.embed(bank), network(torch.from_numpy(bank)[None])[0].numpy(), rtol=1e-4, atol=1e-5
        )
    lines = [json.loads(line) for line in (tmp_path / "speaker_encoder.jsonl").read_text().splitlines()]
    train(replace(options, minutes=0.08))
    resumed = json.loads((tmp_path / "speaker_encoder.jsonl").read_text().splitlines()[-1])
    assert resumed["step"] > lines[-1]["step"] > 0


def test_odd_and_even_speakers_are_different_ones_and_the_stranger_is_in_neither(corpus: Corpus) -> None:
    random = np.random.default_rng(0)
    odd, even, everybody = (_training_utterances(corpus, which, 4, random) for which in ("odd", "even", "all"))
    assert not set(odd) & set(even)
    assert set(odd) | set(even) == set(everybody)
    heard = [corpus.entry(int(index)) for indices in everybody.values() for index in indices]
    assert {entry.speaker.split for entry in heard} == {"train"}
    assert {entry.split for entry in heard} == {"train"}
    assert not {entry.style for entry in heard} & {"whisper", "high", "low"}


@pytest.mark.slow
def test_one_speaker_is_too_few(tmp_path: Path) -> None:
    corpus = fake_corpus(tmp_path)
    alone = Corpus([entry for entry in corpus._entries if entry.speaker.name == "train-0"], corpus._shards)
    with pytest.raises(TrainingFailed, match="at least two"):
        _training_utterances(alone, "all", 4, np.random.default_rng(0))


def test_pieces_are_free_of_their_mean_and_long_enough(corpus: Corpus) -> None:
    chosen = some_of_each(corpus, usual_indices(corpus, np.arange(len(corpus))), 2, np.random.default_rng(0))
    pool = FilterBankPool.of(corpus, chosen)
    longest = max(len(bank) for bank in pool.banks)
    pieces, speakers = pool.crops(16, 2 * longest, np.random.default_rng(1))
    assert pieces.shape == (16, 2 * longest, 80)
    assert pieces.dtype == np.float32
    np.testing.assert_allclose(pieces.mean(axis=1), 0.0, atol=1e-3)
    assert set(speakers.tolist()) <= set(range(len(chosen)))
    assert len(set(speakers.tolist())) > 1


def test_the_equal_error_rate_of_perfect_useless_and_middling_embeddings() -> None:
    axes = np.eye(4, dtype=np.float32)
    speakers = np.repeat(np.arange(4), 3)
    assert equal_error_rate(axes[speakers], speakers) == 0.0
    assert nearest_is_same(axes[speakers], speakers) == 1.0
    random = np.random.default_rng(0)
    noise = random.standard_normal((200, 192)).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    many = np.repeat(np.arange(20), 10)
    assert equal_error_rate(noise, many) == pytest.approx(0.5, abs=0.05)
    centres = noise[:20][many] + 0.09 * random.standard_normal((200, 192)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    assert 0.0 < equal_error_rate(centres, many) < 0.1
