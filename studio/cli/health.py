"""What the doctor looks at. Each check is a sentence found, a verdict, and a remedy where one is needed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

from studio import paths
from studio.catalog.installed import DEFAULT_MODEL, installed_models
from studio.cli.surroundings import Surroundings
from studio.errors import StudioError
from studio.model.recognition import recognise

_ENGINE_SECONDS = 120.0
_GIGABYTE = 1 << 30
# A released model in float32 with one voice; less memory means swapping.
_COMFORTABLE_MEMORY_BYTES = 6 * _GIGABYTE
_COMFORTABLE_DISK_BYTES = 10 * _GIGABYTE
_LEAST_DISK_BYTES = _GIGABYTE // 4
_SET_UP_AGAIN = "Run the set-up again: python3 packaging/run.py."

# Asked of a process of its own: this one starts without torch.
_ASK_ENGINES = """
import json, os, sys
answer = os.dup(1)
os.dup2(2, 1)  # libraries print
import onnxruntime, torch
cuda = torch.cuda.is_available()
os.write(answer, json.dumps({
    "torch": torch.__version__,
    "onnxruntime": onnxruntime.__version__,
    "gpu": torch.cuda.get_device_name(0) if cuda else None,
}).encode())
"""


class Verdict(Enum):
    FINE = "fine"
    LIMITED = "limited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    subject: str
    verdict: Verdict
    finding: str
    remedy: str = ""


def examine(surroundings: Surroundings) -> list[Check]:
    """Everything the program needs, in the order in which it is worth mending."""
    return [
        _python(),
        _engines(),
        _machine(),
        _memory(),
        _sound_card(surroundings),
        _media(),
        *_models(),
        _voices(surroundings),
        *_folders(),
    ]


def _python() -> Check:
    found = f"{platform.python_version()} in {sys.prefix}, {platform.platform()}"
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return Check("Python", Verdict.BROKEN, found, "Use Python 3.11, 3.12 or 3.13.")
    return Check("Python", Verdict.FINE, found)


def _engines() -> Check:
    command = [sys.executable, "-c", _ASK_ENGINES]
    try:
        asked = subprocess.run(  # noqa: S603 - the text above
            command, capture_output=True, text=True, timeout=_ENGINE_SECONDS, check=False
        )
        answer = json.loads(asked.stdout)
    except (OSError, subprocess.TimeoutExpired):
        return Check("engine", Verdict.BROKEN, "PyTorch does not start.", _SET_UP_AGAIN)
    except ValueError:
        reason = (asked.stderr.strip().splitlines() or [f"it ended with status {asked.returncode}"])[-1]
        return Check("engine", Verdict.BROKEN, f"PyTorch or ONNX Runtime cannot be loaded ({reason}).", _SET_UP_AGAIN)
    gpu = f"; {answer['gpu']} is there (--device cuda)" if answer["gpu"] else "; no GPU that PyTorch can use"
    return Check(
        "engine",
        Verdict.FINE,
        f"the CPU speaks unless told otherwise: PyTorch {answer['torch']}, ONNX Runtime {answer['onnxruntime']}{gpu}",
    )


def _machine() -> Check:
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    found = f"{_processor_name()}, {cores} cores ({psutil.cpu_count() or cores} logical)"
    return Check("processor", Verdict.FINE, found)


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory() -> Check:
    memory = psutil.virtual_memory()
    found = f"{_gigabytes(memory.total)}, {_gigabytes(memory.available)} of it free"
    if memory.available < _COMFORTABLE_MEMORY_BYTES:
        return Check(
            "memory",
            Verdict.LIMITED,
            found,
            "A released model wants about 6 GB: close other programs before using one.",
        )
    return Check("memory", Verdict.FINE, found)


def _sound_card(surroundings: Surroundings) -> Check:
    try:
        surroundings.require_sound_card()
    except StudioError as error:
        return Check("sound card", Verdict.LIMITED, error.message, error.remedy)
    return Check("sound card", Verdict.FINE, "the default device plays")


def _media() -> Check:
    if importlib.util.find_spec("av") is None:
        return Check(
            "recordings",
            Verdict.LIMITED,
            "WAV, FLAC, OGG and MP3 can be read, m4a, mp4 and webm cannot",
            "Install PyAV (pip install av) if you need them.",
        )
    return Check("recordings", Verdict.FINE, f"all kinds can be read (PyAV {importlib.metadata.version('av')})")


def _models() -> Iterator[Check]:
    models = installed_models()
    if DEFAULT_MODEL not in models:
        yield Check("model", Verdict.BROKEN, f"{DEFAULT_MODEL}, which ships with the program, is gone.", _SET_UP_AGAIN)
    for name, folder in models.items():
        try:
            generation, _ = recognise(folder)
        except StudioError as error:
            yield Check(f"model {name}", Verdict.LIMITED, error.message, error.remedy)
        else:
            yield Check(f"model {name}", Verdict.FINE, f"{generation.title}, {folder}")


def _voices(surroundings: Surroundings) -> Check:
    try:
        voices = surroundings.open_library().voices()
    except StudioError as error:
        return Check("voices", Verdict.LIMITED, error.message, error.remedy)
    missing = sum(not voice.clip.is_file() for voice in voices)
    if missing:
        return Check(
            "voices",
            Verdict.LIMITED,
            f"{missing} of {len(voices)} have lost their recording",
            "Remove and add them again.",
        )
    return Check("voices", Verdict.FINE, f"{len(voices)} kept")


def _folders() -> Iterator[Check]:
    for subject, folder in (
        ("data", paths.data_folder()),
        ("cache", paths.cache_folder()),
        ("logs", paths.log_folder()),
    ):
        place = _existing(folder)
        free = shutil.disk_usage(place).free
        found = f"{folder}, {_gigabytes(free)} free"
        if not _is_writable(place):
            yield Check(subject, Verdict.LIMITED, f"{folder} cannot be written to", "Check its permissions.")
        elif free < _LEAST_DISK_BYTES:
            yield Check(subject, Verdict.LIMITED, found, "Free some space: the disk is as good as full.")
        elif subject == "cache" and free < _COMFORTABLE_DISK_BYTES:
            yield Check(
                subject, Verdict.LIMITED, found, "Prepared voices want up to 8 GB; with less they are made again."
            )
        else:
            yield Check(subject, Verdict.FINE, found)


def _existing(folder: Path) -> Path:
    """``folder``, or the nearest above it that exists."""
    return next(place for place in (folder, *folder.resolve().parents) if place.exists())


def _is_writable(folder: Path) -> bool:
    """By trying: what permissions say is not the whole truth (read-only disks, root)."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _gigabytes(num_bytes: int) -> str:
    return f"{num_bytes / _GIGABYTE:.1f} GB"
