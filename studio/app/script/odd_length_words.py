"""Warning about a take that is too short or too long for its text."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.pipeline.request import LengthVerdict
from studio.project.takes import Take


def odd_length_words(take: Take) -> str:
    """Return the warning; empty for a plausible length."""
    match take.parameters.odd_length:
        case LengthVerdict.TOO_LONG:
            return QCoreApplication.translate(
                "OddLength",
                "This take is longer than expected for its text. Listen to it and keep it, or speak the line again.",
            )
        case LengthVerdict.TOO_SHORT:
            return QCoreApplication.translate(
                "OddLength",
                "This take is shorter than expected for its text. Listen to it and keep it, or speak the line again.",
            )
    return ""
