"""Which installed TensorRT is found, and the reasons if none is usable."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from studio.engines.stage import Device, Stage
from studio.engines.tensorrt import library
from studio.engines.tensorrt.candidates import CANDIDATES
from studio.engines.tensorrt.library import Library, find_library, suits_rtx
from studio.messages import Message
from studio.model.device_kind import DeviceKind

WORKING = "__version__ = '{version}'\nclass Builder: pass\nclass OnnxParser: pass\n"
ADA = Device(DeviceKind.CUDA, "NVIDIA GeForce RTX 4090", 8, 24 << 30, 0, (8, 9), "580.95.05")
HOPPER = replace(ADA, name="NVIDIA H200", compute_capability=(9, 0))
VOLTA = replace(ADA, name="NVIDIA TITAN V", compute_capability=(7, 0))


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that precedes all others, under names that are not installed."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(library, "_MODULES", {True: "some_rtx", False: "some_trt"})
    for name in ("some_rtx", "some_trt"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def install(folder: Path, name: str, code: str) -> None:
    (folder / f"{name}.py").write_text(code)


@pytest.mark.parametrize(
    ("device", "is_rtx", "reason"),
    [
        (ADA, True, "TensorRT for RTX is not installed (pip install 'timbre-studio[gpu]')"),
        (ADA, False, "TensorRT is not installed (pip install 'timbre-studio[tensorrt]')"),
        (HOPPER, True, "TensorRT for RTX does not support compute capability 9.0"),
        (HOPPER, False, "TensorRT is not installed (pip install 'timbre-studio[tensorrt]')"),
        (VOLTA, True, "TensorRT for RTX does not support compute capability 7.0"),
        (VOLTA, False, "TensorRT does not support compute capability 7.0"),
    ],
)
def test_each_edition_gives_the_reason_that_helps(packages: Path, device: Device, is_rtx: bool, reason: str) -> None:
    assert str(find_library(device, is_rtx=is_rtx)) == reason


@pytest.mark.parametrize(
    "code",
    [
        "raise ImportError('libnvinfer.so.11: cannot open shared object file')",
        "raise FileNotFoundError('nvinfer')",
        "import a_package_that_does_not_exist",
        "__version__ = '11.4.0'",
        "",
    ],
)
def test_installation_without_shared_libraries_is_the_reason(packages: Path, code: str) -> None:
    install(packages, "some_trt", code)
    found = find_library(ADA, is_rtx=False)
    assert isinstance(found, Message)
    assert str(found) == "some_trt is installed, but its libraries cannot be loaded"


def test_old_version_is_the_reason(packages: Path) -> None:
    install(packages, "some_trt", WORKING.format(version="10.9.0.34"))
    assert str(find_library(ADA, is_rtx=False)) == "TensorRT 10.9.0.34 is too old; 10.13 is needed"


@pytest.mark.parametrize("version", ["10.13.3.9", "10.16.1", "11.4.0.106"])
def test_versions_10_and_11_are_supported(packages: Path, version: str) -> None:
    install(packages, "some_trt", WORKING.format(version=version))
    found = find_library(HOPPER, is_rtx=False)
    assert isinstance(found, Library)
    assert (found.version, found.is_rtx, found.engine) == (version, False, f"TensorRT {version}")


def test_both_editions_are_found_beside_each_other(packages: Path) -> None:
    install(packages, "some_rtx", WORKING.format(version="1.7.1"))
    install(packages, "some_trt", WORKING.format(version="11.4.0"))
    found = [find_library(ADA, is_rtx=is_rtx) for is_rtx in (True, False)]
    assert [library.engine for library in found if isinstance(library, Library)] == [
        "TensorRT for RTX 1.7.1",
        "TensorRT 11.4.0",
    ]


def test_driver_is_the_reason_where_it_is_older_than_the_package(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(packages, "some_rtx", WORKING.format(version="1.7.1"))
    monkeypatch.setattr("importlib.metadata.version", {"tensorrt-rtx-cu13-bindings": "1.7.1"}.__getitem__)
    old = find_library(replace(ADA, driver="550.54"), is_rtx=True)
    assert str(old) == "the installed TensorRT for RTX needs an NVIDIA driver of version 580 or later"
    assert isinstance(find_library(replace(ADA, driver="cuda-13.0"), is_rtx=True), Library), "an unknown driver"
    monkeypatch.setattr(library, "_is_installed", lambda _package: False)
    assert isinstance(find_library(replace(ADA, driver="550.54"), is_rtx=True), Library), "the package for CUDA 12"


def test_both_editions_are_tried() -> None:
    """And 8 bits only with the edition that computes in them."""
    names = [candidate.name for candidate in CANDIDATES if candidate.stage is Stage.VOCODER]
    assert names == [
        *("tensorrt-rtx-float16", "tensorrt-rtx-float32"),
        *("tensorrt-float16", "tensorrt-float32", "tensorrt-int8"),
    ]
    assert {candidate.engine for candidate in CANDIDATES} == {"TensorRT", "TensorRT for RTX"}


@pytest.mark.parametrize(
    ("capability", "suits"),
    [
        ((7, 0), False),
        ((7, 5), True),
        ((8, 0), False),
        ((8, 6), True),
        ((8, 9), True),
        ((9, 0), False),
        ((12, 0), True),
    ],
)
def test_compute_capabilities_of_the_rtx_edition(capability: tuple[int, int], suits: bool) -> None:
    assert suits_rtx(capability) is suits
