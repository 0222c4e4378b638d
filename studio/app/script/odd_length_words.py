"""The sentence about a take whose speech is too short or too long for its text."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.pipeline.request import LengthVerdict
from studio.project.takes import Take


def odd_length_words(take: Take) -> str:
    """Empty for a take of plausible length."""
    match take.recipe.odd_length:
        case LengthVerdict.TOO_LONG:
            return QCoreApplication.translate(
                "OddLength",
                "This take is longer than its text should take. Listen to it, or speak the line again. "
                "Keep the take if it is right.",
            )
        case LengthVerdict.TOO_SHORT:
            return QCoreApplication.translate(
                "OddLength",
                "This take is shorter than its text should take. Listen to it, or speak the line again. "
                "Keep the take if it is right.",
            )
    return ""
