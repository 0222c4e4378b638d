"""Hints about missing parts depend on how the program was installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studio import paths
from studio.system import installation


def test_a_checkout_suggests_the_set_up() -> None:
    without_library = installation.how_to_show_window(ImportError("libEGL.so.1"))
    for remedy in (installation.repair_hint(), installation.gpu_torch_hint(), without_library):
        assert "packaging/run.py" in str(remedy)
    source = paths.resources().parent
    assert str(installation.how_to_add("cluster")) == (
        f"Install them: {sys.executable} -m pip install --editable '{source}[cluster]'."
    )
    assert installation.how_to_show_window(ModuleNotFoundError("PySide6")) == installation.how_to_add("app")


def test_a_frozen_program_suggests_reinstalling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert str(installation.repair_hint()) == "Install the program again."
    assert "README.txt" in str(installation.how_to_show_window(ImportError()))
    assert str(installation.how_to_add("serve")) == "Install the program again."
    assert "from its source" in str(installation.how_to_add("triton"))
    assert "for CPUs" in str(installation.gpu_torch_hint())


def test_a_pip_installation_suggests_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resources of an installed package are inside it, those of a checkout beside it."""
    assert str(installation.origin_text()) == "source checkout"
    package = Path(paths.__file__).resolve().parent
    monkeypatch.setattr(paths, "resources", lambda: package / "resources")
    assert str(installation.origin_text()) == "pip or uv"
    assert "pip install --force-reinstall" in str(installation.repair_hint())
    assert "pytorch.org" in str(installation.gpu_torch_hint())
    assert "in the folder of the source" in str(installation.how_to_add("serve"))
    assert "'.[serve]'" in str(installation.how_to_add("serve"))
