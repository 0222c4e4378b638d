"""Probabilities of sequences of speakers."""

from __future__ import annotations

import itertools
import math

import pytest

from studio.project.attribution.decoding import Place, Step, decode


def test_probabilities_are_those_of_all_sequences() -> None:
    places = [
        Place({"a": 1.0, "b": 0.0, "c": -1.0}, Step.LATER),
        Place({"a": 0.0, "b": 0.0}, Step.NEXT_PARAGRAPH),
        Place({"a": 0.5, "b": 0.0, "c": 2.0}, Step.SAME_PARAGRAPH),
        Place({"b": 0.0, "c": 0.0, "a": 0.0}, Step.NEXT_PARAGRAPH),
    ]
    totals: list[dict[str, float]] = [{} for _ in places]
    for sequence in itertools.product(*(place.scores for place in places)):
        score = places[0].scores[sequence[0]]
        other, current = None, sequence[0]
        for place, speaker in zip(places[1:], sequence[1:], strict=True):
            same, back, new = place.step.value
            score += place.scores[speaker] + (same if speaker == current else back if speaker == other else new)
            if speaker != current:
                other, current = current, speaker
        for total, speaker in zip(totals, sequence, strict=True):
            total[speaker] = total.get(speaker, 0.0) + math.exp(score)
    for found, total in zip(decode(places), totals, strict=True):
        assert found == pytest.approx({speaker: value / sum(total.values()) for speaker, value in total.items()})


def test_two_people_alternate_and_a_continued_quotation_keeps_its_speaker() -> None:
    both = {"a": 0.0, "b": 0.0}
    steps = [Step.NEXT_PARAGRAPH, Step.NEXT_PARAGRAPH, Step.CONTINUED, Step.NEXT_PARAGRAPH]
    found = decode([Place({"a": 5.0, "b": 0.0}, Step.LATER), *(Place(both, step) for step in steps)])
    assert [max(each, key=each.__getitem__) for each in found] == ["a", "b", "a", "a", "b"]


def test_no_places_have_no_speakers() -> None:
    assert decode([]) == []
