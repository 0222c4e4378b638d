"""The speech tokenizer hears what the program lets it hear, and the file that ships is the network that was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import SCHEME, fake_corpus, fake_table

from studio.audio.waveform import Waveform
from studio.model.onnx_networks import SpeechTokenizer, open_onnx
from studio.voices import features
from training.corpus.store import Corpus
from training.corpus.tokens import Register
from training.shipping.half_precision import write_halved_onnx
from training.trainers import tokenizer
from training.trainers.augmentation import to_16k, whisper_log_mel
from training.trainers.options import TrainingOptions
from training.trainers.tokenizer_network import SpeechTokenizerNetwork
from training.trainers.tokenizer_onnx import write_tokenizer_onnx


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return fake_corpus(tmp_path_factory.mktemp("corpus"), utterances_per_speaker=10)


@pytest.fixture(scope="module")
def network() -> SpeechTokenizerNetwork:
    torch.manual_seed(0)
    network = SpeechTokenizerNetwork(fake_table(), width=32, num_blocks=3, front_width=24).eval()
    for parameter in network.parameters():  # biases and norms begin as what does nothing
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def random_log_mel(num_frames: int) -> np.ndarray:
    return np.random.default_rng(num_frames).normal(size=(128, num_frames)).astype(np.float32)


def expected_tokens(network: SpeechTokenizerNetwork, log_mel: np.ndarray) -> tuple[int, ...]:
    with torch.no_grad():
        pairs, pitches = network(torch.from_numpy(log_mel)[None], torch.tensor([log_mel.shape[1]]))
    return tuple((pairs.argmax(-1) + SCHEME.sounds * pitches.argmax(-1))[0].tolist())


@pytest.mark.slow
def test_the_front_end_for_many_is_the_programs_own(corpus: Corpus) -> None:
    at_16k = Waveform(corpus.samples(3), 24_000).resampled(16_000)
    samples = at_16k.samples
    ours = whisper_log_mel(torch.from_numpy(samples)[None])[0].numpy()
    np.testing.assert_allclose(ours, features.whisper_log_mel(at_16k), atol=2e-4)


def test_a_piece_keeps_its_sound_on_the_way_to_16_khz() -> None:
    seconds = np.arange(24_000) / 24_000
    tone = torch.from_numpy(np.sin(2 * np.pi * 440 * seconds).astype(np.float32))[None]
    at_16k = to_16k(tone, 16_000)[0].numpy()
    expected = np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    np.testing.assert_allclose(at_16k, expected, atol=1e-3)
    faster = to_16k(tone, 12_800)[0].numpy()
    assert np.abs(np.fft.rfft(faster)).argmax() * 16_000 / 12_800 == pytest.approx(440 * 24_000 / 16_000 / 1.2, abs=2)


def test_only_what_a_clip_can_tell_is_asked_of_its_tokens(corpus: Corpus) -> None:
    for style in ("whisper", "loud", "soft", "high"):
        index = int(corpus.indices(style=style)[0])
        registers = set(corpus.table.registers_of(corpus.heard_tokens(index)))
        assert registers == {Register.WHISPER if style == "whisper" else Register.MODAL}


@pytest.mark.slow
@pytest.mark.parametrize("num_frames", [4, 21, 22, 23, 24, 301])
def test_the_file_says_what_the_network_says(network: SpeechTokenizerNetwork, num_frames: int, tmp_path: Path) -> None:
    write_tokenizer_onnx(network, tmp_path / "tokenizer.onnx")
    log_mel = random_log_mel(num_frames)
    tokens = SpeechTokenizer(tmp_path / "tokenizer.onnx", num_threads=1).tokenize(log_mel)
    assert len(tokens) == -(-num_frames // 4)
    assert tokens == expected_tokens(network, log_mel)


def test_what_lies_behind_the_length_is_not_heard(network: SpeechTokenizerNetwork, tmp_path: Path) -> None:
    write_tokenizer_onnx(network, tmp_path / "tokenizer.onnx")
    session = open_onnx(tmp_path / "tokenizer.onnx", 1)
    assert [port.name for port in session.get_inputs()] == ["feats", "feats_length"]
    log_mel = random_log_mel(40)
    padded = np.concatenate([log_mel, 9.0 * random_log_mel(60)], axis=1)[None]
    tokens = session.run(None, {"feats": padded, "feats_length": np.array([40], np.int32)})[0]
    assert tokens.dtype == np.int32
    assert tuple(tokens[0, :10].tolist()) == expected_tokens(network, log_mel)


def test_half_the_size_says_nearly_the_same(network: SpeechTokenizerNetwork, tmp_path: Path) -> None:
    write_tokenizer_onnx(network, tmp_path / "whole.onnx")
    write_halved_onnx(tmp_path / "whole.onnx", tmp_path / "half.onnx")
    assert (tmp_path / "half.onnx").stat().st_size < 0.65 * (tmp_path / "whole.onnx").stat().st_size
    log_mel = random_log_mel(400)
    whole, half = (
        SpeechTokenizer(tmp_path / f"{name}.onnx", num_threads=1).tokenize(log_mel) for name in ("whole", "half")
    )
    assert np.mean(np.array(whole) == np.array(half)) > 0.95


@pytest.mark.slow
def test_a_short_run_leaves_a_file_the_program_can_open(tmp_path: Path) -> None:
    corpus = fake_corpus(tmp_path / "corpus", utterances_per_speaker=10, work=tmp_path / "work")
    small = {
        "width": "32",
        "num_blocks": "2",
        "front_width": "24",
        "batch": "4",
        "piece_tokens": "30",
        "num_clips": "3",
    }
    values = tokenizer.train(TrainingOptions(tmp_path / "corpus", tmp_path / "work", minutes=0.04, settings=small))
    assert 0.0 <= values["en_sound_accuracy"] <= 1.0
    assert 0.0 <= values["zh_pitch_accuracy"] <= 1.0
    heard = SpeechTokenizer(tmp_path / "work" / "tokenizer.onnx", num_threads=1)
    log_mel = features.whisper_log_mel(Waveform(corpus.samples(0), 24_000).resampled(16_000))
    assert len(heard.tokenize(log_mel)) == corpus.entry(0).num_tokens
