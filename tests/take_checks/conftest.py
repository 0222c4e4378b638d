"""The bundled model and a take of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from checked_takes import MODEL, TEXT, Take, speak

from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions
from studio.pipeline.synthesizer import Synthesizer


@pytest.fixture(scope="session")
def synthesizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synthesizer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIMBRE_CACHE", str(tmp_path_factory.mktemp("cache")))
        opened = load_synthesizer(MODEL, EngineOptions(speech_lm_precision="float32", num_threads=1))
        speak(opened, "Yes.")  # chooses the heads
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def take(synthesizer: Synthesizer) -> Take:
    samples, evidence = speak(synthesizer, TEXT)
    return Take(synthesizer, samples, evidence)
