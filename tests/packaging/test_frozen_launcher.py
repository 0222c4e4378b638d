"""The launcher of the frozen program replaces Python for child processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LAUNCHER = CHECKOUT / "packaging" / "frozen" / "launcher.py"


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"PYTHONPATH": str(CHECKOUT)} | variables
    command = [sys.executable, str(LAUNCHER), *arguments]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_it_is_the_program() -> None:
    assert run("--version").stdout.startswith("Timbre Studio ")
    assert run("nonsense").returncode == 2


@pytest.mark.slow
def test_a_module_runs_as_in_python() -> None:
    helped = run("-m", "studio.bench", "--help")
    assert helped.returncode == 0
    assert "usage: timbre bench" in helped.stdout


@pytest.mark.slow
def test_other_modules_are_none_of_its_business() -> None:
    assert run("-m", "http.server", "--help").returncode == 2


def test_what_it_starts_gets_the_libraries_of_the_system(tmp_path: Path) -> None:
    code = f"import runpy, os; launcher = runpy.run_path({str(LAUNCHER)!r}); launcher['_hide_own_libraries'](); print(dict(os.environ))"
    settings = os.environ | {"LD_LIBRARY_PATH": "/opt/ours", "LD_LIBRARY_PATH_ORIG": "/theirs"}
    told = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True).stdout
    assert "'LD_LIBRARY_PATH': '/theirs'" in told
    assert "LD_LIBRARY_PATH_ORIG" not in told
