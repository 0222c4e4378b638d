"""Voice conversion loads no language model; later synthesis does, with the same result as ever."""

from __future__ import annotations

from pathlib import Path

import noise_models
import numpy as np
import pytest

from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import ConversionRequest, EngineOptions, RequestControl, SynthesisRequest, VoiceReference
from studio.pipeline.stage_opener import StageOpener
from studio.pipeline.synthesizer import Chunks, Synthesizer

CLIP = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"
VOICE = VoiceReference(CLIP, transcript="A short prompt.", name="a")
REQUEST = SynthesisRequest("One sentence only.", VOICE, forced_tokens=20)


@pytest.fixture
def num_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Record each loaded language model."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    loaded: list[int] = []
    load = StageOpener.speech_lm

    def counted(opener: StageOpener) -> object:
        loaded.append(1)
        return load(opener)

    monkeypatch.setattr(StageOpener, "speech_lm", counted)
    return loaded


def opened(*, loads_speech_lm: bool) -> Synthesizer:
    options = EngineOptions(speech_lm_precision="float32", num_threads=1, loads_speech_lm=loads_speech_lm)
    return load_synthesizer(noise_models.V3, options)


def samples(chunks: Chunks) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])


@pytest.mark.slow
def test_conversion_loads_no_language_model(num_loaded: list[int]) -> None:
    synthesizer = opened(loads_speech_lm=False)
    heard = samples(synthesizer.convert(ConversionRequest(CLIP, VOICE), control=RequestControl()))
    assert len(heard)
    assert num_loaded == []
    assert synthesizer.description.stages["speech_lm"] == "not loaded"
    synthesizer.close()


@pytest.mark.slow
def test_the_first_text_loads_the_language_model_once(num_loaded: list[int]) -> None:
    usual, deferred = opened(loads_speech_lm=True), opened(loads_speech_lm=False)
    num_loaded.clear()
    expected = samples(usual.stream(REQUEST, control=RequestControl()))
    for _ in range(2):
        assert np.array_equal(samples(deferred.stream(REQUEST, control=RequestControl())), expected)
    assert num_loaded == [1]
    assert deferred.description.stages["speech_lm"] == usual.stages.speech_lm.engine
    usual.close()
    deferred.close()
