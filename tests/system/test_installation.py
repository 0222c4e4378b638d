"""Hints about missing parts depend on how the program was installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studio import paths
from studio.system import installation


def test_a_checkout_suggests_the_set_up() -> None:
    for remedy in (installation.repair_hint(), installation.how_to_use_card(), installation.how_to_show_window()):
        assert "packaging/run.py" in str(remedy)


def test_a_frozen_program_suggests_reinstalling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert str(installation.repair_hint()) == "Install the program again."
    assert "README.txt" in str(installation.how_to_show_window())
    assert "for CPUs" in str(installation.how_to_use_card())


def test_a_pip_installation_suggests_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resources of an installed package are inside it, those of a checkout beside it."""
    assert str(installation.origin_text()) == "source checkout"
    package = Path(paths.__file__).resolve().parent
    monkeypatch.setattr(paths, "resources", lambda: package / "resources")
    assert str(installation.origin_text()) == "pip or uv"
    assert "pip install --force-reinstall" in str(installation.repair_hint())
    assert "pytorch.org" in str(installation.how_to_use_card())
