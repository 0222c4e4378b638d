"""The judge of vocoders finds the original perfect and noise bad."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import fake_corpus

from studio.model.vocoder.network import CausalHiFT
from training.judging.copy_synthesis import as_shipped, compare, copy_synthesis, mean_measures
from training.judging.spectrogram_picture import write_picture
from training.trainers.vocoder_sizes import vocoder_config
from training.trainers.vocoder_start import start

pytest.importorskip("parselmouth")


def test_the_original_is_a_perfect_copy_and_noise_is_none(tmp_path: Path) -> None:
    corpus = fake_corpus(tmp_path)
    index = int(corpus.indices(split="train", style="normal")[0])
    samples = corpus.samples(index)
    perfect = compare(samples, corpus, index)
    assert perfect.log_mel_distance < 0.01
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(samples)).astype(np.float32)
    assert compare(noise, corpus, index).log_mel_distance > 1.0


def test_copies_are_as_long_as_their_originals(tmp_path: Path) -> None:
    corpus = fake_corpus(tmp_path)
    network = CausalHiFT(vocoder_config(base_channels=16, f0_channels=8))
    start(network, torch.Generator().manual_seed(0))
    copies = copy_synthesis(as_shipped(network.requires_grad_(False)), corpus, [0, 1])
    assert [len(each.samples) for each in copies] == [len(corpus.samples(index)) for index in (0, 1)]
    assert mean_measures(copies)["log_mel_distance"] > 0


def test_a_picture_shows_the_pitch_of_a_tone(tmp_path: Path) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 3000 * np.arange(24_000) / 24_000).astype(np.float32)
    write_picture(tmp_path / "tone.png", [tone, tone])
    content = (tmp_path / "tone.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (251, 257 + 6 + 257)
