"""Start of the program, or of the checks, from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from set_up.checks import run_checks
from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.install import Installer, find_environment, wanted_stamp
from set_up.machine import Machine
from set_up.onnx_build import FOR_PROCESSORS, onnx_build
from set_up.progress import Progress

SET_UP_FAILED = 20
_INTERRUPTED = 130
_PROGRAM_EXTRAS = frozenset({"app", "media", "provenance", "serve"})
_GPU_EXTRAS = frozenset({"gpu"})
# TensorRT for RTX (95 MB) is included: the tests build engines with it, even without a GPU.
_TEST_EXTRAS = _PROGRAM_EXTRAS | {"dev", "gpu", "triton"}


def launch(arguments: list[str]) -> int:
    """Set up what is missing, then run the program, or the checks for ``test``; return the exit status."""
    checkout = Path(__file__).resolve().parents[2]
    environment = find_environment(checkout)
    progress = Progress()
    is_test = arguments[:1] == ["test"]
    try:
        machine = Machine.this()
        wanted = wanted_stamp(checkout, environment, machine, _TEST_EXTRAS if is_test else _extras_for(machine))
        Installer(checkout, machine, progress).provide(environment, wanted)
    except SetUpFailed as failure:
        progress.note(f"Timbre Studio could not be set up.\n{failure}")
        return SET_UP_FAILED
    except KeyboardInterrupt:
        progress.note("\nInterrupted. The next start resumes the set-up.")
        return _INTERRUPTED
    if is_test:
        return run_checks(environment, checkout, arguments[1:], progress)
    return _become(environment, arguments)


def _extras_for(machine: Machine) -> frozenset[str]:
    """TensorRT is installed with the GPU build of ONNX Runtime: both need the same driver."""
    return _PROGRAM_EXTRAS if onnx_build(machine) == FOR_PROCESSORS else _PROGRAM_EXTRAS | _GPU_EXTRAS


def _become(environment: Environment, arguments: list[str]) -> int:
    timbre = str(environment.program("timbre"))
    if os.name == "posix":  # replaces this process, with its signals, terminal and exit status
        sys.stdout.flush()
        os.execv(timbre, [timbre, *arguments])  # noqa: S606 - does not return
    try:
        return subprocess.run([timbre, *arguments], check=False).returncode
    except KeyboardInterrupt:  # Ctrl-C reached the program too
        return _INTERRUPTED
