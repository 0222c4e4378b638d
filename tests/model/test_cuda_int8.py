"""8-bit weights on a GPU, tested on the CPU: arithmetic, kernel source, and launches.

The kernel source is compiled for the CPU, with threads as warps.
"""

# ruff: noqa: N802 - the names are NVIDIA's
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
import torch
from cuda_in_cpp import compile_for_processor
from speech_lm_cases import random_network, small_config

from studio.errors import UnsupportedPrecision
from studio.model import cuda_kernel
from studio.model.config import Precision
from studio.model.cpu_products import quantize_int8_per_channel
from studio.model.cuda_kernel import CudaKernel, compiled, load_compiler
from studio.model.speech_lm import build_speech_lm, compare_with_reference, linear
from studio.model.speech_lm.cuda_int8 import SOURCE, CudaInt8Linear, kernel_on
from studio.model.speech_lm.linear import check_support, describe, pack

CPU, CARD = torch.device("cpu"), torch.device("cuda:0")
LAUNCH_IN_CPP = r"""
using Kernel = void (*)(const float*, const unsigned char*, const float*, const float*, float*, int, int, int);
extern "C" void launch(Kernel kernel, int num_x, int num_y, int num_threads, const float* rows,
    const unsigned char* levels, const float* scales, const float* bias, float* products,
    int num_rows, int width, int height)
{
    for (int block = 0; block < num_x * num_y; ++block) {
        std::vector<Warp> warps(num_threads / 32);
        std::barrier<> meeting{num_threads};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < num_threads; ++thread) threads.emplace_back([&, thread] {
            threadIdx = {thread, 0}; blockIdx = {block % num_x, block / num_x}; blockDim = {num_threads, 1};
            warp = &warps[thread / 32];
            block_meeting = &meeting;
            kernel(rows, levels, scales, bias, products, num_rows, width, height);
        });
        for (auto& thread : threads) thread.join();
    }
}
extern "C" void launch_unpack(int num_blocks, int num_threads, const unsigned char* levels, const float* scales,
    unsigned int* weights, int width, int height)
{
    blockDim = {num_threads, 1};
    for (int block = 0; block < num_blocks; ++block)
        for (int thread = 0; thread < num_threads; ++thread) {
            threadIdx = {thread, 0}; blockIdx = {block, 0};
            unpack(levels, scales, weights, width, height);
        }
}
"""


@pytest.fixture(scope="module")
def kernel_on_processor(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Return a function with the call interface of ``CudaKernel``."""
    library = compile_for_processor(SOURCE + LAUNCH_IN_CPP, tmp_path_factory.mktemp("kernel"))

    def call(name: str, *arguments: Any, blocks: tuple[int, int], num_threads: int) -> None:
        numbers = [
            value if isinstance(value, int) else ctypes.c_void_p(value.data_ptr())
            for value in arguments
            if value is not None
        ]
        if name == "unpack":
            library.launch_unpack(blocks[0], num_threads, *numbers)
            return
        assert len(numbers) in (7, 8)
        if len(numbers) == 7:
            numbers.insert(3, ctypes.c_void_p(None))
        library.launch(getattr(library, name), *blocks, num_threads, *numbers)

    return call


def exact(levels: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None, rows: torch.Tensor) -> torch.Tensor:
    product = rows.double() @ (levels.double() * scales.double()[:, None]).T
    return product if bias is None else product + bias.double()


@pytest.mark.slow
@pytest.mark.parametrize("num_rows", [1, 2, 3, 8, 11])
@pytest.mark.parametrize(("height", "width"), [(5, 16), (3, 61), (6, 560), (2, 2200)])
def test_kernel_computes_the_product(
    kernel_on_processor: Callable[..., None], num_rows: int, height: int, width: int
) -> None:
    """All 256 levels, sizes that do not fill a warp or a block, wide ones, with and without a bias."""
    generator = torch.Generator().manual_seed(width + num_rows)
    levels = torch.randint(-128, 128, (height, width), generator=generator, dtype=torch.int8)
    scales = torch.rand(height, generator=generator) + 0.1
    rows = torch.randn(num_rows, width, generator=generator)
    for bias in (None, torch.randn(height, generator=generator)):
        form = CudaInt8Linear(levels, scales, bias, CPU)
        form._kernel = kernel_on_processor  # type: ignore[assignment]
        wanted = exact(levels, scales, bias, rows)
        assert (form(rows) - wanted).norm() / wanted.norm() <= 1e-6


def test_many_rows_are_multiplied_in_sixteen_bits(kernel_on_processor: Callable[..., None]) -> None:
    generator = torch.Generator().manual_seed(0)
    levels, scales = quantize_int8_per_channel(torch.randn(7, 61, generator=generator) * 0.02)
    rows = torch.randn(40, 61, generator=generator)
    rows[0, 0] = 1e6  # beyond the range of float16
    form = CudaInt8Linear(levels, scales, None, CPU)
    form._kernel = kernel_on_processor  # type: ignore[assignment]
    assert torch.equal(form._unpacked(), (levels * scales[:, None]).half())
    product = form(rows)
    assert product.isfinite().all()
    wanted = exact(levels, scales, None, rows)
    assert (product[1:] - wanted[1:]).norm() / wanted[1:].norm() <= 1e-3


def test_language_model_with_the_kernel_passes_the_quality_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        linear, "Int8Linear", lambda weight, bias: CudaInt8Linear(*quantize_int8_per_channel(weight), bias, CPU)
    )
    network = random_network(small_config())
    speech_lm = build_speech_lm(network, Precision.INT8)
    assert isinstance(speech_lm.decoder.layers[0].down, CudaInt8Linear)
    report = compare_with_reference(speech_lm, network)
    assert report.is_good_enough(Precision.INT8), report


def test_missing_compiler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(linear, "load_compiler", object)
    check_support(Precision.INT8, CARD)
    assert describe(Precision.INT8, CARD) == "torch int8 weights, own kernel"
    with pytest.raises(UnsupportedPrecision, match="4-bit weights run on the CPU only"):
        check_support(Precision.INT4, CARD)
    monkeypatch.setattr(linear, "load_compiler", lambda: None)
    with pytest.raises(UnsupportedPrecision, match="NVRTC") as caught:
        check_support(Precision.INT8, CARD)
    assert "bfloat16" in str(caught.value.remedy)


@pytest.mark.skipif(load_compiler() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"])
def test_kernel_compiles_for_common_gpu_architectures(architecture: str) -> None:
    assert compiled(SOURCE, architecture).startswith(b"\x7fELF")


class FakeCompiler:
    """A fake NVRTC; ``complaint`` is its compilation error."""

    def __init__(self, complaint: bytes = b"") -> None:
        self._complaint = complaint
        self.options: list[bytes] = []

    def nvrtcCreateProgram(self, program: Any, source: bytes, *rest: Any) -> int:
        self.source = source
        return 0

    def nvrtcCompileProgram(self, program: Any, count: int, options: Any) -> int:
        self.options = list(options)
        return 6 if self._complaint else 0

    def nvrtcGetProgramLogSize(self, program: Any, size: Any) -> int:
        size._obj.value = len(self._complaint) + 1
        return 0

    def nvrtcGetProgramLog(self, program: Any, log: Any) -> int:
        log.value = self._complaint
        return 0

    def nvrtcGetCUBINSize(self, program: Any, size: Any) -> int:
        size._obj.value = 4
        return 0

    def nvrtcGetCUBIN(self, program: Any, code: Any) -> int:
        code.raw = b"c\0de"
        return 0

    def nvrtcDestroyProgram(self, program: Any) -> int:
        return 0


class FakeDriver:
    """Records calls and checks that a context is current where one is needed."""

    def __init__(self) -> None:
        self.in_context = False
        self.launched: list[tuple[Any, ...]] = []
        self.refuses = False
        self.refuses_modules = False

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> int:
        context._obj.value = 70 + device
        return 0

    def cuCtxPushCurrent_v2(self, context: Any) -> int:
        self.in_context = context.value >= 70
        return 0

    def cuCtxPopCurrent_v2(self, context: Any) -> int:
        self.in_context = False
        return 0

    def cuModuleLoadData(self, module: Any, program: bytes) -> int:
        assert self.in_context
        assert program == b"c\0de"
        module._obj.value = 1
        return 209 if self.refuses_modules else 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        function._obj.value = 100 + len(name)
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        assert self.in_context
        *shape, stream, arguments, extra = rest
        given = [ctypes.cast(arguments[index], ctypes.POINTER(ctypes.c_void_p)).contents.value for index in range(2)]
        number = ctypes.cast(arguments[2], ctypes.POINTER(ctypes.c_int)).contents.value
        self.launched.append((function.value, shape, stream.value, [*given, number], extra))
        return 700 if self.refuses else 0

    def cuGetErrorString(self, result: int, words: Any) -> int:
        words._obj.value = b"an illegal memory access was encountered"
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    driver = FakeDriver()
    monkeypatch.setattr(cuda_kernel, "load_driver", lambda: driver)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: (9, 0))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda index: type("Stream", (), {"cuda_stream": 55})())
    return driver


def test_kernel_is_compiled_for_its_gpu_and_queued_on_the_current_stream(
    driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = FakeCompiler()
    monkeypatch.setattr(cuda_kernel, "load_compiler", lambda: compiler)
    kernel = CudaKernel("source", ["first", "other"], torch.device("cuda:1"))
    assert compiler.source == b"source"
    assert compiler.options == [b"--gpu-architecture=sm_90"]
    numbers = torch.arange(3.0)
    kernel("other", numbers, None, 7, blocks=(4, 2), num_threads=128)
    no_shared_memory, the_stream, nothing_more = 0, 55, None
    shape = [4, 2, 1, 128, 1, 1, no_shared_memory]
    assert driver.launched == [(105, shape, the_stream, [numbers.data_ptr(), None, 7], nothing_more)]
    assert not driver.in_context
    driver.refuses = True
    with pytest.raises(RuntimeError, match="illegal memory access"):
        kernel("first", numbers, None, 7, blocks=(1, 1), num_threads=32)
    assert not driver.in_context


def test_compilation_error_is_reported(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_kernel, "load_compiler", lambda: FakeCompiler(b"line 3:\n  no such thing"))
    with pytest.raises(UnsupportedPrecision, match=r"cannot be compiled .*line 3: no such thing"):
        CudaKernel("source", [], CARD)


def test_machine_code_that_the_driver_refuses_is_reported(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that attention and norms use torch's operations instead."""
    monkeypatch.setattr(cuda_kernel, "load_compiler", FakeCompiler)
    driver.refuses_modules = True
    with pytest.raises(UnsupportedPrecision, match="cannot be compiled"):
        CudaKernel("source", ["first"], CARD)
    assert not driver.in_context


@pytest.mark.gpu
@pytest.mark.parametrize("num_rows", [1, 2, 3, 8, 11, 32, 33, 200])
@pytest.mark.parametrize(("height", "width"), [(896, 4864), (9728, 896), (1152, 896), (93, 61)])
def test_kernel_on_a_gpu(num_rows: int, height: int, width: int) -> None:
    """All variants of the kernel, on a stream other than the default."""
    if not torch.cuda.is_available():
        pytest.skip("no graphics card")
    generator = torch.Generator().manual_seed(num_rows)
    weight, bias = torch.randn(height, width, generator=generator) * 0.02, torch.randn(height, generator=generator)
    rows = torch.randn(num_rows, width, generator=generator)
    levels, scales = quantize_int8_per_channel(weight)
    form = pack(weight, bias, Precision.INT8, CARD)
    assert isinstance(form, CudaInt8Linear)
    assert form._kernel is kernel_on(CARD)
    given = rows.to(CARD)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
        product = form(given).cpu()
    wanted = exact(levels, scales, bias, rows)
    assert (product - wanted).norm() / wanted.norm() <= (1e-6 if num_rows <= 32 else 1e-3)
