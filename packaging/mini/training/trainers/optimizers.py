"""Muon for matrices and Adam for all other weights, which needs fewer steps than Adam alone."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

_SECOND_MOMENT_DECAY = 0.98  # a run has a few thousand steps, so the memory is shorter than usual


class Rates(Protocol):
    """The settings of a training that its optimizers use."""

    @property
    def adam_rate(self) -> float: ...

    @property
    def matrix_rate(self) -> float: ...

    @property
    def weight_decay(self) -> float: ...


def adam_and_muon(name: str, network: nn.Module, rates: Rates, *, matrices_in: str) -> dict[str, torch.optim.Optimizer]:
    """Return two optimizers, ``name`` and ``matrices``.

    The latter is for matrices in modules whose names begin with ``matrices_in``. If ``matrix_rate`` is 0, Adam is used
    for all weights. Only matrices decay.
    """
    chosen = {
        weight_name: bool(rates.matrix_rate) and weight.ndim == 2 and weight_name.startswith(matrices_in)
        for weight_name, weight in network.named_parameters()
    }
    matrices = [weight for weight_name, weight in network.named_parameters() if chosen[weight_name]]
    others = [weight for weight_name, weight in network.named_parameters() if not chosen[weight_name]]
    adam = torch.optim.AdamW(others, lr=rates.adam_rate, betas=(0.9, _SECOND_MOMENT_DECAY), weight_decay=0.0)
    if not matrices:
        return {name: adam}
    muon = torch.optim.Muon(matrices, lr=rates.matrix_rate, weight_decay=rates.weight_decay, adjust_lr_fn="original")
    return {name: adam, "matrices": muon}
