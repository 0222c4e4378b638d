"""A model whose flow cannot stream exactly: whole sentences by default, approximate chunks on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest
from safetensors.numpy import save_file

from studio.pipeline.loading import load_synthesizer
from studio.pipeline.pacing import FlowChunk, flow_work
from studio.pipeline.request import AudioChunk, EngineOptions, RequestControl, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer

OPTIONS = EngineOptions(speech_lm_precision="float32", num_threads=1)
SENTENCES = ("The harbour was quiet in the early morning light.", "Nobody had seen the boat for three days.")
NUM_TOKENS = 240  # of each sentence: 4.8 s


@pytest.fixture
def voice(tmp_path: Path) -> VoiceReference:
    random = np.random.default_rng(0)
    path = tmp_path / "voice.safetensors"
    save_file(
        {
            "speech_tokens": random.integers(0, 500, 150).astype(np.int32),
            "mel": random.standard_normal((258, 80)).astype(np.float32) - 5,
            "embedding": random.standard_normal(192).astype(np.float32),
        },
        path,
    )
    return VoiceReference(path)


def opened(options: EngineOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Synthesizer]:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    synthesizer = load_synthesizer(noise_models.V1, options)
    yield synthesizer
    synthesizer.close()


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Synthesizer]:
    yield from opened(OPTIONS, tmp_path, monkeypatch)


@pytest.fixture
def approximate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Synthesizer]:
    yield from opened(replace(OPTIONS, streams_approximately=True), tmp_path, monkeypatch)


def speak(synthesizer: Synthesizer, voice: VoiceReference, text: str = "\n".join(SENTENCES)) -> list[AudioChunk]:
    request = SynthesisRequest(text, voice, forced_tokens=NUM_TOKENS)
    return list(synthesizer.stream(request, control=RequestControl()))


@pytest.mark.slow
def test_each_sentence_is_one_chunk(whole: Synthesizer, voice: VoiceReference) -> None:
    chunks = speak(whole, voice)
    assert [chunk.sentence_index for chunk in chunks] == [0, 1]
    frames = whole.checkpoint.generation.frames_of_tokens(NUM_TOKENS)
    assert [len(chunk.samples) for chunk in chunks] == [256 * frames] * 2
    assert {chunk.sample_rate for chunk in chunks} == {22_050}
    assert "approximation" not in " ".join(whole.description.notes)


@pytest.mark.slow
def test_the_first_sentence_is_ready_before_the_others_are_spoken(whole: Synthesizer, voice: VoiceReference) -> None:
    """The wait is that of one sentence, however long the text is."""
    request = SynthesisRequest("\n".join(SENTENCES * 10), voice, forced_tokens=60)
    stream = whole.stream(request, control=RequestControl())
    first = next(stream)
    assert (first.sentence_index, first.num_sentences) == (0, 20)
    stream.close()


@pytest.mark.slow
def test_approximate_chunks_have_a_label_and_the_same_length(approximate: Synthesizer, voice: VoiceReference) -> None:
    chunks = speak(approximate, voice, SENTENCES[0])
    # Two hops of 100 tokens are 172 frames each, of which the vocoder holds back 20 until the next chunk.
    assert [len(chunk.samples) // 256 for chunk in chunks] == [152, 172, 20 + 68]
    assert any(note.startswith("approximation: chunks of a sentence") for note in approximate.description.notes)
    assert approximate.description.stages["flow"].endswith("approximate stream")


@pytest.mark.slow
def test_a_streaming_request_of_the_whole_kind_is_answered_in_one_piece(
    approximate: Synthesizer, voice: VoiceReference
) -> None:
    request = SynthesisRequest(SENTENCES[0], voice, forced_tokens=NUM_TOKENS, is_streaming=False)
    assert len(list(approximate.stream(request, control=RequestControl()))) == 1


@pytest.mark.slow
def test_equal_requests_sound_equal_and_seeds_differ(whole: Synthesizer, voice: VoiceReference) -> None:
    def samples(seed: int) -> np.ndarray:
        request = SynthesisRequest(SENTENCES[1], voice, seed=seed, forced_tokens=60)
        (chunk,) = whole.stream(request, control=RequestControl())
        return chunk.samples

    assert np.array_equal(samples(1), samples(1))
    assert not np.array_equal(samples(1), samples(2))


@pytest.mark.slow
def test_estimates_of_whole_sentences_use_the_cost_of_the_whole(whole: Synthesizer, voice: VoiceReference) -> None:
    """The predicted work of a sentence twice as long is more than twice as much, because attention is over all frames."""
    model, flow = whole._decodings.exact.stages.cost_model, whole.checkpoint.flow
    assert model.token_rate == 50
    short, long = (flow_work(flow, *model.computed_frames(FlowChunk(0, 0, count))) for count in (500, 1000))
    assert 2.01 < long / short < 4
    prompted = flow_work(flow, *model.computed_frames(FlowChunk(150, 0, 500)))
    assert prompted > 1.3 * short
