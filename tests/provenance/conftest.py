"""Signed files with a key of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import Statement, spoken_line


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))


@pytest.fixture
def c2pa() -> None:
    """The optional library, without which files are neither signed nor inspected."""
    pytest.importorskip("c2pa")


@pytest.fixture
def signer(c2pa: None) -> FileSigner:
    return FileSigner(Signing())


@pytest.fixture
def statement(tmp_path: Path) -> Statement:
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"a clip")
    request = SynthesisRequest("A secret sentence.", VoiceReference(clip, None, "Ada"), seed=7, speed=1.25)
    return Statement("mini", "Apache-2.0", (spoken_line(request),), edits=("joined",))
