"""Random models react to their inputs, and do not amplify rounding errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from measurements.random_models.checkpoint import write_random_checkpoint
from measurements.random_models.reference_sizes import CheckpointPlan
from studio.bench.inputs import random_mel, random_prompt, random_tokens
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import compare_with_reference, open_network
from studio.model.stages import FlowPrompt


@pytest.fixture(scope="module", params=["cosyvoice1", "cosyvoice2", "cosyvoice3"])
def checkpoint(
    request: pytest.FixtureRequest,
    small_plan: Callable[[str], CheckpointPlan],
    tmp_path_factory: pytest.TempPathFactory,
) -> Checkpoint:
    folder = tmp_path_factory.mktemp("networks")
    write_random_checkpoint(folder, str(request.param), 1, plan=small_plan(str(request.param)))
    return open_checkpoint(folder)


@pytest.mark.slow
def test_flow_hears_its_prompt_and_does_not_exaggerate(checkpoint: Checkpoint) -> None:
    flow = checkpoint.load_flow(Precision.FLOAT32, "cpu")
    num_tokens = checkpoint.flow.num_speech_tokens
    prompt, tokens = (
        random_prompt(15, num_tokens, num_frames=flow.frames_of_tokens(15)),
        random_tokens(20, num_tokens),
    )
    nudged = torch.from_numpy(prompt.mel) + 1e-3 * torch.randn(
        prompt.mel.shape, generator=torch.Generator().manual_seed(0)
    )
    mel, close, other = (
        flow.decode_whole(FlowPrompt(speech_tokens, values, prompt.embedding), tokens)
        for speech_tokens, values in (
            (prompt.speech_tokens, prompt.mel),
            (prompt.speech_tokens, nudged.numpy()),
            (random_tokens(15, num_tokens, seed=5), prompt.mel),
        )
    )
    assert mel.isfinite().all()
    assert -8.0 < mel.mean() < -2.0
    assert 0.5 < mel.std() < 4.0
    assert 1e-6 < (close - mel).abs().max() < 1e-2
    assert (other - mel).std() > 1e-2


@pytest.mark.slow
def test_vocoder_is_neither_silent_nor_clipped(checkpoint: Checkpoint) -> None:
    vocoder = checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    samples = vocoder.synthesize_whole(torch.from_numpy(random_mel(60)), vocoder.noise(0))
    assert 0.005 < samples.square().mean().sqrt() < 0.3
    assert (samples.abs() >= 0.99).float().mean() < 0.05


@pytest.mark.slow
def test_speech_lm_survives_eight_bits(checkpoint: Checkpoint) -> None:
    speech_lm = checkpoint.load_speech_lm(Precision.INT8, "cpu")
    network = open_network(checkpoint.speech_lm_path(None), checkpoint.speech_lm)
    quality = compare_with_reference(speech_lm, network)
    assert quality.is_good_enough(Precision.INT8), quality
    assert quality.divergence_nats > 0
