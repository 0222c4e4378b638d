"""Every kind of machine gets a torch it can use, and gigabytes of CUDA only where there is a GPU."""

from __future__ import annotations

import pytest
from set_up.machine import NvidiaDriver
from set_up.torch_build import CPU_INDEX, cuda_generation, torch_sources
from set_up_fakes import machine


def indexes(*arguments: object) -> list[str]:
    """The last part of each index address; "pip" for whatever pip is configured with."""
    return [(source.index_url or "pip").rsplit("/", 1)[-1] for source in torch_sources(*arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("packages", "generation"),
    [
        ({"torch": "2.13.0+cpu", "sympy": "1.14.0"}, None),
        ({"torch": "2.13.0"}, None),
        ({"torch": "2.13.0", "nvidia-cudnn-cu13": "9.20"}, 13),
        ({"torch": "2.15.0", "cuda-toolkit": "13.2.2", "nvidia-cublas": "13.4"}, 13),
        ({"torch": "2.6.0", "nvidia-cuda-runtime-cu12": "12.4.127"}, 12),
        ({"torch": "2.13.0+cu126"}, 12),
    ],
)
def test_cuda_is_recognised_by_what_comes_with_torch(packages: dict[str, str], generation: int | None) -> None:
    assert cuda_generation(packages) == generation


def test_without_a_gpu_cuda_is_avoided_but_better_than_nothing() -> None:
    assert indexes(machine(), 13) == ["cpu", "pip"]
    assert torch_sources(machine(), 13)[0] == CPU_INDEX
    assert indexes(machine(), None) == ["pip"]
    assert indexes(machine("Windows"), None) == ["pip"]


def test_a_gpu_gets_what_pip_offers_when_its_driver_is_new_enough() -> None:
    assert indexes(machine(driver=NvidiaDriver(580)), 13) == ["pip"]
    assert indexes(machine(driver=NvidiaDriver(None)), 13) == ["pip"]
    assert indexes(machine(driver=NvidiaDriver(550)), 12) == ["pip"]


def test_an_older_driver_gets_an_older_cuda_and_a_very_old_one_none() -> None:
    assert indexes(machine(driver=NvidiaDriver(550)), 13) == ["cu126", "cpu", "pip"]
    assert indexes(machine(driver=NvidiaDriver(470)), 13) == ["cpu", "pip"]


def test_where_pip_offers_only_the_cpu_build_a_gpu_is_tried_for_elsewhere() -> None:
    assert indexes(machine("Windows", NvidiaDriver(None)), None) == ["cu130", "cu126", "pip"]
    assert indexes(machine(driver=NvidiaDriver(550)), None) == ["cu126", "pip"]


def test_a_mac_takes_what_there_is() -> None:
    assert indexes(machine("Darwin"), None) == ["pip"]
