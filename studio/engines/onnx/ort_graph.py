"""Graphs under ONNX Runtime, on the processor or a graphics card, reading and writing torch's memory in place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from studio.engines.stage import Device
from studio.errors import DamagedModelFile, OutOfMemory
from studio.model.device_kind import DeviceKind
from studio.model.onnx_file import FATAL_ONLY, LOAD_ERRORS, providers, require_provider
from studio.model.onnx_runtime import onnxruntime, ort_errors

# ``TensorProto.DataType``: numpy has no word for the last.
_ELEMENT_TYPES = {
    torch.float32: 1,
    torch.int64: 7,
    torch.float16: 10,
    torch.float64: 11,
    torch.bfloat16: 16,
}


class OrtGraph:
    """One ONNX file in one session."""

    def __init__(self, path: Path, device: Device) -> None:
        """Raises ``UnsupportedPrecision`` where the session fell back to another device, ``DamagedModelFile``."""
        self.device = torch.device(device.torch_name)
        self._session = _open(path, device)
        self._output_names = [port.name for port in self._session.get_outputs()]

    @property
    def engine(self) -> str:
        return f"ONNX Runtime {onnxruntime.__version__}, {self._session.get_providers()[0]}"

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        binding = self._session.io_binding()
        kind, index = self.device.type, self.device.index or 0
        for name, tensor in inputs.items():
            assert tensor.is_contiguous(), name
            element_type = _ELEMENT_TYPES[tensor.dtype]
            binding.bind_input(name, kind, index, element_type, tuple(tensor.shape), tensor.data_ptr())
        for name, tensor in outputs.items():
            assert tensor.is_contiguous(), name
            element_type = _ELEMENT_TYPES[tensor.dtype]
            binding.bind_output(name, kind, index, element_type, tuple(tensor.shape), tensor.data_ptr())
        if kind == "cuda":
            # The session has a stream of its own: it waits at the end of a run, but not for what torch still computes.
            torch.cuda.current_stream(self.device).synchronize()
        try:
            self._session.run_with_iobinding(binding)
        except (ort_errors.RuntimeException, ort_errors.Fail) as error:
            if "alloc" in str(error).lower() or "out of memory" in str(error).lower():
                raise OutOfMemory(
                    "There is not enough memory for this sentence.", remedy="Close other programs, or split it."
                ) from error
            raise


def _open(path: Path, device: Device) -> onnxruntime.InferenceSession:
    cuda_index = device.index if device.kind is DeviceKind.CUDA else None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = device.num_threads
    options.inter_op_num_threads = 1
    # Sizes change with every call; a pattern learnt from one would only hold memory for the next.
    options.enable_mem_pattern = False
    # Threads that wait by spinning take the processor from the other stages.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A number too small for its type is as good as none, and slow.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=providers(cuda_index))
    except LOAD_ERRORS as error:
        raise DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Build the engine again.", file=path.name
        ) from error
    require_provider(session, cuda_index)
    return session
