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
from studio.messages import Message, message
from studio.storage.disk import free_bytes
from studio.system.cores import num_cores
from studio.system.processor import cpu_name

_QUERY_SECONDS = 10.0
_MEBIBYTE = 1 << 20
# Fun-CosyVoice3 in float32 with one voice takes 2.9 GB, and the desktop needs some memory too.
_COMFORTABLE_GPU_BYTES = 6 << 30
_MIN_MEMORY_BYTES = 5 << 30
# Seconds of computing for a second of speech.
_FAST_SECONDS, _REAL_TIME_SECONDS, _ROUNDED_SECONDS = 0.85, 1.25, 1.75


@dataclass(frozen=True, slots=True)
class Gpu:
    """An NVIDIA GPU, with its memory now."""

    name: str
    memory_bytes: int
    driver: str
    free_bytes: int


@dataclass(frozen=True, slots=True)
class MachineFacts:
    processor: str
    num_cores: int
    memory_bytes: int
    free_memory_bytes: int
    free_disk_bytes: int
    gpu: Gpu | None  # the one with the most memory


def probe_machine() -> MachineFacts:
    """Query the hardware. Takes up to several seconds, because the GPU driver is queried."""
    memory = psutil.virtual_memory()
    return MachineFacts(
        processor=cpu_name(),
        num_cores=num_cores(),
        memory_bytes=memory.total,
        free_memory_bytes=memory.available,
        free_disk_bytes=free_bytes(models_folder()),
        gpu=max(list_gpus(), key=lambda gpu: gpu.memory_bytes, default=None),
    )


def list_gpus() -> tuple[Gpu, ...]:
    """Return the NVIDIA GPUs. Takes up to several seconds, because the driver is queried."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    command = [program, "--query-gpu=memory.total,memory.free,driver_version,name", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(  # noqa: S603 - the driver's own program
            command, capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_gpus(answer.stdout)


def parse_gpus(output: str) -> tuple[Gpu, ...]:
    """Return the GPUs in the CSV lines of ``nvidia-smi``. A GPU that does not report its memory is omitted."""
    rows = [[part.strip() for part in line.split(",", 3)] for line in output.splitlines()]
    return tuple(
        Gpu(row[3], int(row[0]) * _MEBIBYTE, row[2], int(row[1]) * _MEBIBYTE)
        for row in rows
        if len(row) == 4 and row[0].isdigit() and row[1].isdigit()
    )


def process_memory_bytes(pid: int) -> int | None:
    """Return the memory of a process and the processes that it started, or None if it has ended."""
    try:
        process = psutil.Process(pid)
        total: int = sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
    except psutil.Error:
        return None
    return total


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


def recommend_model(machine: MachineFacts | None, models: Iterable[KnownModel]) -> Advice | None:
    """Return the best of ``models`` that can be downloaded, run and clone voices, or None.

    ``machine`` is None if it has not been probed yet. It is then taken for one without a GPU.
    """
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
    gpu = None if machine is None else machine.gpu
    has_gpu = gpu is not None and gpu.memory_bytes >= _COMFORTABLE_GPU_BYTES
    model = min(usable, key=lambda model: model.rank if has_gpu else model.size_bytes())
    return Advice(
        model,
        Reason.HAS_GPU if has_gpu else Reason.LIGHTEST,
        lacks_memory=machine is not None and machine.memory_bytes < _MIN_MEMORY_BYTES,
        lacks_disk=machine is not None and machine.free_disk_bytes < model.size_bytes(),
    )


def speed_message(seconds: float) -> Message:
    """Return what to expect of a processor that computes for ``seconds`` for each second of speech of a full-size model."""
    if seconds < _FAST_SECONDS:
        return message("Large models are faster than real time on this processor.")
    if seconds < _REAL_TIME_SECONDS:
        return message("Large models are about as fast as real time on this processor.")
    return message(
        "Large models are about {times} times slower than real time on this processor. "
        "Use exports, or the quality Draft while you write.",
        times=f"{seconds:.1f}" if seconds < _ROUNDED_SECONDS else f"{seconds:.0f}",
    )
