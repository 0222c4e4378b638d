"""From whatever state an environment is in, one start makes it right, and the next has nothing to do."""

from __future__ import annotations

import threading
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest
from set_up.environment import Environment
from set_up.failure import SetUpFailed
from set_up.install import Installer, environment_of, wanted_stamp
from set_up.launch import _extras_for
from set_up.libraries import AptGet
from set_up.machine import Machine, NvidiaDriver
from set_up.onnx_build import onnx_build, with_build
from set_up_fakes import FakePip, QuietProgress, machine, write_project

PROGRAM = frozenset({"media"})
TESTS = frozenset({"media", "dev"})


class House:
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
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 10**12))
    monkeypatch.setattr("set_up.libraries._loads", lambda _: True)
    return House(tmp_path)


def test_a_fresh_checkout_gets_everything_and_the_next_start_nothing(house: House) -> None:
    torch, program = house.start()
    assert torch.endswith(" torch>=2.6,<2.14")
    assert program == f"--editable {house.checkout}[media]"
    told = len(house.progress.told)
    assert house.start() == []
    assert house.venvs_made == 1
    assert len(house.progress.told) == told, "a start that has nothing to do says nothing"


def test_tests_add_to_the_environment_and_the_program_is_content_with_more(house: House) -> None:
    house.start()
    assert house.start(extras=TESTS) == [f"--editable {house.checkout}[dev,media]"]
    assert house.start() == []
    assert house.venvs_made == 1


def test_new_requirements_keep_what_was_asked_for_before(house: House) -> None:
    house.start(extras=TESTS)
    project = house.checkout / "pyproject.toml"
    project.write_text(project.read_text().replace("torchless>=1", "torchless>=2"))
    assert house.start(extras=PROGRAM) == [f"--editable {house.checkout}[dev,media]"]


def test_editing_a_lint_rule_costs_no_set_up(house: House) -> None:
    house.start()
    write_project(house.checkout, line_length=80)
    assert house.start() == []


@pytest.mark.parametrize("change", ["driver", "torch", "python"])
def test_another_foundation_needs_a_new_environment(house: House, change: str) -> None:
    house.start()
    computer = machine()
    if change == "driver":
        computer = machine(driver=NvidiaDriver(580))
    elif change == "torch":
        write_project(house.checkout, requirement="torch>=2.6,<2.20")
    else:
        house.environment.python.unlink()  # the system's Python went away
    assert house.start(computer)[0].endswith("torch>=2.6,<2.20" if change == "torch" else "torch>=2.6,<2.14")
    assert house.venvs_made == 2


def test_an_interrupted_set_up_is_started_over(house: House) -> None:
    house.fails_on = "--editable"
    with pytest.raises(SetUpFailed):
        house.start()
    left_over = house.environment.folder / "lib" / "half-a-package"
    left_over.touch()
    house.fails_on = ""
    house.start()
    assert "The last set-up was interrupted; starting over." in house.progress.told
    assert not left_over.exists()
    assert house.start() == []


def test_an_environment_made_by_hand_is_kept(house: House) -> None:
    house.environment.folder.mkdir()
    house._make_venv(house.environment.folder)
    assert house.start()[-1] == f"--editable {house.checkout}[media]"
    assert house.venvs_made == 1


def test_a_damaged_stamp_counts_as_none(house: House) -> None:
    house.start()
    for damage in ("", "[]", '{"foundation": 1}', "{}"):
        (house.environment.folder / "set-up.json").write_text(damage)
        assert house.start() == [f"--editable {house.checkout}[media]"]


CARD = machine(driver=NvidiaDriver(580))


def test_with_a_card_its_onnx_runtime_takes_the_place_of_the_other(house: House) -> None:
    _, packages, program = house.start(CARD, extras=frozenset({"media", "gpu"}))
    assert packages.split() == [
        *("torchless>=1", "onnxruntime-gpu>=1.20", "onnx>=1.17", "torch>=2.6,<2.14"),
        *("tensorrt-rtx-cu13-libs>=1.5;", "sys_platform", "==", "'linux'", "av>=13"),
    ]
    assert program == f"--no-deps --editable {house.checkout}"
    assert house.start(CARD, extras=frozenset({"media", "gpu"})) == []


def test_one_that_is_there_already_goes_first(house: House) -> None:
    house.environment.folder.mkdir()
    house._make_venv(house.environment.folder)
    FakePip(house.environment).put("onnxruntime")
    assert house.start(CARD)[1] == "without onnxruntime onnxruntime-gpu"


def test_where_it_cannot_be_had_the_one_for_processors_does(house: House) -> None:
    house.fails_on = "onnxruntime-gpu"
    assert house.start(CARD)[-1] == f"--editable {house.checkout}[media]"
    assert any("onnxruntime-gpu is not available" in told for told in house.progress.told)


@pytest.mark.parametrize(
    ("computer", "build"),
    [
        (machine(), "onnxruntime"),
        (CARD, "onnxruntime-gpu"),
        (machine(driver=NvidiaDriver(None)), "onnxruntime-gpu"),  # WSL
        (machine(driver=NvidiaDriver(550)), "onnxruntime"),  # too old for the CUDA it was made with
        (machine("Darwin"), "onnxruntime"),
        (replace(machine("Windows", NvidiaDriver(None)), architecture="AMD64"), "onnxruntime-gpu"),
        (replace(CARD, architecture="aarch64"), "onnxruntime"),
    ],
)
def test_the_build_of_onnx_runtime_is_that_of_the_machine(computer: Machine, build: str) -> None:
    assert onnx_build(computer) == build
    assert ("gpu" in _extras_for(computer)) == (build == "onnxruntime-gpu")


def test_only_onnx_runtime_itself_is_exchanged() -> None:
    lines = ["onnx>=1", "onnxruntime", "onnxruntime>=1.20; python_version > '3'", "onnxruntime-extensions"]
    exchanged = ["onnx>=1", "onnxruntime-gpu", "onnxruntime-gpu>=1.20; python_version > '3'", "onnxruntime-extensions"]
    assert with_build(lines, "onnxruntime-gpu") == exchanged


def test_torch_comes_from_the_index_that_has_the_fitting_build(house: House) -> None:
    assert house.start()[0].startswith("--no-deps --index-url https://download.pytorch.org/whl/cpu ")
    assert house.start(machine(driver=NvidiaDriver(580)))[0] == "torch>=2.6,<2.14"


def test_an_unreachable_index_is_not_the_end(house: House) -> None:
    house.fails_on = "whl/cpu"
    assert house.start()[1] == "torch>=2.6,<2.14"
    assert any("trying the next source" in line for line in house.progress.told)


def test_a_full_disk_is_noticed_before_the_download(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 0, 10**9))
    with pytest.raises(SetUpFailed, match=r"needs 2.5 GB in .*, where 1.0 GB are free") as failure:
        house.start()
    assert "Free disk space" in failure.value.remedy


def test_two_starts_at_once_set_up_once(house: House) -> None:
    """The second waits for the first and finds everything done."""
    with house.environment.sole_set_up(on_wait=lambda: None):
        second = threading.Thread(target=house.start)
        second.start()
        while not any("Waiting" in line for line in house.progress.told):
            second.join(0.01)
        house._make_venv(house.environment.folder)
        house.environment.finish(wanted_stamp(house.checkout, house.environment, machine(), PROGRAM))
    second.join()
    assert house.pips == []


def test_a_folder_that_cannot_be_written_is_a_sentence(house: House) -> None:
    house.environment.folder.write_text("a file where the folder should be")
    with pytest.raises(SetUpFailed, match="cannot be created in"):
        house.start()


def test_developers_may_keep_the_environment_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIMBRE_ENVIRONMENT", raising=False)
    assert environment_of(tmp_path).folder == tmp_path / ".venv"
    monkeypatch.setenv("TIMBRE_ENVIRONMENT", str(tmp_path / "elsewhere"))
    assert environment_of(tmp_path).folder == tmp_path / "elsewhere"
