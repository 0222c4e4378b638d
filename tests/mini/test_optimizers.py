"""Which numbers learn by which rule."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from training.trainers.optimizers import FloatMuon, adam_and_muon


@dataclass(frozen=True)
class _Rates:
    matrix_rate: float
    adam_rate: float = 0.01
    weight_decay: float = 0.1


class _Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4)])


def test_only_matrices_of_the_named_modules_take_orthogonal_steps() -> None:
    network = _Reader()
    optimizers = adam_and_muon("reader", network, _Rates(matrix_rate=0.02), matrices_in="layers")
    assert list(optimizers) == ["reader", "matrices"]
    learned = {
        name: [id(weight) for group in optimizer.param_groups for weight in group["params"]]
        for name, optimizer in optimizers.items()
    }
    assert learned["matrices"] == [id(network.layers[0].weight)]
    assert sorted(learned["reader"]) == sorted([id(network.table.weight), id(network.layers[0].bias)])


def test_a_rate_of_zero_leaves_everything_to_adam() -> None:
    network = _Reader()
    optimizers = adam_and_muon("reader", network, _Rates(matrix_rate=0.0), matrices_in="layers")
    (adam,) = optimizers.values()
    assert isinstance(adam, torch.optim.AdamW)
    assert len(adam.param_groups[0]["params"]) == 3


@pytest.mark.parametrize("shape", [(48, 48), (32, 96), (96, 32)])
def test_steps_in_float32_are_those_of_torch(shape: tuple[int, int]) -> None:
    """torch multiplies in bfloat16, whose errors are up to a few percent of a step."""
    torch.manual_seed(0)
    first = torch.randn(shape)
    mine, theirs = nn.Parameter(first.clone()), nn.Parameter(first.clone())
    steppers = [
        kind([weight], lr=0.02, weight_decay=0.1, adjust_lr_fn="original")
        for kind, weight in ((FloatMuon, mine), (torch.optim.Muon, theirs))
    ]
    for _ in range(4):
        mine.grad = torch.randn(shape)
        theirs.grad = mine.grad.clone()
        for stepper in steppers:
            stepper.step()
    far = (theirs - first).norm()
    assert (mine - theirs).norm() < 0.03 * far
    steppers[1].load_state_dict(steppers[0].state_dict())  # a checkpoint is continued by either
