"""Storage of weights in float16, half the size. The program computes in float32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.trainers.options import TrainingFailed

_WORTH_HALVING = 256  # number of elements; smaller constants stay unchanged
_MAX_HALF = 65_504.0


def write_halved_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write ``tensors`` to a ``.pt`` file, preserving shared storage. Raise ``TrainingFailed`` for NaN or infinity."""
    halves: dict[int, torch.Tensor] = {}
    stored: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            stored[name] = tensor
            continue
        if id(tensor) not in halves:
            _require_storable(name, float(tensor.abs().max()) if tensor.numel() else 0.0)
            halves[id(tensor)] = tensor.detach().cpu().to(torch.float16).contiguous()
        stored[name] = halves[id(tensor)]
    beside = path.with_name(f"{path.name}.part")
    torch.save(stored, beside)
    beside.replace(path)


def write_halved_onnx(source: Path, path: Path) -> None:
    """Write the network of ``source`` with large constants in float16. Loading folds the casts that follow them."""
    model = onnx.load(source)
    casts = []
    for constant in model.graph.initializer:
        array = numpy_helper.to_array(constant)
        if constant.data_type != TensorProto.FLOAT or array.size < _WORTH_HALVING:
            continue
        name = constant.name
        _require_storable(name, float(np.abs(array).max()))
        constant.CopyFrom(numpy_helper.from_array(array.astype(np.float16), f"{name}_stored"))
        casts.append(helper.make_node("Cast", [f"{name}_stored"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(model.SerializeToString())
    beside.replace(path)


def _require_storable(name: str, largest: float) -> None:
    if not largest <= _MAX_HALF:
        raise TrainingFailed(f"{name} holds {largest:g}, which 16 bits cannot store. The network was not well trained.")
