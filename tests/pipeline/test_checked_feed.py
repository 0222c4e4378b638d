"""A sentence of implausible length is generated again if none of it has been decoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from studio.model.stages import SpeechTokenRequest, TokenSampler
from studio.pipeline.evidence import Generation
from studio.pipeline.length_limits import LengthLimits
from studio.pipeline.request import (
    Cancelled,
    LengthVerdict,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.pipeline.synthesizer import Synthesizer
from studio.pipeline.token_source import (
    UNLIMITED,
    AsyncTokenSource,
    Attempt,
    CheckedFeed,
    CountedTokens,
    SyncTokenSource,
)

LIMITS = LengthLimits(shortest=20, expected=50.0, longest=100)
TOO_SHORT, TOO_LONG = LengthVerdict.TOO_SHORT, LengthVerdict.TOO_LONG


class FailureRecord:
    """Opens attempts of the given ``lengths``. Their tokens identify the attempt."""

    def __init__(self, kind: type[SyncTokenSource] | type[AsyncTokenSource], *lengths: int) -> None:
        self.kind = kind
        self.lengths = lengths
        self.num_made = 0
        self.num_closed = 0
        self.control = RequestControl()

    def __call__(self, number: int) -> Attempt:
        counted = CountedTokens(self._tokens(number), LIMITS.longest)
        generation = cast("Generation", SimpleNamespace(tokens=counted.generated))
        return Attempt(self.kind(iter(counted), self.control), generation)

    def _tokens(self, number: int) -> Iterator[int]:
        self.num_made += 1
        try:
            for _ in range(self.lengths[number]):
                yield number
        finally:
            self.num_closed += 1


@pytest.fixture(params=[SyncTokenSource, AsyncTokenSource])
def kind(request: pytest.FixtureRequest) -> type[SyncTokenSource] | type[AsyncTokenSource]:
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("lengths", "made", "verdict"),
    [
        ((50, 60), [0] * 50, None),
        ((10, 60), [1] * 60, None),
        ((500, 60), [1] * 60, None),
        ((10, 500), [1] * 100, TOO_LONG),  # twice the length is nearer than a fifth
        ((15, 10), [0] * 15, TOO_SHORT),
        ((500, 500), [0] * 100, TOO_LONG),
    ],
)
def test_the_more_plausible_of_two_attempts_is_taken(
    kind: type[SyncTokenSource], lengths: tuple[int, int], made: list[int], verdict: LengthVerdict | None
) -> None:
    attempts = FailureRecord(kind, *lengths)
    feed = CheckedFeed(attempts, LIMITS, retry_below_tokens=UNLIMITED)
    feed.wait_for(1)
    assert feed.tokens == made
    assert feed.verdict is verdict
    feed.wait_for(UNLIMITED)
    assert feed.tokens == made
    feed.close()
    assert attempts.num_closed == attempts.num_made


def test_a_sentence_that_may_be_decoded_already_is_not_replaced(kind: type[SyncTokenSource]) -> None:
    feed = CheckedFeed(FailureRecord(kind, 500, 60), LIMITS, retry_below_tokens=30)
    feed.wait_for(30)
    feed.wait_for(UNLIMITED)
    assert feed.tokens == [0] * 100, "it ends where no text of this length can"
    assert feed.verdict is TOO_LONG
    feed.close()


@pytest.mark.parametrize("count", [30, UNLIMITED])
def test_a_sentence_shorter_than_its_first_chunk_is_checked_before_decoding(
    kind: type[SyncTokenSource], count: int
) -> None:
    """The result does not depend on whether the language model runs ahead."""
    feed = CheckedFeed(FailureRecord(kind, 10, 60), LIMITS, retry_below_tokens=30)
    feed.wait_for(count)
    assert feed.tokens[:30] == [1] * 30
    feed.close()


def test_a_longer_sentence_is_not_checked_when_running_ahead(kind: type[SyncTokenSource]) -> None:
    feed = CheckedFeed(FailureRecord(kind, 500, 60), LIMITS, retry_below_tokens=30)
    feed.wait_for(UNLIMITED)
    assert feed.tokens == [0] * 100
    feed.close()


def test_cancelling_reaches_the_second_attempt(kind: type[SyncTokenSource]) -> None:
    attempts = FailureRecord(kind, 10, 60)
    made = attempts._tokens

    def cancelling(number: int) -> Iterator[int]:
        for token in made(number):
            if number == 1:
                attempts.control.cancel()
            yield token

    attempts._tokens = cancelling  # type: ignore[method-assign]
    feed = CheckedFeed(attempts, LIMITS, retry_below_tokens=UNLIMITED)
    with pytest.raises(Cancelled):
        feed.wait_for(1)
    feed.close()


# In a whole model.


class ScriptedLM:
    """Generates sentences with the given ``lengths`` in tokens."""

    engine = "scripted"
    max_concurrent_lines = 1

    def __init__(self, of: Synthesizer, *lengths: int) -> None:
        self.sampling = of.stages.speech_lm.sampling
        self.num_tokens = of.checkpoint.speech_lm.layout.num_speech_tokens
        self.lengths = list(lengths)
        self.samplers: list[TokenSampler] = []

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        assert request.text_tokens
        self.samplers.append(sampler)
        length = self.lengths.pop(0)
        return iter([(100 + 7 * index) % self.num_tokens for index in range(length)])


def speak(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch, lengths: tuple[int, ...], **changes: object
) -> tuple[np.ndarray, SynthesisReport, ScriptedLM]:
    lm = ScriptedLM(synthesizer, *lengths)
    monkeypatch.setattr(synthesizer, "stages", replace(synthesizer.stages, speech_lm=lm))
    monkeypatch.setattr(synthesizer, "_description", replace(synthesizer.description, makes_noise=False))
    clip = VoiceReference(VOICE, transcript="The morning train was quiet.", name="a")
    request = SynthesisRequest(**{"text": TEXT, "voice": clip} | changes)  # type: ignore[arg-type]
    chunks = synthesizer.stream(request, control=RequestControl())
    samples = []
    while True:
        try:
            samples.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(samples), end.value, lm


TEXT = "Would you please bring me the blue notebook from the top drawer of the desk?"
VOICE = Path(__file__).parents[1] / "reference" / "inputs" / "prompt_a.wav"


@pytest.mark.slow
def test_a_request_played_later_repeats_a_sentence_of_implausible_length(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, plausible, _ = speak(synthesizer, monkeypatch, (100,), is_played=False)
    repeated, report, lm = speak(synthesizer, monkeypatch, (9999, 100), is_played=False)
    assert plausible.odd_lengths == report.odd_lengths == ()
    assert np.array_equal(alone, repeated)
    assert len(lm.samplers) == 2


@pytest.mark.slow
def test_a_played_sentence_ends_at_the_limit_and_is_reported(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, report, lm = speak(synthesizer, monkeypatch, (9999,), is_played=True)
    (finding,) = report.odd_lengths
    assert (finding.spoken_text, finding.verdict) == (TEXT, TOO_LONG)
    assert len(lm.samplers) == 1
    assert len(samples) / 24_000 < 40


@pytest.mark.slow
def test_playback_does_not_change_a_plausible_sentence(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, _, _ = speak(synthesizer, monkeypatch, (110,), is_played=True)
    unheard, _, _ = speak(synthesizer, monkeypatch, (110,), is_played=False)
    assert np.array_equal(heard, unheard)


@pytest.mark.slow
def test_a_played_whole_utterance_of_implausible_length_is_repeated(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, report, lm = speak(synthesizer, monkeypatch, (4, 100), is_streaming=False)
    assert report.odd_lengths == ()
    assert len(lm.samplers) == 2


@pytest.mark.slow
def test_lengths_are_not_checked_in_benchmarks_and_with_random_weights(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, report, _ = speak(synthesizer, monkeypatch, (4,), forced_tokens=4, is_played=False)
    assert report.odd_lengths == ()
