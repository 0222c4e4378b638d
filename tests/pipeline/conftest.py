"""A small model with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import noise_models
import pytest

from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions
from studio.pipeline.synthesizer import Synthesizer


@pytest.fixture
def synthesizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Synthesizer]:
    """Return a synthesizer that caches voices in the test's folder."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    opened = load_synthesizer(noise_models.V3, EngineOptions(speech_lm_precision="float32", num_threads=1))
    yield opened
    opened.close()
