"""Checks of the computer, of Python, and of the libraries that run the models."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import psutil

import studio
from studio.audio.media import ffmpeg_version, find_ffmpeg
from studio.audio.portaudio import device_names
from studio.catalog.machine import MachineFacts
from studio.errors import StudioError
from studio.health.check import Check, Verdict
from studio.messages import Message, wording
from studio.storage.json_input import parse_json
from studio.system.installation import how_to_read_media, how_to_use_card, origin_text, repair_hint

_ENGINE_SECONDS = 120.0
_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_LEAST_IN_GIBIBYTES = _GIBIBYTE // 10
# A released model in float32 with one voice; with less memory the system swaps.
_COMFORTABLE_MEMORY_BYTES = 6 * _GIBIBYTE

# Runs in a separate process: this one does not import torch.
_ASK_ENGINES = ("-m", "studio.engines.installed")


def check_program() -> Check:
    return Check(
        wording("program"),
        Verdict.FINE,
        wording(
            "Timbre Studio {version}, {origin}, {system}",
            version=studio.__version__,
            origin=origin_text(),
            system=platform.platform(),
        ),
    )


def check_python() -> Check:
    found = wording("{version} in {folder}", version=platform.python_version(), folder=sys.prefix)
    supported = _supported_pythons()
    if supported is not None and sys.version_info[:2] not in supported:
        remedy = wording("Use Python 3.{oldest} to 3.{newest}.", oldest=supported[0][1], newest=supported[-1][1])
        return Check(wording("Python"), Verdict.BROKEN, found, remedy)
    return Check(wording("Python"), Verdict.FINE, found)


def _supported_pythons() -> list[tuple[int, int]] | None:
    """The versions that the installed package declares; None for a frozen program, which contains its Python."""
    try:
        declared = importlib.metadata.metadata("timbre-studio")["Requires-Python"]
    except importlib.metadata.PackageNotFoundError:
        return None
    bounds = dict(re.findall(r"(>=|<)3\.(\d+)", declared))
    return [(3, minor) for minor in range(int(bounds[">="]), int(bounds["<"]))]


def check_engines(machine: MachineFacts) -> Iterator[Check]:
    """Check PyTorch and ONNX Runtime, and whether PyTorch can use the GPU."""
    answer = _ask_engines()
    if isinstance(answer, Check):
        yield answer
        yield _check_gpu(machine, sees_gpu=None)
        return
    yield Check(
        wording("engine"),
        Verdict.FINE,
        wording(
            "PyTorch {torch}, ONNX Runtime {onnxruntime}", torch=answer["torch"], onnxruntime=answer["onnxruntime"]
        ),
    )
    yield _check_gpu(machine, sees_gpu=bool(answer["gpu"]))


def _ask_engines() -> dict[str, str] | Check:
    subject = wording("engine")
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *_ASK_ENGINES], capture_output=True, text=True, timeout=_ENGINE_SECONDS, check=False
        )
        answer: dict[str, str] = parse_json(asked.stdout)
    except (OSError, subprocess.TimeoutExpired):
        return Check(subject, Verdict.BROKEN, wording("PyTorch does not start."), repair_hint())
    except ValueError:
        reason = (asked.stderr.strip().splitlines() or [f"status {asked.returncode}"])[-1]
        finding = wording("PyTorch or ONNX Runtime cannot be loaded ({reason}).", reason=reason)
        return Check(subject, Verdict.BROKEN, finding, repair_hint())
    return answer


def _check_gpu(machine: MachineFacts, *, sees_gpu: bool | None) -> Check:
    subject, gpu = wording("GPU"), machine.gpu
    if gpu is None:
        return Check(subject, Verdict.FINE, wording("no NVIDIA GPU; running on the CPU"))
    found = wording(
        "{gpu}, {memory} of memory, driver {driver}",
        gpu=gpu.name,
        memory=in_gibibytes(gpu.memory_bytes),
        driver=gpu.driver,
    )
    if sees_gpu is False:
        return Check(
            subject,
            Verdict.LIMITED,
            wording("{gpu}; not usable by PyTorch", gpu=found),
            how_to_use_card(),
        )
    return Check(subject, Verdict.FINE, found)


def check_processor(machine: MachineFacts) -> Check:
    cores, logical = machine.num_cores, psutil.cpu_count() or machine.num_cores
    found = wording("{name}, {cores} cores ({logical} logical)", name=machine.processor, cores=cores, logical=logical)
    return Check(wording("processor"), Verdict.FINE, found)


def check_memory(machine: MachineFacts) -> Check:
    found = wording(
        "{all}, {free} of it free",
        all=in_gibibytes(machine.memory_bytes),
        free=in_gibibytes(machine.free_memory_bytes),
    )
    if machine.free_memory_bytes < _COMFORTABLE_MEMORY_BYTES:
        remedy = wording("A CosyVoice model needs about 6 GB: close other programs before using one.")
        return Check(wording("memory"), Verdict.LIMITED, found, remedy)
    return Check(wording("memory"), Verdict.FINE, found)


def check_sound_card(require_sound_card: Callable[[], None]) -> Check:
    """Check playback and count the devices. Device names are omitted: some contain names of people."""
    try:
        require_sound_card()
        found = wording(
            "the default output works; {outputs} outputs, {inputs} inputs",
            outputs=len(device_names("output")),
            inputs=len(device_names("input")),
        )
    except StudioError as error:
        return Check(wording("sound device"), Verdict.LIMITED, error.problem, error.hint)
    return Check(wording("sound device"), Verdict.FINE, found)


def check_media() -> Check:
    """Check for PyAV or ffmpeg, which read the formats that libsndfile does not support."""
    subject = wording("audio formats")
    if importlib.util.find_spec("av") is not None:
        found = wording("all formats are supported (PyAV {version})", version=importlib.metadata.version("av"))
        return Check(subject, Verdict.FINE, found)
    program = find_ffmpeg()
    if program is None:
        found = wording("WAV, FLAC, OGG and MP3 are supported; m4a, mp4 and webm are not")
        return Check(subject, Verdict.LIMITED, found, how_to_read_media())
    version = ffmpeg_version(program)
    if version is None:
        found = wording("m4a, mp4 and webm are not supported: ffmpeg is installed but does not start")
        return Check(subject, Verdict.LIMITED, found, how_to_read_media())
    return Check(subject, Verdict.FINE, wording("all formats are supported (ffmpeg {version})", version=version))


def in_gibibytes(num_bytes: int) -> Message:
    if num_bytes < _LEAST_IN_GIBIBYTES:
        return wording("{size:.0f} MB", size=num_bytes / _MEBIBYTE)
    return wording("{size:.1f} GB", size=num_bytes / _GIBIBYTE)
