"""From the command line to the running program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from set_up.checks import run_checks
from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.install import Installer, environment_of, wanted_stamp
from set_up.machine import Machine
from set_up.onnx_build import FOR_PROCESSORS, onnx_build
from set_up.progress import Progress

SET_UP_FAILED = 20
_INTERRUPTED = 130
_PROGRAM_EXTRAS = frozenset({"media"})
_CARD_EXTRAS = frozenset({"gpu"})
# With the library for graphics cards: it builds plans on a machine that has none, and 95 MB are fetched once.
_TEST_EXTRAS = frozenset({"media", "dev", "gpu"})


def launch(arguments: list[str]) -> int:
    """Sets up what is missing and runs the program, or with ``test`` the checks; returns the exit status."""
    checkout = Path(__file__).resolve().parents[2]
    environment = environment_of(checkout)
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
        progress.note("\nInterrupted. The next start takes it up again.")
        return _INTERRUPTED
    if is_test:
        return run_checks(environment, checkout, arguments[1:], progress)
    return _become(environment, arguments)


def _extras_for(machine: Machine) -> frozenset[str]:
    """TensorRT comes with the ONNX Runtime for cards: both want the same driver."""
    return _PROGRAM_EXTRAS if onnx_build(machine) == FOR_PROCESSORS else _PROGRAM_EXTRAS | _CARD_EXTRAS


def _become(environment: Environment, arguments: list[str]) -> int:
    timbre = str(environment.program("timbre"))
    if os.name == "posix":  # the program takes this process over: its signals, its terminal, its exit status
        sys.stdout.flush()
        os.execv(timbre, [timbre, *arguments])  # noqa: S606 - does not return
    try:
        return subprocess.run([timbre, *arguments], check=False).returncode
    except KeyboardInterrupt:  # Ctrl-C reached the program too, which has said what there is to say
        return _INTERRUPTED
