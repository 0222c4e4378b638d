"""``Graph`` under ONNX Runtime, on the CPU or a GPU, reading and writing torch's tensors in place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from studio.engines.stage import Device
from studio.errors import OutOfMemory
from studio.messages import message
from studio.model.device_kind import DeviceKind
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
        """Raises ``UnsupportedPrecision`` if the session falls back to another device, and ``DamagedModelFile``."""
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
            # The session has its own stream: it synchronises at the end of a run, but does not wait for torch's work.
            torch.cuda.current_stream(self.device).synchronize()
        try:
            self._session.run_with_iobinding(binding)
        except (ort_errors.RuntimeException, ort_errors.Fail) as error:
            if "alloc" in str(error).lower() or "out of memory" in str(error).lower():
                raise OutOfMemory(
                    "There is not enough memory for this sentence.",
                    remedy="Close other programs, or split the sentence.",
                ) from error
            raise


def _open(path: Path, device: Device) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = device.num_threads
    # Sizes change with every call, so a memory pattern of one call would only waste memory.
    options.enable_mem_pattern = False
    # Denormal numbers are slow and have no audible effect.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    cuda_index = device.index if device.kind is DeviceKind.CUDA else None
    return open_session(path, options, cuda_index, remedy=message("Build the engine again."))
