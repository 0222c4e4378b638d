"""Names and descriptions of the qualities."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP as _T
from studio.model.config import Quality

translate = QCoreApplication.translate

_NAMES = {
    Quality.EXACT: _T("Qualities", "Exact"),
    Quality.FAST: _T("Qualities", "Fast"),
    Quality.DRAFT: _T("Qualities", "Draft"),
}
_DESCRIPTIONS = {
    Quality.EXACT: _T("Qualities", "As the model was released."),
    Quality.FAST: _T("Qualities", "Less work, and at most 0.3 dB from exact, which is hard to hear."),
    Quality.DRAFT: _T("Qualities", "Least work, and at most 0.8 dB from exact. For trying out readings."),
}


def quality_name(quality: Quality) -> str:
    return translate("Qualities", _NAMES[quality])


def quality_description(quality: Quality) -> str:
    return translate("Qualities", _DESCRIPTIONS[quality])
