"""Recorded runs over prompt and text fill the memory as the plain decoder does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from graph_cases import checkpoint_of

from studio.engines.cuda_graph.prefill import SIZES, RecordedPrefill
from studio.model.config import Precision
from studio.model.speech_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest

REQUEST = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)))


@pytest.fixture
def speech_lm(reference: Path, family: str) -> TorchSpeechLM:
    found = checkpoint_of(reference, family).load_speech_lm(Precision.FLOAT32, "cpu")
    assert isinstance(found, TorchSpeechLM)
    return found


def recorded(prefill: RecordedPrefill, request: SpeechTokenRequest) -> torch.Tensor | None:
    with prefill.states(request) as states:
        return None if states is None else states.clone()


def plain_states(speech_lm: TorchSpeechLM, request: SpeechTokenRequest) -> torch.Tensor:
    """Return all states but those of the last prompt token, which the first step computes."""
    cache = speech_lm.open_cache(1000)
    rest = speech_lm.begin(request, cache)
    speech_lm.hidden_states(rest[:-1], cache)
    return cache.filled()


def assert_equal(found: torch.Tensor | None, wanted: torch.Tensor) -> None:
    assert found is not None
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() <= 1e-4


def test_states_equal_the_plain_decoder(speech_lm: TorchSpeechLM) -> None:
    """Inputs of several sizes, longer and shorter ones in turn, of two voices."""
    prefill = RecordedPrefill(speech_lm)
    other = replace(REQUEST, prompt_text_tokens=tuple(range(50)))
    longer = replace(REQUEST, prompt_speech_tokens=tuple(range(150)))
    for request in (longer, REQUEST, other, longer, replace(other, text_tokens=tuple(range(SIZES[0] - 18)))):
        assert_equal(recorded(prefill, request), plain_states(speech_lm, request))


def test_voice_is_computed_once(speech_lm: TorchSpeechLM, monkeypatch: pytest.MonkeyPatch) -> None:
    prefill = RecordedPrefill(speech_lm)
    starts: list[int] = []
    advance = prefill._advance

    def noted(embeddings: torch.Tensor, start: int) -> None:
        starts.append(start)
        advance(embeddings, start)

    monkeypatch.setattr(prefill, "_advance", noted)
    recorded(prefill, REQUEST)
    recorded(prefill, replace(REQUEST, text_tokens=(3, 8)))
    assert starts == [0, 4, 4]


def test_other_inputs_are_left_to_the_plain_decoder(speech_lm: TorchSpeechLM) -> None:
    prefill = RecordedPrefill(speech_lm)
    assert recorded(prefill, replace(REQUEST, prompt_speech_tokens=())) is None
    assert recorded(prefill, replace(REQUEST, prompt_speech_tokens=tuple(range(700)) * 2)) is None
    assert recorded(prefill, replace(REQUEST, prompt_text_tokens=tuple(range(600)), text_tokens=(1,) * 400)) is None


def test_values_that_are_not_finite_do_not_remain(speech_lm: TorchSpeechLM) -> None:
    prefill = RecordedPrefill(speech_lm)
    with torch.inference_mode():
        prefill._cache.states.fill_(float("nan"))
    prefill.clear()
    assert_equal(recorded(prefill, REQUEST), plain_states(speech_lm, REQUEST))


def test_recording_all_sizes_changes_no_result(speech_lm: TorchSpeechLM) -> None:
    prefill = RecordedPrefill(speech_lm)
    once = recorded(prefill, REQUEST)
    for record in prefill.recordings():
        record()
    again = recorded(prefill, REQUEST)
    assert once is not None
    assert again is not None
    assert torch.equal(once, again)
