"""The computer and the libraries: what the program needs before it has anything of its own."""

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
from studio.audio.ffmpeg import ffmpeg_version, find_ffmpeg
from studio.audio.portaudio import device_names
from studio.catalog.machine import MachineFacts
from studio.errors import StudioError
from studio.health.check import Check, Verdict
from studio.storage.json_input import parse_json
from studio.system.installation import how_to_read_media, how_to_use_card, origin_text, repair_hint
from studio.wording import Message, wording

_ENGINE_SECONDS = 120.0
_MEBIBYTE = 1 << 20
_GIBIBYTE = 1 << 30
_LEAST_IN_GIBIBYTES = _GIBIBYTE // 10
# A released model in float32 with one voice; less memory means swapping.
_COMFORTABLE_MEMORY_BYTES = 6 * _GIBIBYTE

# Asked of a process of its own: this one starts without torch.
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
    """As the installed package declares them; None for a frozen program, which brings its Python."""
    try:
        declared = importlib.metadata.metadata("timbre-studio")["Requires-Python"]
    except importlib.metadata.PackageNotFoundError:
        return None
    bounds = dict(re.findall(r"(>=|<)3\.(\d+)", declared))
    return [(3, minor) for minor in range(int(bounds[">="]), int(bounds["<"]))]


def check_engines(machine: MachineFacts) -> Iterator[Check]:
    """The libraries that speak, and the graphics card as they see it."""
    answer = _ask_engines()
    if isinstance(answer, Check):
        yield answer
        yield _check_card(machine, sees_card=None)
        return
    yield Check(
        wording("engine"),
        Verdict.FINE,
        wording(
            "PyTorch {torch}, ONNX Runtime {onnxruntime}", torch=answer["torch"], onnxruntime=answer["onnxruntime"]
        ),
    )
    yield _check_card(machine, sees_card=bool(answer["gpu"]))


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


def _check_card(machine: MachineFacts, *, sees_card: bool | None) -> Check:
    subject, card = wording("graphics card"), machine.gpu
    if card is None:
        return Check(subject, Verdict.FINE, wording("none of NVIDIA; the processor speaks"))
    found = wording(
        "{card}, {memory} of memory, driver {driver}",
        card=card.name,
        memory=in_gibibytes(card.memory_bytes),
        driver=card.driver,
    )
    if sees_card is False:
        return Check(
            subject,
            Verdict.LIMITED,
            wording("{card}; PyTorch cannot use it", card=found),
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
        remedy = wording("A released model wants about 6 GB: close other programs before using one.")
        return Check(wording("memory"), Verdict.LIMITED, found, remedy)
    return Check(wording("memory"), Verdict.FINE, found)


def check_sound_card(require_sound_card: Callable[[], None]) -> Check:
    """How many devices there are, and not their names: some are called after people."""
    try:
        require_sound_card()
        found = wording(
            "the default device plays; {outputs} to play on, {inputs} to record with",
            outputs=len(device_names("output")),
            inputs=len(device_names("input")),
        )
    except StudioError as error:
        return Check(wording("sound card"), Verdict.LIMITED, error.problem, error.hint)
    return Check(wording("sound card"), Verdict.FINE, found)


def check_media() -> Check:
    """Which of the two reads what libsndfile does not, if any."""
    subject = wording("recordings")
    if importlib.util.find_spec("av") is not None:
        found = wording("all kinds can be read (PyAV {version})", version=importlib.metadata.version("av"))
        return Check(subject, Verdict.FINE, found)
    program = find_ffmpeg()
    if program is None:
        found = wording("WAV, FLAC, OGG and MP3 can be read, m4a, mp4 and webm cannot")
        return Check(subject, Verdict.LIMITED, found, how_to_read_media())
    version = ffmpeg_version(program)
    if version is None:
        found = wording("m4a, mp4 and webm cannot be read: the program ffmpeg is there, but does not start")
        return Check(subject, Verdict.LIMITED, found, how_to_read_media())
    return Check(subject, Verdict.FINE, wording("all kinds can be read (ffmpeg {version})", version=version))


def in_gibibytes(num_bytes: int) -> Message:
    if num_bytes < _LEAST_IN_GIBIBYTES:
        return wording("{size:.0f} MB", size=num_bytes / _MEBIBYTE)
    return wording("{size:.1f} GB", size=num_bytes / _GIBIBYTE)
