"""``run.py test``: all checks that a change must pass."""

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
_TESTS_FAILED = 1  # the exit status of pytest
# Each pytest worker loads torch: more workers seldom help and need memory.
_MAX_WORKERS = 4


def run_checks(
    environment: Environment,
    checkout: Path,
    pytest_arguments: Sequence[str],
    progress: Progress,
    run: Callable[[list[str], Path], int] | None = None,
) -> int:
    """Run all checks, even after a failure; return the exit status of the first that fails.

    Tests that fail run again, one after the other: a busy computer delays what they wait for. A test that passes then is
    reported, but is not a failure.

    With pytest arguments, only pytest runs. Paths are relative to the checkout. ``--quick`` runs the tests that are
    not marked slow, on all cores.
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
        outcome = "passed" if status == 0 else "FAILED"
        if program == "pytest" and status == _TESTS_FAILED:
            again = [program, "--last-failed", "--last-failed-no-failures=none", "--exitfirst"]
            progress.note(f"== {title} that failed: {' '.join(again)}")
            if run([str(environment.program(program)), *again[1:]], checkout) == 0:
                status, outcome = 0, "passed at the second attempt"
        results.append(f"{outcome}  {title} ({time.monotonic() - start_seconds:.0f} s)")
        first_failure = first_failure or status
    progress.note("\n" + "\n".join(results))
    return first_failure


def _parallel() -> list[str]:
    """Arguments that distribute the tests over the cores, by file: tests of one file share expensive fixtures.

    The files keep their order: files with few tests, among them the longest ones, would otherwise come last, and one core
    would be idle. The run ends if a test process crashes: pytest-xdist can wait forever for the process that replaces it.
    """
    if _num_cores() == 1:
        return []
    return [
        "-n",
        str(_num_workers()),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "--max-worker-restart=0",
    ]


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _num_workers() -> int:
    return min(_num_cores(), _MAX_WORKERS)


def _joined(arguments: Sequence[str]) -> list[str]:
    """Replace ``--reference DIR`` by ``--reference=DIR``: pytest takes a separate DIR for a folder of tests."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] == "--reference":
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _run(command: list[str], folder: Path) -> int:
    # Without bytecode, every Python process of the tests would compile the program again.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if "-n" in command:
        # The threads of all pytest workers share the cores. With more threads, most of the time is spent on waiting.
        variables.setdefault("OMP_NUM_THREADS", str(max(1, _num_cores() // _num_workers())))
    return subprocess.run(command, cwd=folder, env=variables, check=False).returncode
