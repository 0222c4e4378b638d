"""The set-up reaches a complete environment from any state, and is then skipped."""

from __future__ import annotations

import threading
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest
from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.install import Installer, find_environment, wanted_stamp
from set_up.launch import _extras_for
from set_up.libraries import AptGet
from set_up.machine import Machine, NvidiaDriver
from set_up.onnx_build import onnx_build, with_build
from set_up_fakes import FakePip, QuietProgress, machine, write_project

PROGRAM = frozenset({"media"})
TESTS = frozenset({"media", "dev"})


class SetUp:
    """A checkout, and everything a set-up of it did."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "checkout"
        write_project(self.checkout)
        self.environment = Environment(self.checkout / ".venv")
        self.progress = QuietProgress()
        self.venvs_made = 0
        self.fails_on = ""
        self.pips: list[FakePip] = []

    def start(self, computer: Machine | None = None, extras: frozenset[str] = PROGRAM) -> list[str]:
        """One start; what pip was asked to do."""
        computer = computer or machine()
        self.pips = []
        installer = Installer(
            self.checkout,
            computer,
            self.progress,
            make_venv=self._make_venv,
            make_pip=self._make_pip,
            apt_get=AptGet(self.progress, lambda _: True),
        )
        wanted = wanted_stamp(self.checkout, self.environment, computer, extras)
        installer.provide(self.environment, wanted)
        return [call for pip in self.pips for call in pip.calls]

    def _make_venv(self, folder: Path) -> None:
        self.venvs_made += 1
        self.environment.python.parent.mkdir(parents=True)
        self.environment.python.touch()
        (folder / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")

    def _make_pip(self, *_: object) -> FakePip:
        self.pips.append(FakePip(self.environment, self.fails_on))
        return self.pips[-1]


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetUp:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 10**12))
    monkeypatch.setattr("set_up.libraries._loads", lambda _: True)
    return SetUp(tmp_path)


def test_a_fresh_checkout_is_set_up_once(set_up: SetUp) -> None:
    torch, program = set_up.start()
    assert torch.endswith(" torch>=2.6,<2.14")
    assert program == f"--editable {set_up.checkout}[media]"
    told = len(set_up.progress.told)
    assert set_up.start() == []
    assert set_up.venvs_made == 1
    assert len(set_up.progress.told) == told, "a start with nothing to do is silent"


def test_tests_add_extras_that_the_program_keeps(set_up: SetUp) -> None:
    set_up.start()
    assert set_up.start(extras=TESTS) == [f"--editable {set_up.checkout}[dev,media]"]
    assert set_up.start() == []
    assert set_up.venvs_made == 1


def test_new_requirements_keep_the_extras(set_up: SetUp) -> None:
    set_up.start(extras=TESTS)
    project = set_up.checkout / "pyproject.toml"
    project.write_text(project.read_text().replace("torchless>=1", "torchless>=2"))
    assert set_up.start(extras=PROGRAM) == [f"--editable {set_up.checkout}[dev,media]"]


def test_editing_a_lint_rule_costs_no_set_up(set_up: SetUp) -> None:
    set_up.start()
    write_project(set_up.checkout, line_length=80)
    assert set_up.start() == []


@pytest.mark.parametrize("change", ["driver", "torch", "python"])
def test_another_foundation_needs_a_new_environment(set_up: SetUp, change: str) -> None:
    set_up.start()
    computer = machine()
    if change == "driver":
        computer = machine(driver=NvidiaDriver(580))
    elif change == "torch":
        write_project(set_up.checkout, requirement="torch>=2.6,<2.20")
    else:
        set_up.environment.python.unlink()  # the system's Python went away
    assert set_up.start(computer)[0].endswith("torch>=2.6,<2.20" if change == "torch" else "torch>=2.6,<2.14")
    assert set_up.venvs_made == 2


def test_a_gpu_before_turing_gets_its_build_and_a_reason(set_up: SetUp) -> None:
    """Also where an earlier version installed the build for CUDA 13."""
    set_up.start(machine(driver=NvidiaDriver(580)))
    calls = set_up.start(machine(driver=NvidiaDriver(580, is_before_turing=True)))
    assert calls[0].startswith("--no-deps --index-url https://download.pytorch.org/whl/cu126 ")
    assert any("older than Turing" in told for told in set_up.progress.told)
    assert set_up.venvs_made == 2


def test_an_interrupted_set_up_is_started_over(set_up: SetUp) -> None:
    set_up.fails_on = "--editable"
    with pytest.raises(SetUpFailed):
        set_up.start()
    left_over = set_up.environment.folder / "lib" / "half-a-package"
    left_over.touch()
    set_up.fails_on = ""
    set_up.start()
    assert "The last set-up was interrupted; starting over." in set_up.progress.told
    assert not left_over.exists()
    assert set_up.start() == []


def test_an_environment_made_by_hand_is_kept(set_up: SetUp) -> None:
    set_up.environment.folder.mkdir()
    set_up._make_venv(set_up.environment.folder)
    assert set_up.start()[-1] == f"--editable {set_up.checkout}[media]"
    assert set_up.venvs_made == 1


def test_a_damaged_stamp_counts_as_none(set_up: SetUp) -> None:
    set_up.start()
    for damage in ("", "[]", '{"foundation": 1}', "{}"):
        (set_up.environment.folder / "set-up.json").write_text(damage)
        assert set_up.start() == [f"--editable {set_up.checkout}[media]"]


GPU = machine(driver=NvidiaDriver(580))


def test_with_a_gpu_its_onnx_runtime_replaces_the_other(set_up: SetUp) -> None:
    _, packages, program = set_up.start(GPU, extras=frozenset({"media", "gpu"}))
    assert packages.split() == [
        *("torchless>=1", "onnxruntime-gpu>=1.20", "onnx>=1.17", "torch>=2.6,<2.14"),
        *("tensorrt-rtx-cu13-libs>=1.5;", "sys_platform", "==", "'linux'", "av>=13"),
    ]
    assert program == f"--no-deps --editable {set_up.checkout}"
    assert set_up.start(GPU, extras=frozenset({"media", "gpu"})) == []


def test_an_installed_cpu_build_is_removed_first(set_up: SetUp) -> None:
    set_up.environment.folder.mkdir()
    set_up._make_venv(set_up.environment.folder)
    FakePip(set_up.environment).put("onnxruntime")
    assert set_up.start(GPU)[1] == "without onnxruntime onnxruntime-gpu"


def test_without_the_gpu_build_the_cpu_build_is_installed(set_up: SetUp) -> None:
    set_up.fails_on = "onnxruntime-gpu"
    assert set_up.start(GPU)[-1] == f"--editable {set_up.checkout}[media]"
    assert any("onnxruntime-gpu is not available" in told for told in set_up.progress.told)


@pytest.mark.parametrize(
    ("computer", "build"),
    [
        (machine(), "onnxruntime"),
        (GPU, "onnxruntime-gpu"),
        (machine(driver=NvidiaDriver(None)), "onnxruntime-gpu"),  # WSL
        (machine(driver=NvidiaDriver(550)), "onnxruntime"),  # too old for the CUDA it was made with
        (machine("Darwin"), "onnxruntime"),
        (replace(machine("Windows", NvidiaDriver(None)), architecture="AMD64"), "onnxruntime-gpu"),
        (replace(GPU, architecture="aarch64"), "onnxruntime"),
    ],
)
def test_the_build_of_onnx_runtime_is_that_of_the_machine(computer: Machine, build: str) -> None:
    assert onnx_build(computer) == build
    assert ("gpu" in _extras_for(computer)) == (build == "onnxruntime-gpu")


def test_only_onnx_runtime_itself_is_replaced() -> None:
    lines = ["onnx>=1", "onnxruntime", "onnxruntime>=1.20; python_version > '3'", "onnxruntime-extensions"]
    exchanged = ["onnx>=1", "onnxruntime-gpu", "onnxruntime-gpu>=1.20; python_version > '3'", "onnxruntime-extensions"]
    assert with_build(lines, "onnxruntime-gpu") == exchanged


def test_torch_comes_from_the_index_that_has_the_fitting_build(set_up: SetUp) -> None:
    assert set_up.start()[0].startswith("--no-deps --index-url https://download.pytorch.org/whl/cpu ")
    assert set_up.start(machine(driver=NvidiaDriver(580)))[0] == "torch>=2.6,<2.14"


def test_an_unreachable_index_is_skipped(set_up: SetUp) -> None:
    set_up.fails_on = "whl/cpu"
    assert set_up.start()[1] == "torch>=2.6,<2.14"
    assert any("trying the next source" in line for line in set_up.progress.told)


def test_a_full_disk_is_noticed_before_the_download(set_up: SetUp, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 10**9))
    with pytest.raises(SetUpFailed, match=r"needs 2.5 GB in .*, where 1.0 GB are free") as failure:
        set_up.start()
    assert "Free disk space" in failure.value.remedy


@pytest.mark.slow
def test_two_starts_at_once_set_up_once(set_up: SetUp) -> None:
    """The second waits for the first and finds everything done."""
    with set_up.environment.sole_set_up(on_wait=lambda: None):
        second = threading.Thread(target=set_up.start)
        second.start()
        while not any("Waiting" in line for line in set_up.progress.told):
            second.join(0.01)
        set_up._make_venv(set_up.environment.folder)
        set_up.environment.finish(wanted_stamp(set_up.checkout, set_up.environment, machine(), PROGRAM))
    second.join()
    assert set_up.pips == []


def test_an_unwritable_folder_is_an_error_message(set_up: SetUp) -> None:
    set_up.environment.folder.write_text("a file where the folder should be")
    with pytest.raises(SetUpFailed, match="cannot be created in"):
        set_up.start()


def test_developers_may_keep_the_environment_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIMBRE_ENVIRONMENT", raising=False)
    assert find_environment(tmp_path).folder == tmp_path / ".venv"
    monkeypatch.setenv("TIMBRE_ENVIRONMENT", str(tmp_path / "elsewhere"))
    assert find_environment(tmp_path).folder == tmp_path / "elsewhere"
