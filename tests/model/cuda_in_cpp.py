"""CUDA kernels compiled for the CPU, with threads as lanes of a warp. Blocks run one after another."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

CUDA_IN_CPP = r"""
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
struct uint4 { unsigned int x, y, z, w; };
struct float4 { float x, y, z, w; };
struct Place { int x, y; };
thread_local Place threadIdx, blockIdx, blockDim;
struct Warp { std::barrier<> meeting{32}; float told[32]; };
thread_local Warp* warp;
thread_local std::barrier<>* block_meeting;
inline void __syncthreads() { block_meeting->arrive_and_wait(); }
inline float __uint_as_float(unsigned int bits) { float value; std::memcpy(&value, &bits, 4); return value; }
inline unsigned int half_bits(float value)
{
    const _Float16 half = value;
    std::uint16_t bits;
    std::memcpy(&bits, &half, 2);
    return bits;
}
inline unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int choice)
{
    const std::uint64_t bytes = low | (std::uint64_t)high << 32;
    unsigned int chosen = 0;
    for (int place = 0; place < 4; ++place)
        chosen |= (unsigned int)(bytes >> 8 * (choice >> 4 * place & 7) & 255) << 8 * place;
    return chosen;
}
inline float __shfl_down_sync(unsigned int, float value, int offset)
{
    const int lane = threadIdx.x % 32;
    warp->told[lane] = value;
    warp->meeting.arrive_and_wait();
    const float heard = lane + offset < 32 ? warp->told[lane + offset] : value;
    warp->meeting.arrive_and_wait();
    return heard;
}
inline float __shfl_xor_sync(unsigned int, float value, int offset)
{
    const int lane = threadIdx.x % 32;
    warp->told[lane] = value;
    warp->meeting.arrive_and_wait();
    const float heard = warp->told[lane ^ offset];
    warp->meeting.arrive_and_wait();
    return heard;
}
"""


def compile_for_processor(source: str, folder: Path) -> ctypes.CDLL:
    """Compile CUDA ``source`` in ``folder``. It includes the function that launches its kernels."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    (folder / "kernel.cpp").write_text(CUDA_IN_CPP + source, "utf-8")
    command = [compiler, "-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", "-w", "kernel.cpp", "-o", "kernel.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "kernel.so"))
