"""Words of a sentence spoken again, between the speech tokens that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from studio.audio.files import read_audio
from studio.errors import ClipTooLong, SilentClip
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.torch_lm import CachedSpeechLM
from studio.model.stages import SpeechTokenRequest
from studio.pipeline.enrolment import source_tokens
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import (
    Cancelled,
    EngineOptions,
    KnownTokens,
    Mode,
    RequestControl,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.pipeline.synthesizer import Synthesizer
from studio.pipeline.word_repair import WordRepair
from studio.project.take_repair import join_new_words

TEXT = "The first sentence is short. [pause 0.2] Then, after a while, another one follows it."
_NUM_TOKENS = 20  # of the counting model; its id is the stop


class Counted:
    def __init__(self) -> None:
        self.tokens: list[int] = []

    @property
    def length(self) -> int:
        return len(self.tokens)

    @length.setter
    def length(self, value: int) -> None:
        del self.tokens[value:]


class CountingLM(CachedSpeechLM[Counted]):
    """A model that counts on from its last token, and stops after the last one. It sometimes says 15 instead of 5."""

    def __init__(self, errors: float = 0.0) -> None:
        layout = type("Layout", (), {"num_speech_tokens": _NUM_TOKENS, "num_rows": _NUM_TOKENS + 1})()
        super().__init__(layout, SamplingOptions(), lambda hidden: hidden, "counting")  # type: ignore[arg-type]
        self.errors = errors

    def lengths(self, request: SpeechTokenRequest) -> tuple[int, int, int]:
        assert request.max_tokens is not None
        return 1, request.max_tokens, 100

    def open_cache(self, capacity: int) -> Counted:
        return Counted()

    def begin(self, request: SpeechTokenRequest, cache: Counted) -> torch.Tensor:
        return self.embed_speech(request.prompt_speech_tokens or (0,))

    def embed_speech(self, tokens: Sequence[int]) -> torch.Tensor:
        return torch.tensor(tokens, dtype=torch.float32)[:, None]

    def hidden_states(self, embeddings: torch.Tensor, cache: Counted) -> torch.Tensor:
        cache.tokens += [int(token) for token in embeddings[:, 0]]
        scores = torch.full((len(embeddings), _NUM_TOKENS + 1), -12.0)
        for row, token in enumerate(cache.tokens[-len(embeddings) :]):
            scores[row, min(token + 1, _NUM_TOKENS)] = 0.0
            if token == 4:
                scores[row, 15] = float(np.log(max(self.errors, 1e-9)))
        return scores


def repair(
    lm: CountingLM, before: tuple[int, ...], after: tuple[int, ...], *, num_replaced: int = 2, seed: int = 0
) -> list[int]:
    control = RequestControl()
    words = WordRepair(lm, SpeechTokenRequest((1, 2), max_tokens=None), before, after, num_replaced, 25, control)
    return words.speak(lambda index: RepetitionAwareSampler(SamplingOptions(), seed * 10 + index))


def test_the_model_speaks_what_is_missing_and_is_cut_where_the_kept_tokens_follow() -> None:
    assert repair(CountingLM(), (1, 2, 3), (8, 9, 10, 11)) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert repair(CountingLM(), (), (6, 7)) == [1, 2, 3, 4, 5, 6, 7]


def test_the_best_of_several_continuations_is_used() -> None:
    """One in two continuations goes astray, so that the kept tokens follow badly."""
    assert all(
        repair(CountingLM(errors=1.0), (1, 2, 3), (8, 9, 10), seed=seed) == list(range(1, 11)) for seed in range(12)
    )


def test_the_end_of_a_sentence_is_the_models_own() -> None:
    assert repair(CountingLM(), (14, 15), ()) == [14, 15, 16, 17, 18, 19]


def test_a_repair_can_be_cancelled() -> None:
    control = RequestControl()
    control.cancel()
    words = WordRepair(CountingLM(), SpeechTokenRequest((1,)), (1,), (5,), 2, 25, control)
    with pytest.raises(Cancelled):
        words.speak(lambda index: RepetitionAwareSampler(SamplingOptions(), index))


@pytest.fixture(scope="module", params=["cosyvoice1", "cosyvoice2", "cosyvoice3"])
def synthesizer(
    request: pytest.FixtureRequest, reference: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Synthesizer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIMBRE_CACHE", str(tmp_path_factory.mktemp("cache")))
        options = EngineOptions(speech_lm_precision="float32", num_threads=1)
        opened = load_synthesizer(reference / request.param / "checkpoint", options)
        yield opened
        opened.close()


@pytest.fixture
def request_of_text(reference: Path) -> SynthesisRequest:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    return SynthesisRequest(TEXT, voice, seed=7)


def speak(synthesizer: Synthesizer, request: SynthesisRequest) -> tuple[np.ndarray, SynthesisReport]:
    chunks, samples = synthesizer.stream(request, control=RequestControl()), []
    while True:
        try:
            samples.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(samples), end.value


def with_gap(evidence: Sequence[SentenceEvidence], gap: tuple[int, int], text: str = "") -> tuple[KnownTokens, ...]:
    first, second = evidence
    return (
        KnownTokens(first.spoken_text, first.speech_tokens),
        KnownTokens(text or second.spoken_text, second.speech_tokens, gap),
    )


@pytest.mark.slow
def test_all_else_of_a_take_is_kept(synthesizer: Synthesizer, request_of_text: SynthesisRequest) -> None:
    """In all generations, the tokens are kept, and the samples are those of the take up to 0.12 s from the new tokens."""
    take, report = speak(synthesizer, request_of_text)
    old = report.evidence[1]
    gap = (len(old.speech_tokens) // 2 - 4, len(old.speech_tokens) // 2 + 4)
    known = with_gap(report.evidence, gap)
    spoken, repaired_report = speak(synthesizer, replace(request_of_text, seed=8, known_tokens=known))
    new = repaired_report.evidence[1]
    assert repaired_report.evidence[0].speech_tokens == report.evidence[0].speech_tokens
    assert new.speech_tokens[: gap[0]] == old.speech_tokens[: gap[0]]
    assert new.speech_tokens[gap[0] - len(old.speech_tokens) :] != old.speech_tokens[gap[0] :]
    num_after = len(old.speech_tokens) - gap[1]
    assert new.speech_tokens[-num_after:] == old.speech_tokens[-num_after:]
    again, again_report = speak(synthesizer, replace(request_of_text, seed=8, known_tokens=known))
    assert again_report.evidence == repaired_report.evidence
    np.testing.assert_array_equal(again, spoken)

    rate = report.sample_rate
    repaired = join_new_words(take, spoken, rate, report.evidence, repaired_report.evidence)
    ((start, end),) = repaired.spans
    kept = round((start - 0.12) * rate) - 1
    np.testing.assert_array_equal(repaired.samples[:kept], take[:kept])
    num_kept = len(repaired.samples) - round((end + 0.12) * rate) - 1
    assert num_kept > 0
    np.testing.assert_array_equal(repaired.samples[-num_kept:], take[-num_kept:])
    assert repaired.evidence[1].to_seconds == pytest.approx(len(repaired.samples) / rate)


@pytest.mark.slow
def test_a_causal_flow_changes_nothing_before_the_chunk_of_the_new_words(
    synthesizer: Synthesizer, request_of_text: SynthesisRequest
) -> None:
    """CosyVoice-300M's flow is not causal, so that the speech of the whole sentence differs."""
    take, report = speak(synthesizer, request_of_text)
    old = report.evidence[1]
    total = len(old.speech_tokens)
    spoken, _ = speak(
        synthesizer, replace(request_of_text, known_tokens=with_gap(report.evidence, (total - 4, total - 1)))
    )
    length = min(len(take), len(spoken))
    first = np.flatnonzero(take[:length] != spoken[:length])[0] / report.sample_rate
    flow = synthesizer.stages.flow
    if flow.streams_exactly:
        changed = old.seconds_of_token(total - 4)
        assert first >= changed - (flow.chunk_tokens + flow.lookahead_tokens + 1) * old.token_seconds
    assert first > old.from_seconds - 0.5 / report.sample_rate, "the sentence before is the same"


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
def test_the_text_of_the_words_may_change(synthesizer: Synthesizer, request_of_text: SynthesisRequest) -> None:
    _, report = speak(synthesizer, request_of_text)
    known = with_gap(report.evidence, (8, 14))
    text = TEXT.replace("another one", "a second one")
    _, repaired = speak(synthesizer, replace(request_of_text, text=text, known_tokens=known))
    assert repaired.evidence[1].spoken_text == report.evidence[1].spoken_text.replace("another one", "a second one")
    assert repaired.evidence[1].speech_tokens[:8] == report.evidence[1].speech_tokens[:8]


@pytest.mark.slow
def test_a_word_of_a_recording_is_replaced(
    synthesizer: Synthesizer, request_of_text: SynthesisRequest, reference: Path
) -> None:
    """Several sentences are one, and silent tokens of the recording stay, so that its times are those of the tokens."""
    source = reference / "inputs" / "prompt_b.wav"
    request = replace(request_of_text, is_played=False, is_streaming=False)
    report = synthesizer.read_recording(request, source, control=RequestControl())
    (old,) = report.evidence
    tokens = source_tokens(read_audio(source), synthesizer.stages.frontend().speech_tokenizer)
    assert (report.mode, old.speech_tokens) == (Mode.RECORDING, tokens)
    assert old.to_seconds == pytest.approx(read_audio(source).seconds, abs=old.token_seconds)
    assert "short. Then" in old.spoken_text
    if synthesizer.stages.alignment.new_trace() is not None:
        assert len(old.text_position) == len(tokens)

    silent = synthesizer.stages.generation.silent_tokens
    kept = (*old.speech_tokens[:3], *(7 * sorted(silent)[:1]), *old.speech_tokens[3:])
    gap = (len(kept) - 20, len(kept) - 12)
    known = (KnownTokens(old.spoken_text, kept, gap),)
    spoken, repaired = speak(synthesizer, replace(request, is_divided=False, known_tokens=known))
    (new,) = repaired.evidence
    assert new.spoken_text == old.spoken_text
    assert new.speech_tokens[: gap[0]] == kept[: gap[0]]
    assert new.speech_tokens[-12:] == kept[-12:]
    assert new.to_seconds == pytest.approx(len(spoken) / repaired.sample_rate)


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
def test_a_recording_that_is_too_long_or_silent_is_refused(
    synthesizer: Synthesizer, request_of_text: SynthesisRequest, tmp_path: Path
) -> None:
    for seconds, error in ((31, ClipTooLong), (2, SilentClip)):
        soundfile.write(tmp_path / "recording.wav", np.zeros(seconds * 16_000, np.float32), 16_000)
        with pytest.raises(error):
            synthesizer.read_recording(request_of_text, tmp_path / "recording.wav", control=RequestControl())


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
@pytest.mark.parametrize("gap", [(1 << 40, 1 << 50), (5, 2), (0, 1 << 50)])
def test_places_outside_the_sentence_come_from_a_hostile_request(
    synthesizer: Synthesizer, request_of_text: SynthesisRequest, gap: tuple[int, int]
) -> None:
    request = replace(request_of_text, text="Hello there.")
    _, report = speak(synthesizer, request)
    known = (KnownTokens(report.evidence[0].spoken_text, report.evidence[0].speech_tokens, gap),)
    _, repaired = speak(synthesizer, replace(request, known_tokens=known))
    assert repaired.evidence[0].speech_tokens
