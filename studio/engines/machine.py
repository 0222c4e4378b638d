"""The compute devices of this machine that torch can use, and their free memory."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess

import psutil
import torch

from studio.engines.gpu_support import fitting_build
from studio.engines.stage import Device
from studio.errors import UnusableSetting
from studio.messages import Message, message
from studio.model.device_kind import DeviceKind
from studio.model.torch_device import RECORDING, free_memory_bytes
from studio.system.cores import num_cores
from studio.system.processor import cpu_name

_log = logging.getLogger(__name__)
_DRIVER_QUERY_SECONDS = 10.0


def processor(num_threads: int | None = None) -> Device:
    """Return the CPU, by default with one thread for each physical core."""
    return Device(
        kind=DeviceKind.CPU,
        name=cpu_name(),
        num_threads=num_threads or num_cores(),
        total_bytes=psutil.virtual_memory().total,
        instructions=torch.backends.cpu.get_cpu_capability(),
    )


def gpus(num_threads: int | None = None) -> tuple[Device, ...]:
    """Return the GPUs that torch can use, the one with the most memory first."""
    usable = [gpu for gpu in _all_gpus(num_threads) if _has_kernels(gpu)]
    return tuple(sorted(usable, key=lambda gpu: (-gpu.total_bytes, gpu.index)))


def _all_gpus(num_threads: int | None) -> list[Device]:
    """Return the GPUs that the driver reports, also those for which torch has no kernels."""
    if not torch.cuda.is_available():
        return []
    driver = _driver_version()
    found = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        found.append(
            Device(
                kind=DeviceKind.CUDA,
                name=properties.name,
                num_threads=num_threads or num_cores(),
                total_bytes=properties.total_memory,
                index=index,
                compute_capability=(properties.major, properties.minor),
                driver=driver,
            )
        )
    return found


def _has_kernels(gpu: Device) -> bool:
    """Return whether the installed torch has kernels for ``gpu``. On a GPU without them, every operation fails.

    A kernel runs on GPUs of the same generation with an equal or higher minor version. ``compute_`` entries are
    compiled by the driver, for any newer GPU.
    """
    assert gpu.compute_capability is not None
    found = [re.fullmatch(r"(sm|compute)_(\d+)(\d)", name) for name in torch.cuda.get_arch_list()]
    built_for = [(match[1] == "sm", (int(match[2]), int(match[3]))) for match in found if match]
    if not built_for or any(
        capability <= gpu.compute_capability and (not is_binary or capability[0] == gpu.compute_capability[0])
        for is_binary, capability in built_for
    ):
        return True
    _log.warning("torch %s has no kernels for %s %s", torch.__version__, gpu.name, gpu.compute_capability)
    return False


def unsupported_gpus() -> tuple[Device, ...]:
    """Return the GPUs for which the installed torch has no kernels."""
    return tuple(gpu for gpu in _all_gpus(None) if not _has_kernels(gpu))


def device_named(name: str, *, num_threads: int | None = None) -> Device:
    """Return the device that ``name`` selects.

    ``cpu``, ``cuda`` (the GPU with the most memory), ``cuda:1``, part of a GPU's name, or ``auto`` (a GPU if present, else
    the CPU). Raises ``UnusableSetting``.
    """
    if name == DeviceKind.CPU.value:
        return processor(num_threads)
    found = gpus(num_threads)
    if name == "auto":
        return found[0] if found else processor(num_threads)
    for gpu in found:
        if name in (gpu.kind.value, gpu.torch_name):
            return gpu
    for gpu in found:
        if name.casefold() in gpu.name.casefold():
            return gpu
    for gpu in unsupported_gpus():
        if name in (gpu.kind.value, gpu.torch_name) or name.casefold() in gpu.name.casefold():
            raise UnusableSetting(
                "The installed PyTorch {version} does not support {gpu}.",
                remedy="{build} Or choose cpu.",
                version=torch.__version__,
                gpu=gpu.name,
                build=fitting_build(gpu),
            )
    raise UnusableSetting(
        "No GPU that PyTorch can use matches “{wish}”.",
        remedy="Choose one of: {places}.{build}",
        wish=name,
        places=["cpu", *(f"{gpu.torch_name} ({gpu.name})" for gpu in found)],
        build=_without_gpus(),
    )


def _without_gpus() -> Message | str:
    """Return what to add if no GPU can be used because of the installed torch."""
    if torch.version.cuda is not None or torch.version.hip is not None:
        return ""
    return message(
        " PyTorch {version} is built without support for NVIDIA GPUs. If there is one, `timbre doctor` names the right build.",
        version=torch.__version__,
    )


def free_bytes(device: Device) -> int:
    """Return the free memory of ``device``."""
    return free_memory_bytes(torch.device(device.torch_name))


def empty_cache(torch_name: str) -> None:
    """Release the GPU memory that torch caches, for other libraries and programs.

    Must not be called while a thread computes on the device, except for recordings, which it waits for.
    """
    if torch.device(torch_name).type == "cuda":
        with RECORDING:
            torch._C._cuda_clearCublasWorkspaces()
            torch.cuda.empty_cache()


def budget_bytes(device: Device) -> int:
    """Return the memory an engine may take now: the free memory less the reserve."""
    return max(0, free_bytes(device) - device.kind.traits.reserved_bytes)


def _driver_version() -> str:
    """Return NVIDIA's driver version, or torch's CUDA version if ``nvidia-smi`` is missing or fails."""
    tool = shutil.which("nvidia-smi")
    if tool:
        try:
            answer = subprocess.run(  # noqa: S603 - constant arguments
                [tool, "--query-gpu=driver_version", "--format=csv,noheader"],
                capture_output=True,
                text=True,
                timeout=_DRIVER_QUERY_SECONDS,
                check=True,
            )
            return answer.stdout.splitlines()[0].strip()
        except (OSError, subprocess.SubprocessError, IndexError):
            pass
    return f"cuda-{torch.version.cuda}"
