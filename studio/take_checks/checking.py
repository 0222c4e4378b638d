"""The check of a take: from the language model's evidence, the sound, and optionally a recogniser."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from studio.errors import StudioError
from studio.take_checks.consistency import drift_problems
from studio.take_checks.findings import LIMITS, TextCheck, TextFindings, choose_verdict, combined, fused
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, TakeMeasures
from studio.take_checks.requests import CheckRequest
from studio.take_checks.sound import FRAME_SECONDS, Sound, analysed
from studio.take_checks.sound_check import inner_pauses, sound_problems
from studio.take_checks.speaker import ENCODER_FILE, Likeness, LikenessMeter
from studio.take_checks.speaker_check import speaker_problems
from studio.take_checks.text_check import check_text
from studio.take_checks.token_check import length_problems, measure_pace, token_problems
from studio.take_checks.words import pause_times
from studio.text.respellings import RESPELLINGS_FILE, Respellings

_log = logging.getLogger(__name__)
open_meter = lru_cache(maxsize=2)(LikenessMeter)

# Silence and noise disturb the attention: text findings at such a place are dropped, and elsewhere in the take only
# those with a high confidence are kept.
_CAUSES = frozenset({ProblemKind.LONG_SILENCE, ProblemKind.NOISE})
_CERTAIN = 0.9


def check_take(request: CheckRequest, recognizer: TextCheck | None = None) -> TakeCheck:
    """Check a take.

    If ``recognizer`` is given, its comparison with the text decides; otherwise the language model's evidence does. An
    error of the speaker encoder is reported as ``error_code``; the other checks still run.
    """
    sound = analysed(np.ascontiguousarray(request.samples, np.float32), request.sample_rate)
    phrases = [(max(0.0, each.from_seconds), each.to_seconds) for each in request.evidence]
    aligned = check_text(request.text, request.evidence, sound)
    recognized = recognizer(request) if recognizer else TextFindings()
    likeness, error_code = _likeness(request)
    measures = _measures(request, sound, likeness)
    from_sound = sound_problems(sound, phrases, pause_times(request.text, aligned.words), request.earlier_takes)
    others = [*from_sound, *token_problems(request.evidence)]
    others += length_problems(measures.pace if measures else 0.0, sound.seconds, request.earlier_takes)
    others += speaker_problems(likeness, sound.seconds, request.earlier_takes)
    least = LIMITS[request.strictness].doubtful
    of_text = fused(replace(aligned, problems=_not_caused(aligned.problems, from_sound)), recognized)
    if measures is not None and any(problem.confidence >= least for problem in of_text):
        measures = replace(measures, pace=0.0)  # other words take another time
    found = {problem.kind for problem in others}
    drifts = drift_problems(measures, request.targets, sound.seconds)
    others += [problem for problem in drifts if problem.kind not in found]
    reported = tuple(each for each in combined(of_text, tuple(others)) if each.confidence >= least)
    return TakeCheck(
        verdict=choose_verdict(reported, request.strictness),
        problems=reported,
        similarity=likeness.similarity if likeness else None,
        word_error_rate=recognized.word_error_rate,
        words=recognized.words or aligned.words,
        recognizer=recognized.recognizer,
        error_code=recognized.error_code or error_code,
        measures=measures,
    )


def _likeness(request: CheckRequest) -> tuple[Likeness | None, str]:
    """Return the likeness of take and prompt, if both are known, and the code of an error."""
    if request.prompt_clip is None or request.model_folder is None:
        return None, ""
    try:
        meter = open_meter(request.model_folder / ENCODER_FILE)
        return meter.measure(request.samples, request.sample_rate, request.prompt_clip), ""
    except StudioError as error:
        _log.warning("the voice of a take is not checked: %s", error)
        return None, error.code


def _measures(request: CheckRequest, sound: Sound, likeness: Likeness | None) -> TakeMeasures | None:
    if not sound.is_sounding.any():
        return None
    texts = [each.spoken_text for each in request.evidence] or [request.text]
    seconds = float(sound.is_sounding.sum()) * FRAME_SECONDS
    pitches = sound.pitches()
    low, median, high = np.quantile(pitches, (0.1, 0.5, 0.9)) if len(pitches) else (0.0, 0.0, 0.0)
    pauses = inner_pauses(sound)
    return TakeMeasures(
        pace=round(measure_pace(texts, seconds, request.speed, _respellings(request.model_folder)), 3),
        level_dbfs=round(sound.loud_dbfs, 1),
        bandwidth_hz=round(sound.bandwidth_hz),
        similarity=round(likeness.similarity, 3) if likeness else None,
        pitch_hz=round(float(median), 1),
        pitch_range_semitones=round(12.0 * float(np.log2(high / low)), 2) if len(pitches) else None,
        pause_seconds=round(sum(pauses) / len(pauses), 3) if pauses else None,
    )


@lru_cache(maxsize=2)
def _respellings(model_folder: Path | None) -> Respellings | None:
    """Return the pronunciation list of a model, if it has one that can be read."""
    path = None if model_folder is None else next(model_folder.glob(f"*/{RESPELLINGS_FILE}"), None)
    try:
        return None if path is None else Respellings.read(path)
    except StudioError as error:
        _log.warning("the pace of a take is less exact: %s", error)
        return None


def _not_caused(problems: Sequence[Problem], causes: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return ``problems`` without those that silence or noise explains."""
    present = [cause for cause in causes if cause.kind in _CAUSES and cause.confidence >= 0.5]
    if not present:
        return tuple(problems)
    return tuple(
        problem
        for problem in problems
        if problem.confidence >= _CERTAIN and not any(problem.is_near(cause, 0.3) for cause in present)
    )
