"""Write and read the vocoder's files: its decoder's graph and the description."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import onnx

from studio.engines.onnx.description import read_description
from studio.engines.onnx.mixed_precision import write_mixed_precision
from studio.engines.onnx.vocoder_graphs import vocoder_graph, vocoder_shapes
from studio.engines.onnx.vocoder_shapes import VocoderShapes
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT
from studio.model.vocoder.vocoder import load_vocoder

DECODER, SHAPES = "vocoder-decoder.onnx", "vocoder.json"
# Its outputs are log magnitudes and phases of the audio.
_KEPT = ("conv_post",)


def write_vocoder(
    checkpoint: Checkpoint, folder: Path, precision: Precision, report: Callable[[float, float], None]
) -> None:
    """Fill ``folder``. With a 16-bit precision, convolutions are 16-bit except the last; Snake activations are not.

    ``report`` receives the graphs done and their total; it may raise to cancel.
    Raises ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """
    report(0, 1)
    network = plain_network(checkpoint)
    shapes = vocoder_shapes(network, key="")
    decoder = vocoder_graph(network, shapes)
    digest = hashlib.sha256(decoder.SerializeToString()).hexdigest()
    if precision is not Precision.FLOAT32:
        write_mixed_precision(decoder, precision, kept=_KEPT)
    onnx.save(decoder, folder / DECODER)
    (folder / SHAPES).write_text(replace(shapes, key=digest).to_json(), "utf-8")
    report(1, 1)


def read_shapes(folder: Path) -> VocoderShapes:
    """Raises ``DamagedModelFile``."""
    return VocoderShapes.from_json(read_description(folder / SHAPES))


def plain_network(checkpoint: Checkpoint) -> CausalHiFT | NonCausalHiFT:
    """Load the plain layers on the processor."""
    path = checkpoint.folder / "hift.pt"
    network = load_vocoder(path, checkpoint.vocoder, Precision.FLOAT32, "cpu").network
    assert isinstance(network, CausalHiFT | NonCausalHiFT)
    return network
