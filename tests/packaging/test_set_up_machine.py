"""The machine is recognised from files; unsupported ones are rejected before any download."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from set_up.failure import SetUpFailed
from set_up.machine import NvidiaDriver, find_nvidia_driver, require_supported
from set_up_fakes import machine

R580 = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Mar  5 22:23:56 UTC 2026"


class FakeDriver:
    """The driver's library: its CUDA version, and the compute capabilities of its GPUs."""

    def __init__(self, cuda_version: int, *capabilities: tuple[int, int], is_broken: bool = False) -> None:
        self.cuda_version = cuda_version
        self.capabilities = capabilities
        self.status = 100 if is_broken else 0
        self.is_started = False

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = self.cuda_version
        return 0

    def cuInit(self, _flags: int) -> int:  # noqa: N802
        self.is_started = True
        return self.status

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = len(self.capabilities)
        return self.status

    def cuDeviceGet(self, device: Any, index: int) -> int:  # noqa: N802
        device._obj.value = index + 10
        return self.status

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:  # noqa: N802
        value._obj.value = self.capabilities[device.value - 10][{75: 0, 76: 1}[attribute]]
        return self.status


def write_gpus(root: Path, *device_ids: str) -> None:
    for number, device_id in enumerate(device_ids):
        folder = root / "sys/bus/pci/devices" / f"0000:{number:02}:00.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text("0x10de\n" if number else "0x8086\n")
        (folder / "class").write_text("0x040300\n" if device_id == "0x22ba" else "0x030000\n")
        (folder / "device").write_text(f"{device_id}\n")


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


@pytest.mark.parametrize(
    ("device_ids", "is_old"),
    [
        (["0x9a49", "0x1b80"], True),  # Intel, GTX 1080
        (["0x9a49", "0x1db6", "0x1d81"], True),  # V100, Titan V
        (["0x9a49", "0x1e02"], False),  # Titan RTX, the first of Turing
        (["0x9a49", "0x2684", "0x22ba"], False),  # RTX 4090 and its sound device
        (["0x9a49", "0x1b80", "0x2684"], False),  # the newer one is used
        (["0x9a49"], False),
        ([], False),
    ],
)
def test_linux_shows_whether_all_gpus_are_older_than_turing(
    tmp_path: Path, device_ids: list[str], is_old: bool
) -> None:
    write_driver(tmp_path, R580, is_reachable=True)
    write_gpus(tmp_path, *device_ids)
    assert find_nvidia_driver("Linux", tmp_path) == NvidiaDriver(580, is_before_turing=is_old)


@pytest.mark.parametrize(
    ("library", "driver"),
    [
        (FakeDriver(12040), NvidiaDriver(525)),
        (FakeDriver(11080), NvidiaDriver(450)),
        (FakeDriver(13000, (6, 1)), NvidiaDriver(580, is_before_turing=True)),
        (FakeDriver(13000, (6, 1), (8, 9)), NvidiaDriver(580)),
        (FakeDriver(13000, is_broken=True), NvidiaDriver(580)),
        (FakeDriver(13010, (8, 6)), NvidiaDriver(590)),
    ],
)
def test_windows_asks_the_library_of_the_driver(library: FakeDriver, driver: NvidiaDriver) -> None:
    asked: list[str] = []

    def load(path: str) -> FakeDriver:
        asked.append(path)
        return library

    assert find_nvidia_driver("Windows", load=load) == driver
    assert asked == ["nvcuda.dll"]
    assert library.is_started == (library.cuda_version == 13000), "starting it takes time"


def test_windows_without_a_driver_has_no_library() -> None:
    def load(_path: str) -> None:
        raise OSError("not found")

    assert find_nvidia_driver("Windows", load=load) is None


def test_a_container_without_the_gpu_of_its_host_has_no_driver(tmp_path: Path) -> None:
    write_driver(tmp_path, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15", is_reachable=False)
    assert find_nvidia_driver("Linux", tmp_path) is None


def test_windows_subsystem_for_linux_shows_its_driver_as_a_library(tmp_path: Path) -> None:
    assert find_nvidia_driver("Linux", tmp_path) is None
    (tmp_path / "usr/lib/wsl/lib").mkdir(parents=True)
    library = tmp_path / "usr/lib/wsl/lib/libcuda.so.1"
    library.touch()
    assert find_nvidia_driver("Linux", tmp_path) == NvidiaDriver(None), "an empty file cannot be loaded"
    load = {str(library): FakeDriver(12080)}.__getitem__
    assert find_nvidia_driver("Linux", tmp_path, load=load) == NvidiaDriver(525)


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
