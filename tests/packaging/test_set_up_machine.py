"""The machine is recognised from files; unsupported ones are rejected before any download."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from set_up.failure import SetUpFailed
from set_up.machine import NvidiaDriver, find_nvidia_driver, require_supported
from set_up_fakes import machine


def write_driver(root: Path, version_line: str, *, is_reachable: bool) -> None:
    (root / "proc/driver/nvidia").mkdir(parents=True)
    (root / "proc/driver/nvidia/version").write_text(version_line)
    (root / "dev").mkdir()
    if is_reachable:
        (root / "dev/nvidiactl").touch()


@pytest.mark.parametrize(
    ("version_line", "major"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n", 550),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\nGCC version: 12.2.0\n",
            580,
        ),
        ("NVRM version: something else", None),
    ],
)
def test_the_driver_of_a_reachable_gpu_is_found(tmp_path: Path, version_line: str, major: int | None) -> None:
    write_driver(tmp_path, version_line, is_reachable=True)
    assert find_nvidia_driver("Linux", tmp_path) == NvidiaDriver(major)


def test_a_container_without_the_gpu_of_its_host_has_no_driver(tmp_path: Path) -> None:
    write_driver(tmp_path, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15", is_reachable=False)
    assert find_nvidia_driver("Linux", tmp_path) is None


def test_windows_subsystem_for_linux_shows_its_driver_as_a_library(tmp_path: Path) -> None:
    assert find_nvidia_driver("Linux", tmp_path) is None
    (tmp_path / "usr/lib/wsl/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/wsl/lib/libcuda.so.1").touch()
    assert find_nvidia_driver("Linux", tmp_path) == NvidiaDriver(None)


def test_a_mac_has_no_nvidia_driver(tmp_path: Path) -> None:
    write_driver(tmp_path, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15", is_reachable=True)
    assert find_nvidia_driver("Darwin", tmp_path) is None


def test_an_intel_mac_is_told_that_torch_has_left_it() -> None:
    with pytest.raises(SetUpFailed, match="not support Intel Macs") as failure:
        require_supported(machine("Darwin"))
    assert "arm64" in failure.value.remedy
    require_supported(replace(machine("Darwin"), architecture="arm64"))


def test_a_32_bit_python_is_told_to_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    require_supported(machine())
    monkeypatch.setattr("sys.maxsize", 2**31 - 1)
    with pytest.raises(SetUpFailed, match="32-bit") as failure:
        require_supported(machine())
    assert "64-bit" in failure.value.remedy
