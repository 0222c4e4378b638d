"""Conversion of checks of takes, and of the evidence for them, to JSON in the project file, and back."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from typing import TypeVar

from studio.pipeline.request import SentenceEvidence
from studio.project.fields import Fields
from studio.storage.json_input import parse_json
from studio.take_checks.policy import MAX_RETRIES, CheckMode, ProjectCheckPolicy
from studio.take_checks.records import (
    Measure,
    Problem,
    ProblemKind,
    Span,
    TakeCheck,
    TakeMeasures,
    Verdict,
    VoiceTarget,
    WordTime,
)
from studio.take_checks.requests import Strictness

_log = logging.getLogger(__name__)
_MAX_SECONDS = 1e7
_MAX_NUMBER = 1_000_000_000
# An earlier version offered it. Its projects follow the settings instead.
_REMOVED_RECOGNIZER = "Parakeet-TDT-0.6b-v3"
_Kind = TypeVar("_Kind", bound=Enum)


def check_json(check: TakeCheck | None) -> str | None:
    if check is None:
        return None
    values = {
        "verdict": check.verdict.value,
        "problems": [asdict(problem) | {"kind": problem.kind.value} for problem in check.problems],
        "similarity": check.similarity,
        "word_error_rate": check.word_error_rate,
        "words": [asdict(word) for word in check.words],
        "recognizer": check.recognizer,
        "error_code": check.error_code,
        "is_accepted": check.is_accepted,
        "measures": check.measures and asdict(check.measures),
    }
    return json.dumps(values, ensure_ascii=False)


def check_from(fields: Fields | None) -> TakeCheck | None:
    """Return a check without its invalid problems and words, or None if its verdict is invalid."""
    verdict = None if fields is None else _member(fields, "verdict", Verdict)
    if fields is None or verdict is None:
        return None
    problems = map(_problem_from, fields.object_list("problems"))
    return TakeCheck(
        verdict=verdict,
        problems=tuple(problem for problem in problems if problem is not None),
        similarity=fields.number("similarity", -1.001, 1.001, None),
        word_error_rate=fields.number("word_error_rate", 0.0, _MAX_NUMBER, None),
        words=tuple(map(_word_from, fields.object_list("words"))),
        recognizer=fields.text("recognizer"),
        error_code=fields.text("error_code"),
        is_accepted=fields.truth("is_accepted", default=False),
        measures=_measures_from(fields.object("measures")),
    )


def _measures_from(fields: Fields | None) -> TakeMeasures | None:
    if fields is None:
        return None
    pace = fields.number("pace", 0.0, _MAX_NUMBER, None)
    level = fields.number("level_dbfs", -_MAX_NUMBER, _MAX_NUMBER, None)
    bandwidth = fields.number("bandwidth_hz", 0.0, _MAX_NUMBER, None)
    similarity = fields.number("similarity", -1.001, 1.001, None)
    if pace is None or level is None or bandwidth is None:
        return None
    pitch = fields.number("pitch_hz", 0.0, _MAX_NUMBER, None)
    pitch_range = fields.number("pitch_range_semitones", 0.0, _MAX_NUMBER, None)
    pause = fields.number("pause_seconds", 0.0, _MAX_SECONDS, None)
    return TakeMeasures(pace, level, bandwidth, similarity, pitch, pitch_range, pause)


def target_values(target: VoiceTarget) -> dict[str, object]:
    return {measure.value: [span.centre, span.tolerance] for measure, span in target.items()}


def target_from(fields: Fields) -> VoiceTarget:
    """Return the spans of a target, without invalid ones."""
    spans = fields.object("spans")
    found: dict[Measure, Span] = {}
    if spans is None:
        return found
    for measure in Measure:
        values = spans.numbers(measure.value, -_MAX_NUMBER, _MAX_NUMBER)
        if len(values) == 2 and values[1] > 0:
            found[measure] = Span(values[0], values[1])
    return found


def evidence_json(evidence: Sequence[SentenceEvidence]) -> str:
    return json.dumps([asdict(sentence) for sentence in evidence], ensure_ascii=False)


def evidence_from(text: object) -> tuple[SentenceEvidence, ...]:
    """Return the evidence in ``text``, which is empty if it is damaged."""
    replaced: list[str] = []
    try:
        values = parse_json(text)  # type: ignore[arg-type]  # any other type is damage
    except (TypeError, ValueError):
        values, replaced = [], ["evidence"]
    fields = Fields({"sentences": values}, "evidence", replaced)
    evidence = tuple(map(_sentence_from, fields.object_list("sentences")))
    if replaced:
        _log.warning("invalid evidence about a take is ignored: %s", ", ".join(dict.fromkeys(replaced)))
        return ()
    return evidence


def policy_values(policy: ProjectCheckPolicy) -> dict[str, object]:
    """Return the choices that differ from the settings."""
    values = {
        "mode": policy.mode and policy.mode.value,
        "num_retries": policy.num_retries,
        "strictness": policy.strictness and policy.strictness.value,
        "recognizer": policy.recognizer,
    }
    return {name: value for name, value in values.items() if value is not None}


def policy_from(fields: Fields | None) -> ProjectCheckPolicy:
    if fields is None:
        return ProjectCheckPolicy()
    recognizer = fields.optional_text("recognizer")
    return ProjectCheckPolicy(
        _optional_member(fields, "mode", CheckMode),
        fields.whole("num_retries", 1, MAX_RETRIES, None),
        _optional_member(fields, "strictness", Strictness),
        None if recognizer == _REMOVED_RECOGNIZER else recognizer,
    )


def _problem_from(fields: Fields) -> Problem | None:
    kind = _member(fields, "kind", ProblemKind)
    if kind is None:
        return None
    start = fields.number("from_seconds", 0.0, _MAX_SECONDS, 0.0)
    return Problem(
        kind,
        start,
        fields.number("to_seconds", start, _MAX_SECONDS, start),
        text=fields.text("text"),
        confidence=fields.number("confidence", 0.0, 1.0, 1.0),
        text_start=fields.whole("text_start", -1, _MAX_NUMBER, -1),
        text_end=fields.whole("text_end", -1, _MAX_NUMBER, -1),
    )


def _word_from(fields: Fields) -> WordTime:
    start = fields.number("from_seconds", 0.0, _MAX_SECONDS, 0.0)
    return WordTime(
        fields.text("text"),
        start,
        fields.number("to_seconds", start, _MAX_SECONDS, start),
        fields.whole("text_start", -1, _MAX_NUMBER, -1),
        fields.whole("text_end", -1, _MAX_NUMBER, -1),
    )


def _sentence_from(fields: Fields) -> SentenceEvidence:
    start = fields.number("from_seconds", 0.0, _MAX_SECONDS, 0.0)
    end = fields.number("to_seconds", 0.0, _MAX_SECONDS, 0.0)
    speech_tokens = fields.whole_list("speech_tokens", _MAX_NUMBER)
    num_tokens = max(1, len(speech_tokens))
    return SentenceEvidence(
        spoken_text=fields.text("spoken_text"),
        from_seconds=start,
        to_seconds=end,
        speech_tokens=speech_tokens,
        text_pieces=fields.text_list("text_pieces"),
        stopped_by_limit=fields.truth("stopped_by_limit", default=False),
        num_second_draws=fields.whole("num_second_draws", 0, _MAX_NUMBER, 0),
        text_position=tuple(fields.numbers("text_position", -1.0, _MAX_SECONDS)),
        text_coverage=tuple(fields.numbers("text_coverage", -1.0, _MAX_SECONDS)),
        # Files written before this field existed do not contain it.
        token_seconds=fields.number("token_seconds", 0.0, _MAX_SECONDS, max(0.0, end - start) / num_tokens),
    )


def _optional_member(fields: Fields, key: str, kinds: type[_Kind]) -> _Kind | None:
    return None if fields.optional_text(key) is None else _member(fields, key, kinds)


def _member(fields: Fields, key: str, kinds: type[_Kind]) -> _Kind | None:
    try:
        return kinds(fields.text(key))
    except ValueError:
        return fields.replace(key, None)
