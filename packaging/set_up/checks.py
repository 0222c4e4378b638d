"""``run.py test``: every check a change has to pass."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from set_up.environment import Environment
from set_up.progress import Progress

CHECKS: tuple[tuple[str, str, list[str]], ...] = (
    ("lint", "ruff", ["check", "."]),
    ("layout", "ruff", ["format", "--check", "."]),
    ("types", "mypy", []),
    ("import contracts", "lint-imports", []),
    ("tests", "pytest", []),
)
# Each worker of pytest loads torch: more than these seldom help, and take memory.
_MOST_WORKERS = 4


def run_checks(
    environment: Environment,
    checkout: Path,
    pytest_arguments: Sequence[str],
    progress: Progress,
    run: Callable[[list[str], Path], int] | None = None,
) -> int:
    """The exit status of the first check that fails. With pytest arguments, only pytest runs.

    All checks run even after a failure: one round tells everything. Paths are relative to the checkout.
    ``--quick`` stands for the tests that are not marked slow, on all cores.
    """
    run = run or _run
    if pytest_arguments:
        quick = ["-m", "not slow", *_parallel()] if "--quick" in pytest_arguments else []
        others = _joined([argument for argument in pytest_arguments if argument != "--quick"])
        return run([str(environment.program("pytest")), *quick, *others], checkout)
    first_failure = 0
    results = []
    for title, program, own_arguments in CHECKS:
        arguments = [*own_arguments, *_parallel()] if program == "pytest" else own_arguments
        progress.note(f"== {title}: {' '.join([program, *arguments])}")
        start_seconds = time.monotonic()
        status = run([str(environment.program(program)), *arguments], checkout)
        results.append(f"{'passed' if status == 0 else 'FAILED'}  {title} ({time.monotonic() - start_seconds:.0f} s)")
        first_failure = first_failure or status
    progress.note("\n" + "\n".join(results))
    return first_failure


def _parallel() -> list[str]:
    """Arguments that spread the tests over the cores, file by file: tests of one file share what takes long to make."""
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ["-n", str(min(num_cores, _MOST_WORKERS)), "--dist", "loadfile"] if num_cores > 1 else []


def _joined(arguments: Sequence[str]) -> list[str]:
    """``--reference=DIR`` for ``--reference DIR``, whose DIR pytest takes for tests: it would look for settings there."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] == "--reference":
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _run(command: list[str], folder: Path) -> int:
    return subprocess.run(command, cwd=folder, check=False).returncode
