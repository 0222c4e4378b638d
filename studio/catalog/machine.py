"""Hardware of this computer: processor, memory, GPU, disk. Does not load any libraries."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

import psutil

from studio.catalog.disk import free_bytes
from studio.catalog.folders import models_folder
from studio.system.processor import cpu_name

_QUERY_SECONDS = 10.0
_MEBIBYTE = 1 << 20


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
    """Return the facts. Takes up to several seconds, because the GPU driver is queried."""
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
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    command = [program, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(  # noqa: S603 - the driver's own program
            command, capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_gpus(output)


def parse_gpus(output: str) -> Gpu | None:
    """Return the GPU with the most memory in the CSV lines of ``nvidia-smi``, or None."""
    gpus = []
    for line in output.splitlines():
        name, _, rest = line.partition(",")
        memory, _, driver = rest.partition(",")
        if memory.strip().isdigit():
            gpus.append(Gpu(name.strip(), int(memory) * _MEBIBYTE, driver.strip()))
    return max(gpus, key=lambda gpu: gpu.memory_bytes, default=None)
