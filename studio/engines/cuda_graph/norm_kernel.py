"""Sums with layer norms of the flow's estimators on a GPU: one kernel instead of three or four.

A kernel adds the result of a layer, normalises the sum over the channels, and converts it to the type of the next
multiplication. The sums and norms are float32, as in torch's operations.
"""

from __future__ import annotations

from functools import cache

import torch

from studio.errors import UnsupportedPrecision
from studio.model.cuda_kernel import CudaKernel, load_compiler
from studio.model.flow.layers import Change, Norm

# Each thread has four adjacent channels, and a warp 32 threads.
_CHANNELS_PER_THREAD = 4
_CHANNELS_STRIDE = 32 * _CHANNELS_PER_THREAD
_MAX_CHANNELS = 1024 * _CHANNELS_PER_THREAD
_KINDS = {torch.float32: 32, torch.float16: 16, torch.bfloat16: 17}
_NAMES = ("add_and_norm", "norm_and_mish")

_SOURCE = r"""
#define OWN 4
#define NUM_WARPS (WIDTH / OWN / 32)

__device__ __forceinline__ void load(const float* from, float* to)
{
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

__device__ __forceinline__ void store(const float* from, float* to)
{
    float4 four;
    four.x = from[0];
    four.y = from[1];
    four.z = from[2];
    four.w = from[3];
    *reinterpret_cast<float4*>(to) = four;
}

#if KIND == 32
typedef float Value;
#else
typedef unsigned short Value;
#if KIND == 17
__device__ __forceinline__ float widened(unsigned int bits)
{
    return __uint_as_float(bits << 16);
}
__device__ __forceinline__ unsigned int rounded(float value)
{
    const unsigned int bits = __float_as_uint(value);
    return value != value ? 0x7FC0u : (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}
#elif defined(__CUDACC_RTC__)
// In PTX, because NVRTC has no headers for float16.
__device__ __forceinline__ float widened(unsigned int bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
    return value;
}
__device__ __forceinline__ unsigned int rounded(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#endif
__device__ __forceinline__ void load(const unsigned short* from, float* to)
{
    const uint2 two = *reinterpret_cast<const uint2*>(from);
    to[0] = widened(two.x & 0xFFFFu);
    to[1] = widened(two.x >> 16);
    to[2] = widened(two.y & 0xFFFFu);
    to[3] = widened(two.y >> 16);
}
__device__ __forceinline__ void store(const float* from, unsigned short* to)
{
    uint2 two;
    two.x = rounded(from[0]) | rounded(from[1]) << 16;
    two.y = rounded(from[2]) | rounded(from[3]) << 16;
    *reinterpret_cast<uint2*>(to) = two;
}
#endif

// Add the values of all threads of a block.
__device__ __forceinline__ float total(float value, float* of_warps)
{
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    if (NUM_WARPS == 1) return value;
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int warp = 0; warp < NUM_WARPS; ++warp) value += of_warps[warp];
    __syncthreads();
    return value;
}

// Replace this thread's values by their norm over all values of the block.
__device__ __forceinline__ void normalise(float* values, const float* weight, const float* bias, float* of_warps)
{
    const int first = threadIdx.x * OWN;
    float own = 0.0f, factors[OWN], addends[OWN];
    load(weight + first, factors);
    load(bias + first, addends);
#pragma unroll
    for (int i = 0; i < OWN; ++i) own += values[i];
    const float mean = total(own, of_warps) / WIDTH;
    own = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; ++i) own += (values[i] - mean) * (values[i] - mean);
    const float scale = 1.0f / sqrtf(total(own, of_warps) / WIDTH + EPS);
#pragma unroll
    for (int i = 0; i < OWN; ++i) values[i] = (values[i] - mean) * scale * factors[i] + addends[i];
}

// One block per row. ``result`` may be null, then ``sum`` is not written. A null ``gate`` is one.
extern "C" __global__ void add_and_norm(
    const float* x, const Value* result, const float* gate, const float* weight, const float* bias,
    float* sum, Value* normed)
{
    __shared__ float of_warps[NUM_WARPS];
    const int first = threadIdx.x * OWN;
    const size_t place = (size_t)blockIdx.x * WIDTH + first;
    float values[OWN];
    load(x + place, values);
    if (result) {
        float changes[OWN], gates[OWN] = {1.0f, 1.0f, 1.0f, 1.0f};
        load(result + place, changes);
        if (gate) load(gate + first, gates);
#pragma unroll
        for (int i = 0; i < OWN; ++i) values[i] += gates[i] * changes[i];
        store(values, sum + place);
    }
    normalise(values, weight, bias, of_warps);
    store(values, normed + place);
}

// One block per row. One of ``of_all``, for all rows, and ``of_row`` is null.
extern "C" __global__ void norm_and_mish(
    const Value* x, const float* weight, const float* bias, const float* of_all, const Value* of_row, float* sum)
{
    __shared__ float of_warps[NUM_WARPS];
    const int first = threadIdx.x * OWN;
    const size_t place = (size_t)blockIdx.x * WIDTH + first;
    float values[OWN], addends[OWN];
    load(x + place, values);
    if (of_all) load(of_all + first, addends);
    else load(of_row + place, addends);
    normalise(values, weight, bias, of_warps);
#pragma unroll
    for (int i = 0; i < OWN; ++i) values[i] = values[i] * tanhf(log1pf(expf(values[i]))) + addends[i];
    store(values, sum + place);
}
"""


def source(width: int, eps: float, dtype: torch.dtype) -> str:
    """Return the source of both kernels for ``width`` channels, a multiple of 128 up to 4096."""
    return f"#define WIDTH {width}\n#define EPS {eps!r}f\n#define KIND {_KINDS[dtype]}\n{_SOURCE}"


@cache
def _kernel_on(device: torch.device, width: int, eps: float, dtype: torch.dtype) -> CudaKernel | None:
    try:
        return CudaKernel(source(width, eps, dtype), _NAMES, device)
    except UnsupportedPrecision:
        return None


def norm_kernel(device: torch.device, width: int, eps: float, dtype: torch.dtype) -> CudaKernel | None:
    """Return the kernels, or None if torch must be used instead."""
    if device.type != "cuda" or width % _CHANNELS_STRIDE or width > _MAX_CHANNELS or dtype not in _KINDS:
        return None
    if torch.version.cuda is None or load_compiler() is None:
        return None
    return _kernel_on(device, width, eps, dtype)


def add_and_norm(
    x: torch.Tensor, change: Change | None, norm: Norm, dtype: torch.dtype | None
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Compute ``Context.add_and_norm`` in one kernel. Return None if that is impossible."""
    dtype = dtype or x.dtype
    is_alike = norm.weight.numel() == x.shape[-1] and (change is None or change.result.dtype is dtype)
    kernel = norm_kernel(x.device, x.shape[-1], norm.eps, dtype) if is_alike and x.dtype is torch.float32 else None
    if kernel is None:
        return None
    x, normed = x.contiguous(), torch.empty(x.shape, dtype=dtype, device=x.device)
    result, gate = (None, None) if change is None else change
    changed = x if result is None else torch.empty_like(x)
    result = None if result is None else result.contiguous()
    _launch(kernel, "add_and_norm", x, result, gate, norm.weight, norm.bias, changed, normed)
    return changed, normed


def norm_and_mish(x: torch.Tensor, norm: Norm, addend: torch.Tensor) -> torch.Tensor | None:
    """Compute ``Context.norm_and_mish`` in one kernel. Return None if that is impossible."""
    is_of_row = addend.shape == x.shape
    is_alike = addend.dtype is x.dtype if is_of_row else addend.dtype is torch.float32
    kernel = norm_kernel(x.device, x.shape[-1], norm.eps, x.dtype) if is_alike else None
    if kernel is None:
        return None
    x, addend = x.contiguous(), addend.contiguous()
    activated = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    of_all, of_row = (None, addend) if is_of_row else (addend, None)
    _launch(kernel, "norm_and_mish", x, norm.weight, norm.bias, of_all, of_row, activated)
    return activated


def _launch(kernel: CudaKernel, name: str, x: torch.Tensor, *others: torch.Tensor | None) -> None:
    width = x.shape[-1]
    kernel(name, x, *others, blocks=(x.numel() // width, 1), num_threads=width // _CHANNELS_PER_THREAD)
