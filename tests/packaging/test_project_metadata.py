"""Dependencies and extras of the project file; GPU packages are optional."""

from __future__ import annotations

import importlib
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import studio

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
MACHINES = {
    "Linux": {"sys_platform": "linux", "platform_machine": "x86_64", "platform_system": "Linux"},
    "Linux on ARM": {"sys_platform": "linux", "platform_machine": "aarch64", "platform_system": "Linux"},
    "Windows": {"sys_platform": "win32", "platform_machine": "AMD64", "platform_system": "Windows"},
    "macOS": {"sys_platform": "darwin", "platform_machine": "arm64", "platform_system": "Darwin"},
}
EXTRAS = PROJECT["project"]["optional-dependencies"]


def wanted(machine: str, *extras: str, python: str = "3.12") -> dict[str, Requirement]:
    """The requirements that count on a machine, by name."""
    environment = MACHINES[machine] | {"python_version": python}
    lines = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    requirements = [Requirement(line) for line in lines]
    return {
        one.name.lower(): one for one in requirements if one.marker is None or one.marker.evaluate(dict(environment))
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_without_extras_nothing_of_a_graphics_card_is_installed(machine: str) -> None:
    names = wanted(machine)
    assert {"torch", "onnxruntime", "sounddevice", "huggingface_hub"} <= set(names)
    assert not [name for name in names if name.startswith(("nvidia", "tensorrt", "vllm", "av", "onnxruntime-"))]


@pytest.mark.parametrize("machine", MACHINES)
def test_no_choice_of_extras_installs_two_onnx_runtimes(machine: str) -> None:
    runtimes = [name for name in wanted(machine, *EXTRAS) if name.startswith("onnxruntime")]
    assert runtimes == ["onnxruntime"]


def test_each_extra_is_asked_for_only_where_it_can_be_installed() -> None:
    trt = {"tensorrt-rtx-cu13-bindings", "tensorrt-rtx-cu13-libs"}
    added = {machine: set(wanted(machine, "gpu", "vllm")) - set(wanted(machine)) for machine in MACHINES}
    assert added == {"Linux": {*trt, "vllm"}, "Linux on ARM": {"vllm"}, "Windows": trt, "macOS": set()}
    assert set(wanted("Linux", "tensorrt")) - set(wanted("Linux")) == {"tensorrt"}
    assert set(wanted("macOS", "tensorrt")) == set(wanted("macOS"))
    assert set(wanted("macOS", "media")) - set(wanted("macOS")) == {"av"}


def test_vllm_and_the_program_want_the_same_torch() -> None:
    """vLLM pins one torch exactly: 0.32 takes 2.13.0, 0.33 takes 2.14."""
    torch, vllm = wanted("Linux")["torch"].specifier, wanted("Linux", "vllm")["vllm"].specifier
    assert "2.13.0" in torch
    assert "2.14.0" not in torch
    assert "0.32.0" in vllm
    assert "0.31.0" not in vllm, "listens on all network interfaces"
    assert "0.33.0" not in vllm


def test_only_the_window_needs_qt() -> None:
    without_window = {extra for extra in EXTRAS if extra != "app"}
    assert not {"pyside6-essentials", "qasync"} & set(wanted("Linux", *without_window))
    assert {"pyside6-essentials", "qasync"} <= set(wanted("Linux", "app"))


def test_a_qt_that_dies_with_python_3_11_is_not_installed_there() -> None:
    assert "6.12.0" not in wanted("Linux", "app", python="3.11")["pyside6-essentials"].specifier
    assert "6.12.0" in wanted("Linux", "app", python="3.12")["pyside6-essentials"].specifier


def test_every_upper_bound_has_a_reason() -> None:
    lines = (CHECKOUT / "pyproject.toml").read_text("utf-8").splitlines()
    for before, line in pairwise(lines):
        if (found := re.match(r'(?:\w+ = \[)?\s*"([\w.\[\]-]+)[^";]*(<|==)', line)) and found[1] != "requires-python":
            assert "#" in line or before.lstrip().startswith("#"), line


def test_the_command_and_the_version_are_where_the_project_says() -> None:
    module, function = PROJECT["project"]["scripts"]["timbre"].split(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "studio/__init__.py"
    assert f'"{studio.__version__}"' in (CHECKOUT / "studio" / "__init__.py").read_text("utf-8")


def test_the_wheel_takes_along_what_ships_with_the_program() -> None:
    """Models, voices, translations and all: where ``paths.resources`` looks in an installed package."""
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"] == {"resources": "studio/resources"}
    assert {"models", "voices", "translations", "catalog", "styles", "icons"} <= {
        path.name for path in (CHECKOUT / "resources").iterdir()
    }
