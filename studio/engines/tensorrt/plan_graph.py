"""Run a TensorRT plan: execution contexts for concurrent lines, on torch's current stream.

The plans of TensorRT for RTX contain no machine code: when a plan first runs, kernels are compiled as sizes occur, which
takes seconds. ``RuntimeCache`` keeps them. The library rejects a cache of another GPU, driver or version.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from studio import paths
from studio.engines.tensorrt.building import MAX_REASON_CHARACTERS, find_logger
from studio.engines.tensorrt.library import Library
from studio.errors import DamagedModelFile, OutOfMemory, SequenceTooLong, StudioError
from studio.storage.atomic_file import atomic_write
from studio.storage.lru import delete_least_used

_log = logging.getLogger(__name__)
# After these numbers of runs, the common kernels, and then the rarer ones, have been compiled.
_WRITTEN_AFTER_RUNS = (32, 512)
_MAX_KEPT = 40


@dataclass
class PooledContext:
    """An execution context, its current profile, and an event at the end of its queued work."""

    context: Any
    profile: int | None = None
    done: torch.cuda.Event | None = None


class PlanGraph:
    """``onnx.graph.Graph`` on a plan. Up to ``num_contexts`` calls run concurrently; others wait."""

    def __init__(
        self, library: Library, plan: bytes, device: torch.device, *, num_contexts: int, file_name: str
    ) -> None:
        """Raises ``DamagedModelFile`` for a plan that is damaged or for another GPU or version, and ``OutOfMemory``."""
        self.device = device
        self._library = library
        self._file_name = file_name
        with self._on_device():
            self._open(plan, num_contexts)

    def _open(self, plan: bytes, num_contexts: int) -> None:
        library, file_name = self._library, self._file_name
        self._engine = _deserialize(library, plan, file_name)
        self._inputs, self._outputs = _ports(library, self._engine)
        self._num_profiles: int = self._engine.num_optimization_profiles
        self._ranges = [
            {name: self._engine.get_tensor_profile_shape(name, index) for name in self._inputs}
            for index in range(self._num_profiles)
        ]
        self._contexts: queue.LifoQueue[PooledContext] = queue.LifoQueue()
        self._counting = threading.Lock()
        # Allocate for the active profile, not the largest: whole utterances are rare and take gigabytes.
        strategy = library.api.ExecutionContextAllocationStrategy.ON_PROFILE_CHANGE
        self._compiled = open_runtime_cache(library, self._engine, strategy, cache_path(plan))
        for _ in range(num_contexts):
            context = self._engine.create_execution_context(self._compiled.config if self._compiled else strategy)
            if context is None:
                raise _no_memory(file_name)
            self._contexts.put(PooledContext(context))

    @property
    def engine(self) -> str:
        return self._library.engine

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        """See ``Graph``. Raises ``SequenceTooLong`` for sizes outside of all profiles."""
        profile = self._profile_for({name: tuple(inputs[name].shape) for name in self._inputs})
        pooled = self._contexts.get()
        try:
            with self._on_device():
                self._run(pooled, profile, inputs, outputs)
        finally:
            self._contexts.put(pooled)
        if self._compiled is not None:
            with self._counting:
                self._compiled.count_run()

    def _on_device(self) -> contextlib.AbstractContextManager[object]:
        """Select the GPU for this thread: TensorRT uses the thread's current device."""
        return torch.cuda.device(self.device) if self.device.type == "cuda" else contextlib.nullcontext()

    def _run(
        self,
        pooled: PooledContext,
        profile: int,
        inputs: Mapping[str, torch.Tensor],
        outputs: Mapping[str, torch.Tensor],
    ) -> None:
        context, stream = pooled.context, torch.cuda.current_stream(self.device)
        if pooled.done is not None:
            stream.wait_event(pooled.done)  # the context may still run for a line on another stream
        if pooled.profile != profile:
            if not context.set_optimization_profile_async(profile, stream.cuda_stream):
                raise _no_memory(self._file_name)
            pooled.profile = profile
        for name in self._inputs:
            tensor = inputs[name]
            assert tensor.is_contiguous(), name
            assert context.set_input_shape(name, tuple(tensor.shape)), name
            context.set_tensor_address(name, tensor.data_ptr())
        # Keep the tensors until the work is queued: torch reuses their memory only for later work on the stream.
        unused = []
        for name, dtype in self._outputs.items():
            output = outputs.get(name)
            if output is None:
                output = torch.empty(tuple(context.get_tensor_shape(name)), dtype=dtype, device=self.device)
                unused.append(output)
            assert output.is_contiguous(), name
            context.set_tensor_address(name, output.data_ptr())
        if not context.execute_async_v3(stream.cuda_stream):
            raise _no_memory(self._file_name)
        pooled.done = stream.record_event()

    def _profile_for(self, shapes: Mapping[str, tuple[int, ...]]) -> int:
        for index, ranges in enumerate(self._ranges):
            if all(_fits(shape, ranges[name]) for name, shape in shapes.items()):
                return index
        raise SequenceTooLong(
            "The built engine {file} does not support a sentence this long.",
            remedy="Split the sentence.",
            file=self._file_name,
        )


def _deserialize(library: Library, plan: bytes, file_name: str) -> Any:
    logger = find_logger(library)
    logger.words.clear()
    engine = library.api.Runtime(logger).deserialize_cuda_engine(plan)
    if engine is None:
        words = " ".join(logger.words)
        if "out of memory" in words.lower():
            raise _no_memory(file_name)
        raise DamagedModelFile(
            "TensorRT rejected the built engine {file}: {reason}.",
            remedy="Build the engine again.",
            file=file_name,
            reason=(words or "no reason given").rstrip(" .")[:MAX_REASON_CHARACTERS],
        )
    return engine


def _ports(library: Library, engine: Any) -> tuple[tuple[str, ...], dict[str, torch.dtype]]:
    """Return the names of the inputs, and the types of the outputs by name."""
    api = library.api
    types = {
        api.DataType.FLOAT: torch.float32,
        api.DataType.HALF: torch.float16,
        api.DataType.BF16: torch.bfloat16,
        api.DataType.INT64: torch.int64,
    }
    names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
    is_input = {name: engine.get_tensor_mode(name) == api.TensorIOMode.INPUT for name in names}
    outputs = {name: types[engine.get_tensor_dtype(name)] for name in names if not is_input[name]}
    return tuple(name for name in names if is_input[name]), outputs


def _fits(shape: Sequence[int], sizes: Sequence[Sequence[int]]) -> bool:
    least, _, most = sizes
    return len(shape) == len(tuple(least)) and all(
        low <= size <= high for size, low, high in zip(shape, least, most, strict=True)
    )


def _no_memory(file_name: str) -> OutOfMemory:
    return OutOfMemory(
        "The GPU does not have enough memory for the built engine {file}.",
        remedy="Close other programs that use the GPU. A smaller engine is used instead.",
        file=file_name,
    )


def cache_path(plan: bytes) -> Path:
    """Return the file for ``plan``. It is outside the built engine, whose files must not change."""
    return paths.cache_folder() / "engines" / "compiled" / f"{hashlib.sha256(plan).hexdigest()[:24]}.bin"


class RuntimeCache:
    """The cache of one plan. Contexts of the plan are created with ``config``."""

    def __init__(self, config: Any, path: Path) -> None:
        self.config = config
        self._path = path
        self._num_runs = 0
        self._cache = config.create_runtime_cache()
        with contextlib.suppress(OSError):
            if not self._cache.deserialize(path.read_bytes()):
                _log.info("%s does not match and is compiled again", path.name)
        config.set_runtime_cache(self._cache)

    def count_run(self) -> None:
        """Count a run, and write the cache after certain numbers of runs, since no run is known to be the last."""
        self._num_runs += 1
        if self._num_runs in _WRITTEN_AFTER_RUNS:
            self._write()

    def _write(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path, bytes(self._cache.serialize()))
        except (OSError, StudioError) as error:  # the cache only makes the next start faster
            _log.warning("the runtime cache cannot be written: %s", error)
        else:
            delete_least_used(self._path.parent.glob("*.bin"), max_entries=_MAX_KEPT)


def open_runtime_cache(library: Library, engine: Any, strategy: Any, path: Path) -> RuntimeCache | None:
    """Return the cache, or None if the library does not support it. Contexts allocate memory by ``strategy``."""
    if not (library.is_rtx and hasattr(engine, "create_runtime_config")):
        return None
    config = engine.create_runtime_config()
    config.set_execution_context_allocation_strategy(strategy)
    specialization = getattr(library.api, "DynamicShapesKernelSpecializationStrategy", None)
    if specialization is not None:
        # By default, kernels are compiled in the background for every new size, and most blocks have a new one.
        config.dynamic_shapes_kernel_specialization_strategy = specialization.NONE
    return RuntimeCache(config, path)
