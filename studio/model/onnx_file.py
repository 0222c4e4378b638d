"""Opening the ONNX networks of a model folder: quiet, on the CPU, and with a sentence where the file is no good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from studio.errors import DamagedModelFile, MissingModelFile, UnsupportedPrecision
from studio.model.onnx_runtime import onnxruntime, ort_errors

# What ONNX Runtime raises for a file; its exceptions share no base class.
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
    """A session on ``path`` that stays silent; ``num_threads`` of None: one for each physical core.

    ``cuda_index``: on that graphics card instead of the processor.
    Raises ``MissingModelFile``, ``DamagedModelFile``, and ``UnsupportedPrecision`` where the card cannot be used.
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
    # These networks run once per voice: no memory kept for the next run, no threads spinning until then, and no
    # second copy of the weights. That copy would make the run a tenth faster, and loading slower by more.
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
    """What a session is to run on, for onnxruntime: a graphics card, or the processor."""
    if cuda_index is None:
        return [_CPU]
    # By itself it tries every way to convolve for each size it has not met yet, and no two sentences are of one size:
    # half a second each (https://github.com/PaddlePaddle/PaddleX/pull/5057).
    return [(_CUDA, {"device_id": str(cuda_index), "cudnn_conv_algo_search": "HEURISTIC"}), _CPU]


def require_provider(session: onnxruntime.InferenceSession, cuda_index: int | None) -> None:
    """The list of what is available names providers whose libraries are missing: only a session tells the truth.

    Raises ``UnsupportedPrecision`` where it fell back to another device.
    """
    if session.get_providers()[0] != (_CPU if cuda_index is None else _CUDA):
        raise UnsupportedPrecision(
            "ONNX Runtime cannot use {device}: its CUDA libraries are missing or of another version.",
            remedy="Install onnxruntime-gpu with the CUDA and cuDNN it was built for, or choose another engine.",
            device=f"cuda:{cuda_index}",
        )


@dataclass(frozen=True, slots=True)
class Port:
    """An input as it will be given: one of the types ``kinds``, and of ``shape``, with None where any size may come."""

    kinds: tuple[str, ...]
    shape: tuple[int | None, ...]

    def takes(self, port: onnxruntime.NodeArg) -> bool:
        """Whether ONNX Runtime takes it: a size that the graph fixes must be the one given."""
        if port.type not in self.kinds:
            return False
        return not port.shape or (  # a graph need not say
            len(port.shape) == len(self.shape)
            and all(
                wanted is None or not isinstance(size, int) or size == wanted
                for size, wanted in zip(port.shape, self.shape, strict=True)
            )
        )


def require_inputs(path: Path, session: onnxruntime.InferenceSession, inputs: tuple[Port, ...]) -> None:
    """Raise ``DamagedModelFile`` unless the network takes these inputs, in this order: names differ (specification D).

    What it declares of its outputs is not looked at: converters write down the sizes of their example.
    """
    ports = session.get_inputs()
    if len(ports) != len(inputs) or not all(want.takes(port) for want, port in zip(inputs, ports, strict=True)):
        raise wrong_network(path)


def run_network(path: Path, session: onnxruntime.InferenceSession, *inputs: np.ndarray) -> np.ndarray:
    """Return the first output as a flat array, as the official program reads it. Raise ``DamagedModelFile``."""
    names = (port.name for port in session.get_inputs())
    try:
        output = np.asarray(session.run(None, dict(zip(names, inputs, strict=True)))[0])
    except ort_errors.InvalidArgument as error:  # it is made for one length only
        raise wrong_network(path) from error
    if output.dtype.kind not in "iuf":
        raise wrong_network(path)
    return output.reshape(-1)


def wrong_network(path: Path) -> DamagedModelFile:
    """The error for a file that opens, but is another network than its name says."""
    return DamagedModelFile(
        "{file} is a network, but not the one its name says.",
        remedy="The folder mixes files of different models: download the model again.",
        file=path.name,
    )
