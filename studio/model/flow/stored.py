"""Solver tables and reduced weights of a flow on a CPU, kept in the cache folder (``converted_weights``).

Reason: computing them takes most of the loading time of a flow. The layers that compute the tables are 42 % of
CosyVoice3's estimator, and weights in 16 or 8 bits take half or a quarter of the bytes in the file.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import torch

from studio.model.config import REDUCED_STEPS, FlowConfig, Precision
from studio.model.converted_weights import Tensors, converted_path, converted_weights, discard_converted_weights
from studio.model.flow.layers import VelocityEstimator
from studio.model.flow.model import time_tables
from studio.model.flow.packing import RecordingProducts, StoredProducts, has_cpu_products, pack
from studio.model.weights import load_weights, meta_init, release_pages, require_file

# Increase when the tables, the rounding of weights, or the order in which layers are packed changes.
_VERSION = 1
_DIGEST = "digest"
# Prefix of tensors that are not weights of products.
_OTHER = "other."
_SAMPLED_VALUES = 64
# Releasing pages takes a millisecond; eight layers are at most 64 MB.
_LAYERS_BETWEEN_RELEASES = 8


_Network = TypeVar("_Network", bound=torch.nn.Module)


@dataclass(frozen=True)
class StoredFlow:
    """Cached parts of a flow. If ``has_layers``, the network was packed from cached weights."""

    weights_digest: str
    tables: Tensors = field(repr=False)
    has_layers: bool


def open_stored(
    path: Path, config: FlowConfig, build: Callable[[], _Network], load: Callable[[], _Network], precision: Precision
) -> tuple[_Network, StoredFlow]:
    """Return the network of ``path`` (``flow.pt``) and its cached parts.

    ``build`` creates the network without weights, and ``load`` returns it with its weights. Raise the errors of ``load``.
    """
    require_file(path)
    tables = dict(converted_weights(path, "flow times", _form(config), lambda: _tables(load(), config)))
    digest = bytes(tables.pop(_DIGEST).tolist()).hex()
    if precision is Precision.FLOAT32 or not has_cpu_products(precision):
        return load(), StoredFlow(digest, tables, has_layers=False)
    kind = _kind(precision)
    layers = converted_weights(path, kind, _form(config), lambda: _layers(load(), precision))
    network = meta_init(build)
    _estimator(network).drop_time_layers()
    release = releasing_pages(converted_path(path, kind, _form(config)))
    pack(network, precision, cpu_products=StoredProducts(layers), after_layer=release)
    others = {name.removeprefix(_OTHER): layers[name].clone() for name in layers if name.startswith(_OTHER)}
    load_weights(network, others, file_name=path.name)
    return network, StoredFlow(digest, tables, has_layers=True)


def discard_stored(path: Path, config: FlowConfig, precision: Precision) -> None:
    """Delete the reduced weights of a ``precision`` that is not used."""
    discard_converted_weights(path, _kind(precision), _form(config))


def releasing_pages(path: Path) -> Callable[[], None]:
    """Return a function to call after each layer, which regularly releases the pages of the mapped file ``path``."""
    layers_done = itertools.count(1)

    def after_layer() -> None:
        if next(layers_done) % _LAYERS_BETWEEN_RELEASES == 0:
            release_pages(path)

    return after_layer


def _kind(precision: Precision) -> str:
    return f"flow {precision.value}"


def _form(config: FlowConfig) -> str:
    return f"{_VERSION} {config} {REDUCED_STEPS} {torch.__version__} {torch.backends.cpu.get_cpu_capability()}"


def _estimator(network: torch.nn.Module) -> VelocityEstimator:
    estimator = network.estimator
    assert isinstance(estimator, VelocityEstimator)
    return estimator


@torch.inference_mode()
def _tables(network: torch.nn.Module, config: FlowConfig) -> Tensors:
    digest = torch.tensor(list(bytes.fromhex(digest_samples(network.state_dict()))), dtype=torch.uint8)
    tables = time_tables(_estimator(network), config.solver.counts, next(network.parameters()))
    return {_DIGEST: digest, **{name: table.contiguous() for name, table in tables.items()}}


@torch.inference_mode()
def _layers(network: torch.nn.Module, precision: Precision) -> Tensors:
    _estimator(network).drop_time_layers()
    products = RecordingProducts()
    pack(network, precision, cpu_products=products)
    return products.tensors | {f"{_OTHER}{name}": tensor for name, tensor in network.state_dict().items()}


def digest_samples(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a digest of the names, shapes and a few values of the tensors, to distinguish releases."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        flat = tensor.detach().flatten()
        sampled = flat[:: max(1, flat.numel() // _SAMPLED_VALUES)][: 2 * _SAMPLED_VALUES]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(sampled.cpu().double().numpy().tobytes())
    return digest.hexdigest()
