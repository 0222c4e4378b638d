"""Faults of the voice: unlike the prompt, or changing within the take."""

from __future__ import annotations

from collections.abc import Sequence

from studio.take_checks.confidence import MIN_EARLIER_TAKES, median_and_deviation, ramp
from studio.take_checks.records import Problem, ProblemKind, TakeMeasures
from studio.take_checks.speaker import Likeness

# The similarity of a good take is at least this share of that of two recordings of one voice. With the encoder of
# studio-mini, two recordings have 0.93, 98 % of good takes 0.81 and more, and 95 % of pairs of other voices 0.76 and less.
_MIN_SHARE, _CERTAIN_SHARE = 0.79, 0.66
# A voice that the model copies less well: the take is less similar to the prompt, but much more than to any bundled voice.
_FAR_FROM_OTHERS, _MIN_SHARE_FAR = 0.2, 0.66
# A voice with enough takes is compared with these instead: many deviations below their median.
_MIN_DROP, _DEVIATIONS = 0.13, 4.0
# Short takes are less similar, because the embedding then depends on the words.
_SHORT_SECONDS, _SHORT_ALLOWANCE = 2.0, 0.25
# Difference between the similarities of the first and the last part of a long take. In 40 pairs of tuning takes of one
# voice that were joined, it is at most 0.11; in 40 pairs of different voices, two have less than the limit.
_DRIFT, _CERTAIN_DRIFT = 0.2, 0.4


def speaker_problems(likeness: Likeness | None, seconds: float, earlier: Sequence[TakeMeasures]) -> list[Problem]:
    if likeness is None:
        return []
    found = []
    allowance = _SHORT_ALLOWANCE * max(0.0, 1.0 - seconds / _SHORT_SECONDS)
    least, certain = _limits(likeness, [take.similarity for take in earlier if take.similarity is not None])
    confidence = ramp(-likeness.similarity, allowance - least, allowance - certain)
    if confidence >= 0.25:
        found.append(Problem(ProblemKind.OTHER_VOICE, 0.0, seconds, confidence=confidence))
    if likeness.start is not None and likeness.end is not None:
        drift = ramp(likeness.start - likeness.end, _DRIFT, _CERTAIN_DRIFT)
        if drift >= 0.25 and confidence < 0.5:
            found.append(Problem(ProblemKind.VOICE_DRIFT, seconds / 2, seconds, confidence=drift))
    return found


def _limits(likeness: Likeness, earlier: Sequence[float]) -> tuple[float, float]:
    """Return the similarity at which another voice becomes probable, and that at which it is certain."""
    if len(earlier) < MIN_EARLIER_TAKES:
        lead = (likeness.similarity - likeness.nearest) / (_FAR_FROM_OTHERS * likeness.usual)
        share = _MIN_SHARE - (_MIN_SHARE - _MIN_SHARE_FAR) * min(1.0, max(0.0, lead))
        return share * likeness.usual, (share - _MIN_SHARE + _CERTAIN_SHARE) * likeness.usual
    median, deviation = median_and_deviation(earlier)
    drop = max(_MIN_DROP, _DEVIATIONS * deviation)
    return median - drop, median - 2 * drop
