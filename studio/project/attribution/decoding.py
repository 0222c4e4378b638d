"""The most probable speakers of a sequence of quotations, with their probabilities.

A state is the speaker of a quotation and the last other speaker, so that two people who alternate are probable. The
sums over all sequences are exact (forward-backward).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

Speaker = TypeVar("Speaker", bound=Hashable)
_Key = TypeVar("_Key")
_State = tuple[Speaker | None, Speaker]  # the last other speaker, and the speaker


class Step(Enum):
    """How a quotation follows the previous one. The values are the scores: same speaker, last other, someone else."""

    CONTINUED = (8.0, -8.0, -8.0)
    SAME_PARAGRAPH = (3.5, 0.0, -0.5)
    NEXT_PARAGRAPH = (-2.5, 1.6, 0.0)
    AFTER_NARRATION = (-0.6, 0.8, 0.0)
    LATER = (0.0, 0.2, 0.0)


@dataclass(frozen=True, slots=True)
class Place(Generic[Speaker]):
    """A quotation of the sequence: the scores of its possible speakers, and how it follows the previous one."""

    scores: Mapping[Speaker, float]
    step: Step


def decode(places: Sequence[Place[Speaker]]) -> list[dict[Speaker, float]]:
    """Return the probabilities of the speakers of each place."""
    if not places:
        return []
    forward = [_first(places[0])]
    for place in places[1:]:
        forward.append(_normalized(_forward(forward[-1], place)))
    backward = dict.fromkeys(forward[-1], 1.0)
    found: list[dict[Speaker, float]] = []
    for number in range(len(places) - 1, -1, -1):
        sums: dict[Speaker, float] = {}
        for state, probability in forward[number].items():
            sums[state[1]] = sums.get(state[1], 0.0) + probability * backward[state]
        found.append(_normalized(sums))
        if number:
            backward = _normalized(_backward(forward[number - 1], backward, places[number]))
    return found[::-1]


def _first(place: Place[Speaker]) -> dict[_State[Speaker], float]:
    return _normalized({(None, speaker): math.exp(score) for speaker, score in place.scores.items()})


def _forward(states: Mapping[_State[Speaker], float], place: Place[Speaker]) -> dict[_State[Speaker], float]:
    sums: dict[_State[Speaker], float] = {}
    weights = _weights(place)
    totals: dict[Speaker, float] = {}  # of the states with this speaker
    for (other, current), probability in states.items():
        totals[current] = totals.get(current, 0.0) + probability
        if current in weights:
            sums[other, current] = probability * weights[current][0]
    for current, total in totals.items():
        for speaker, (_, back, new) in weights.items():
            if speaker != current:
                returns = states.get((speaker, current), 0.0)
                state = (current, speaker)
                sums[state] = sums.get(state, 0.0) + back * returns + new * max(0.0, total - returns)
    return sums


def _backward(
    states: Mapping[_State[Speaker], float], after: Mapping[_State[Speaker], float], place: Place[Speaker]
) -> dict[_State[Speaker], float]:
    weights = _weights(place)
    totals = {
        current: sum(new * after[current, speaker] for speaker, (_, _, new) in weights.items() if speaker != current)
        for current in {current for _, current in states}
    }
    sums: dict[_State[Speaker], float] = {}
    for other, current in states:
        total = totals[current]
        if current in weights:
            total += weights[current][0] * after[other, current]
        if other in weights:
            _, back, new = weights[other]
            total += (back - new) * after[current, other]
        sums[other, current] = total
    return sums


def _weights(place: Place[Speaker]) -> dict[Speaker, tuple[float, float, float]]:
    same, back, new = place.step.value
    return {
        speaker: (math.exp(score + same), math.exp(score + back), math.exp(score + new))
        for speaker, score in place.scores.items()
    }


def _normalized(values: dict[_Key, float]) -> dict[_Key, float]:
    total = sum(values.values())
    return {key: value / total for key, value in values.items()} if total > 0.0 else values
