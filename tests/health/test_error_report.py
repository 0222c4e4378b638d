"""The error report: the error, the versions and the machine, without personal data."""

from __future__ import annotations

import getpass
from pathlib import Path

import studio
from studio.catalog.machine import Gpu, MachineFacts
from studio.errors import VoiceNotFound
from studio.health.error_report import error_report

_GPU = Gpu("NVIDIA GeForce RTX 4070", 12 << 30, "580.1", 12 << 30)
_MACHINE = MachineFacts("A processor", 8, 32 << 30, 20 << 30, 400 << 30, _GPU)


def test_a_report_contains_the_error_and_versions_but_no_personal_data() -> None:
    error = VoiceNotFound(
        "There is no voice {name} in {path}.", remedy="Add {name}.", name="Aunt Mary", path=Path.home() / "voices"
    )
    report = error_report(error, look=lambda: _MACHINE)
    lines = dict(line.split(": ", 1) for line in report.splitlines())
    assert lines["error"] == "voice-not-found"
    assert lines["happened"] == "There is no voice ‹name› in ‹path›."
    assert lines["remedy"] == "Add ‹name›."
    assert lines["program"] == f"Timbre Studio {studio.__version__}, source checkout"
    assert "Python 3." in lines["versions"]
    assert "torch 2." in lines["versions"]
    assert lines["card"] == "NVIDIA GeForce RTX 4070, 12.0 GB, driver 580.1"
    assert "Mary" not in report
    assert str(Path.home()) not in report
    assert f"/{getpass.getuser()}" not in report


def test_a_missing_gpu_is_reported() -> None:
    machine = MachineFacts("A processor", 2, 8 << 30, 50 << 20, 1 << 40, None)
    report = error_report(VoiceNotFound("There is no voice."), look=lambda: machine)
    assert "card: no NVIDIA GPU" in report
    assert "memory: 8.0 GB, 50 MB free" in report
