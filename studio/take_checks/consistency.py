"""Consistency of a voice over a script: targets of its measures, and takes outside them.

The limits are chosen with ``packaging/measure.py consistency``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from studio.take_checks.confidence import median_and_deviation, ramp
from studio.take_checks.records import Measure, Problem, ProblemKind, Span, TakeMeasures, VoiceTarget


@dataclass(frozen=True, slots=True)
class _Limit:
    """The smallest tolerance, which is hardly audible, and the tolerance in usual deviations of the voice."""

    least: float
    deviations: float
    kind: ProblemKind


_LIMITS = {
    Measure.PACE: _Limit(0.1, 4.0, ProblemKind.ODD_PACE),
    Measure.PITCH: _Limit(1.0, 2.5, ProblemKind.ODD_PITCH),
    Measure.PITCH_RANGE: _Limit(6.0, 9.0, ProblemKind.ODD_PITCH),
    Measure.LEVEL: _Limit(3.0, 4.0, ProblemKind.ODD_LEVEL),
    Measure.SIMILARITY: _Limit(0.1, 4.5, ProblemKind.OTHER_VOICE),
    Measure.PAUSES: _Limit(0.3, 5.0, ProblemKind.ODD_PACE),
}
# A voice with fewer takes gets twice the smallest tolerances.
_MIN_TAKES = 8
# Single sounds determine the measures of shorter takes, so their tolerance is up to twice as large.
_SHORT_SECONDS = 2.0


def comparable(measures: TakeMeasures, measure: Measure) -> float | None:
    """Return a value that differs by the same amount where it sounds equally different, or None if it is unknown.

    The pace is a logarithm and the pitch is in semitones.
    """
    match measure:
        case Measure.PACE:
            pace = measures.syllables_per_second
            return None if pace is None else math.log(pace)
        case Measure.PITCH:
            return 12.0 * math.log2(measures.pitch_hz) if measures.pitch_hz else None
        case Measure.PITCH_RANGE:
            return measures.pitch_range_semitones
        case Measure.LEVEL:
            return measures.level_dbfs
        case Measure.SIMILARITY:
            return measures.similarity
        case Measure.PAUSES:
            return measures.pause_seconds


def shown(value: float, measure: Measure) -> float:
    """Return a comparable value in syllables per second, Hz, semitones, dBFS or seconds."""
    match measure:
        case Measure.PACE:
            return math.exp(value)
        case Measure.PITCH:
            return float(2.0 ** (value / 12.0))
        case _:
            return value


def target_of(takes: Sequence[TakeMeasures]) -> VoiceTarget:
    """Return the medians of ``takes``, with tolerances from their deviations."""
    target = {}
    for measure, limit in _LIMITS.items():
        values = _values(takes, measure)
        if values:
            centre, deviation = median_and_deviation(values)
            is_known = len(values) >= _MIN_TAKES
            tolerance = max(limit.least, limit.deviations * deviation) if is_known else 2.0 * limit.least
            target[measure] = Span(round(centre, 4), round(tolerance, 4))
    return target


def centred(target: VoiceTarget, takes: Sequence[TakeMeasures]) -> VoiceTarget:
    """Return ``target`` with the medians of ``takes`` as centres."""
    centres = {measure: _values(takes, measure) for measure in target}
    return {
        measure: Span(round(median_and_deviation(centres[measure])[0], 4), span.tolerance) if centres[measure] else span
        for measure, span in target.items()
    }


def deviations(measures: TakeMeasures, target: VoiceTarget, seconds: float) -> dict[Measure, float]:
    """Return the distance of each known measure of a take of ``seconds`` from its centre, in tolerances.

    A take may be more similar to the prompt than others.
    """
    found = {}
    allowance = 1.0 + max(0.0, 1.0 - seconds / _SHORT_SECONDS)
    for measure, span in target.items():
        value = comparable(measures, measure)
        if value is not None:
            found[measure] = (value - span.centre) / (span.tolerance * allowance)
            if measure is Measure.SIMILARITY:
                found[measure] = min(0.0, found[measure])
    return found


def drifts(measures: TakeMeasures, targets: Iterable[VoiceTarget], seconds: float) -> dict[Measure, float]:
    """Return the measures of a take of ``seconds`` outside any of ``targets``, with the largest deviation of each.

    Pace and pitch often drift together, so their common deviation counts as well, for the one that deviates more.
    """
    found: dict[Measure, float] = {}
    for target in targets:
        of_target = deviations(measures, target, seconds)
        pair = {measure: of_target[measure] for measure in (Measure.PACE, Measure.PITCH) if measure in of_target}
        if pair:
            larger = max(pair, key=lambda measure: abs(pair[measure]))
            of_target[larger] = math.copysign(math.hypot(*pair.values()), pair[larger])
        for measure, deviation in of_target.items():
            if abs(deviation) > max(1.0, abs(found.get(measure, 0.0))):
                found[measure] = deviation
    return found


def drift_problems(measures: TakeMeasures | None, targets: Sequence[VoiceTarget], seconds: float) -> list[Problem]:
    """Return a problem for each measure of a take of ``seconds`` that is outside any of ``targets``."""
    if measures is None:
        return []
    confidences: dict[ProblemKind, float] = {}
    for measure, deviation in drifts(measures, targets, seconds).items():
        kind = _LIMITS[measure].kind
        confidences[kind] = max(confidences.get(kind, 0.0), ramp(abs(deviation), 1.0, 2.0))
    return [Problem(kind, 0.0, seconds, confidence=confidence) for kind, confidence in confidences.items()]


def _values(takes: Iterable[TakeMeasures], measure: Measure) -> list[float]:
    values = (comparable(take, measure) for take in takes)
    return [value for value in values if value is not None]
