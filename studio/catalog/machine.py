"""Hardware of this computer (processor, memory, GPU, disk), and the model recommended for it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import psutil

from studio.catalog.folders import models_folder
from studio.catalog.known import Ability, KnownModel
from studio.storage.disk import free_bytes
from studio.system.processor import cpu_name

_QUERY_SECONDS = 10.0
_MEBIBYTE = 1 << 20
# Fun-CosyVoice3 in float32 with one voice takes 2.9 GB, and the desktop needs some memory too.
_COMFORTABLE_GPU_BYTES = 6 << 30
_MIN_MEMORY_BYTES = 5 << 30


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    memory_bytes: int
    driver: str


@dataclass(frozen=True, slots=True)
class MachineFacts:
    processor: str
    num_cores: int
    memory_bytes: int
    free_memory_bytes: int
    free_disk_bytes: int
    gpu: Gpu | None


def probe_machine() -> MachineFacts:
    """Query the hardware. Takes up to several seconds, because the GPU driver is queried."""
    memory = psutil.virtual_memory()
    return MachineFacts(
        processor=cpu_name(),
        num_cores=psutil.cpu_count(logical=False) or psutil.cpu_count() or 1,
        memory_bytes=memory.total,
        free_memory_bytes=memory.available,
        free_disk_bytes=free_bytes(models_folder()),
        gpu=_nvidia_gpu(),
    )


def _nvidia_gpu() -> Gpu | None:
    """Return the NVIDIA GPU with the most memory, or None."""
    return parse_gpus(_query_gpus("name,memory.total,driver_version"))


def _query_gpus(fields: str) -> str:
    """Return the CSV lines of ``nvidia-smi``; empty without the program or a GPU."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    command = [program, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    try:
        return subprocess.run(  # noqa: S603 - the driver's own program
            command, capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """A GPU that can be chosen, with its memory now."""

    name: str
    free_bytes: int
    memory_bytes: int


def list_gpus() -> tuple[GpuMemory, ...]:
    """Return the NVIDIA GPUs. Takes up to several seconds, because the driver is queried."""
    return parse_gpu_memory(_query_gpus("memory.free,memory.total,name"))


def process_memory_bytes(pid: int) -> int | None:
    """Return the memory of a process and the processes that it started, or None if it has ended."""
    try:
        process = psutil.Process(pid)
        total: int = sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
    except psutil.Error:
        return None
    return total


def parse_gpu_memory(output: str) -> tuple[GpuMemory, ...]:
    """Return the GPUs in the CSV lines of ``nvidia-smi``."""
    found = []
    for line in output.splitlines():
        free, total, name = (*(part.strip() for part in line.split(",", 2)), "", "")[:3]
        if free.isdigit() and total.isdigit() and name:
            found.append(GpuMemory(name, int(free) * _MEBIBYTE, int(total) * _MEBIBYTE))
    return tuple(found)


def parse_gpus(output: str) -> Gpu | None:
    """Return the GPU with the most memory in the CSV lines of ``nvidia-smi``, or None."""
    gpus = []
    for line in output.splitlines():
        name, _, rest = line.partition(",")
        memory, _, driver = rest.partition(",")
        if memory.strip().isdigit():
            gpus.append(Gpu(name.strip(), int(memory) * _MEBIBYTE, driver.strip()))
    return max(gpus, key=lambda gpu: gpu.memory_bytes, default=None)


# Smaller than the later models, but neither better nor able to stream exactly. It is not recommended.
_FIRST_GENERATION = "cosyvoice1"


class Reason(Enum):
    HAS_GPU = "has-gpu"  # the newest model, because it fits into GPU memory
    LIGHTEST = "lightest"  # the smallest model, because there is no such GPU


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommended model."""

    model: KnownModel
    reason: Reason
    lacks_memory: bool  # whether this computer has too little memory for the model
    lacks_disk: bool


def recommend_model(machine: MachineFacts, models: Iterable[KnownModel]) -> Advice | None:
    """Return the best of ``models`` that can be downloaded, run and clone voices, or None."""
    usable = [
        model
        for model in models
        if model.is_supported
        and model.can_be_downloaded
        and Ability.CLONE in model.abilities
        and model.generation != _FIRST_GENERATION
    ]
    if not usable:
        return None
    has_gpu = machine.gpu is not None and machine.gpu.memory_bytes >= _COMFORTABLE_GPU_BYTES
    model = min(usable, key=lambda model: model.rank if has_gpu else model.size_bytes())
    return Advice(
        model,
        Reason.HAS_GPU if has_gpu else Reason.LIGHTEST,
        lacks_memory=machine.memory_bytes < _MIN_MEMORY_BYTES,
        lacks_disk=machine.free_disk_bytes < model.size_bytes(),
    )
