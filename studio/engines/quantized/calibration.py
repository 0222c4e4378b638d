"""Quantisation of a graph's matrix multiplications to 8 bits, with activation ranges recorded on speech.

ONNX Runtime's quantiser marks quantised operations with pairs of QuantizeLinear and DequantizeLinear (QDQ), which other engines
support as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantType
from onnxruntime.quantization.calibrate import CalibrationMethod, create_calibrator
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

from studio.engines.onnx.graph import Graph
from studio.model import onnx_networks  # noqa: F401 - disables telemetry before the quantiser opens a session

_PRODUCTS = ["Conv", "ConvTranspose", "MatMul", "Gemm"]
# One activation in ten thousand is clipped, so that the others have finer steps.
PERCENTILE = 99.99

Inputs = dict[str, np.ndarray[Any, Any]]


class RecordingGraph:
    """Runs ``graph``, and records the inputs of the runs that ``start`` selects."""

    def __init__(self, graph: Graph) -> None:
        self.device = graph.device
        self.engine = graph.engine
        self.recorded: list[Inputs] = []
        self._graph = graph
        self._kept: Collection[int] = ()
        self._num_runs = 0

    def start(self, kept: Collection[int]) -> None:
        """Discard recorded inputs, count runs from zero, and record those whose numbers are in ``kept``."""
        self.recorded, self._kept, self._num_runs = [], kept, 0

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        if self._num_runs in self._kept:
            self.recorded.append({name: tensor.cpu().numpy().copy() for name, tensor in inputs.items()})
        self._num_runs += 1
        self._graph.run(inputs, outputs)


class _Runs(CalibrationDataReader):  # type: ignore[misc]
    """A single run: the collector cannot combine runs of different lengths."""

    def __init__(self, inputs: Inputs) -> None:
        self._runs = iter((inputs,))

    def get_next(self) -> Inputs | None:
        return next(self._runs, None)


def quantize(graph: Path, runs: Iterable[Sequence[Inputs]], *, kept: Collection[str], percentile: float) -> None:
    """Replace the float32 ``graph`` with one whose multiplications by weights are 8-bit.

    ``runs`` are consumed one by one, so that only one run's activations are in memory. Layers and weights stay float32
    if their names contain an entry of ``kept``.
    """
    model = onnx.load(graph)
    nodes = _products_of_weights(model, kept)
    with TemporaryDirectory(prefix="timbre-calibration-") as folder:
        calibrator = create_calibrator(
            graph,
            _PRODUCTS,
            augmented_model_path=str(Path(folder) / "augmented.onnx"),
            calibrate_method=CalibrationMethod.Percentile,
            extra_options={"symmetric": True, "percentile": percentile},
        )
        for inputs in chain.from_iterable(runs):
            calibrator.collect_data(_Runs(inputs))
        ranges = calibrator.compute_data()
        del calibrator
    quantiser = QDQQuantizer(
        model,
        per_channel=True,
        reduce_range=False,
        weight_qType=QuantType.QInt8,
        activation_qType=QuantType.QInt8,
        tensors_range=ranges,
        nodes_to_quantize=nodes,
        nodes_to_exclude=[],
        op_types_to_quantize=_PRODUCTS,
        # Symmetric with float32 biases, which TensorRT supports as well.
        extra_options={"ActivationSymmetric": True, "WeightSymmetric": True, "QuantizeBias": False},
    )
    quantiser.quantize_model()
    onnx.save(quantiser.model.model, graph)


def _products_of_weights(model: onnx.ModelProto, kept: Collection[str]) -> list[str]:
    """Return the nodes to quantise. Multiplications of two activations (attention) stay float32."""
    weights = {weight.name for weight in model.graph.initializer}
    names = []
    for index, node in enumerate(model.graph.node):
        is_kept = any(part in name for part in kept for name in (node.name, *node.input))
        if node.op_type in _PRODUCTS and node.input[1] in weights and not is_kept:
            node.name = node.name or f"product.{index}"
            names.append(node.name)
    return names
