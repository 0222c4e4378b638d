"""``Graph`` under ONNX Runtime on the CPU, reading and writing torch's tensors in place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from studio.engines.stage import Device
from studio.errors import OutOfMemory
from studio.messages import message
from studio.model.onnx_networks import onnxruntime, open_session, ort_errors

# ``TensorProto.DataType``; numpy has no bfloat16.
_ELEMENT_TYPES = {
    torch.float32: 1,
    torch.int64: 7,
    torch.float16: 10,
    torch.float64: 11,
    torch.bfloat16: 16,
}


class OrtGraph:
    """An ONNX file in a session."""

    def __init__(self, path: Path, device: Device) -> None:
        """Raises ``DamagedModelFile``."""
        self.device = torch.device("cpu")
        self._session = _open(path, device.num_threads)
        self._output_names = [port.name for port in self._session.get_outputs()]

    @property
    def engine(self) -> str:
        return f"ONNX Runtime {onnxruntime.__version__}"

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        binding = self._session.io_binding()
        for name, tensor in inputs.items():
            assert tensor.is_contiguous(), name
            element_type = _ELEMENT_TYPES[tensor.dtype]
            binding.bind_input(name, "cpu", 0, element_type, tuple(tensor.shape), tensor.data_ptr())
        for name, tensor in outputs.items():
            assert tensor.is_contiguous(), name
            element_type = _ELEMENT_TYPES[tensor.dtype]
            binding.bind_output(name, "cpu", 0, element_type, tuple(tensor.shape), tensor.data_ptr())
        try:
            self._session.run_with_iobinding(binding)
        except (ort_errors.RuntimeException, ort_errors.Fail) as error:
            if "alloc" in str(error).lower() or "out of memory" in str(error).lower():
                raise OutOfMemory(
                    "There is not enough memory for this sentence.",
                    remedy="Close other programs, or split the sentence.",
                ) from error
            raise


def _open(path: Path, num_threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    # Sizes change with every call, so a memory pattern of one call would only waste memory.
    options.enable_mem_pattern = False
    # Denormal numbers are slow and have no audible effect.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    return open_session(path, options, remedy=message("Build the engine again."))
