"""Comparison of a take with the current state of its line."""

from __future__ import annotations

from enum import Enum

from studio.pipeline.request import Mode
from studio.project.project import Project
from studio.project.takes import Take


class TakeMatch(Enum):
    """Results of comparing a take with its line."""

    CURRENT = "current"
    OTHER_SETTINGS = "other-settings"  # the same text with another voice, style or sampling
    OLDER_TEXT = "older-text"


def compare_take(project: Project, take: Take) -> TakeMatch:
    """Compare a take of ``project`` with its line. A converted recording has no text to compare."""
    if project.is_current(take):
        return TakeMatch.CURRENT
    text, dictionary = project.line(take.line_id).text, project.dictionary_in_force
    texts = {dictionary.compile(text, speaks_phones=speaks_phones).strip() for speaks_phones in (True, False)}
    is_same_text = take.parameters.text in texts or take.parameters.mode == Mode.CONVERSION.value
    return TakeMatch.OTHER_SETTINGS if is_same_text else TakeMatch.OLDER_TEXT
