"""Multiplication by 8-bit weights on a GPU. The size of the weights limits the speed per token: half that of 16 bits.

Decision: a custom kernel. Reason: it also adds the bias, with float32 input and output, for which a 16-bit
multiplication needs three more passes. Alternative: torch's kernel (``_weight_int8pack_mm``, on GPUs from 2.11), in
which each thread reads a whole row of weights, so reads are not coalesced
(https://github.com/pytorch/pytorch/pull/190529).
"""

from __future__ import annotations

from functools import cache

import torch
import torch.nn.functional as F

from studio.model.cuda_kernel import CudaKernel

# The kernel reads 16 weights at a time.
_STRIDE = 16
_ROWS_AT_ONCE = (1, 2, 4, 8)
# For more rows, unpacking the weights is faster.
_MAX_ROWS = 32
_NUM_THREADS = 128
# In a wide matrix, all warps of a block share an output channel. Otherwise, there would be too few warps to hide the
# latency of the memory: the widest matrix has 896 channels, and an H200 has 132 multiprocessors.
_WIDE = 2048
_ZERO_LEVEL = 128
_MAX_HALF = torch.finfo(torch.float16).max

# One warp per output channel, or several: its lanes read adjacent weights, once for all rows of the block.
SOURCE = r"""
// Convert a level 0..255 for -128..127 by placing it in the low bits of 2^23, cheaper than a conversion.
__device__ __forceinline__ float weight_of(unsigned int four_levels, int index)
{
    return __uint_as_float(__byte_perm(four_levels, 0x4B000000u, 0x7540u | index)) - 8388736.0f;
}

template <int ROWS, int WARPS>
__device__ __forceinline__ void multiply(
    const float* rows, const unsigned char* levels, const float* scales, const float* bias, float* products,
    int num_rows, int width, int height)
{
    __shared__ float of_warps[WARPS][ROWS];
    const int lane = threadIdx.x % 32, warp_index = threadIdx.x / 32;
    const int channel = WARPS == 1 ? blockIdx.x * (blockDim.x / 32) + warp_index : blockIdx.x;
    const int first_row = blockIdx.y * ROWS;
    if (channel >= height) return;  // never if WARPS > 1
    const uint4* weights = reinterpret_cast<const uint4*>(levels + (size_t)channel * width);
    float sums[ROWS] = {};
    for (int step = WARPS == 1 ? lane : threadIdx.x; step < width / 16; step += 32 * WARPS) {
        const uint4 packed = weights[step];
        const unsigned int words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            const float w0 = weight_of(words[word], 0), w1 = weight_of(words[word], 1);
            const float w2 = weight_of(words[word], 2), w3 = weight_of(words[word], 3);
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                if (first_row + row < num_rows) {
                    const float* start = rows + (size_t)(first_row + row) * width;
                    const float4 x = reinterpret_cast<const float4*>(start)[4 * step + word];
                    sums[row] += x.x * w0 + x.y * w1 + x.z * w2 + x.w * w3;
                }
            }
        }
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        for (int offset = 16; offset > 0; offset /= 2) sums[row] += __shfl_down_sync(0xFFFFFFFFu, sums[row], offset);
        if (WARPS > 1 && lane == 0) of_warps[warp_index][row] = sums[row];
    }
    if (WARPS > 1) __syncthreads();
    if (WARPS > 1 ? threadIdx.x > 0 : lane > 0) return;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        if (WARPS > 1) sums[row] = 0.0f;
        for (int other = 0; WARPS > 1 && other < WARPS; ++other) sums[row] += of_warps[other][row];
        if (first_row + row < num_rows)
            products[(size_t)(first_row + row) * height + channel] =
                sums[row] * scales[channel] + (bias ? bias[channel] : 0.0f);
    }
}

#ifdef __CUDACC_RTC__
// In PTX, because NVRTC has no headers for float16.
__device__ __forceinline__ unsigned int half_bits(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#endif

// Each thread unpacks 16 weights to float16.
extern "C" __global__ void unpack(
    const unsigned char* levels, const float* scales, unsigned int* weights, int width, int height)
{
    const int place = blockIdx.x * blockDim.x + threadIdx.x, per_channel = width / 16;
    if (place >= per_channel * height) return;
    const float scale = scales[place / per_channel];
    const uint4 packed = reinterpret_cast<const uint4*>(levels)[place];
    const unsigned int words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int word = 0; word < 4; ++word) {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
            weights[(size_t)place * 8 + 2 * word + pair] = half_bits(weight_of(words[word], 2 * pair) * scale)
                | half_bits(weight_of(words[word], 2 * pair + 1) * scale) << 16;
    }
}
""" + "".join(
    f"""
extern "C" __global__ void {name}_{rows}(
    const float* rows, const unsigned char* levels, const float* scales, const float* bias, float* products,
    int num_rows, int width, int height)
{{
    multiply<{rows}, {num_warps}>(rows, levels, scales, bias, products, num_rows, width, height);
}}
"""
    for name, num_warps in (("multiply", 1), ("multiply_wide", _NUM_THREADS // 32))
    for rows in _ROWS_AT_ONCE
)
_NAMES = ("unpack", *(f"{name}_{rows}" for name in ("multiply", "multiply_wide") for rows in _ROWS_AT_ONCE))


@cache
def kernel_on(device: torch.device) -> CudaKernel:
    return CudaKernel(SOURCE, _NAMES, device)


class CudaInt8Linear:
    """``levels`` (out, in) int8 times ``scales`` (out,). Few rows are computed in float32, many in float16.

    On a CPU it computes the same products slowly, for tests.
    """

    def __init__(
        self, levels: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None, device: torch.device
    ) -> None:
        self._width = levels.shape[1]
        padded = F.pad(levels, (0, -self._width % _STRIDE))
        self._levels = (padded.to(device, torch.int16) + _ZERO_LEVEL).to(torch.uint8)
        self._scales = scales.to(device, torch.float32)
        self._bias = bias
        self._kernel = kernel_on(device) if device.type == "cuda" else None

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        if self._kernel is None or rows.shape[0] > _MAX_ROWS:
            product = self._many(rows)
            return product if self._bias is None else product.add_(self._bias)
        num_rows, (height, width) = rows.shape[0], self._levels.shape
        at_once = next((count for count in _ROWS_AT_ONCE if count >= num_rows), _ROWS_AT_ONCE[-1])
        rows = (F.pad(rows, (0, width - self._width)) if width > self._width else rows).contiguous()
        products = rows.new_empty(num_rows, height)
        is_wide = width >= _WIDE
        self._kernel(
            f"multiply{'_wide' if is_wide else ''}_{at_once}",
            rows, self._levels, self._scales, self._bias, products, num_rows, width, height,
            blocks=(height if is_wide else -(-height * 32 // _NUM_THREADS), -(-num_rows // at_once)),
            num_threads=_NUM_THREADS,
        )  # fmt: skip
        return products

    def _many(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply with temporarily unpacked weights."""
        weight = self._unpacked()
        # Gated activations may exceed the range of float16, and an infinity would persist.
        return F.linear(rows.clamp(-_MAX_HALF, _MAX_HALF).to(weight.dtype), weight).float()

    def _unpacked(self) -> torch.Tensor:
        if self._kernel is None:
            return (self._levels[:, : self._width].float() - _ZERO_LEVEL) * self._scales[:, None]
        height, width = self._levels.shape
        weight = torch.empty(height, width, dtype=torch.float16, device=self._levels.device)
        self._kernel(
            "unpack",
            self._levels, self._scales, weight, width, height,
            blocks=(-(-height * width // (_STRIDE * _NUM_THREADS)), 1),
            num_threads=_NUM_THREADS,
        )  # fmt: skip
        return weight[:, : self._width]
