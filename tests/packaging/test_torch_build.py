"""Every machine gets a suitable torch, and CUDA only with a GPU."""

from __future__ import annotations

import re

import pytest
from set_up.machine import Machine, NvidiaDriver
from set_up.onnx_build import onnx_build
from set_up.torch_build import limitation, torch_sources
from set_up_fakes import machine


def indexes(computer: Machine) -> list[str]:
    """The last part of each index address; "pip" for whatever pip is configured with."""
    return [(source.index_url or "pip").rsplit("/", 1)[-1] for source in torch_sources(computer)]


def test_without_a_gpu_cuda_is_avoided_but_better_than_nothing() -> None:
    assert indexes(machine()) == ["cpu", "pip"]


def test_where_the_ordinary_build_is_the_cpu_build_it_is_taken() -> None:
    assert indexes(machine("Windows")) == ["pip"]
    assert indexes(machine("Darwin")) == ["pip"]


def test_a_gpu_with_a_new_driver_takes_the_ordinary_linux_build() -> None:
    assert indexes(machine(driver=NvidiaDriver(580))) == ["pip"]
    assert indexes(machine(driver=NvidiaDriver(None))) == ["pip"]


def test_an_older_driver_gets_an_older_cuda_and_a_very_old_one_none() -> None:
    assert indexes(machine(driver=NvidiaDriver(550))) == ["cu126", "cpu", "pip"]
    assert indexes(machine(driver=NvidiaDriver(470))) == ["cpu", "pip"]


def test_gpus_older_than_turing_take_cuda_12() -> None:
    """CUDA 13 has no kernels for them, although their last driver, branch 580, runs it."""
    old = NvidiaDriver(580, is_before_turing=True)
    assert indexes(machine(driver=old)) == ["cu126", "cpu", "pip"]
    assert indexes(machine("Windows", old)) == ["cu126", "pip"]
    assert onnx_build(machine(driver=old)) == "onnxruntime"


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        (None, None),
        (NvidiaDriver(580), None),
        (NvidiaDriver(None), None),
        (NvidiaDriver(570), "driver 570 .* RTX 50 .* TensorRT .* Update it to 580"),
        (NvidiaDriver(470), "driver 470 .* CPU .* Update it to 580"),
        (NvidiaDriver(580, is_before_turing=True), "older than Turing: PyTorch for CUDA 12 .* without TensorRT"),
    ],
)
def test_owners_of_old_drivers_and_gpus_are_told_what_they_miss(driver: NvidiaDriver | None, words: str | None) -> None:
    note = limitation(machine(driver=driver))
    assert (note is None) if words is None else (note is not None and re.search(words, note))


def test_a_gpu_under_windows_looks_for_cuda_where_it_is() -> None:
    assert indexes(machine("Windows", NvidiaDriver(None))) == ["cu130", "cu126", "pip"]


def test_a_cuda_build_asks_for_more_room() -> None:
    cuda, cpu = torch_sources(machine(driver=NvidiaDriver(580)))[0], torch_sources(machine())[0]
    assert cuda.needed_bytes > 2 * cpu.needed_bytes
