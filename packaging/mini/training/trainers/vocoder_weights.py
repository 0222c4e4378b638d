"""Conversion of a trained vocoder to the official tensors, with weight normalisation."""

from __future__ import annotations

import re

import torch

from studio.model.vocoder.network import CausalHiFT

# All except the linear layer and downsampling of the source, and the linear layer of the pitch predictor
# (specification G2).
_PLAIN = re.compile(r"^(m_source\.|source_downs\.|f0_predictor\.classifier\.)")


def official_tensors(network: CausalHiFT) -> dict[str, torch.Tensor]:
    """Return the content of ``hift.pt`` in float32.

    Each gain is the norm of its weight, so the weights do not change.
    """
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in network.state_dict().items():
        if name.endswith(".weight") and not _PLAIN.match(name):
            layer = name.removesuffix(".weight")
            norm = tensor.flatten(1).norm(dim=1).view(-1, *[1] * (tensor.dim() - 1))
            tensors[f"{layer}.parametrizations.weight.original0"] = norm
            tensors[f"{layer}.parametrizations.weight.original1"] = tensor.clone()
        else:
            tensors[name] = tensor.clone()
    return tensors
