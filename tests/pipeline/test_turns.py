"""A line of a batch has its turn for its sound alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import noise_models
import pytest

from studio.model.stages import SpeechTokenRequest, TokenSampler
from studio.pipeline.control import RequestControl
from studio.pipeline.opening import open_synthesizer
from studio.pipeline.pacing import Pace
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference


def test_nobody_waits_in_a_turn_for_the_tokens_of_a_later_sentence(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a start without gaps is far, a line that is listened to looks ahead; one of a batch is in others' way."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    synthesizer = open_synthesizer(noise_models.V3, EngineOptions(speech_lm_precision="float32", num_threads=1))
    speech_lm = synthesizer.stages.speech_lm
    generate = speech_lm.generate
    monkeypatch.setattr(Pace, "speech_lm_seconds", lambda pace, num_tokens: 10.0 * num_tokens)
    is_in_turn = False
    made: list[bool] = []

    class Turns:
        def __enter__(self) -> None:
            nonlocal is_in_turn
            is_in_turn = True

        def __exit__(self, *_: object) -> None:
            nonlocal is_in_turn
            is_in_turn = False

    def generated(request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        for token in generate(request, sampler):
            made.append(is_in_turn)
            yield token

    monkeypatch.setattr(speech_lm, "generate", generated)
    monkeypatch.setattr(synthesizer, "_turns", Turns())
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", name="a")
    request = SynthesisRequest("One. [pause 0.1] Two.", voice, forced_tokens=70)
    list(synthesizer.stream(request, control=RequestControl(), in_batch=True))
    assert len(made) >= 140
    assert not any(made)
    synthesizer.close()
