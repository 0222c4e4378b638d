"""Durations as texts of the window. Imported before the first paint, so it imports nothing of the model catalog."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP

_MINUTE = 60.0
_HOUR = 3600.0

_T = QT_TRANSLATE_NOOP


def _tr(text: str) -> str:
    return QCoreApplication.translate("Models", text)


def duration_text(seconds: float) -> str:
    """Return a duration as ``10 s``, ``12 min`` or ``1 h 2 min``."""
    if seconds < _MINUTE:
        return _tr(_T("Models", "{seconds} s")).format(seconds=round(seconds))
    if seconds < _HOUR:
        return _tr(_T("Models", "{minutes} min")).format(minutes=round(seconds / _MINUTE))
    hours, rest = divmod(seconds, _HOUR)
    words = _tr(_T("Models", "{hours} h {minutes} min"))
    return words.format(hours=int(hours), minutes=int(rest / _MINUTE))
