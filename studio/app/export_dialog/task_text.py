"""Texts about an export in progress."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.app.translation import QT_TRANSLATE_NOOP as _T
from studio.app.translation import duration_text

_CONTEXT = "ExportTask"
_SPEAKING = _T("ExportTask", "Speaking line {number} of {count}")
_PAUSED = _T("ExportTask", "Paused at line {number} of {count}")
_WRITING = _T("ExportTask", "Writing line {number} of {count}")
_JOINING = _T("ExportTask", "Joining lines")
_WAITING = _T("ExportTask", "Waiting for another export")


def phase_text(task: ExportTask) -> str:
    """Return what the export is doing, such as "Speaking line 3 of 20"."""
    if task.state is ExportState.WAITING:
        return _translated(_WAITING)
    if task.state is ExportState.WRITING and task.progress is not None and task.progress.item is None:
        return _translated(_JOINING)
    templates = {ExportState.PAUSED: _PAUSED, ExportState.WRITING: _WRITING}
    count = task.num_in_phase
    words = _translated(templates.get(task.state, _SPEAKING))
    return words.format(number=min(task.num_done + 1, count), count=count)


def figures_text(task: ExportTask) -> str:
    """Return the speed and the remaining time, if known."""
    figures = []
    per_minute = task.lines_per_minute
    if per_minute is not None:
        template = _translated(_T("ExportTask", "{count} lines per minute"))
        figures.append(template.format(count=f"{per_minute:.0f}" if per_minute >= 10 else f"{per_minute:.1f}"))
    if task.remaining_seconds is not None:
        template = _translated(_T("ExportTask", "{time} left"))
        figures.append(template.format(time=duration_text(task.remaining_seconds)))
    return " · ".join(figures)


def _translated(template: str) -> str:
    return QCoreApplication.translate(_CONTEXT, template)
