"""Loading of the speech language model from ``llm.pt``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch

from studio.model.config import Precision, SpeechLMConfig
from studio.model.speech_lm.decoder import Decoder, PackedLayer, pack_layer
from studio.model.speech_lm.linear import check_support, describe, pack
from studio.model.speech_lm.network import BACKBONE, UNUSED_TENSORS, DecoderLayer, SpeechLMNetwork
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.weights import load_weights, meta_init, read_tensors

# An eighth to a quarter of a released model; opening a mapping costs 20 ms.
_LAYERS_MAPPED = 4


def load_speech_lm(
    path: Path, config: SpeechLMConfig, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> TorchSpeechLM:
    """Load ``llm.pt`` (or ``llm.rl.pt``) for synthesis.

    The file is mapped, so that memory stays near the size of the packed weights. A few layers at a time are packed
    from a mapping that is then closed. Of the text table, only the rows that are used are read.
    Raise ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``, ``UnsupportedPrecision``.
    """
    where = torch.device(device)
    check_support(precision, where)
    network = open_network(path, config)
    layers: Iterator[PackedLayer]
    if zipfile.is_zipfile(path):
        layers = (pack_layer(layer, config.backbone, precision, where) for layer in _open_layers(path, config))
    else:  # a file in the format before torch 1.6 cannot be mapped, so all of it is in memory
        layers = _pack_network(network, precision, where)
    return _assemble(network, layers, precision, where)


def speech_lm_of(
    network: SpeechLMNetwork, precision: Precision = Precision.FLOAT32, device: str = "cpu"
) -> TorchSpeechLM:
    """Return a speech language model with a copy of the current weights of ``network``."""
    where = torch.device(device)
    check_support(precision, where)
    return _assemble(network, _pack_network(network, precision, where), precision, where)


def open_network(path: Path, config: SpeechLMConfig) -> SpeechLMNetwork:
    """Return the plain network in float32 with mapped, frozen weights.

    Raise ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """
    network = meta_init(lambda: SpeechLMNetwork(config))
    load_weights(network, read_tensors(path), file_name=path.name, ignored=UNUSED_TENSORS)
    return network


def _assemble(
    network: SpeechLMNetwork, layers: Iterator[PackedLayer], precision: Precision, device: torch.device
) -> TorchSpeechLM:
    config = network.config
    head = network.llm_decoder
    bias = None if head.bias is None else head.bias.detach()
    # The head distinguishes near-equal tokens and is 2 % of the work, so it has at least 16 bits.
    head_precision = Precision.FLOAT16 if precision in (Precision.INT8, Precision.INT4) else precision
    return TorchSpeechLM(
        config=config,
        inputs=network.inputs.to(device),
        decoder=Decoder(config.backbone, layers, network.backbone.norm.weight, device),
        head=pack(head.weight.detach(), bias, head_precision, device),
        engine=describe(precision, device),
    )


def _pack_network(network: SpeechLMNetwork, precision: Precision, device: torch.device) -> Iterator[PackedLayer]:
    for layer in network.backbone.layers:
        assert isinstance(layer, DecoderLayer)
        yield pack_layer(layer, network.config.backbone, precision, device)


def _open_layers(path: Path, config: SpeechLMConfig) -> Iterator[DecoderLayer]:
    """Yield the decoder layers in order, mapped a few at a time to limit memory."""
    num_layers = config.backbone.num_layers
    for first in range(0, num_layers, _LAYERS_MAPPED):
        tensors = read_tensors(path)
        for index in range(first, min(first + _LAYERS_MAPPED, num_layers)):
            prefix = f"{BACKBONE}.layers.{index}."
            own = {name.removeprefix(prefix): tensors[name] for name in tensors if name.startswith(prefix)}
            layer = meta_init(lambda: DecoderLayer(config.backbone))
            load_weights(layer, own, file_name=path.name)
            yield layer
