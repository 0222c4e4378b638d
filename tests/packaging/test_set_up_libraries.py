"""Missing system libraries are installed for root, explained to others, and never stop a start."""

from __future__ import annotations

import pytest
from set_up import libraries
from set_up.failure import SetUpFailed
from set_up.libraries import (
    LINUX_LIBRARIES,
    AptGet,
    how_to_install,
    missing_libraries,
    provide_libraries,
    provide_test_programs,
    require_venv,
)
from set_up_fakes import QuietProgress, machine


class FakeDebian:
    """Libraries appear when apt-get installs something, unless its mirrors are out of reach."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, has_mirror: bool = True) -> None:
        self.commands: list[str] = []
        self.has_library = False
        self._has_mirror = has_mirror
        self.progress = QuietProgress()
        self.apt_get = AptGet(self.progress, self._run)
        monkeypatch.setattr(libraries, "_loads", lambda _: self.has_library)
        monkeypatch.setattr(libraries, "_has_program", lambda name: name == "apt-get")

    def _run(self, command: list[str]) -> bool:
        self.commands.append(" ".join(command))
        self.has_library = self._has_mirror and "install" in command
        return self._has_mirror


def test_root_gets_them_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = FakeDebian(monkeypatch)
    provide_libraries(machine(is_root=True), debian.apt_get, debian.progress)
    assert debian.commands[0] == "apt-get update"
    assert debian.commands[1].startswith("apt-get install -y --no-install-recommends libportaudio2 libgl1 libegl1 ")
    assert not any("Missing" in line for line in debian.progress.told)
    provide_libraries(machine(is_root=True), debian.apt_get, debian.progress)
    assert len(debian.commands) == 2


def test_others_are_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = FakeDebian(monkeypatch)
    provide_libraries(machine(), debian.apt_get, debian.progress)
    assert debian.commands == []
    assert "playing and recording sound" in debian.progress.told[0]
    assert "sudo apt-get install libportaudio2" in debian.progress.told[0]


def test_a_machine_without_mirrors_still_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = FakeDebian(monkeypatch, has_mirror=False)
    provide_libraries(machine(is_root=True), debian.apt_get, debian.progress)
    assert "Missing: libportaudio.so.2, needed for playing" in debian.progress.told[-2]
    assert "needed for showing the window" in debian.progress.told[-1]


def test_other_distributions_have_other_commands() -> None:
    library = LINUX_LIBRARIES[0]
    assert how_to_install(library, has_program=lambda name: name == "dnf") == "sudo dnf install portaudio"
    assert how_to_install(library, has_program=lambda name: name == "pacman") == "sudo pacman -S portaudio"
    assert "libportaudio.so.2" in how_to_install(library, has_program=lambda _: False)


def test_one_command_gets_all_that_the_window_needs() -> None:
    of_window = [library for library in LINUX_LIBRARIES if library.purpose == "showing the window"]
    command = how_to_install(*of_window, has_program=lambda name: name == "pacman")
    assert command.startswith("sudo pacman -S libglvnd glib2 ")
    assert len(command.split()) == len(set(command.split()))


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_where_wheels_bring_their_own_libraries_none_is_missing(system: str) -> None:
    assert missing_libraries(machine(system), lambda _: False) == []


def test_a_python_without_ensurepip_gets_its_package_or_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = FakeDebian(monkeypatch)
    require_venv(machine(), debian.apt_get, lambda: True)
    require_venv(machine(is_root=True), debian.apt_get, lambda: False)
    assert debian.commands[-1].endswith("python3.11-venv")
    with pytest.raises(SetUpFailed, match="ensurepip") as failure:
        require_venv(machine(), debian.apt_get, lambda: False)
    assert "sudo apt-get install python3.11-venv" in failure.value.remedy


def test_programs_for_tests_are_installed_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    debian = FakeDebian(monkeypatch)
    provide_test_programs(machine(is_root=True), debian.apt_get, lambda _: True)
    provide_test_programs(machine(), debian.apt_get, lambda _: False)
    provide_test_programs(machine("Darwin", is_root=True), debian.apt_get, lambda _: False)
    assert debian.commands == []
    provide_test_programs(machine(is_root=True), debian.apt_get, lambda _: False)
    assert debian.commands[-1].endswith(" strace xvfb openbox xdotool")
    provide_test_programs(machine(is_root=True), debian.apt_get, lambda name: name != "Xvfb")
    assert debian.commands[-1].endswith(" xvfb")
