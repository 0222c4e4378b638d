"""Attention of one decoding step on a GPU in one kernel instead of eight.

The kernel rotates queries and keys, appends keys and values to the cache, and attends to the filled part of the cache
only, while torch's operations read all of it, because their sizes must not change in a recorded graph.
"""

from __future__ import annotations

from functools import cache

import torch

from studio.errors import UnsupportedPrecision
from studio.model.config import QwenConfig
from studio.model.cuda_kernel import CudaKernel, load_compiler

NUM_THREADS = 256
# Eight threads share a position; each reads its channels four at a time.
_CHANNELS_STRIDE = 32

_SOURCE = r"""
#define LANES 8
#define OWN (SIZE / LANES)
#define GROUPS (NUM_THREADS / LANES)
#define LOWEST -3.0e38f

// Rotate this thread's channels, which are pairs of real and imaginary parts.
__device__ __forceinline__ void rotate(const float* channels, const float* turns, float factor, float* rotated)
{
#pragma unroll
    for (int i = 0; i < OWN; i += 2) {
        rotated[i] = factor * (channels[i] * turns[i] - channels[i + 1] * turns[i + 1]);
        rotated[i + 1] = factor * (channels[i] * turns[i + 1] + channels[i + 1] * turns[i]);
    }
}

__device__ __forceinline__ void load(const float* from, float* to)
{
#pragma unroll
    for (int i = 0; i < OWN / 4; ++i) {
        const float4 four = reinterpret_cast<const float4*>(from)[i];
        to[4 * i] = four.x;
        to[4 * i + 1] = four.y;
        to[4 * i + 2] = four.z;
        to[4 * i + 3] = four.w;
    }
}

// One block per query head and row. Each group of lanes keeps a running softmax over every GROUPS-th position.
extern "C" __global__ void attend(
    const float* mixed, const float* turns, const long long* positions, float* states, float* attended,
    int num_heads, int num_kv, int capacity)
{
    __shared__ float group_sums[GROUPS][SIZE];
    __shared__ float group_best[GROUPS];
    __shared__ float group_total[GROUPS];
    const int head = blockIdx.x, row = blockIdx.y;
    const int group = threadIdx.x / LANES, first = threadIdx.x % LANES * OWN;
    const int heads_per_kv = num_heads / num_kv, kv = head / heads_per_kv;
    const int position = (int)positions[row];
    const float* own = mixed + (size_t)row * (num_heads + 2 * num_kv) * SIZE + first;
    float* keys = states + ((size_t)row * 2 * num_kv + kv) * capacity * SIZE + first;
    float* values = keys + (size_t)num_kv * capacity * SIZE;

    float query[OWN], own_key[OWN], own_value[OWN];
    const float* turn = turns + (size_t)position * SIZE + first;
    rotate(own + head * SIZE, turn, SCALE, query);
    rotate(own + (num_heads + kv) * SIZE, turn, 1.0f, own_key);
    load(own + (num_heads + num_kv + kv) * SIZE, own_value);
    if (head % heads_per_kv == 0 && group == 0) {
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            keys[(size_t)position * SIZE + i] = own_key[i];
            values[(size_t)position * SIZE + i] = own_value[i];
        }
    }

    float best = LOWEST, total = 0.0f, sums[OWN] = {};
    // All lanes of a warp take part in each shuffle, also those without a position.
    for (int start = 0; start <= position; start += GROUPS) {
        const int seen = start + group;
        float key[OWN], value[OWN], score = 0.0f;
        if (seen < position) {
            load(keys + (size_t)seen * SIZE, key);
            load(values + (size_t)seen * SIZE, value);
        } else {
#pragma unroll
            for (int i = 0; i < OWN; ++i) {
                key[i] = own_key[i];
                value[i] = own_value[i];
            }
        }
#pragma unroll
        for (int i = 0; i < OWN; ++i) score += query[i] * key[i];
        for (int offset = LANES / 2; offset > 0; offset /= 2) score += __shfl_xor_sync(0xFFFFFFFFu, score, offset);
        if (seen <= position) {
            const float higher = fmaxf(best, score);
            const float kept = expf(best - higher), weight = expf(score - higher);
            total = total * kept + weight;
#pragma unroll
            for (int i = 0; i < OWN; ++i) sums[i] = sums[i] * kept + weight * value[i];
            best = higher;
        }
    }
#pragma unroll
    for (int i = 0; i < OWN; ++i) group_sums[group][first + i] = sums[i];
    if (first == 0) {
        group_best[group] = best;
        group_total[group] = total;
    }
    __syncthreads();
    if (threadIdx.x < SIZE) {
        for (int other = 0; other < GROUPS; ++other) best = fmaxf(best, group_best[other]);
        float sum = 0.0f;
        total = 0.0f;
        for (int other = 0; other < GROUPS; ++other) {
            const float share = expf(group_best[other] - best);
            total += share * group_total[other];
            sum += share * group_sums[other][threadIdx.x];
        }
        attended[((size_t)row * num_heads + head) * SIZE + threadIdx.x] = sum / total;
    }
}
"""


def source(head_size: int) -> str:
    """Return the source of ``attend`` for a head size that is a multiple of 32 and at most 256."""
    return f"#define SIZE {head_size}\n#define SCALE {head_size**-0.5!r}f\n#define NUM_THREADS {NUM_THREADS}\n{_SOURCE}"


@cache
def _kernel_on(device: torch.device, head_size: int) -> CudaKernel | None:
    try:
        return CudaKernel(source(head_size), ["attend"], device)
    except UnsupportedPrecision:
        return None


class StepAttention:
    """Attention of one new position per row, with keys and values in ``KVCache``'s layout."""

    def __init__(self, config: QwenConfig, turns: torch.Tensor, kernel: CudaKernel) -> None:
        """``turns`` (positions, 1, head_size / 2) are the complex rotations of all positions."""
        self._config = config
        self._turns = turns
        self._kernel = kernel

    def __call__(self, mixed: torch.Tensor, positions: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """Append to ``states`` (rows, 2 x kv_heads, capacity, head_size), and return the attention (rows, hidden).

        ``mixed`` (rows, (heads + 2 x kv_heads) x head_size) are queries, keys and values before rotation, and
        ``positions`` (rows,) the new position of each row.
        """
        config, num_rows = self._config, len(mixed)
        attended = mixed.new_empty(num_rows, config.num_heads * config.head_size)
        self._kernel(
            "attend",
            mixed.contiguous(), self._turns, positions, states, attended,
            config.num_heads, config.num_kv_heads, states.shape[2],
            blocks=(config.num_heads, num_rows),
            num_threads=NUM_THREADS,
        )  # fmt: skip
        return attended


def step_attention(config: QwenConfig, turns: torch.Tensor) -> StepAttention | None:
    """Return the kernel for the device of ``turns``, or None if torch must be used instead."""
    if turns.device.type != "cuda" or config.head_size % _CHANNELS_STRIDE or config.head_size > NUM_THREADS:
        return None
    if torch.version.cuda is None or load_compiler() is None:
        return None
    kernel = _kernel_on(turns.device, config.head_size)
    return None if kernel is None else StepAttention(config, turns, kernel)
