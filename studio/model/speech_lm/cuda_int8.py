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
_MOST_ROWS = 32
_NUM_THREADS = 128
_ZERO_LEVEL = 128
_LARGEST_HALF = torch.finfo(torch.float16).max

# One warp per output channel: its lanes read adjacent weights, once for all rows of the block.
SOURCE = r"""
// Convert a level 0..255 for -128..127 by placing it in the low bits of 2^23, cheaper than a conversion.
__device__ __forceinline__ float weight_of(unsigned int four_levels, int index)
{
    return __uint_as_float(__byte_perm(four_levels, 0x4B000000u, 0x7540u | index)) - 8388736.0f;
}

template <int ROWS>
__device__ __forceinline__ void multiply(
    const float* rows, const unsigned char* levels, const float* scales, const float* bias, float* products,
    int num_rows, int width, int height)
{
    const int lane = threadIdx.x % 32;
    const int channel = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int first_row = blockIdx.y * ROWS;
    if (channel >= height) return;
    const uint4* weights = reinterpret_cast<const uint4*>(levels + (size_t)channel * width);
    float sums[ROWS] = {};
    for (int step = lane; step < width / 16; step += 32) {
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
        if (lane == 0 && first_row + row < num_rows)
            products[(size_t)(first_row + row) * height + channel] =
                sums[row] * scales[channel] + (bias ? bias[channel] : 0.0f);
    }
}
""" + "".join(
    f"""
extern "C" __global__ void multiply_{rows}(
    const float* rows, const unsigned char* levels, const float* scales, const float* bias, float* products,
    int num_rows, int width, int height)
{{
    multiply<{rows}>(rows, levels, scales, bias, products, num_rows, width, height);
}}
"""
    for rows in _ROWS_AT_ONCE
)


@cache
def kernel_on(device: torch.device) -> CudaKernel:
    return CudaKernel(SOURCE, [f"multiply_{rows}" for rows in _ROWS_AT_ONCE], device)


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
        if self._kernel is None or rows.shape[0] > _MOST_ROWS:
            product = self._many(rows)
            return product if self._bias is None else product.add_(self._bias)
        num_rows, (height, width) = rows.shape[0], self._levels.shape
        at_once = next((count for count in _ROWS_AT_ONCE if count >= num_rows), _ROWS_AT_ONCE[-1])
        rows = (F.pad(rows, (0, width - self._width)) if width > self._width else rows).contiguous()
        products = rows.new_empty(num_rows, height)
        self._kernel(
            f"multiply_{at_once}",
            rows, self._levels, self._scales, self._bias, products, num_rows, width, height,
            blocks=(-(-height * 32 // _NUM_THREADS), -(-num_rows // at_once)),
            num_threads=_NUM_THREADS,
        )  # fmt: skip
        return products

    def _many(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply with temporarily unpacked weights."""
        kind = torch.float32 if self._kernel is None else torch.float16
        levels = self._levels[:, : self._width].half().sub_(_ZERO_LEVEL)  # exact, and half as much memory as float32
        weight = torch.mul(levels, self._scales[:, None], out=torch.empty(levels.shape, dtype=kind, device=rows.device))
        # Gated activations may exceed the range of float16, and an infinity would persist.
        return F.linear(rows.clamp(-_LARGEST_HALF, _LARGEST_HALF).to(kind), weight).float()
