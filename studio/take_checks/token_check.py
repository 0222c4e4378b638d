"""Faults that the speech tokens show: limits, loops, and lengths unlike the voice's other takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studio.pipeline.length_limits import spoken_length
from studio.pipeline.request import SentenceEvidence
from studio.take_checks.confidence import MIN_EARLIER_TAKES, median_and_deviation, ramp
from studio.take_checks.records import Problem, ProblemKind, TakeMeasures
from studio.text.respellings import Respellings

# A sequence of this many tokens that is repeated at once. Long vowels and silence repeat short sequences.
_MIN_PERIOD, _MAX_PERIOD = 3, 25
_LOOPED_TOKENS, _CERTAIN_LOOPED_TOKENS = 30, 60  # 1.2 s and 2.4 s at 25 tokens per second
_MIN_DIFFERENT_TOKENS = 3
# Share of tokens that the sampler drew again because they occurred recently. Good takes of studio-mini have up to 0.2.
_SECOND_DRAW_SHARE, _CERTAIN_SECOND_DRAW_SHARE = 0.45, 0.7
_MIN_TOKENS = 25
# Duration relative to the voice's other takes, as a factor, if its takes hardly vary.
_MIN_FACTOR, _DEVIATIONS = 1.6, 4.0
# Estimated duration of speech without silence, in seconds at speed 1. Speech is slower before a pause, and each sentence
# ends with one.
_SECONDS_PER_PHONE, _SECONDS_PER_PAUSE = 0.08, 0.16


def token_problems(evidence: Sequence[SentenceEvidence]) -> list[Problem]:
    """Return limits and loops of each sentence."""
    found = []
    for each in evidence:
        place = (max(0.0, each.from_seconds), each.to_seconds)
        if each.stopped_by_limit:
            found.append(Problem(ProblemKind.ODD_LENGTH, *place, confidence=0.97))
        looped, start, end = _longest_loop(each.speech_tokens)
        confidence = ramp(looped, _LOOPED_TOKENS, _CERTAIN_LOOPED_TOKENS)
        if confidence >= 0.3:
            loop = (max(0.0, each.seconds_of_token(start)), each.seconds_of_token(end))
            found.append(Problem(ProblemKind.LOOP, *loop, confidence=confidence))
        num_tokens = len(each.speech_tokens)
        if num_tokens >= _MIN_TOKENS:
            share = each.num_second_draws / num_tokens
            confidence = ramp(share, _SECOND_DRAW_SHARE, _CERTAIN_SECOND_DRAW_SHARE)
            if confidence >= 0.3:
                found.append(Problem(ProblemKind.LOOP, *place, confidence=confidence))
    return found


def length_problems(pace: float, seconds: float, earlier: Sequence[TakeMeasures]) -> list[Problem]:
    """Compare the pace of a take of ``seconds`` with the voice's other takes."""
    others = [float(np.log(take.pace)) for take in earlier if take.pace > 0]
    if len(others) < MIN_EARLIER_TAKES or pace <= 0:
        return []
    median, deviation = median_and_deviation(others)
    limit = max(float(np.log(_MIN_FACTOR)), _DEVIATIONS * deviation)
    confidence = ramp(abs(float(np.log(pace)) - median), limit, 1.6 * limit)
    return [Problem(ProblemKind.ODD_LENGTH, 0.0, seconds, confidence=confidence)] if confidence >= 0.3 else []


def measure_pace(
    spoken_texts: Sequence[str], sounding_seconds: float, speed: float, respellings: Respellings | None = None
) -> float:
    """Return the duration of the speech, without silence, relative to average speech of this text.

    ``respellings`` is the pronunciation list of the model, with which the phones are counted more exactly.
    """
    expected = 0.0
    for text in spoken_texts:
        length = spoken_length(text, respellings)
        phones = (length.fewest_phones + length.most_phones) / 2
        if phones:
            expected += _SECONDS_PER_PHONE * phones + _SECONDS_PER_PAUSE * max(1, length.pauses)
    return sounding_seconds * speed / expected if expected else 0.0


def _longest_loop(tokens: Sequence[int]) -> tuple[int, int, int]:
    """Return the length, start and end of the longest stretch in which a sequence is repeated at once."""
    values = np.asarray(tokens)
    best = (0, 0, 0)
    for period in range(_MIN_PERIOD, min(_MAX_PERIOD, len(values) // 2) + 1):
        same = values[period:] == values[:-period]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False]))))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            length = int(end - start) + period
            is_varied = len(set(values[start : start + period].tolist())) >= _MIN_DIFFERENT_TOKENS
            if end - start >= period and is_varied and length > best[0]:
                best = (length, int(start), int(end) + period)
    return best
