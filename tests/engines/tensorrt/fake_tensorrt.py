"""A fake TensorRT runtime without a GPU: plans are ONNX files, which contexts run on the given addresses.

It checks the order of calls: a profile is selected before shapes are set, shapes are within the profile, and every
input and output has an address.
"""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import torch

from studio.engines.tensorrt.building import Profile
from studio.engines.tensorrt.library import Library

PREFIX = b"a plan "


class DataType(Enum):
    FLOAT, HALF, BF16, INT64 = 1, 10, 16, 7


class TensorIOMode(Enum):
    INPUT, OUTPUT = 1, 2


class Logger:
    ERROR, WARNING = 1, 2


class Context:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.profile: int | None = None
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.addresses: dict[str, int] = {}

    def set_optimization_profile_async(self, profile: int, stream: int) -> bool:
        self.profile, self.shapes = profile, {}
        return True

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        assert self.profile is not None, "no profile chosen"
        least, _, most = self.engine.get_tensor_profile_shape(name, self.profile)
        self.shapes[name] = shape
        return all(low <= size <= high for low, size, high in zip(least, shape, most, strict=True))

    def set_tensor_address(self, name: str, address: int) -> bool:
        self.addresses[name] = address
        return True

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        sizes = {}
        for port in self.engine.graph.input:
            for index, size in enumerate(port.type.tensor_type.shape.dim):
                sizes[size.dim_param or size.dim_value] = self.shapes[port.name][index]
        port = next(port for port in self.engine.graph.output if port.name == name)
        shape = tuple(
            sizes.get(size.dim_param) or size.dim_value or fixed
            for size, fixed in zip(port.type.tensor_type.shape.dim, self.engine.fixed[name], strict=True)
        )
        return shape if any(shape) else self._shape_tried(name)

    def _shape_tried(self, name: str) -> tuple[int, ...]:
        """Find a shape that cannot be inferred by running the graph."""
        nothing = {
            each: np.zeros(shape, onnx.helper.tensor_dtype_to_np_dtype(self.engine.kinds[each]))
            for each, shape in self.shapes.items()
        }
        (made,) = self.engine.session.run([name], nothing)
        return tuple(made.shape)

    def execute_async_v3(self, stream: int) -> bool:
        assert set(self.addresses) == set(self.engine.names)
        self.engine.runs.append((self.profile, dict(self.shapes)))
        binding = self.engine.session.io_binding()
        for name, shape in self.shapes.items():
            binding.bind_input(name, "cpu", 0, self.engine.kinds[name], shape, self.addresses[name])
        for port in self.engine.graph.output:
            shape = self.get_tensor_shape(port.name)
            binding.bind_output(port.name, "cpu", 0, self.engine.kinds[port.name], shape, self.addresses[port.name])
        self.engine.session.run_with_iobinding(binding)
        return True


class Engine:
    def __init__(self, plan: bytes, profiles: list[Profile], fixed: dict[str, tuple[int, ...]]) -> None:
        model = plan.removeprefix(PREFIX)
        self.graph = onnx.load_from_string(model).graph
        self.session = onnxruntime.InferenceSession(model)
        self.profiles = profiles
        self.fixed = fixed
        ports = [*self.graph.input, *self.graph.output]
        self.names = [port.name for port in ports]
        self.kinds = {port.name: port.type.tensor_type.elem_type for port in ports}
        self.num_io_tensors = len(ports)
        self.num_optimization_profiles = len(profiles)
        self.runs: list[tuple[int | None, dict[str, tuple[int, ...]]]] = []

    def get_tensor_name(self, index: int) -> str:
        return self.names[index]

    def get_tensor_mode(self, name: str) -> TensorIOMode:
        is_input = name in {port.name for port in self.graph.input}
        return TensorIOMode.INPUT if is_input else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name: str) -> DataType:
        return DataType(self.kinds[name])

    def get_tensor_profile_shape(self, name: str, profile: int) -> tuple[tuple[int, ...], ...]:
        port = next(port for port in self.graph.input if port.name == name)
        free = [
            (size.dim_value,) * 3 if size.dim_value else self._sizes(profile, size.dim_param)
            for size in port.type.tensor_type.shape.dim
        ]
        return tuple(tuple(sizes[index] for sizes in free) for index in range(3))

    def _sizes(self, profile: int, name: str) -> tuple[int, int, int]:
        size = self.profiles[profile][name]
        return size.least, size.usual, size.most

    def create_execution_context(self, config: str | RuntimeConfig) -> Context:
        assert isinstance(config, str) or (
            config.strategy,
            config.cache is not None,
            config.dynamic_shapes_kernel_specialization_strategy,
        ) == ("on profile change", True, "none")
        return Context(self)

    def create_runtime_config(self) -> RuntimeConfig:
        return RuntimeConfig()


class RuntimeConfig:
    """The runtime configuration of TensorRT for RTX; ``COMPILED`` stands for the compiled kernels."""

    strategy: str | None = None
    cache: RuntimeCache | None = None
    dynamic_shapes_kernel_specialization_strategy = "lazy"

    def set_execution_context_allocation_strategy(self, strategy: str) -> None:
        self.strategy = strategy

    def create_runtime_cache(self) -> RuntimeCache:
        return RuntimeCache()

    def set_runtime_cache(self, cache: RuntimeCache) -> bool:
        self.cache = cache
        return True


COMPILED = b"compiled here"


class RuntimeCache:
    def __init__(self) -> None:
        self.is_warm = False

    def deserialize(self, blob: bytes) -> bool:
        self.is_warm = blob == COMPILED
        return self.is_warm

    def serialize(self) -> bytes:
        return COMPILED


def fake_library(
    profiles: list[Profile], fixed: dict[str, tuple[int, ...]], engines: list[Engine], *, is_rtx: bool = False
) -> Library:
    """Return a library whose runtime opens plans that begin with ``PREFIX`` and appends them to ``engines``."""

    class Runtime:
        def __init__(self, logger: object) -> None:
            self.logger = logger

        def deserialize_cuda_engine(self, plan: bytes) -> Engine | None:
            if not plan.startswith(PREFIX):
                self.logger.log(Logger.ERROR, "Magic tag does not match.")  # type: ignore[attr-defined]
                return None
            engines.append(Engine(plan, profiles, fixed))
            return engines[-1]

    class ILogger(Logger):
        pass

    api = SimpleNamespace(
        Runtime=Runtime,
        ILogger=ILogger,
        DataType=DataType,
        TensorIOMode=TensorIOMode,
        ExecutionContextAllocationStrategy=SimpleNamespace(ON_PROFILE_CHANGE="on profile change"),
        DynamicShapesKernelSpecializationStrategy=SimpleNamespace(NONE="none"),
    )
    return Library(api, "fake_tensorrt", "11.0", is_rtx=is_rtx)


class FakeStream:
    """A fake CUDA stream, on which everything is computed immediately."""

    cuda_stream = 0

    def record_event(self) -> None:
        return None


def without_gpu(monkeypatch: object) -> None:
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: FakeStream())  # type: ignore[attr-defined]
