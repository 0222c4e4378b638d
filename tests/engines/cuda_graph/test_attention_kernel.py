"""The attention kernel of a decoding step, compiled for the CPU and compared with torch's operations."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
import torch
from cuda_in_cpp import compile_for_processor

from studio.engines.cuda_graph.attention_kernel import NUM_THREADS, StepAttention, source, step_attention
from studio.model.config import QwenConfig
from studio.model.cuda_kernel import compiled, load_compiler
from studio.model.speech_lm.decoder import Decoder

LAUNCH_IN_CPP = r"""
extern "C" void launch(int num_x, int num_y, int num_threads, const float* mixed, const float* turns,
    const long long* positions, float* states, float* attended, int num_heads, int num_kv, int capacity)
{
    for (int block = 0; block < num_x * num_y; ++block) {
        std::vector<Warp> warps(num_threads / 32);
        std::barrier<> meeting{num_threads};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < num_threads; ++thread) threads.emplace_back([&, thread] {
            threadIdx = {thread, 0}; blockIdx = {block % num_x, block / num_x}; blockDim = {num_threads, 1};
            warp = &warps[thread / 32];
            block_meeting = &meeting;
            attend(mixed, turns, positions, states, attended, num_heads, num_kv, capacity);
        });
        for (auto& thread : threads) thread.join();
    }
}
"""


class OnProcessor:
    """Stands for a ``CudaKernel``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __call__(self, name: str, *arguments: Any, blocks: tuple[int, int], num_threads: int) -> None:
        assert name == "attend"
        assert num_threads == NUM_THREADS
        pointers = [value if isinstance(value, int) else ctypes.c_void_p(value.data_ptr()) for value in arguments]
        self._library.launch(*blocks, num_threads, *pointers)


def _config(head_size: int) -> QwenConfig:
    return QwenConfig(
        vocabulary_size=1,
        hidden_size=4 * head_size,
        intermediate_size=1,
        num_layers=1,
        num_heads=4,
        num_kv_heads=2,
        max_positions=128,
    )


@pytest.mark.parametrize("head_size", [32, 64])
def test_kernel_equals_torch(head_size: int, tmp_path: Path) -> None:
    """Rows at the first position, within the first pass over the positions, and in a later one."""
    config = _config(head_size)
    decoder = Decoder(config, (), torch.ones(config.hidden_size), torch.device("cpu"))
    kernel = OnProcessor(compile_for_processor(source(head_size) + LAUNCH_IN_CPP, tmp_path))
    attend = StepAttention(config, decoder.turns, kernel)  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(head_size)
    positions = torch.tensor([0, 5, 75])
    mixed = torch.randn(3, 8 * head_size, generator=generator)
    states = torch.randn(3, 4, 100, head_size, generator=generator)
    before = states.clone()
    found = attend(mixed, positions, states)

    turned = torch.view_as_complex(mixed[:, : 6 * head_size].reshape(3, 6, -1, 2)) * decoder.turns[positions]
    heads = torch.view_as_real(turned).reshape(3, 6, head_size)
    for row, position in enumerate(positions.tolist()):
        own = torch.cat((heads[row, 4:], mixed[row, 6 * head_size :].view(2, head_size)))
        assert torch.allclose(states[row, :, position], own, atol=1e-6)
        keys, values = states[row, :, : position + 1].chunk(2)
        wanted = torch.nn.functional.scaled_dot_product_attention(
            heads[row, :4, None], keys.repeat_interleave(2, dim=0), values.repeat_interleave(2, dim=0)
        )
        assert (found[row] - wanted.flatten()).abs().max() <= 1e-6
        states[row, :, position] = before[row, :, position]
    assert torch.equal(states, before), "other positions do not change"


def test_other_devices_use_torch() -> None:
    config = _config(32)
    assert step_attention(config, torch.zeros(1, 1, 16, dtype=torch.complex64)) is None


@pytest.mark.skipif(load_compiler() is None, reason="NVRTC is not installed")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"])
def test_kernel_compiles_for_common_gpu_architectures(architecture: str) -> None:
    assert compiled(source(64), architecture).startswith(b"\x7fELF")
