"""The two commands: what they run, with which Python, and what they end with."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import run
from set_up.assembly import environment_of, wanted_stamp
from set_up.checks import run_checks
from set_up.environment import Environment
from set_up.machine import Machine
from set_up_fakes import QuietProgress

RUN = Path(run.__file__)


def statuses(failing: dict[str, int], arguments: list[str]) -> tuple[int, list[str]]:
    """The exit status of the checks when some programs fail, and what was run."""
    commands = []

    def fake(command: list[str], folder: Path) -> int:
        assert folder == Path("checkout")
        commands.append(" ".join([Path(command[0]).stem, *command[1:]]))
        return failing.get(Path(command[0]).stem, 0)

    return run_checks(Environment(Path("e")), Path("checkout"), arguments, QuietProgress(), fake), commands


def test_all_checks_run_and_the_first_failure_decides() -> None:
    status, commands = statuses({"mypy": 2, "pytest": 1}, [])
    assert status == 2
    assert commands == ["ruff check .", "ruff format --check .", "mypy", "lint-imports", "pytest"]
    assert statuses({}, [])[0] == 0
    assert statuses({"pytest": 5}, [])[0] == 5


def test_arguments_after_test_go_to_pytest_alone() -> None:
    assert statuses({"pytest": 1}, ["-m", "reference"]) == (1, ["pytest -m reference"])


def test_an_old_python_can_read_the_first_file() -> None:
    ast.parse(RUN.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_wrong_python_looks_for_a_right_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handed_over: list[list[str]] = []
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(run.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "python3.12" else None)
    monkeypatch.setattr(run, "_runs", lambda command, version: version == (3, 12))
    monkeypatch.setattr(run, "_hand_over", lambda command: handed_over.append(command) or 0)
    assert run.main(["say", "hello"]) == 0
    assert handed_over == [["/usr/bin/python3.12", str(RUN), "say", "hello"]]
    monkeypatch.setattr(run, "_runs", lambda command, version: False)
    assert run.main([]) == run.SET_UP_FAILED
    assert "needs Python 3.11, 3.12 or 3.13; this is Python 3.9" in capsys.readouterr().err


def test_a_stand_in_that_only_complains_is_not_a_python() -> None:
    assert run._runs([sys.executable], tuple(sys.version_info[:2]))
    assert not run._runs([sys.executable], (2, 7))


def test_set_up_that_fails_says_so_on_standard_error_only(tmp_path: Path) -> None:
    occupied = tmp_path / "environment"
    occupied.write_text("not a folder")
    ended = subprocess.run(
        [sys.executable, str(RUN), "--help"],
        env={"TIMBRE_ENVIRONMENT": str(occupied), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == run.SET_UP_FAILED
    assert ended.stdout == ""
    assert "Timbre Studio could not be set up.\nThe environment cannot be made in" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the program is a shell script")
def test_a_ready_environment_starts_the_program_at_once_and_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMBRE_ENVIRONMENT", str(tmp_path))
    environment = environment_of(RUN.parents[1])
    environment.python.parent.mkdir()
    environment.python.touch()
    environment.program("timbre").write_text('#!/bin/sh\necho "[$*]"\nexit 7\n')
    environment.program("timbre").chmod(0o755)
    environment.finish(wanted_stamp(RUN.parents[1], environment, Machine.this(), frozenset({"media"})))
    before = os.times()
    ended = subprocess.run([sys.executable, str(RUN), "say", "a b"], capture_output=True, text=True, check=False)
    after = os.times()
    # Of the processor, not of the clock: other programs may be busy.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 3
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "[say a b]\n", "")
