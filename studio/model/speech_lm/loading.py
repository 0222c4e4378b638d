"""Loading of the speech language model from ``llm.pt``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

import torch
from torch import nn

from studio.model.config import AnySpeechLMConfig, Precision, QwenConfig, SpeechLMConfig, TransformerLMConfig
from studio.model.converted_weights import (
    Tensors,
    converted_path,
    converted_weights,
    has_converted_weights,
)
from studio.model.onnx_networks import onnxruntime
from studio.model.speech_lm.bfloat16_prefill import bfloat16_decoder, bfloat16_weights
from studio.model.speech_lm.decoder import Decoder, pack_layer
from studio.model.speech_lm.graph_decoder import GraphDecoder, fits_graph, gains_from_bfloat16, written_graph
from studio.model.speech_lm.linear import Linear, check_support, describe, pack
from studio.model.speech_lm.network import BACKBONE, UNUSED_TENSORS, DecoderLayer, SpeechLMNetwork
from studio.model.speech_lm.torch_lm import CachedSpeechLM, TorchSpeechLM
from studio.model.speech_lm.transformer_decoder import RelativeDecoder, pack_relative_layer
from studio.model.speech_lm.transformer_lm import TransformerInputs, TransformerSpeechLM
from studio.model.speech_lm.transformer_network import (
    RelativeLayer,
    RelativeTransformer,
    TransformerLMNetwork,
)
from studio.model.weights import load_weights, meta_init, read_tensors, release_pages

# An eighth to a quarter of a released model; opening a mapping costs 20 ms.
_LAYERS_MAPPED = 4
# Increase when the graph or the rounding of its weights changes.
_GRAPH_VERSION = 6
_BFLOAT16_VERSION = 1
_Layer = TypeVar("_Layer", bound=nn.Module)
OpenLayers = Callable[[], Iterator[DecoderLayer]]


@overload
def load_speech_lm(
    path: Path, config: SpeechLMConfig, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> TorchSpeechLM: ...


@overload
def load_speech_lm(
    path: Path, config: AnySpeechLMConfig, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> CachedSpeechLM[Any]: ...


def load_speech_lm(
    path: Path, config: AnySpeechLMConfig, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> CachedSpeechLM[Any]:
    """Load ``llm.pt`` (or ``llm.rl.pt``) for synthesis.

    The file is mapped, so that memory stays near the size of the packed weights. A few layers at a time are packed
    from a mapping that is then closed. Only the rows of the text table that are used are read.
    Raise ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``, ``UnsupportedPrecision``.
    """
    where = torch.device(device)
    check_support(precision, where)
    if isinstance(config, TransformerLMConfig):
        return _load_transformer_lm(path, config, precision, where)
    network = open_network(path, config)

    def open_layers() -> Iterator[DecoderLayer]:
        if zipfile.is_zipfile(path):
            num_layers = config.backbone.num_layers
            return _open_layers(path, f"{BACKBONE}.layers", num_layers, lambda: DecoderLayer(config.backbone))
        return _layers_of(network)  # the format before torch 1.6 cannot be mapped, so all of it is in memory

    return _assemble(network, open_layers, precision, where, source=path)


def _load_transformer_lm(
    path: Path, config: TransformerLMConfig, precision: Precision, device: torch.device
) -> TransformerSpeechLM:
    network = open_network(path, config)

    def pack_transformer(plain: RelativeTransformer, name: str) -> RelativeDecoder:
        layers: Iterable[RelativeLayer]
        if zipfile.is_zipfile(path):
            layers = _open_layers(path, f"{name}.encoders", plain.config.num_blocks, plain.new_layer)
        else:
            layers = (layer for layer in plain.encoders if isinstance(layer, RelativeLayer))
        linear = plain.embed.out[0]
        assert isinstance(linear, nn.Linear)
        packed = (pack_relative_layer(layer, precision, device) for layer in layers)
        return RelativeDecoder(plain, packed, _pack_linear(linear, precision, device), device)

    return TransformerSpeechLM(
        config=config,
        inputs=TransformerInputs.of(network, device),
        text_encoder=pack_transformer(network.text_encoder, "text_encoder"),
        decoder=pack_transformer(network.llm, "llm"),
        head=_pack_linear(network.llm_decoder, _head_precision(precision), device),
        engine=describe(precision, device),
    )


def _pack_linear(linear: nn.Linear, precision: Precision, device: torch.device) -> Linear:
    bias = None if linear.bias is None else linear.bias.detach()
    return pack(linear.weight.detach(), bias, precision, device)


def _head_precision(precision: Precision) -> Precision:
    # The head distinguishes near-equal tokens and is 2 % of the work, so it has at least 16 bits.
    return Precision.FLOAT16 if precision in (Precision.INT8, Precision.INT4) else precision


def build_speech_lm(
    network: SpeechLMNetwork, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> TorchSpeechLM:
    """Return a speech language model with a copy of the current weights of ``network``."""
    where = torch.device(device)
    check_support(precision, where)
    return _assemble(network, partial(_layers_of, network), precision, where)


@overload
def open_network(path: Path, config: SpeechLMConfig) -> SpeechLMNetwork: ...


@overload
def open_network(path: Path, config: TransformerLMConfig) -> TransformerLMNetwork: ...


@overload
def open_network(path: Path, config: AnySpeechLMConfig) -> SpeechLMNetwork | TransformerLMNetwork: ...


def open_network(path: Path, config: AnySpeechLMConfig) -> SpeechLMNetwork | TransformerLMNetwork:
    """Return the plain network in float32 with mapped, frozen weights.

    Raise ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """

    def build() -> SpeechLMNetwork | TransformerLMNetwork:
        return TransformerLMNetwork(config) if isinstance(config, TransformerLMConfig) else SpeechLMNetwork(config)

    network = meta_init(build)
    load_weights(network, read_tensors(path), file_name=path.name, ignored=UNUSED_TENSORS)
    return network


def _assemble(
    network: SpeechLMNetwork,
    open_layers: OpenLayers,
    precision: Precision,
    device: torch.device,
    *,
    source: Path | None = None,
) -> TorchSpeechLM:
    """Return the model. If ``source`` is the file of the weights, their graph is cached."""
    config, norm, engine = network.config, network.backbone.norm.weight, describe(precision, device)
    graph = None
    if precision in (Precision.INT8, Precision.INT4) and device.type == "cpu":
        graph = _graph_decoder(network, open_layers, precision, source)
    decoder: Decoder
    head: Linear
    if graph is not None:
        decoder, head, engine = graph, graph.head, graph.engine
    else:
        packed = (pack_layer(layer, config.backbone, precision, device) for layer in open_layers())
        decoder = Decoder(config.backbone, packed, norm, device)
        head = _pack_linear(network.llm_decoder, _head_precision(precision), device)
    return TorchSpeechLM(config=config, inputs=network.inputs.to(device), decoder=decoder, head=head, engine=engine)


def _graph_decoder(
    network: SpeechLMNetwork, open_layers: OpenLayers, precision: Precision, source: Path | None
) -> GraphDecoder | None:
    """Return the decoder as a graph, or None if its sizes or the processor do not allow it."""
    config, norm, head = network.config.backbone, network.backbone.norm.weight, network.llm_decoder
    # A graph in the cache was fast on a processor like this one.
    processor = torch.backends.cpu.get_cpu_capability()
    kind = f"language model {precision.value}"
    form = f"{_GRAPH_VERSION} {config} {onnxruntime.__version__} {processor}"
    is_kept = source is not None and has_converted_weights(source, kind, form)
    if not (is_kept or fits_graph(config, precision)):
        return None

    def write() -> Tensors:
        return written_graph(config, open_layers(), norm, head, precision)

    if source is None:
        return GraphDecoder(config, write(), norm, precision)
    for_many_rows = _bfloat16_decoder(config, open_layers, norm, source, is_new=not is_kept)
    graph = converted_weights(source, kind, form, write)
    decoder = GraphDecoder(config, graph, norm, precision, for_many_rows=for_many_rows)
    release_pages(converted_path(source, kind, form))
    return decoder


def _bfloat16_decoder(
    config: QwenConfig, open_layers: OpenLayers, norm: torch.Tensor, source: Path, *, is_new: bool
) -> Decoder | None:
    """Return the decoder for many rows if it is in the cache, or ``is_new`` and bfloat16 is clearly faster."""
    kind, form = "language model bfloat16", f"{_BFLOAT16_VERSION} {config}"
    if not (has_converted_weights(source, kind, form) or (is_new and gains_from_bfloat16(config))):
        return None
    tensors = converted_weights(source, kind, form, lambda: bfloat16_weights(config, open_layers()))
    decoder = bfloat16_decoder(config, tensors, norm)
    release_pages(converted_path(source, kind, form))
    return decoder


def _layers_of(network: SpeechLMNetwork) -> Iterator[DecoderLayer]:
    for layer in network.backbone.layers:
        assert isinstance(layer, DecoderLayer)
        yield layer


def _open_layers(path: Path, prefix: str, num_layers: int, build: Callable[[], _Layer]) -> Iterator[_Layer]:
    """Yield the layers ``prefix.0``, ``prefix.1`` … in order, mapped a few at a time to limit memory."""
    for first in range(0, num_layers, _LAYERS_MAPPED):
        tensors = read_tensors(path)
        for index in range(first, min(first + _LAYERS_MAPPED, num_layers)):
            own_prefix = f"{prefix}.{index}."
            own = {name.removeprefix(own_prefix): tensors[name] for name in tensors if name.startswith(own_prefix)}
            layer = meta_init(build)
            load_weights(layer, own, file_name=path.name)
            yield layer
