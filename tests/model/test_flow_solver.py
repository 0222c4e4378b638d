"""Time grid, noise and guidance of the solver."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import torch
from flow_cases import Golden, flow_config, flow_network, random_prompt

from studio.model.flow.layers import FullContext
from studio.model.flow.model import FlowModel, euler_steps, noise_table


@pytest.mark.reference
def test_noise_is_the_official_table(reference: Path, family: str) -> None:
    golden = Golden(reference, family)
    table = noise_table(80).t().contiguous()
    assert torch.equal(table[:, :64], golden["rand_noise_head"][0])
    assert hashlib.sha256(table.numpy().tobytes()).hexdigest() == golden.notes["rand_noise"]["sha256_float32_le"]


@pytest.mark.parametrize("start", [0, 1, 50])
def test_each_frame_begins_with_its_own_noise(
    reference: Path, family: str, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = FlowModel(flow_network(reference, family), flow_config(reference, family))
    monkeypatch.setattr(model.network.estimator, "velocity", lambda rows, *_: torch.zeros_like(rows))
    prompt = random_prompt(model.config, 28)
    mean = torch.zeros(50, model.config.mel_bins)
    found = model.solve(model.voice(prompt), mean, start, lambda _: FullContext(None))
    assert torch.equal(found, noise_table(model.config.mel_bins)[start : start + 50])


def test_noise_does_not_use_the_global_generator() -> None:
    noise_table.cache_clear()
    before = torch.random.get_rng_state()
    noise_table(80)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.reference
def test_time_grid_is_the_official_one(reference: Path, family: str) -> None:
    """Bit-identical, because the times enter sinusoids of up to a thousand radians."""
    golden = Golden(reference, family)
    steps = euler_steps(10)
    assert [step.time for step in steps] == golden.notes["runs"]["full"]["t"]
    grid = [0.0, *torch.tensor([step.size for step in steps], dtype=torch.float64).cumsum(0).tolist()]
    assert torch.tensor(grid) == pytest.approx(golden["t_span"].double().numpy(), abs=1e-6)


def test_guidance_moves_away_from_the_unconditional_velocity() -> None:
    mel = torch.zeros(4, 80)
    conditional, unconditional = 3.0, 1.0
    velocity = torch.stack([torch.full_like(mel, conditional), torch.full_like(mel, unconditional)])
    for step in euler_steps(10):
        mel = step.advance(mel, velocity, 0.7)
    assert mel.numpy() == pytest.approx(1.7 * conditional - 0.7 * unconditional, rel=1e-6)  # the steps add up to one
