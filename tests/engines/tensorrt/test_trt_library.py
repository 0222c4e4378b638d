"""Which installed TensorRT is found, and the reasons if none is usable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studio.engines.tensorrt import library
from studio.engines.tensorrt.library import Library, find_library, suits_rtx
from studio.messages import Message

WORKING = "__version__ = '{version}'\nclass Builder: pass\nclass OnnxParser: pass\n"
ADA, HOPPER = (8, 9), (9, 0)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that precedes all others, under names that are not installed."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(library, "_PACKAGES", (("some_rtx", True), ("some_trt", False)))
    for name in ("some_rtx", "some_trt"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def install(folder: Path, name: str, code: str) -> None:
    (folder / f"{name}.py").write_text(code)


def test_missing_library_is_the_reason(packages: Path) -> None:
    found = find_library(ADA)
    assert isinstance(found, Message)
    assert str(found) == "TensorRT is not installed"


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
    found = find_library(ADA)
    assert isinstance(found, Message)
    assert str(found) == "some_trt is installed, but its libraries cannot be loaded"


def test_old_version_is_the_reason(packages: Path) -> None:
    install(packages, "some_trt", WORKING.format(version="10.9.0.34"))
    assert str(find_library(ADA)) == "TensorRT 10.9.0.34 is too old; 10.13 is needed"


@pytest.mark.parametrize("version", ["10.13.3.9", "10.16.1", "11.4.0.106"])
def test_versions_10_and_11_are_supported(packages: Path, version: str) -> None:
    install(packages, "some_trt", WORKING.format(version=version))
    found = find_library(HOPPER)
    assert isinstance(found, Library)
    assert (found.version, found.is_rtx, found.engine) == (version, False, f"TensorRT {version}")


def test_rtx_edition_is_preferred_on_supported_gpus(packages: Path) -> None:
    install(packages, "some_rtx", WORKING.format(version="1.7.1"))
    install(packages, "some_trt", WORKING.format(version="11.4.0"))
    on_a_desktop, on_a_server = find_library(ADA), find_library(HOPPER)
    assert isinstance(on_a_desktop, Library)
    assert isinstance(on_a_server, Library)
    assert (on_a_desktop.name, on_a_server.name) == ("some_rtx", "some_trt")


def test_rtx_edition_does_not_support_data_centre_gpus(packages: Path) -> None:
    install(packages, "some_rtx", WORKING.format(version="1.7.1"))
    assert str(find_library(HOPPER)) == "TensorRT for RTX does not support compute capability 9.0"


def test_working_edition_is_preferred_to_a_broken_one(packages: Path) -> None:
    install(packages, "some_rtx", "raise ImportError('no')")
    install(packages, "some_trt", WORKING.format(version="11.4.0"))
    found = find_library(ADA)
    assert isinstance(found, Library)
    assert found.name == "some_trt"


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
