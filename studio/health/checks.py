"""The checks of the doctor: the program and its libraries, the computer, the models, the voices and the folders."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import psutil

import studio
from studio import paths
from studio.audio.media import ffmpeg_version, find_ffmpeg
from studio.audio.portaudio import device_names
from studio.catalog.folders import bundled_folder, models_folder
from studio.catalog.installed import DEFAULT_MODEL, ModelState, ModelStatus, model_statuses, why_not_loadable
from studio.catalog.machine import Gpu, MachineFacts, speed_message
from studio.engines.gpu_support import TURING, fitting_build, has_cuda_13, newer_driver
from studio.engines.memory_plan import CONTEXT_BYTES, TYPICAL_PROMPT_SECONDS, MemoryPlan, plan_memory
from studio.engines.stage import Device, Stage
from studio.engines.store import EngineStore
from studio.errors import StudioError, type_of_code
from studio.health.log_file import recent_errors
from studio.messages import Message, listed, message
from studio.model.device_kind import DeviceKind
from studio.model.generations import Generation, detect_generation
from studio.model.official_yaml import Document
from studio.model.weight_files import weight_file
from studio.storage.disk import free_bytes
from studio.storage.json_input import parse_json
from studio.system.installation import gpu_torch_hint, how_to_add, media_hint, origin_text, repair_hint
from studio.voices.library import VoiceLibrary

_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_MIN_IN_GIBIBYTES = _GIBIBYTE // 10
# Needed by a released model in float32 with one voice. With less memory the system swaps.
_COMFORTABLE_MEMORY_BYTES = 6 * _GIBIBYTE
_COMFORTABLE_DISK_BYTES = 10 * _GIBIBYTE
_MIN_DISK_BYTES = _GIBIBYTE // 4
# Runs in a separate process, because this process does not import torch.
_ENGINES_PROBE = ("-m", "studio.engines.installed")
_ENGINE_SECONDS = 120.0
_LIBRARIES = (
    "PySide6-Essentials",
    "numpy",
    "onnx",
    "huggingface_hub",
    "httpx2",
    "soundfile",
    "sounddevice",
    "emoji",
    "num2words",
)
_ACCELERATORS = (
    "onnxruntime-gpu",
    "tensorrt",
    "tensorrt-cu13-bindings",
    "tensorrt-rtx-cu13-libs",
    "tensorrt-rtx-cu13-bindings",
    "vllm",
)
_SERVE_LIBRARIES = ("fastapi", "prometheus_client", "uvicorn", "websockets")
_PROVENANCE_LIBRARIES = ("c2pa",)
_CLUSTER_LIBRARIES = ("ray", "fastapi")

_WEIGHTS_ON_GPU = {Stage.SPEECH_LM: "llm", Stage.FLOW: "flow", Stage.VOCODER: "hift"}


class CheckVerdict(Enum):
    FINE = "fine"
    LIMITED = "limited"
    BROKEN = "broken"  # synthesis does not work


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check. ``is_absent`` marks optional libraries that are not installed."""

    subject: Message
    verdict: CheckVerdict
    finding: Message
    remedy: Message = Message("")  # empty if the verdict is FINE
    is_absent: bool = False


def check_program() -> Check:
    return Check(
        message("program"),
        CheckVerdict.FINE,
        message(
            "Timbre Studio {version}, {origin}, {system}",
            version=studio.__version__,
            origin=origin_text(),
            system=platform.platform(),
        ),
    )


def check_python() -> Check:
    found = message("{version} in {folder}", version=platform.python_version(), folder=sys.prefix)
    supported = _supported_pythons()
    if supported is not None and sys.version_info[:2] not in supported:
        remedy = message("Use Python 3.{oldest} to 3.{newest}.", oldest=supported[0][1], newest=supported[-1][1])
        return Check(message("Python"), CheckVerdict.BROKEN, found, remedy)
    return Check(message("Python"), CheckVerdict.FINE, found)


def _supported_pythons() -> list[tuple[int, int]] | None:
    """Return the versions that the package declares, or None for a frozen program, which contains its own Python."""
    try:
        declared = importlib.metadata.metadata("timbre-studio")["Requires-Python"]
    except importlib.metadata.PackageNotFoundError:
        return None
    bounds = dict(re.findall(r"(>=|<)3\.(\d+)", declared))
    return [(3, minor) for minor in range(int(bounds[">="]), int(bounds["<"]))]


def check_engines(machine: MachineFacts) -> Iterator[Check]:
    """Check PyTorch and ONNX Runtime, and whether PyTorch can use the GPU."""
    found = probe_engines()
    if isinstance(found, Check):  # the libraries cannot be loaded
        yield found
        yield _check_gpu(machine, None)
        return
    yield Check(
        message("engine"),
        CheckVerdict.FINE,
        message("PyTorch {torch}, ONNX Runtime {onnxruntime}", torch=found.torch, onnxruntime=found.onnxruntime),
    )
    yield _check_gpu(machine, found)
    if found.seconds_per_second is not None:
        yield Check(message("speed"), CheckVerdict.FINE, speed_message(found.seconds_per_second))


@dataclass(frozen=True)
class InstalledEngines:
    """Versions of the libraries, and the GPUs with and without kernels in the installed PyTorch.

    Attributes:
        seconds_per_second: Expected time for a second of speech of a full-size model on the processor; None if unknown.
    """

    torch: str
    onnxruntime: str
    gpus: tuple[Device, ...]
    unsupported: tuple[Device, ...]
    seconds_per_second: float | None = None


def probe_engines() -> InstalledEngines | Check:
    """Return the libraries that another process can load, or a check that explains why it cannot."""
    subject = message("engine")
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *_ENGINES_PROBE], capture_output=True, text=True, timeout=_ENGINE_SECONDS, check=False
        )
        answer: dict[str, Any] = parse_json(asked.stdout)
        gpus, unsupported = (tuple(_device(facts) for facts in answer[name]) for name in ("gpus", "unsupported"))
        return InstalledEngines(answer["torch"], answer["onnxruntime"], gpus, unsupported, answer["seconds_per_second"])
    except (OSError, subprocess.TimeoutExpired):
        return Check(subject, CheckVerdict.BROKEN, message("PyTorch does not start."), repair_hint())
    except ValueError:
        reason = (asked.stderr.strip().splitlines() or [f"status {asked.returncode}"])[-1]
        finding = message("PyTorch or ONNX Runtime cannot be loaded ({reason}).", reason=reason)
        return Check(subject, CheckVerdict.BROKEN, finding, repair_hint())


def _device(facts: dict[str, Any]) -> Device:
    capability = tuple(facts["compute_capability"])
    return Device(**(facts | {"kind": DeviceKind(facts["kind"]), "compute_capability": capability}))


def _check_gpu(machine: MachineFacts, engines: InstalledEngines | None) -> Check:
    subject, gpu = message("GPU"), machine.gpu
    if gpu is None:
        return Check(subject, CheckVerdict.FINE, message("no NVIDIA GPU; running on the CPU"))
    found = message(
        "{gpu}, {memory} of memory, driver {driver}",
        gpu=gpu.name,
        memory=in_gibibytes(gpu.memory_bytes),
        driver=gpu.driver,
    )
    if engines is None:
        return Check(subject, CheckVerdict.FINE, found)
    if engines.unsupported and not engines.gpus:
        first = engines.unsupported[0]
        finding = message("{gpu}; the installed PyTorch does not support {name}", gpu=found, name=first.name)
        return Check(subject, CheckVerdict.LIMITED, finding, fitting_build(first))
    if not engines.gpus:
        remedy = newer_driver(engines.torch, gpu.driver) or gpu_torch_hint()
        return Check(subject, CheckVerdict.LIMITED, message("{gpu}; not usable by PyTorch", gpu=found), remedy)
    if not has_cuda_13(gpu.driver) and (engines.gpus[0].compute_capability or TURING) >= TURING:
        return Check(
            subject,
            CheckVerdict.LIMITED,
            message("{gpu}; too old for TensorRT and ONNX Runtime on the GPU", gpu=found),
            message("Update the NVIDIA driver to 580 or later. {then}", then=gpu_torch_hint()),
        )
    return Check(subject, CheckVerdict.FINE, found)


def check_libraries() -> Check:
    """List the installed libraries by their package metadata, without importing them."""
    found = library_versions(_LIBRARIES)
    words = message("{versions}", versions=found) if found else message("included in the program")
    return Check(message("libraries"), CheckVerdict.FINE, words)


def check_accelerators() -> Check:
    """Check the optional accelerators. The two builds of ONNX Runtime overwrite each other, because they share a folder."""
    subject, found = message("accelerators"), library_versions(_ACCELERATORS)
    if not found:
        return Check(subject, CheckVerdict.FINE, message("none installed"), is_absent=True)
    if _version("onnxruntime") and _version("onnxruntime-gpu"):
        return Check(
            subject,
            CheckVerdict.LIMITED,
            message("onnxruntime and onnxruntime-gpu are both installed and overwrite each other"),
            message(
                "Remove both (pip uninstall onnxruntime onnxruntime-gpu), then install one:"
                " onnxruntime-gpu for an NVIDIA GPU, otherwise onnxruntime."
            ),
        )
    return Check(subject, CheckVerdict.FINE, message("{versions}", versions=found))


def check_services() -> Iterator[Check]:
    """Check the optional libraries of `timbre serve`, `timbre cluster` and signed files."""
    for subject, extra, names in (
        (message("speech service"), "serve", _SERVE_LIBRARIES),
        (message("cluster"), "cluster", _CLUSTER_LIBRARIES),
        (message("signed files"), "provenance", _PROVENANCE_LIBRARIES),
    ):
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        words = message("not installed. {how}", how=how_to_add(extra)) if missing else message("installed")
        found = library_versions(names)
        if found and not missing:
            words = message("{versions}", versions=found)
        yield Check(subject, CheckVerdict.FINE, words, is_absent=bool(missing))


def check_plans(store: EngineStore | None = None) -> Check:
    """Check the cache of built engines of all models."""
    store, subject = store or EngineStore(), message("built engines")
    try:
        manifests, num_failed = store.all_manifests(), store.num_backed_off()
    except OSError:  # a folder without permission
        found = message("{folder} is not writable", folder=store.folder)
        return Check(subject, CheckVerdict.LIMITED, found, message("Check its permissions."))
    good = sum(manifest.is_good for manifest in manifests)
    found = message(
        "{good} verified, {refused} rejected, {failed} failed; {used} of at most {limit}",
        good=good,
        refused=len(manifests) - good,
        failed=num_failed,
        used=in_gibibytes(store.num_bytes()),
        limit=in_gibibytes(store.limit_bytes),
    )
    if num_failed:
        remedy = message("`timbre engines why` explains failures, `timbre engines rebuild` tries again.")
        return Check(subject, CheckVerdict.LIMITED, found, remedy)
    if not manifests:
        found = message("none yet; built while the program is idle, or by `timbre engines build`")
    return Check(subject, CheckVerdict.FINE, found)


def library_versions(names: tuple[str, ...]) -> str:
    """Return the names and versions of those libraries that are installed."""
    return ", ".join(f"{name} {found}" for name in names if (found := _version(name)))


def _version(name: str) -> str:
    """Return the version of a library; empty if it is not installed, or in a frozen program."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def check_processor(machine: MachineFacts) -> Check:
    cores, logical = machine.num_cores, psutil.cpu_count() or machine.num_cores
    found = message("{name}, {cores} cores ({logical} logical)", name=machine.processor, cores=cores, logical=logical)
    return Check(message("processor"), CheckVerdict.FINE, found)


def check_memory(machine: MachineFacts) -> Check:
    found = message(
        "{all}, {free} of it free",
        all=in_gibibytes(machine.memory_bytes),
        free=in_gibibytes(machine.free_memory_bytes),
    )
    if machine.free_memory_bytes < _COMFORTABLE_MEMORY_BYTES:
        remedy = message("A CosyVoice model needs about 6 GB: close other programs before using one.")
        return Check(message("memory"), CheckVerdict.LIMITED, found, remedy)
    return Check(message("memory"), CheckVerdict.FINE, found)


def check_sound_card(require_sound_card: Callable[[], None]) -> Check:
    """Check playback and count the devices. Their names are omitted, because some contain names of people."""
    try:
        require_sound_card()
        found = message(
            "the default output works; {outputs} outputs, {inputs} inputs",
            outputs=len(device_names("output")),
            inputs=len(device_names("input")),
        )
    except StudioError as error:
        return Check(message("sound device"), CheckVerdict.LIMITED, error.problem, error.remedy)
    return Check(message("sound device"), CheckVerdict.FINE, found)


def check_media() -> Check:
    """Check for PyAV or ffmpeg, which read the formats that libsndfile does not support."""
    subject = message("audio formats")
    if importlib.util.find_spec("av") is not None:
        found = message("all formats are supported (PyAV {version})", version=importlib.metadata.version("av"))
        return Check(subject, CheckVerdict.FINE, found)
    program = find_ffmpeg()
    if program is None:
        found = message("WAV, FLAC, OGG and MP3 are supported; m4a, mp4 and webm are not")
        return Check(subject, CheckVerdict.LIMITED, found, media_hint())
    version = ffmpeg_version(program)
    if version is None:
        found = message("m4a, mp4 and webm are not supported: ffmpeg is installed but does not start")
        return Check(subject, CheckVerdict.LIMITED, found, media_hint())
    return Check(subject, CheckVerdict.FINE, message("all formats are supported (ffmpeg {version})", version=version))


def check_models(machine: MachineFacts) -> Iterator[Check]:
    if not (bundled_folder() / DEFAULT_MODEL).is_dir():
        yield Check(
            message("model"),
            CheckVerdict.BROKEN,
            message("{name}, which is bundled with the program, is missing.", name=DEFAULT_MODEL),
            repair_hint(),
        )
    for status in model_statuses():
        if status.folder is not None or status.state is ModelState.PARTIAL:
            yield _check_model(status, machine.gpu)


def _check_model(status: ModelStatus, gpu: Gpu | None) -> Check:
    subject = message("model {name}", name=status.name)
    if error := why_not_loadable(status.name):
        return Check(subject, CheckVerdict.LIMITED, error.problem, error.remedy)
    assert status.folder is not None, "a loadable model is in a folder"
    if status.is_recognizer:
        return Check(subject, CheckVerdict.FINE, message("speech recogniser, {folder}", folder=status.folder))
    try:
        generation, settings = detect_generation(status.folder)
        found = message("{generation}, {folder}", generation=generation.title, folder=status.folder)
        plans = () if gpu is None else _memory_plans(generation, settings, status.folder, gpu)
    except StudioError as error:
        return Check(subject, CheckVerdict.LIMITED, error.problem, error.remedy)
    if gpu is None or not plans:
        return Check(subject, CheckVerdict.FINE, found)
    return _check_memory_plans(subject, found, plans, gpu)


def _memory_plans(generation: Generation, settings: Document, folder: Path, gpu: Gpu) -> tuple[MemoryPlan, ...]:
    """Return what fits on ``gpu``; empty if a file is missing."""
    try:
        file_bytes = {stage: weight_file(folder, name).stat().st_size for stage, name in _WEIGHTS_ON_GPU.items()}
    except OSError:
        return ()
    available = gpu.memory_bytes - CONTEXT_BYTES - DeviceKind.CUDA.traits.reserved_bytes
    return plan_memory(generation.read_flow(settings.root), generation.frame_rate, file_bytes, available)


def _check_memory_plans(subject: Message, model: Message, plans: Sequence[MemoryPlan], gpu: Gpu) -> Check:
    exact, reduced = (plan.line_seconds for plan in plans)
    if reduced is None:
        finding = message("{model}; it does not fit into the memory of {gpu}", model=model, gpu=gpu.name)
        return Check(subject, CheckVerdict.LIMITED, finding, message("Choose the CPU in Settings, or a smaller model."))
    if math.isinf(reduced):
        return Check(subject, CheckVerdict.FINE, model)
    finding = message(
        "{model}; on {gpu}, beside a prompt of {prompt} s, lines of up to about {reduced:.0f} s fit in 16 bits,"
        " {exact:.0f} s in float32",
        model=model,
        gpu=gpu.name,
        prompt=TYPICAL_PROMPT_SECONDS,
        reduced=reduced,
        exact=exact or 0.0,
    )
    return Check(subject, CheckVerdict.FINE, finding)


def check_voices(open_library: Callable[[], VoiceLibrary]) -> Check:
    subject = message("voices")
    try:
        voices = open_library().voices()
    except StudioError as error:
        return Check(subject, CheckVerdict.LIMITED, error.problem, error.remedy)
    missing = sum(not os.path.isfile(voice.clip) for voice in voices)
    if missing:
        found = message("{missing} of {all} voices have no recording", missing=missing, all=len(voices))
        return Check(subject, CheckVerdict.LIMITED, found, message("Remove and add them again."))
    return Check(subject, CheckVerdict.FINE, message("{count} in the library", count=len(voices)))


def check_folders() -> Iterator[Check]:
    for subject, folder in (
        (message("data"), paths.data_folder()),
        (message("models"), models_folder()),
        (message("cache"), paths.cache_folder()),
        (message("logs"), paths.log_folder()),
    ):
        place, free = _existing(folder), free_bytes(folder)
        found = message(
            "{folder}, {used} used, {free} free",
            folder=folder,
            used=in_gibibytes(_size(folder)),
            free=in_gibibytes(free),
        )
        if place is None or not _is_writable(place):
            found = message("{folder} is not writable", folder=folder)
            yield Check(subject, CheckVerdict.LIMITED, found, message("Check its permissions."))
        elif free < _MIN_DISK_BYTES:
            remedy = message("Free disk space: the disk is almost full.")
            yield Check(subject, CheckVerdict.LIMITED, found, remedy)
        elif folder == paths.cache_folder() and free < _COMFORTABLE_DISK_BYTES:
            remedy = message("Prepared voices use up to 8 GB; with less space they are computed again.")
            yield Check(subject, CheckVerdict.LIMITED, found, remedy)
        else:
            yield Check(subject, CheckVerdict.FINE, found)


def check_recent_errors() -> Check:
    """Explain the codes of the last errors. Their own messages are left out: they contain file names and texts."""
    errors = recent_errors()
    if not errors:
        return Check(message("recent errors"), CheckVerdict.FINE, message("none in the log"))
    found = []
    for code, count in Counter(error.code for error in errors).items():
        last = next(error.when for error in errors if error.code == code)  # the newest error comes first
        cause = type_of_code[code].cause if code in type_of_code else Message("")
        if count > 1:
            found.append(
                message("{cause} ({code}, {count} times, last {when})", cause=cause, code=code, count=count, when=last)
            )
        else:
            found.append(message("{cause} ({code}, {when})", cause=cause, code=code, when=last))
    return Check(message("recent errors"), CheckVerdict.FINE, listed(found))


def _existing(folder: Path) -> Path | None:
    """Return ``folder`` or its nearest existing parent, or None if its disk is missing."""
    return next((place for place in (folder, *folder.resolve().parents) if os.path.exists(place)), None)


def _is_writable(folder: Path) -> bool:
    """Try to write, because permissions do not cover read-only disks and the root user."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _size(folder: Path) -> int:
    """Return the size of all files in ``folder``, in bytes. Files that disappear during the check are skipped."""
    total = 0
    for path in folder.rglob("*") if os.path.isdir(folder) else ():
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def in_gibibytes(num_bytes: int) -> Message:
    if num_bytes < _MIN_IN_GIBIBYTES:
        return message("{size:.0f} MB", size=num_bytes / _MEBIBYTE)
    return message("{size:.1f} GB", size=num_bytes / _GIBIBYTE)
