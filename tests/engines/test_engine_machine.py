"""Device selection, memory budgets, cache keys, error recognition and time estimates."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import engine_fakes
import pytest
import torch

from studio.engines import machine
from studio.engines.candidate import EngineTarget, gather_facts
from studio.engines.gpu_support import fitting_build
from studio.engines.history import phase_history, remaining_seconds
from studio.engines.library_errors import is_device_lost, is_out_of_memory
from studio.engines.machine import budget_bytes, device_named, empty_cache, processor, unsupported_gpus
from studio.engines.manifest import Manifest
from studio.engines.stage import Device
from studio.engines.task import Step
from studio.errors import OutOfMemory, UnusableSetting
from studio.model.device_kind import DeviceKind
from studio.model.measurements import Verification, record_key

LARGE = Device(DeviceKind.CUDA, "NVIDIA GeForce RTX 4090", 8, 24 << 30, 1, (8, 9), "580.65.06")
SMALL = Device(DeviceKind.CUDA, "NVIDIA GeForce RTX 3060", 8, 12 << 30, 0, (8, 6), "580.65.06")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cuda", LARGE), ("auto", LARGE), ("cuda:0", SMALL), ("rtx 3060", SMALL), ("RTX", LARGE)],
)
def test_a_gpu_is_selected_by_kind_index_or_name(name: str, expected: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpus", lambda _threads=None: (LARGE, SMALL))
    assert device_named(name) == expected
    assert device_named("cpu").torch_name == "cpu"
    with pytest.raises(UnusableSetting, match=r"“H100”.*cpu, cuda:1 \(NVIDIA GeForce RTX 4090\), cuda:0"):
        device_named("H100")


def test_without_a_gpu_auto_selects_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "gpus", lambda _threads=None: ())
    assert device_named("auto").kind is DeviceKind.CPU
    assert device_named("cpu", num_threads=3).num_threads == 3
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    with pytest.raises(UnusableSetting, match=r"No GPU that PyTorch can use matches “cuda”.*Choose one of: cpu\.$"):
        device_named("cuda")
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(
        UnusableSetting, match=r"Choose one of: cpu\. PyTorch [\d.]+\S* is built without support for NVIDIA GPUs"
    ):
        device_named("cuda")


def test_gpus_have_the_numbers_of_nvidia_smi() -> None:
    """The settings list them from there, and select one of several of the same name by its number."""
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_DEVICE_ORDER"}
    question = "import studio, os, sys; sys.exit(os.environ['CUDA_DEVICE_ORDER'] != 'PCI_BUS_ID')"
    assert subprocess.run([sys.executable, "-c", question], env=environment, check=False).returncode == 0


@pytest.mark.parametrize(
    ("architectures", "capability", "is_usable"),
    [
        (["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"], (6, 1), False),  # Pascal
        (["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"], (7, 0), False),  # Volta
        (["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"], (8, 9), True),  # Ada, by the kernels of 8.6
        (["sm_50", "sm_60", "sm_70", "sm_75", "sm_90"], (6, 1), True),
        (["sm_90", "compute_90"], (12, 0), True),
        (["sm_90"], (12, 0), False),
        ([], (6, 1), True),
    ],
)
def test_gpu_without_kernels_is_not_chosen(
    architectures: list[str], capability: tuple[int, int], is_usable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SimpleNamespace(
        name="NVIDIA GeForce GTX 1080", total_memory=8 << 30, major=capability[0], minor=capability[1]
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _index: card)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: architectures)
    assert device_named("auto").kind is (DeviceKind.CUDA if is_usable else DeviceKind.CPU)
    assert len(unsupported_gpus()) == (not is_usable)
    if not is_usable:
        with pytest.raises(UnusableSetting, match="does not support NVIDIA GeForce GTX 1080"):
            device_named("cuda")


@pytest.mark.parametrize(
    ("capability", "driver", "remedy"),
    [
        ((6, 1), "580.95.05", "Install PyTorch for CUDA 12.6 from https://download.pytorch.org/whl/cu126"),
        ((7, 0), "535.10", "Install PyTorch for CUDA 12.6 from https://download.pytorch.org/whl/cu126"),
        ((12, 0), "580.95.05", "Install PyTorch for CUDA 13.0 from https://download.pytorch.org/whl/cu130"),
        ((12, 0), "576.80", "Update the NVIDIA driver to 580 or later, then install PyTorch for CUDA 13.0"),
        ((12, 0), "cuda-12.6", "Install PyTorch for CUDA 13.0 from https://download.pytorch.org/whl/cu130"),
        ((3, 5), "470.10", "No supported version of PyTorch"),
    ],
)
def test_sentence_names_the_build_that_supports_the_gpu(capability: tuple[int, int], driver: str, remedy: str) -> None:
    gpu = replace(SMALL, compute_capability=capability, driver=driver)
    assert str(fitting_build(gpu)).startswith(remedy)


def test_budget_is_the_free_memory_less_the_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_bytes", lambda _device: 3 << 30)
    assert budget_bytes(processor(1)) == 2 << 30
    assert budget_bytes(LARGE) == (3 << 30) - (512 << 20)
    monkeypatch.setattr(machine, "free_bytes", lambda _device: 100)
    assert budget_bytes(LARGE) == 0


@pytest.mark.parametrize(
    ("words", "is_lost"),
    [
        ("CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported", True),
        ("CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=a", True),
        ("CUDA error: the launch timed out and was terminated", True),
        ("CUDA error: unknown error", True),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", False),
        ("CUDA error: operation not permitted when stream is capturing", False),
        ("unknown error in line 3", False),
    ],
)
def test_lost_gpu_is_recognised_by_its_error_message(words: str, is_lost: bool) -> None:
    assert is_device_lost(RuntimeError(words)) is is_lost


def test_empty_cache_releases_the_memory_that_torch_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workspaces of cuBLAS are released first; otherwise they keep their memory."""
    asked: list[str] = []
    monkeypatch.setattr(
        torch._C, "_cuda_clearCublasWorkspaces", lambda: asked.append("forget workspaces"), raising=False
    )
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: asked.append("give back"))
    empty_cache("cpu")
    assert asked == []
    empty_cache(LARGE.torch_name)
    assert asked == ["forget workspaces", "give back"]


def test_key_changes_with_everything_that_makes_a_build_stale(target: EngineTarget) -> None:
    fake = engine_fakes.Fake("a")
    on_card = replace(target, device=LARGE)
    keys = {
        record_key(gather_facts(candidate, one))
        for candidate, one in (
            (fake, target),
            (fake, on_card),
            (fake, replace(on_card, device=replace(LARGE, name="NVIDIA GeForce RTX 4080"))),
            (fake, replace(on_card, device=replace(LARGE, compute_capability=(9, 0)))),
            (fake, replace(on_card, device=replace(LARGE, driver="590.10"))),
            (replace(fake, version="2"), on_card),
            (replace(fake, code_version=2), on_card),
        )
    }
    assert len(keys) == 7
    within_branch = replace(on_card, device=replace(LARGE, driver="580.99.01"))
    assert record_key(gather_facts(fake, within_branch)) in keys
    assert LARGE.identity == {"place": "NVIDIA GeForce RTX 4090", "capability": "8.9", "driver": "580"}


def test_out_of_memory_is_recognised_in_all_forms() -> None:
    for error in (
        MemoryError(),
        OutOfMemory("There is not enough memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("captures_underway.empty() INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp"),
    ):
        assert is_out_of_memory(error)
    assert not is_out_of_memory(RuntimeError("shape mismatch"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_remaining_time_uses_earlier_trials_and_the_current_speed() -> None:
    phases = ("a", "b", "c")
    past = {"a": 10.0, "b": 20.0, "c": 5.0}
    assert remaining_seconds(Step("a", 0, 3, 0, 1), phases, past, 4.0) == pytest.approx(6 + 25)
    assert remaining_seconds(Step("b", 1, 3, 1, 2), phases, past, 30.0) == pytest.approx(30 + 5)
    assert remaining_seconds(Step("b", 1, 3, 1, 2), phases, {}, 30.0) is None
    assert remaining_seconds(Step("c", 2, 3, 1, 4), phases, {}, 1.0) == pytest.approx(3.0)
    assert remaining_seconds(Step("c", 2, 3, 0, 4), phases, {}, 1.0) is None


def test_history_is_of_the_same_candidate_with_any_model() -> None:
    def made(name: str, seconds: float) -> Manifest:
        facts = {"stage": "flow", "name": name}
        return Manifest("k", facts, "", "", Verification(True, 0, 0, 1), None, {"building": seconds})

    manifests = [made("other", 1.0), made("plan", 2.0), made("plan", 3.0)]
    assert phase_history(manifests, "flow", "plan") == {"building": 2.0}
    assert phase_history(manifests, "vocoder", "plan") == {}
