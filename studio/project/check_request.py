"""Conversion of a take to the request for its check."""

from __future__ import annotations

from pathlib import Path

from studio.pipeline.request import Mode
from studio.project.consistency import targets_of_take
from studio.project.dictionary import PronunciationDictionary
from studio.project.project import Project
from studio.project.takes import Take
from studio.take_checks.policy import CheckPolicy
from studio.take_checks.records import TakeMeasures
from studio.take_checks.requests import CheckRequest

_MAX_EARLIER_TAKES = 50


def can_check(take: Take) -> bool:
    """Whether the text of a take is known. The text of a converted recording is unknown."""
    return take.is_complete and take.parameters.mode != Mode.CONVERSION.value


def check_request(
    project: Project, take: Take, policy: CheckPolicy, *, prompt_clip: Path | None, model_folder: Path | None
) -> CheckRequest:
    """Return the request for the check of ``take``. Reads the disk. Raise ``TakeNotFound``."""
    return CheckRequest(
        samples=project.recording_of(take.id),
        sample_rate=take.sample_rate,
        text=take.parameters.text,
        language=take.parameters.language,
        evidence=project.evidence_of(take.id),
        prompt_clip=prompt_clip,
        model_folder=model_folder,
        recognizer=policy.recognizer,
        known_words=known_words(project.dictionary_in_force, take.parameters.text),
        strictness=policy.strictness,
        earlier_takes=earlier_measures(project, take),
        speed=take.parameters.speed,
        targets=targets_of_take(project.script, take),
    )


def earlier_measures(project: Project, take: Take) -> tuple[TakeMeasures, ...]:
    """Return the measures of the latest good takes of the same voice and model."""
    wanted = (take.parameters.voice_sha256, take.parameters.voice_name, take.parameters.model_name)
    found = [
        (other.created, other.check.measures)
        for takes in project.script.takes.values()
        for other in takes
        if other.id != take.id
        and other.check is not None
        and other.check.measures is not None
        and not other.check.needs_review
        and (other.parameters.voice_sha256, other.parameters.voice_name, other.parameters.model_name) == wanted
    ]
    latest = sorted(found, key=lambda pair: pair[0])[-_MAX_EARLIER_TAKES:]
    return tuple(measures for _, measures in latest)


def known_words(dictionary: PronunciationDictionary, text: str) -> tuple[str, ...]:
    """Return the dictionary's words, as written and as replaced, that occur in ``text``."""
    folded = text.casefold()
    words = (word for entry in dictionary.entries for word in (entry.written, entry.alias) if word)
    return tuple(dict.fromkeys(word for word in words if word.casefold() in folded))
