"""The ONNX networks of a model folder: speech tokenizer and speaker encoder.

Importing this module disables telemetry, so all other modules import ONNX Runtime from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from studio.errors import ClipTooLong, DamagedModelFile, MissingModelFile, UnsupportedPrecision
from studio.messages import Message, message
from studio.system.cores import num_cores

FloatArray = npt.NDArray[np.float32]

__all__ = ["EMBEDDING_SIZE", "SpeakerEncoder", "SpeechCode", "SpeechTokenizer", "onnxruntime", "ort_errors"]

# Windows builds with event tracing ignore ORT_DISABLE_TELEMETRY (see ``studio.system.telemetry``).
onnxruntime.disable_telemetry_events()


# Errors of ONNX Runtime for a bad file. They have no common base class.
_LOAD_ERRORS = (
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
    UnicodeDecodeError,  # of the message, which quotes the file
)
_FATAL_ONLY = 4
_MAX_SECONDS = 30.0
_FRAMES_PER_SECOND = 100
EMBEDDING_SIZE = 192
_MAX_EXTRA_TOKENS = 2  # rounding at the end
_INTEGER_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}
_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def open_onnx(path: Path, num_threads: int | None, *, cuda_index: int | None = None) -> onnxruntime.InferenceSession:
    """Open a session for ``path`` without log output, on the CPU or on the GPU ``cuda_index``.

    If ``num_threads`` is None, it uses one thread per physical core.
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
    options.intra_op_num_threads = num_threads or num_cores()
    # These networks run once per voice, so a memory arena, spinning threads and prepacked weights are not worthwhile.
    # Prepacking would make a run 10 % faster, but loading slower by more than that.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.disable_prepacking", "1")
    return open_session(path, options, cuda_index, remedy=message("Download the model again."))


def open_session(
    path: Path, options: onnxruntime.SessionOptions, cuda_index: int | None, *, remedy: Message
) -> onnxruntime.InferenceSession:
    """Open ``path`` on a GPU or the CPU. Raise ``DamagedModelFile`` with ``remedy``, and ``UnsupportedPrecision``."""
    options.log_severity_level = _FATAL_ONLY
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning slows down the other stages
    try:
        session = onnxruntime.InferenceSession(
            # Without a GPU, a fallback would print the error and open the damaged file again.
            str(path),
            options,
            providers=providers(cuda_index),
            enable_fallback=cuda_index is not None,
        )
    except _LOAD_ERRORS as error:
        raise DamagedModelFile(
            "{file} cannot be read: it is truncated or damaged.", remedy=remedy, file=path.name
        ) from error
    _require_provider(session, cuda_index)
    return session


def open_graph(
    model: bytes, weights: Mapping[str, npt.NDArray[np.generic]], num_threads: int
) -> onnxruntime.InferenceSession:
    """Open the ONNX file ``model`` for many quick runs on the CPU.

    Its initial values are ``weights``. The session may use their memory, except for those that it packs.
    Raise ``UnsupportedPrecision`` if this version of ONNX Runtime lacks one of its operators.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    options.intra_op_num_threads = num_threads
    options.inter_op_num_threads = 1
    # Threads spin between the nodes of a run, but not after it, when other stages use the processor.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    # The arena grows by powers of two.
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options.add_external_initializers(list(weights), values)
    try:
        return onnxruntime.InferenceSession(model, options, providers=providers(None))
    except _LOAD_ERRORS as error:
        raise UnsupportedPrecision(
            "ONNX Runtime {version} does not support 8-bit and 4-bit weights.",
            remedy="Choose float32 or float16.",
            version=onnxruntime.__version__,
        ) from error


def providers(cuda_index: int | None) -> list[str | tuple[str, dict[str, str]]]:
    """Return the execution providers for a GPU, or for the CPU if ``cuda_index`` is None."""
    if cuda_index is None:
        return [_CPU]
    # The default search tries all convolution algorithms for each new input size, which takes half a second for
    # nearly every sentence (https://github.com/PaddlePaddle/PaddleX/pull/5057).
    return [(_CUDA, {"device_id": str(cuda_index), "cudnn_conv_algo_search": "HEURISTIC"}), _CPU]


def _require_provider(session: onnxruntime.InferenceSession, cuda_index: int | None) -> None:
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
class _Input:
    """An expected input of a network."""

    kinds: tuple[str, ...]  # allowed types
    shape: tuple[int | None, ...]  # None stands for any size

    def fits(self, declared: onnxruntime.NodeArg) -> bool:
        """Return whether the network accepts this tensor as its input ``declared``.

        Sizes fixed in the graph must match.
        """
        if declared.type not in self.kinds:
            return False
        return not declared.shape or (  # the shape is optional in a graph
            len(declared.shape) == len(self.shape)
            and all(
                wanted is None or not isinstance(size, int) or size == wanted
                for size, wanted in zip(declared.shape, self.shape, strict=True)
            )
        )


class _Network:
    """A network of the model folder with one result. Thread-safe."""

    _inputs: ClassVar[tuple[_Input, ...]]

    def __init__(self, path: Path, *, num_threads: int | None = None, cuda_index: int | None = None) -> None:
        """Open the network at ``path``. Raise the errors of ``open_onnx``, and ``DamagedModelFile`` for other inputs.

        Names of inputs differ between releases (specification D). Declared outputs are not checked, since converters
        record the sizes of their example input.
        """
        self._path = path
        self._session = open_onnx(path, num_threads, cuda_index=cuda_index)
        declared = self._session.get_inputs()
        if len(declared) != len(self._inputs) or not all(map(_Input.fits, self._inputs, declared)):
            raise self._wrong_network()

    def _run(self, *inputs: np.ndarray) -> np.ndarray:
        """Return the first output as a flat array, as the official program does. Raise ``DamagedModelFile``."""
        names = (declared.name for declared in self._session.get_inputs())
        try:
            output = np.asarray(self._session.run(None, dict(zip(names, inputs, strict=True)))[0])
        except ort_errors.InvalidArgument as error:  # a graph exported for a single length
            raise self._wrong_network() from error
        if output.dtype.kind not in "iuf":
            raise self._wrong_network()
        return output.reshape(-1)

    def _wrong_network(self) -> DamagedModelFile:
        """Return the error for a valid file that contains a different network than its name implies."""
        return DamagedModelFile(
            "{file} does not contain the network that its name indicates.",
            remedy="The folder mixes files of different models: download the model again.",
            file=self._path.name,
        )


@dataclass(frozen=True, slots=True)
class SpeechCode:
    """The speech tokens that the other networks of a model expect."""

    num_tokens: int
    token_rate: int  # per second


class SpeechTokenizer(_Network):
    """Computes speech tokens from Whisper log-mels (specification D1)."""

    _inputs = (_Input(("tensor(float)",), (1, 128, None)), _Input(tuple(_INTEGER_TYPES), (1,)))

    def __init__(
        self,
        path: Path,
        *,
        num_threads: int | None = None,
        cuda_index: int | None = None,
        code: SpeechCode | None = None,
    ) -> None:
        """``code`` is checked in each result, because tokenizers of all generations have equal inputs."""
        super().__init__(path, num_threads=num_threads, cuda_index=cuda_index)
        self._code = code

    def tokenize(self, log_mel: FloatArray) -> tuple[int, ...]:
        """Return the speech tokens of ``log_mel`` (128, T), 25 or 50 per second.

        Raise ``ClipTooLong`` beyond 30 s, the limit of the network, and ``DamagedModelFile`` if the
        output is not a list of tokens.
        """
        num_frames = log_mel.shape[1]
        if num_frames > _MAX_SECONDS * _FRAMES_PER_SECOND:
            raise ClipTooLong(
                "The recording lasts {seconds:.1f} s; the model reads at most {longest:.0f} s at a time.",
                remedy="Split the recording into shorter parts.",
                seconds=num_frames / _FRAMES_PER_SECOND,
                longest=_MAX_SECONDS,
            )
        features = log_mel[None].astype(np.float32, copy=False)
        length = np.array([num_frames], dtype=_INTEGER_TYPES[self._session.get_inputs()[1].type])
        # Rank and number type differ between the released files and their conversions.
        tokens = self._run(features, length)
        ids = tokens.astype(np.int64)
        if not 0 < len(ids) <= num_frames or ids.min() < 0 or not np.array_equal(ids, tokens):
            raise self._wrong_network()
        if self._code is not None:
            expected = num_frames * self._code.token_rate / _FRAMES_PER_SECOND
            if ids.max() >= self._code.num_tokens or abs(len(ids) - expected) > _MAX_EXTRA_TOKENS:
                raise self._wrong_network()
        return tuple(ids.tolist())


class SpeakerEncoder(_Network):
    """CAM++, which computes speaker embeddings from filter banks (specification D4)."""

    _inputs = (_Input(("tensor(float)",), (1, None, 80)),)

    def embed(self, fbank: FloatArray) -> FloatArray:
        """Return the speaker embedding (192,), not normalised, of a mean-free Kaldi filter bank (T, 80).

        Raise ``DamagedModelFile`` if the output has another size.
        """
        embedding = self._run(fbank[None].astype(np.float32, copy=False))
        if len(embedding) != EMBEDDING_SIZE:
            raise self._wrong_network()
        return np.asarray(embedding, np.float32)
