"""`run.py`: the program and the checks, their Python and their exit status."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import run
from packaging.specifiers import SpecifierSet
from set_up.checks import run_checks
from set_up.environment import Environment
from set_up.install import find_environment, wanted_stamp
from set_up.machine import Machine
from set_up_fakes import QuietProgress

RUN = Path(run.__file__)
PROJECT = tomllib.loads((RUN.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def statuses(failing: dict[str, int], arguments: list[str]) -> tuple[int, list[str]]:
    """The exit status of the checks when some programs fail, and what was run."""
    commands = []

    def fake(command: list[str], folder: Path) -> int:
        assert folder == Path("checkout")
        commands.append(" ".join([Path(command[0]).stem, *command[1:]]))
        return failing.get(Path(command[0]).stem, 0)

    return run_checks(Environment(Path("e")), Path("checkout"), arguments, QuietProgress(), fake), commands


def test_all_checks_run_and_the_first_failure_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    use_cores(monkeypatch, 1)
    status, commands = statuses({"mypy": 2, "pytest": 1}, [])
    assert status == 2
    again = "pytest --last-failed --last-failed-no-failures=none --exitfirst"
    assert commands == ["ruff check .", "ruff format --check .", "mypy", "lint-imports", "pytest", again]
    assert statuses({}, [])[0] == 0
    assert statuses({"pytest": 5}, [])[0] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "status"),
    [
        ("assert False", 1),
        (
            "path = Path(__file__).with_name('tried')\n    was_tried = path.exists()\n    path.touch()\n    assert was_tried",
            0,
        ),
    ],
    ids=["always", "once"],
)
def test_tests_that_failed_run_again(tmp_path: Path, test: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_cores(monkeypatch, 1)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text(f"from pathlib import Path\n\ndef test_one():\n    {test}\n")
    notes = QuietProgress()

    def run_pytest(command: list[str], folder: Path) -> int:
        if Path(command[0]).stem != "pytest":
            return 0
        return subprocess.run([sys.executable, "-m", *("pytest", *command[1:])], cwd=folder, check=False).returncode

    assert run_checks(Environment(Path("e")), tmp_path, [], notes, run_pytest) == status
    assert ("passed at the second attempt  tests" in notes.told[-1]) is (status == 0)


def use_cores(monkeypatch: pytest.MonkeyPatch, num_cores: int) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(num_cores), raising=False)


@pytest.mark.parametrize(("num_cores", "num_workers"), [(2, 2), (64, 4)])
def test_all_tests_use_the_cores_there_are(monkeypatch: pytest.MonkeyPatch, num_cores: int, num_workers: int) -> None:
    use_cores(monkeypatch, num_cores)
    assert (
        statuses({}, [])[1][-1]
        == f"pytest -n {num_workers} --dist loadfile --no-loadscope-reorder --max-worker-restart=0"
    )


@pytest.mark.parametrize(("num_cores", "num_threads"), [(1, None), (2, "1"), (9, "2")])
def test_the_threads_of_all_test_processes_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, num_cores: int, num_threads: str | None
) -> None:
    use_cores(monkeypatch, num_cores)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    environments: dict[str, dict[str, str]] = {}

    def fake(command: list[str], env: dict[str, str], **_: object) -> SimpleNamespace:
        environments[Path(command[0]).stem] = env
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", fake)
    run_checks(Environment(Path("e")), Path("checkout"), [], QuietProgress())
    assert environments["pytest"].get("OMP_NUM_THREADS") == num_threads
    assert "OMP_NUM_THREADS" not in environments["mypy"]


def test_the_quick_part_leaves_slow_tests_out(monkeypatch: pytest.MonkeyPatch) -> None:
    use_cores(monkeypatch, 2)
    assert statuses({}, ["--quick"]) == (
        0,
        ["pytest -m not slow -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0"],
    )
    assert statuses({}, ["--quick", "tests/text"]) == (
        0,
        ["pytest -m not slow -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 tests/text"],
    )


def test_arguments_after_test_go_to_pytest_alone() -> None:
    assert statuses({"pytest": 1}, ["-m", "reference"]) == (1, ["pytest -m reference"])


@pytest.mark.slow
@pytest.mark.parametrize("separator", [" ", "="])
def test_a_reference_folder_outside_the_checkout_is_found(tmp_path: Path, separator: str) -> None:
    """Pytest takes a folder after a blank for tests, and looks there for the settings that declare the option."""
    (tmp_path / "inputs").mkdir()
    written = f"--reference{separator}{tmp_path}".split(" ")
    _, (command,) = statuses({}, [*written, "--collect-only", "-q", "-p", "no:cacheprovider", "tests/test_messages.py"])
    collected = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=RUN.parents[1], capture_output=True, text=True, check=False
    )
    assert collected.returncode == 0, collected.stdout + collected.stderr


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
    assert "needs Python 3.11 to 3.14; this is Python 3.9" in capsys.readouterr().err


def test_the_supported_pythons_are_those_of_the_project_file(tmp_path: Path) -> None:
    """The next one is a change of one line."""
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.12,<3.17" # why\n', "utf-8")
    assert run.supported_pythons(str(tmp_path)) == ((3, 12), (3, 16))
    oldest, newest = run.supported_pythons()
    declared = SpecifierSet(PROJECT["requires-python"])
    assert [minor for minor in range(30) if f"3.{minor}.0" in declared] == list(range(oldest[1], newest[1] + 1))
    readme = " ".join((RUN.parents[1] / "README.md").read_text("utf-8").split())
    assert f"with Python 3.{oldest[1]} to 3.{newest[1]}:" in readme


@pytest.mark.parametrize("version", [(3, 11), (3, 14)])
def test_the_oldest_and_the_newest_python_set_up_without_another(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    monkeypatch.setattr("set_up.launch.launch", len)
    assert run.main(["say", "hello"]) == 2


@pytest.fixture
def computer_with_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A computer whose only Python is too old, with a uv that writes down what it is asked, and obeys."""
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    uv = tmp_path / "uv"
    uv.write_text(
        f"""#!/bin/sh
echo "$*" >> {tmp_path}/asked
case "$2" in
install) echo downloading; [ -e {tmp_path}/offline ] || echo /uv/python3.14 > {tmp_path}/found ;;
find) [ -e {tmp_path}/found ] && read path < {tmp_path}/found && echo "$path" ;;
esac
"""
    )
    uv.chmod(0o755)
    monkeypatch.setattr(run.shutil, "which", lambda name: str(uv) if name == "uv" else None)
    return tmp_path


posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a shell script")


@posix
def test_without_a_supported_python_uv_downloads_one_and_says_so(
    computer_with_uv: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    handed_over: list[list[str]] = []
    monkeypatch.setattr(run, "_hand_over", lambda command: handed_over.append(command) or 0)
    assert run.main(["say", "hello"]) == 0
    assert run.main(["doctor"]) == 0
    assert handed_over == [["/uv/python3.14", str(RUN), "say", "hello"], ["/uv/python3.14", str(RUN), "doctor"]]
    find, install = "python find --system >=3.11,<3.15", "python install >=3.11,<3.15"
    assert (computer_with_uv / "asked").read_text().splitlines() == [find, install, find, find]
    told = capfd.readouterr()
    assert told.err == "No Python >=3.11,<3.15 is installed; uv downloads one.\ndownloading\n"
    assert told.out == ""


@posix
def test_a_uv_that_cannot_download_leaves_the_sentence_about_pythons(
    computer_with_uv: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (computer_with_uv / "offline").touch()
    assert run.main([]) == run.SET_UP_FAILED
    assert "needs Python 3.11 to 3.14; this is Python 3.9.\nInstall one of them" in capfd.readouterr().err


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
    assert "Timbre Studio could not be set up.\nThe environment cannot be created in" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the program is a shell script")
def test_a_ready_environment_starts_the_program_at_once_and_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMBRE_ENVIRONMENT", str(tmp_path))
    environment = find_environment(RUN.parents[1])
    environment.python.parent.mkdir()
    environment.python.touch()
    environment.program("timbre").write_text('#!/bin/sh\necho "[$*]"\nexit 7\n')
    environment.program("timbre").chmod(0o755)
    environment.finish(
        wanted_stamp(RUN.parents[1], environment, Machine.this(), frozenset({"app", "media", "provenance", "serve"}))
    )
    before = os.times()
    ended = subprocess.run([sys.executable, str(RUN), "say", "a b"], capture_output=True, text=True, check=False)
    after = os.times()
    # Of the processor, not of the clock: other programs may be busy.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 3
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "[say a b]\n", "")
