"""Whole utterances with full attention, and the plain streaming run used as a reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from flow_cases import Golden, PlainFlow, flow_config, flow_decoder, flow_network, random_prompt, random_tokens

from studio.errors import SequenceTooLong
from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.model import FlowModel


@pytest.mark.slow
@pytest.mark.reference
def test_whole_utterance_equals_official(reference: Path, family: str) -> None:
    golden = Golden(reference, family)
    mel = flow_decoder(reference, family).decode_whole(golden.prompt, golden.tokens)
    assert mel.shape == (80, 2 * len(golden.tokens))
    assert (mel - golden["full/mel"][0]).abs().max() <= golden.tolerance


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize(
    ("run", "num_ahead", "is_streaming"),
    [("full", 0, False), ("stream_final", 0, True), ("stream_chunk", 3, True), ("full_chunk", 3, False)],
)
def test_plain_run_equals_official(reference: Path, family: str, run: str, num_ahead: int, is_streaming: bool) -> None:
    golden = Golden(reference, family)
    num_tokens = golden[f"{run}/mel"].shape[-1] // 2
    tokens, lookahead = golden.tokens[:num_tokens], golden.tokens[num_tokens : num_tokens + num_ahead]
    mel = PlainFlow(reference, family).mel(golden.prompt, tokens, lookahead, is_streaming=is_streaming)
    assert (mel - golden[f"{run}/mel"][0]).abs().max() <= golden.tolerance


@pytest.mark.slow
def test_repacked_layers_compute_the_same(reference: Path, family: str) -> None:
    golden = Golden(reference, family)
    plain = PlainFlow(reference, family).mel(golden.prompt, golden.tokens, is_streaming=False)
    mel = flow_decoder(reference, family).decode_whole(golden.prompt, golden.tokens)
    assert (mel - plain).abs().max() <= golden.tolerance


@pytest.mark.slow
def test_precomputed_modulations_equal_their_layers(reference: Path, family: str) -> None:
    """Precomputed time-dependent values equal those computed at each call."""
    config = flow_config(reference, family)
    model = FlowModel(flow_network(reference, family, torch.float64), config, 10)
    layers = flow_network(reference, family, torch.float64).estimator
    generator = torch.Generator().manual_seed(5)
    x, mean, prompt_mel = (torch.randn(2, 60, 80, generator=generator, dtype=torch.float64) for _ in range(3))
    conditions = Conditions(mean, prompt_mel, torch.randn(2, 80, generator=generator, dtype=torch.float64))
    context = FullContext(50)
    for step, table in zip(model.steps, model.modulations, strict=True):
        with torch.no_grad():
            by_layers = layers(x, torch.full((2,), step.time, dtype=torch.float64), conditions, context)
            by_table = model.network.estimator.velocity(x, conditions, table, context)
        assert (by_table - by_layers).abs().max() / by_layers.abs().max() <= 1e-6


def test_time_layers_are_dropped(reference: Path, family: str) -> None:
    config = flow_config(reference, family)
    network = flow_network(reference, family)
    FlowModel(network, config, 10)
    time_text = ("time_mlp", "time_embed", "attn_norm", "norm_out", ".mlp.")
    assert [name for name in network.state_dict() if any(word in name for word in time_text)] == []


def test_sequence_longer_than_the_noise_table_is_refused(reference: Path) -> None:
    config = flow_config(reference, "cosyvoice3")
    decoder = flow_decoder(reference, "cosyvoice3")
    with pytest.raises(SequenceTooLong, match="300"):
        decoder.decode_whole(random_prompt(config, 30), random_tokens(config, 7471))


def test_prompt_whose_mel_does_not_match_its_tokens_is_refused(reference: Path) -> None:
    prompt = random_prompt(flow_config(reference, "cosyvoice3"), 30)
    with pytest.raises(ValueError, match="60 frames"):
        flow_decoder(reference, "cosyvoice3").decode_whole(replace(prompt, mel=np.zeros((59, 80), np.float32)), [1])
