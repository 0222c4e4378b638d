"""CUDA stream and memory slot of a request, the latter only while a line of a batch is decoded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from studio.model.stages import FlowPromptState, FlowStream, SpeechTokenRequest, TokenSampler
from studio.pipeline.pacing import CostModel
from studio.pipeline.request import Cancelled, ConversionRequest, RequestControl, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer


@pytest.fixture
def voice(reference: Path) -> VoiceReference:
    return VoiceReference(reference / "inputs" / "prompt_a.wav", name="a")


@pytest.mark.slow
def test_every_request_uses_a_separate_gpu_stream(
    synthesizer: Synthesizer, voice: VoiceReference, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    within: list[bool] = []
    is_within_when_opened: list[bool] = []
    open_stream = synthesizer.stages.flow.open_stream

    @contextmanager
    def cuda_stream(_: str) -> Iterator[None]:
        within.append(True)
        yield
        within.pop()

    def opened(*arguments: Any, **options: Any) -> FlowStream:
        is_within_when_opened.append(bool(within))
        return open_stream(*arguments, **options)

    monkeypatch.setattr(synthesizer.stages.flow, "open_stream", opened)
    monkeypatch.setattr("studio.pipeline.synthesizer.cuda_stream", cuda_stream)
    request, control = SynthesisRequest("One.", voice, forced_tokens=30), RequestControl()
    recording = ConversionRequest(reference / "inputs" / "prompt_b.wav", voice)
    for chunks in (
        synthesizer.stream(request, control=control),
        synthesizer.stream(request, control=control, in_batch=True),
        synthesizer.convert(recording, control=control),
    ):
        list(chunks)
        assert not within
    assert is_within_when_opened == [True] * 3


@pytest.mark.slow
def test_a_line_of_a_batch_fetches_the_flow_state_only_with_a_slot(
    synthesizer: Synthesizer, voice: VoiceReference, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiting line must not hold one, because a GPU has memory for few flow states."""
    flow, speech_lm = synthesizer.stages.flow, synthesizer.stages.speech_lm
    prepare, generate = flow.prepare_prompt, speech_lm.generate
    steps: list[str] = []

    class Turns:
        def acquire(self, timeout: float) -> bool:
            steps.append("turn")
            return True

        def release(self) -> None:
            steps.append("over")

    def prepared(*arguments: Any, **options: Any) -> FlowPromptState:
        steps.append("state")
        return prepare(*arguments, **options)

    def generated(request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        steps.append("tokens")
        return generate(request, sampler)

    monkeypatch.setattr(flow, "prepare_prompt", prepared)
    monkeypatch.setattr(speech_lm, "generate", generated)
    monkeypatch.setattr(synthesizer, "_slots", Turns())
    request = SynthesisRequest("One.", voice, forced_tokens=30)
    list(synthesizer.stream(request, control=RequestControl(), in_batch=True))
    assert steps == ["tokens", "turn", "state", "over"]


@pytest.mark.slow
def test_a_whole_utterance_does_not_fetch_the_flow_state(
    synthesizer: Synthesizer, voice: VoiceReference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthesizer.stages.flow, "prepare_prompt", None)
    request = SynthesisRequest("One.", voice, forced_tokens=30, is_streaming=False)
    (chunk,) = synthesizer.stream(request, control=RequestControl())
    assert len(chunk.samples) > 0


@pytest.mark.slow
def test_a_line_with_a_slot_does_not_wait_for_tokens_of_later_sentences(
    synthesizer: Synthesizer, voice: VoiceReference, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a single line runs ahead for an exact start estimate; in a batch, that would delay other lines."""
    speech_lm = synthesizer.stages.speech_lm
    generate = speech_lm.generate
    is_in_turn = False
    made: list[bool] = []

    class Turns:
        def acquire(self, timeout: float) -> bool:
            nonlocal is_in_turn
            is_in_turn = True
            return True

        def release(self) -> None:
            nonlocal is_in_turn
            is_in_turn = False

    def generated(request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        for token in generate(request, sampler):
            made.append(is_in_turn)
            yield token

    monkeypatch.setattr(
        CostModel, "speech_lm_seconds", lambda cost_model, start_tokens, end_tokens: 10.0 * (end_tokens - start_tokens)
    )
    monkeypatch.setattr(speech_lm, "generate", generated)
    monkeypatch.setattr(synthesizer, "_slots", Turns())
    request = SynthesisRequest("One. [pause 0.1] Two.", voice, forced_tokens=70)
    list(synthesizer.stream(request, control=RequestControl(), in_batch=True))
    assert len(made) >= 140
    assert not any(made)


@pytest.mark.slow
def test_a_line_waiting_for_a_slot_can_be_cancelled(
    synthesizer: Synthesizer, voice: VoiceReference, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancellation does not wait for the other lines, which may take a minute."""
    turns, is_waiting, control = threading.Semaphore(1), threading.Event(), RequestControl()
    acquire = turns.acquire

    def waiting(*arguments: Any, **options: Any) -> bool:
        is_waiting.set()
        return acquire(*arguments, **options)

    turns.acquire()
    monkeypatch.setattr(turns, "acquire", waiting)
    monkeypatch.setattr(synthesizer, "_slots", turns)
    request = SynthesisRequest("One.", voice, forced_tokens=30)
    ended: list[BaseException] = []

    def speak() -> None:
        try:
            list(synthesizer.stream(request, control=control, in_batch=True))
        except Cancelled as error:
            ended.append(error)

    speaking = threading.Thread(target=speak, daemon=True)
    speaking.start()
    assert is_waiting.wait(60)
    control.cancel()
    speaking.join(60)
    assert len(ended) == 1
    assert not acquire(blocking=False), "what it never had it has not given back"
