"""A training run can be broken off and gone on with at any time, and never overwrites what was good."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from training.trainers import loop
from training.trainers.checkpoints import load_facts, load_weights, read_checkpoint
from training.trainers.loop import Trainer, begin
from training.trainers.options import TrainingFailed, TrainingOptions


@pytest.fixture
def options(tmp_path: Path) -> TrainingOptions:
    return TrainingOptions(corpus=tmp_path / "corpus", work=tmp_path / "work", minutes=1.0, seed=3)


def make(options: TrainingOptions, **extra: object) -> Trainer:
    network = nn.Linear(4, 1)
    nn.init.zeros_(network.weight)
    nn.init.zeros_(network.bias)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.05)
    return Trainer(
        "line",
        options,
        networks={"line": network},
        optimizers={"line": optimizer},
        averaged=("line",),
        **{"facts": {"size": 4}, "warm_up_steps": 1, **extra},  # type: ignore[arg-type]
    )


def learn(trainer: Trainer, num_steps: int) -> list[float]:
    losses: list[float] = []
    network = trainer.networks["line"]
    for _ in trainer.steps():
        x = torch.randn(16, 4, generator=trainer.generator) + float(trainer.random.normal()) * 0.1
        loss = (network(x) - x.sum(1, keepdim=True)).square().mean()
        trainer.descend(loss, "line", largest_gradient=10.0)
        trainer.note(loss=loss, heard_seconds=1.0)
        losses.append(float(loss.detach()))
        if len(losses) == num_steps:
            break
    return losses


@pytest.fixture
def _no_cooling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trainer, "elapsed_share", 0.0)


@pytest.mark.usefixtures("_no_cooling")
def test_a_resumed_run_goes_on_exactly_as_an_unbroken_one(options: TrainingOptions, tmp_path: Path) -> None:
    unbroken = learn(make(TrainingOptions(tmp_path, tmp_path / "other", seed=3)), 12)
    first = make(options)
    begun = learn(first, 7)
    first.step += 1  # the loop was left before it counted the last
    first.save()
    assert begun == unbroken[:7]
    assert learn(make(options), 5) == pytest.approx(unbroken[7:], rel=1e-6)


def test_learns_and_leaves_weights_facts_and_a_log(options: TrainingOptions) -> None:
    trainer = make(options)
    losses = learn(trainer, 200)
    values = trainer.finish()
    assert values == {}
    assert losses[-1] < 0.2 * losses[0]
    weights = load_weights(trainer.checkpoint_path, "line")
    assert not torch.equal(weights["weight"], trainer.networks["line"].weight)  # the average, not the last step
    assert torch.allclose(weights["weight"], torch.ones(1, 4), atol=0.3)
    assert load_facts(trainer.checkpoint_path) == {"size": 4}
    line = json.loads((options.work / "line.jsonl").read_text().splitlines()[-1])
    assert line["loss"] == pytest.approx(np.mean(losses), rel=1e-3)
    assert line["heard_per_cpu_second"] > 0
    assert not list(options.work.glob("*.part"))


def test_validation_speaks_with_the_averaged_weights_and_gives_the_others_back(options: TrainingOptions) -> None:
    seen: list[torch.Tensor] = []

    def validate() -> dict[str, float]:
        network = trainer.networks["line"]
        assert isinstance(network.weight, torch.Tensor)
        assert not network.training
        seen.append(network.weight.detach().clone())
        return {"error": 0.5}

    trainer = make(options, validate=validate)
    learn(trainer, 5)
    before = trainer.networks["line"].weight.detach().clone()  # type: ignore[union-attr, operator]
    assert trainer.finish() == {"error": 0.5}
    assert torch.equal(seen[0], trainer.averages["line"].tensors["weight"])
    assert torch.equal(before, trainer.networks["line"].weight)
    assert trainer.networks["line"].training
    assert json.loads((options.work / "line.jsonl").read_text().splitlines()[-1])["validation_error"] == 0.5


def test_asked_to_end_it_saves_and_stops(options: TrainingOptions) -> None:
    trainer = make(options)
    for step in trainer.steps():
        if step == 4:
            os.kill(os.getpid(), signal.SIGTERM)
    assert read_checkpoint(trainer.checkpoint_path)["step"] == 5
    assert trainer.finish() == {}
    assert make(options).step == 5


def test_the_rate_rises_and_falls(options: TrainingOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(options, warm_up_steps=4)
    rates = []
    for step, share in zip(trainer.steps(), (0.0, 0.0, 0.0, 0.5, 0.85, 1.0), strict=False):
        monkeypatch.setattr(Trainer, "elapsed_share", share)
        trainer._set_rates()
        rates.append(trainer.optimizers["line"].param_groups[0]["lr"])
        if step == 4:
            break
    assert rates == pytest.approx([0.0125, 0.025, 0.0375, 0.05, 0.0275])


def test_weights_that_are_lost_end_the_run_before_they_are_saved(
    options: TrainingOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make(options)
    learn(trainer, 3)
    trainer.save()
    good = trainer.checkpoint_path.read_bytes()
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_SAVES", 0.0)
    nn.init.constant_(trainer.networks["line"].bias, float("nan"))  # type: ignore[arg-type]
    with pytest.raises(TrainingFailed, match="is not a number"):
        learn(trainer, 30)
    assert trainer.checkpoint_path.read_bytes() == good


def test_a_checkpoint_of_other_sizes_is_a_sentence(options: TrainingOptions) -> None:
    make(options).save()
    with pytest.raises(TrainingFailed, match="differ from the requested ones"):
        make(options, facts={"size": 5})


def test_a_damaged_checkpoint_is_a_sentence(options: TrainingOptions) -> None:
    options.work.mkdir()
    (options.work / "line.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(TrainingFailed, match="not a checkpoint, or is damaged"):
        make(options)


def test_settings_are_read_by_kind(options: TrainingOptions) -> None:
    from dataclasses import dataclass, replace

    @dataclass(frozen=True)
    class Settings:
        rate: float = 1e-3
        depth: int = 8
        is_bold: bool = False
        channels: tuple[int, ...] = (8, 8)

    chosen = replace(options, settings={"rate": "2e-4", "is_bold": "true", "channels": "4,2"})
    assert chosen.with_settings(Settings()) == Settings(rate=2e-4, is_bold=True, channels=(4, 2))
    with pytest.raises(TrainingFailed, match="no setting deepness"):
        replace(options, settings={"deepness": "3"}).with_settings(Settings())
    with pytest.raises(TrainingFailed, match="depth must be of type int"):
        replace(options, settings={"depth": "3.5"}).with_settings(Settings())


def test_one_thread_and_a_seed(options: TrainingOptions) -> None:
    begin(options)
    first = torch.rand(1)
    begin(options)
    assert torch.get_num_threads() == 1
    assert torch.equal(first, torch.rand(1))
