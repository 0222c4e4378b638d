"""A sentence that is spoken while it is being written, by models with random weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest

from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import (
    AudioChunk,
    Cancelled,
    EngineOptions,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.pipeline.synthesizer import Synthesizer
from studio.text.arriving import ArrivingText, Fragment

pytestmark = pytest.mark.timeout(300)
WORDS = [
    "",
    "The",
    "harbour",
    "was",
    "quiet",
    "when",
    "we",
    "came",
    "home",
    "and",
    "all",
    "of",
    "the",
    "boats",
    "lay",
    "still",
    "in",
    "the",
    "evening",
    "light",
]
REQUEST = SynthesisRequest(text="", voice=VoiceReference(Path("resources/voices/Ada.wav")), seed=3)


@pytest.fixture(scope="module", params=[noise_models.V2, noise_models.V3], ids=["v2", "v3"])
def synthesizer(request: pytest.FixtureRequest) -> Iterator[Synthesizer]:
    loaded = load_synthesizer(request.param, EngineOptions())
    yield loaded
    loaded.close()


def spoken(
    synthesizer: Synthesizer, text: ArrivingText, request: SynthesisRequest = REQUEST
) -> tuple[np.ndarray, SynthesisReport]:
    chunks, samples = synthesizer.stream(request, control=RequestControl(), text=text), []
    while True:
        try:
            samples.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(samples), end.value


def whole_text() -> ArrivingText:
    text = ArrivingText()
    for word in WORDS[1:]:
        text.add(Fragment(f" {word}"))
    text.add(Fragment(".", is_last=True))
    return text


def test_the_model_declares_the_mode(synthesizer: Synthesizer) -> None:
    assert synthesizer.description.interleaves_text


def test_audio_begins_before_the_last_word_and_does_not_depend_on_time(synthesizer: Synthesizer) -> None:
    expected, report = spoken(synthesizer, whole_text())
    assert report.num_items == 1
    assert report.spoken_text == (" ".join(WORDS[1:]) + ".",)
    assert len(report.evidence[0].speech_tokens)
    text = ArrivingText()
    for word in WORDS[1:-1]:
        text.add(Fragment(f" {word}"))
    chunks = synthesizer.stream(REQUEST, control=RequestControl(), text=text)
    first = next(chunks)  # would wait forever for a sentence that has to be complete
    assert not text.is_complete
    text.add(Fragment(f" {WORDS[-1]}"))
    text.add(Fragment(".", is_last=True))
    rest = [chunk.samples for chunk in chunks]
    np.testing.assert_array_equal(np.concatenate([first.samples, *rest]), expected)


def test_another_seed_is_another_take(synthesizer: Synthesizer) -> None:
    ours, _ = spoken(synthesizer, whole_text())
    other, _ = spoken(synthesizer, whole_text(), replace(REQUEST, seed=4))
    assert len(ours) != len(other) or not np.array_equal(ours, other)


def test_cancelling_ends_the_wait_for_text(synthesizer: Synthesizer) -> None:
    text, control = ArrivingText(), RequestControl()
    text.add(Fragment("The harbour"))
    ended: list[BaseException | list[AudioChunk]] = []

    def run() -> None:
        try:
            ended.append(list(synthesizer.stream(REQUEST, control=control, text=text)))
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    control.cancel()
    thread.join(60)
    assert isinstance(ended[0], Cancelled)
