"""CUDA C kernels, compiled at run time and launched on torch tensors.

Decision: call NVRTC and the CUDA driver through ctypes. Reason: both are available wherever torch runs on a GPU,
on Windows and Linux. Alternatives: Triton, which PyTorch does not include on Windows and which needs a C compiler
at run time; ``torch.cuda._compile_kernel``, which needs the headers of an installed CUDA toolkit.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from studio.errors import UnsupportedPrecision

_SUCCESS = 0


class CudaKernel:
    """The functions ``names`` of ``source`` (each ``extern "C"``) on one GPU, callable from any thread and stream."""

    def __init__(self, source: str, names: Sequence[str], device: torch.device) -> None:
        """Compile and load the functions. Raise ``UnsupportedPrecision`` if that is impossible."""
        index = device.index or 0
        major, minor = torch.cuda.get_device_capability(index)
        self._device = index
        self._driver = load_driver()
        self._context = ctypes.c_void_p()
        self._functions: dict[str, ctypes.c_void_p] = {}
        program = compiled(source, f"sm_{major}{minor}")
        try:
            self._load(program, names)
        except RuntimeError as error:
            raise _cannot_be_compiled(str(error)) from error

    def _load(self, program: bytes, names: Sequence[str]) -> None:
        self._check(self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), self._device))
        module = ctypes.c_void_p()
        with self._in_context():
            self._check(self._driver.cuModuleLoadData(ctypes.byref(module), program))
            for name in names:
                function = ctypes.c_void_p()
                self._check(self._driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
                self._functions[name] = function

    def __call__(
        self, name: str, *arguments: torch.Tensor | int | None, blocks: tuple[int, int], num_threads: int
    ) -> None:
        """Launch the function on the current stream. Tensors are passed as pointers, None as a null pointer."""
        values = [_as_c(argument) for argument in arguments]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = ctypes.c_void_p(torch.cuda.current_stream(self._device).cuda_stream)
        with self._in_context():
            self._check(
                self._driver.cuLaunchKernel(
                    self._functions[name], *blocks, 1, num_threads, 1, 1, 0, stream, addresses, None
                )
            )

    @contextmanager
    def _in_context(self) -> Iterator[None]:
        """Make the context of this GPU current, because the calling thread may not have used the GPU before."""
        before = ctypes.c_void_p()
        self._check(self._driver.cuCtxPushCurrent_v2(self._context))
        try:
            yield
        finally:
            self._driver.cuCtxPopCurrent_v2(ctypes.byref(before))

    def _check(self, result: int) -> None:
        if result != _SUCCESS:
            words = ctypes.c_char_p()
            self._driver.cuGetErrorString(result, ctypes.byref(words))
            raise RuntimeError(f"CUDA error: {(words.value or b'').decode() or result}")


def compiled(source: str, architecture: str) -> bytes:
    """Return the machine code of ``source`` for ``architecture`` ("sm_90"). Raise ``UnsupportedPrecision``.

    No GPU is needed.
    """
    compiler = load_compiler()
    assert compiler is not None, "callers check that a compiler is available"
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
    results = [compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"timbre.cu", 0, None, None)]
    results.append(compiler.nvrtcCompileProgram(program, 1, options))
    if any(result != _SUCCESS for result in results):
        compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(max(1, size.value))
        compiler.nvrtcGetProgramLog(program, log)
        raise _cannot_be_compiled(" ".join(log.value.decode(errors="replace").split())[:300] or architecture)
    compiler.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    compiler.nvrtcGetCUBIN(program, code)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


def _cannot_be_compiled(reason: str) -> UnsupportedPrecision:
    return UnsupportedPrecision(
        "The kernel for 8-bit weights cannot be compiled for this GPU ({reason}).",
        remedy="Choose bfloat16 or float16.",
        reason=reason,
    )


@cache
def load_driver() -> Any:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


@cache
def load_compiler() -> Any | None:
    """Load the NVRTC that comes with torch. Return None if it is missing."""
    for place in _compiler_places():
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def _compiler_places() -> Iterator[str]:
    libraries, packages = Path(torch.__file__).parent / "lib", Path(torch.__file__).parents[1]
    if sys.platform == "win32":
        yield from map(str, sorted(libraries.glob("nvrtc64_*_0.dll")))
        return
    if torch.version.cuda:
        yield f"libnvrtc.so.{torch.version.cuda.partition('.')[0]}"
    # The folder is "cu13" from torch 2.11 on and "cuda_nvrtc" before; older builds have a copy in torch/lib.
    yield from map(str, sorted(packages.glob("nvidia/*/lib/libnvrtc.so.*")))
    yield from map(str, sorted(libraries.glob("libnvrtc*.so*")))


def _as_c(argument: torch.Tensor | int | None) -> Any:
    if isinstance(argument, int):
        return ctypes.c_int(argument)
    return ctypes.c_void_p(None if argument is None else argument.data_ptr())
