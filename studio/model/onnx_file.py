"""Loading and checking of the ONNX networks in a model folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from studio.errors import DamagedModelFile, MissingModelFile, UnsupportedPrecision
from studio.model.onnx_runtime import onnxruntime, ort_errors

# Errors of ONNX Runtime for a bad file; they have no common base class.
LOAD_ERRORS = (
    ort_errors.EPFail,
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
    RuntimeError,
)
FATAL_ONLY = 4


_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def open_onnx(path: Path, num_threads: int | None, *, cuda_index: int | None = None) -> onnxruntime.InferenceSession:
    """Open a session for ``path`` without log output. ``num_threads`` None uses one thread per physical core.

    With ``cuda_index``, run on that GPU instead of the CPU.
    Raise ``MissingModelFile``, ``DamagedModelFile``, and ``UnsupportedPrecision`` if the GPU cannot be used.
    """
    if not path.is_file():
        raise MissingModelFile(
            "{file} is missing from the model folder {folder}.",
            remedy="Download the model again, or repair its folder.",
            file=path.name,
            folder=path.parent,
        )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = num_threads or psutil.cpu_count(logical=False) or 1
    options.inter_op_num_threads = 1
    # These networks run once per voice, so keep no memory arena, spinning threads or prepacked weights. Prepacking
    # would make a run 10 % faster but slow down loading by more.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.disable_prepacking", "1")
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=providers(cuda_index))
    except LOAD_ERRORS as error:
        raise DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy="Download the model again.", file=path.name
        ) from error
    require_provider(session, cuda_index)
    return session


def providers(cuda_index: int | None) -> list[str | tuple[str, dict[str, str]]]:
    """Return the execution providers for a GPU, or for the CPU if ``cuda_index`` is None."""
    if cuda_index is None:
        return [_CPU]
    # The default search tries all convolution algorithms for each new input size, which takes half a second for
    # nearly every sentence (https://github.com/PaddlePaddle/PaddleX/pull/5057).
    return [(_CUDA, {"device_id": str(cuda_index), "cudnn_conv_algo_search": "HEURISTIC"}), _CPU]


def require_provider(session: onnxruntime.InferenceSession, cuda_index: int | None) -> None:
    """Raise ``UnsupportedPrecision`` if the session fell back to another device.

    The list of available providers includes those whose libraries are missing, so only a session is reliable.
    """
    if session.get_providers()[0] != (_CPU if cuda_index is None else _CUDA):
        raise UnsupportedPrecision(
            "ONNX Runtime cannot use {device}: its CUDA libraries are missing or have the wrong version.",
            remedy="Install onnxruntime-gpu with the CUDA and cuDNN it was built for, or choose another engine.",
            device=f"cuda:{cuda_index}",
        )


@dataclass(frozen=True, slots=True)
class Port:
    """An expected input: one of the types ``kinds``, and a shape in which None stands for any size."""

    kinds: tuple[str, ...]
    shape: tuple[int | None, ...]

    def takes(self, port: onnxruntime.NodeArg) -> bool:
        """Return whether the network's input ``port`` accepts this tensor: sizes fixed by the graph must match."""
        if port.type not in self.kinds:
            return False
        return not port.shape or (  # the shape is optional in a graph
            len(port.shape) == len(self.shape)
            and all(
                wanted is None or not isinstance(size, int) or size == wanted
                for size, wanted in zip(port.shape, self.shape, strict=True)
            )
        )


def require_inputs(path: Path, session: onnxruntime.InferenceSession, inputs: tuple[Port, ...]) -> None:
    """Raise ``DamagedModelFile`` unless the network accepts ``inputs`` in this order. Names differ (specification D).

    Declared outputs are not checked, since converters record the sizes of their example input.
    """
    ports = session.get_inputs()
    if len(ports) != len(inputs) or not all(want.takes(port) for want, port in zip(inputs, ports, strict=True)):
        raise wrong_network(path)


def run_network(path: Path, session: onnxruntime.InferenceSession, *inputs: np.ndarray) -> np.ndarray:
    """Return the first output as a flat array, as the official program does. Raise ``DamagedModelFile``."""
    names = (port.name for port in session.get_inputs())
    try:
        output = np.asarray(session.run(None, dict(zip(names, inputs, strict=True)))[0])
    except ort_errors.InvalidArgument as error:  # exported for a single length
        raise wrong_network(path) from error
    if output.dtype.kind not in "iuf":
        raise wrong_network(path)
    return output.reshape(-1)


def wrong_network(path: Path) -> DamagedModelFile:
    """Return the error for a valid file that contains another network than its name implies."""
    return DamagedModelFile(
        "{file} contains a different network than its name says.",
        remedy="The folder mixes files of different models: download the model again.",
        file=path.name,
    )
