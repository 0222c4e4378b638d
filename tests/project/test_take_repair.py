"""Words of a take that are spoken again: which tokens are replaced, and how the recording is joined."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from studio.errors import UnusableSetting
from studio.pipeline.request import KnownTokens, Mode, SentenceEvidence, SynthesisReport
from studio.project.take_repair import (
    changed_spans,
    join_new_words,
    plan_repair,
    replaced_tokens,
    span_of_text,
    words_in_text,
)
from studio.project.takes import Take, TakeParameters
from studio.take_checks.records import WordTime

RATE = 24_000
TOKEN = 0.04
TEXT = "The old clock stopped just before midnight."


def words_of(text: str) -> tuple[WordTime, ...]:
    """Return words of 0.4 s, one after the other."""
    found, place = [], 0
    for number, word in enumerate(text.split()):
        start = text.index(word, place)
        place = start + len(word)
        found.append(WordTime(word.strip("."), 0.4 * number, 0.4 * number + 0.4, start, start + len(word.strip("."))))
    return tuple(found)


def evidence_of(text: str, num_tokens: int, start: float = 0.0, first: int = 0) -> SentenceEvidence:
    tokens = tuple(range(first, first + num_tokens))
    return SentenceEvidence(text, start, start + TOKEN * num_tokens, tokens, token_seconds=TOKEN)


@pytest.mark.parametrize(("new", "spans"), [
    (TEXT.replace("clock", "watch"), [(0.8, 1.2)]),
    (TEXT.replace("old clock", "new watch"), [(0.4, 1.2)]),
    (TEXT.replace("old ", ""), [(0.4, 0.8)]),
    (TEXT.replace("old", "old, [S][IH1] tired"), [(0.8, 0.8)]),
    (TEXT.replace(".", "!").replace("old", "Old"), []),
    (TEXT.replace("old", "new").replace("midnight", "noon"), [(0.4, 0.8), (2.4, 2.8)]),
    ("Something else was said by everyone.", None),
    (TEXT + " Again.", [(2.8, 2.8)]),
])  # fmt: skip
def test_words_that_differ_are_found(new: str, spans: list[tuple[float, float]] | None) -> None:
    found = changed_spans(words_of(TEXT), TEXT, new)
    assert found is None if spans is None else found == [pytest.approx(span) for span in spans]


def test_without_word_times_nothing_is_guessed() -> None:
    assert changed_spans((), TEXT, TEXT.replace("clock", "watch")) is None
    assert span_of_text((), 0, 3) is None


def test_the_dictionary_moves_the_words_of_the_take() -> None:
    spoken = TEXT.replace("clock", "time piece")
    placed = words_in_text(words_of(spoken), spoken, TEXT)
    assert [TEXT[word.text_start : word.text_end] for word in placed] == TEXT.strip(".").split()
    clock = placed[2]
    assert (clock.from_seconds, clock.to_seconds) == pytest.approx((0.8, 1.6))
    assert words_in_text(words_of(TEXT), TEXT, TEXT) == words_of(TEXT)


def test_tokens_are_replaced_with_a_margin_in_their_sentence_alone() -> None:
    first, second = evidence_of("One.", 50), evidence_of("Two.", 50, start=2.0)
    known = replaced_tokens((first, second), [(2.8, 3.2)])
    assert known == (
        KnownTokens("One.", first.speech_tokens),
        KnownTokens("Two.", second.speech_tokens, (18, 32)),
    )
    both = replaced_tokens((first, second), [(1.6, 2.4)])
    assert [each.replaced for each in both] == [(38, 50), (0, 12)]


def test_a_short_rest_of_a_sentence_is_spoken_again_too() -> None:
    (known,) = replaced_tokens((evidence_of("One.", 50),), [(0.2, 0.8)])
    assert known.replaced == (0, 22)
    (known,) = replaced_tokens((evidence_of("One.", 50),), [(1.4, 1.8)])
    assert known.replaced == (33, 50)


def sound(tokens: tuple[int, ...], phase: float = 0.0) -> np.ndarray:
    """Return a tone whose level depends on the token."""
    levels = np.repeat([0.1 + 0.3 * (token % 7) / 7 for token in tokens], round(TOKEN * RATE))
    times = np.arange(len(levels)) / RATE
    return (levels * np.sin(2 * np.pi * 150 * times + phase)).astype(np.float32)


def test_the_recording_is_kept_up_to_the_words() -> None:
    old = (evidence_of("One.", 50), evidence_of("Two.", 50, start=2.0, first=50))
    tokens = old[1].speech_tokens
    changed = (*tokens[:20], *range(900, 915), *tokens[30:])
    new = (old[0], SentenceEvidence("Two.", 2.0, 4.2, changed, token_seconds=TOKEN))
    recording = sound(old[0].speech_tokens + tokens)
    spoken = sound(old[0].speech_tokens + changed, phase=1.0)
    repaired = join_new_words(recording, spoken, RATE, old, new)
    assert len(repaired.samples) / RATE == pytest.approx(4.2, abs=0.02)
    kept = round((2.8 - 0.12) * RATE)
    np.testing.assert_array_equal(repaired.samples[:kept], recording[:kept])
    num_kept = round((4.0 - 3.2 - 0.13) * RATE)
    np.testing.assert_array_equal(repaired.samples[-num_kept:], recording[-num_kept:])
    ((start, end),) = repaired.spans
    assert (start, end) == pytest.approx((2.8, 3.4), abs=0.02)
    assert repaired.evidence[0] == old[0]
    assert repaired.evidence[1].speech_tokens == changed
    assert repaired.evidence[1].to_seconds == pytest.approx(len(repaired.samples) / RATE)
    middle = slice(round(3.0 * RATE), round(3.2 * RATE))
    assert not np.array_equal(repaired.samples[middle], recording[middle])


def test_words_at_both_ends_of_a_take_replace_its_ends() -> None:
    old = (evidence_of("One.", 50),)
    changed = (*range(900, 910), *old[0].speech_tokens[10:40], *range(910, 925))
    new = (SentenceEvidence("One.", 0.0, 2.2, changed, token_seconds=TOKEN),)
    spoken = sound(changed)
    np.testing.assert_array_equal(join_new_words(sound(old[0].speech_tokens), spoken, RATE, old, new).samples, spoken)


def test_another_reading_is_not_joined() -> None:
    """As from a server of another program, which does not know the tokens."""
    old = (evidence_of("One.", 50),)
    recording = sound(old[0].speech_tokens)
    with pytest.raises(UnusableSetting, match="cannot keep the other words"):
        join_new_words(recording, recording, RATE, old, old)
    with pytest.raises(UnusableSetting, match="another text"):
        join_new_words(recording, recording, RATE, old, ())
    parameters = TakeParameters("One.", 1, "", "zero-shot", "Anna", "", "model", "")
    take = Take("t", "l", 1, datetime.now(UTC), 2.0, RATE, parameters)
    plan = plan_repair(take, recording, old, span=(0.8, 1.2))
    report = SynthesisReport(0.1, 2.0, 0.1, RATE, Mode.ZERO_SHOT, 0, {}, {})
    first, last = old[0].speech_tokens[:18], old[0].speech_tokens[-1:]
    for tokens in ((), tuple(range(200, 250)), (*first, *range(200, 231), *last)):
        other = replace(report, evidence=(replace(old[0], speech_tokens=tokens),))
        with pytest.raises(UnusableSetting):
            plan.join(recording, other)


def test_evidence_of_earlier_versions_has_no_duration_of_tokens() -> None:
    parameters = TakeParameters("One.", 1, "", "zero-shot", "Anna", "", "model", "")
    take = Take("t", "l", 1, datetime.now(UTC), 2.0, RATE, parameters)
    old = (replace(evidence_of("One.", 50), token_seconds=0.0),)
    plan = plan_repair(take, sound(old[0].speech_tokens), old, span=(0.8, 1.2))
    assert plan.known_tokens == replaced_tokens((evidence_of("One.", 50),), [(0.8, 1.2)])
