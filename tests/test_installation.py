"""What to do about a missing part depends on how the program came here."""

from __future__ import annotations

import sys

import pytest

from studio import installation


def test_a_checkout_is_set_up_again() -> None:
    for remedy in (installation.how_to_mend(), installation.how_to_use_card(), installation.how_to_show_window()):
        assert "packaging/run.py" in str(remedy)


def test_an_installed_program_is_installed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert str(installation.how_to_mend()) == "Install the program again."
    assert "README.txt" in str(installation.how_to_show_window())
    assert "for the processor" in str(installation.how_to_use_card())
