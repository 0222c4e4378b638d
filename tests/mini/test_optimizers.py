"""Which numbers learn by which rule."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from training.trainers.optimizers import adam_and_muon


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
