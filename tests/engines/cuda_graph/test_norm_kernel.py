"""The kernels of sums and norms, compiled for the CPU and compared with torch's operations."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cuda_in_cpp import compile_for_processor
from graph_cases import checkpoint_of
from test_graphed_flow import plain_flow, prompt, streamed, tokens
from torch import nn

from studio.engines.cuda_graph import norm_kernel
from studio.engines.cuda_graph.flow import load_graphed_flow
from studio.model.config import Precision
from studio.model.cuda_kernel import compiled, load_compiler
from studio.model.flow import packing
from studio.model.flow.dit import ModulatedNorm
from studio.model.flow.layers import AffineNorm, Change, FullContext, Norm

_EPS = 1e-5
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
FLOAT16_IN_CPP = r"""
inline unsigned int __float_as_uint(float value) { unsigned int bits; std::memcpy(&bits, &value, 4); return bits; }
struct uint2 { unsigned int x, y; };
inline float widened_half(unsigned short bits) { _Float16 half; std::memcpy(&half, &bits, 2); return half; }
inline unsigned short rounded_half(float value)
{
    const _Float16 half = value;
    unsigned short bits;
    std::memcpy(&bits, &half, 2);
    return bits;
}
"""
LAUNCH_IN_CPP = r"""
template <typename Function> void launch(int num_rows, Function function)
{
    const int num_threads = WIDTH / 4;
    for (int row = 0; row < num_rows; ++row) {
        std::vector<Warp> warps(num_threads / 32);
        std::barrier<> meeting{num_threads};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < num_threads; ++thread) threads.emplace_back([&, thread] {
            threadIdx = {thread, 0}; blockIdx = {row, 0}; blockDim = {num_threads, 1};
            warp = &warps[thread / 32];
            block_meeting = &meeting;
            function();
        });
        for (auto& thread : threads) thread.join();
    }
}
extern "C" void launch_add_and_norm(int num_rows, const float* x, const Value* result, const float* gate,
    const float* weight, const float* bias, float* sum, Value* normed)
{
    launch(num_rows, [=] { add_and_norm(x, result, gate, weight, bias, sum, normed); });
}
extern "C" void launch_norm_and_mish(int num_rows, const Value* x, const float* weight, const float* bias,
    const float* of_all, const Value* of_row, float* sum)
{
    launch(num_rows, [=] { norm_and_mish(x, weight, bias, of_all, of_row, sum); });
}
"""


class OnProcessor:
    """Stands for a ``CudaKernel``."""

    def __init__(self, width: int, dtype: torch.dtype, folder: Path) -> None:
        names = "#define widened widened_half\n#define rounded rounded_half\n" if dtype is torch.float16 else ""
        text = FLOAT16_IN_CPP + names + norm_kernel.source(width, _EPS, dtype) + LAUNCH_IN_CPP
        self._library = compile_for_processor(text, folder)
        self._width = width

    def __call__(self, name: str, *arguments: torch.Tensor | None, blocks: tuple[int, int], num_threads: int) -> None:
        assert num_threads == self._width // 4
        assert blocks[1] == 1
        pointers = [ctypes.c_void_p(None if value is None else value.data_ptr()) for value in arguments]
        getattr(self._library, f"launch_{name}")(blocks[0], *pointers)


def _norm(width: int, *, is_modulated: bool, random: Callable[..., torch.Tensor]) -> Norm:
    if is_modulated:
        return ModulatedNorm(width, random(1, 1, width), random(1, 1, width), _EPS)
    norm = AffineNorm(width, eps=_EPS).requires_grad_(requires_grad=False)
    norm.weight.copy_(random(width))
    norm.bias.copy_(random(width))
    return norm


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize("width", [128, 256])
def test_kernels_equal_torch(width: int, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = OnProcessor(width, dtype, tmp_path)
    monkeypatch.setattr(norm_kernel, "norm_kernel", lambda *arguments: kernel)
    generator = torch.Generator().manual_seed(width)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    context, error = FullContext(), torch.finfo(dtype).eps + 1e-6
    x, result, gate = 3 + random(2, 2, width), 9 * random(2, 2, width).to(dtype), random(1, 1, width)
    for is_modulated in (False, True):
        norm = _norm(width, is_modulated=is_modulated, random=random)
        for change in (None, Change(result), Change(result, gate)):
            found = norm_kernel.add_and_norm(x, change, norm, dtype)
            wanted = context.add_and_norm(x, change, norm, dtype)
            assert found is not None
            assert found[1].dtype is wanted[1].dtype
            assert torch.allclose(found[0], wanted[0], rtol=1e-6, atol=1e-6)
            assert torch.allclose(found[1].float(), wanted[1].float(), rtol=error, atol=error)
    norm = _norm(width, is_modulated=False, random=random)
    for addend in (gate, x.to(dtype)):
        activated = norm_kernel.norm_and_mish(result, norm, addend)
        assert activated is not None
        assert torch.allclose(activated, context.norm_and_mish(result, norm, addend), rtol=1e-5, atol=1e-5)


class InTorch:
    """Computes with torch what the kernels compute."""

    def __init__(self, eps: float) -> None:
        self._eps = eps
        self.num_calls = 0

    def __call__(self, name: str, *arguments: Any, **sizes: Any) -> None:
        del sizes
        self.num_calls += 1
        *inputs, out = arguments
        if name == "add_and_norm":
            x, result, gate, weight, bias, changed = inputs
            if result is not None:
                x = changed.copy_(torch.addcmul(x, torch.ones_like(weight) if gate is None else gate, result))
            out.copy_(self._normed(x, weight, bias))
        else:
            x, weight, bias, of_all, of_row = inputs
            activated = nn.functional.mish(self._normed(x.float(), weight, bias))
            out.copy_(activated + (of_row if of_all is None else of_all))

    def _normed(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(x, x.shape[-1:], eps=self._eps) * weight + bias


@pytest.mark.parametrize(("precision", "limit"), [(Precision.FLOAT32, 1e-5), (Precision.FLOAT16, 1e-2)])
def test_flow_with_kernels_equals_plain_pytorch(
    reference: Path, family: str, precision: Precision, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pack_for_gpu(
        network: nn.Module, precision: Precision, _: packing.CpuProducts, after_layer: Callable[[], None]
    ) -> bool:
        packing._pack_for_gpu(network, packing._WEIGHT_TYPES[precision], after_layer)
        return True

    kernels: dict[float, InTorch] = {}
    monkeypatch.setattr(packing, "_pack_for_cpu", pack_for_gpu)
    monkeypatch.setattr(
        norm_kernel, "norm_kernel", lambda device, width, eps, dtype: kernels.setdefault(eps, InTorch(eps))
    )
    checkpoint = checkpoint_of(reference, family)
    graphed = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, precision, "cpu")
    found = streamed(graphed, prompt(), tokens(71), (10, 35))
    wanted = streamed(plain_flow(reference, family), prompt(), tokens(71), (10, 35))
    assert (found - wanted).norm() <= limit * wanted.norm()
    assert sum(kernel.num_calls for kernel in kernels.values()) > 0


def test_other_devices_use_torch() -> None:
    assert norm_kernel.norm_kernel(torch.device("cpu"), 256, _EPS, torch.float32) is None


@pytest.mark.skipif(load_compiler() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"])
def test_kernels_compile_for_common_gpu_architectures(architecture: str) -> None:
    for dtype in _DTYPES:
        assert compiled(norm_kernel.source(1024, _EPS, dtype), architecture).startswith(b"\x7fELF")
