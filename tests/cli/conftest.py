"""A terminal with its own folder and user data."""

from __future__ import annotations

from pathlib import Path

import noise_models
import pytest
from terminal import Terminal

CLIP = Path(__file__).parent.parent / "reference" / "inputs" / "prompt_a.wav"


@pytest.fixture
def timbre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    for variable in ("TIMBRE_DATA", "TIMBRE_CACHE", "TIMBRE_LOGS", "TIMBRE_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / variable[7:].lower()))
    for model in ("quiet", "missing", "no-torch"):
        (tmp_path / "data" / "models" / model).mkdir(parents=True)
    noise_models.install_in(tmp_path / "data" / "models")
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsys)


@pytest.fixture
def clip() -> Path:
    return CLIP
