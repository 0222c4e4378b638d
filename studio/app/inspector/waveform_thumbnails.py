"""Cache of waveform thumbnails of takes, computed on other threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.app.background import in_background
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.peaks import THUMBNAIL_COLUMNS, WaveformPeaks, outline_of
from studio.errors import StudioError

Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]

_log = logging.getLogger(__name__)


class WaveformThumbnails(QObject):
    """Thumbnails by take. ``outline`` starts computing a missing one, and ``ready`` reports it."""

    ready = Signal(str)  # take id

    def __init__(self, editor: ProjectEditor, run: Run, parent: QObject | None = None) -> None:
        """``run`` starts a coroutine (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._run = run
        self._editor = editor
        self._outlines: dict[str, WaveformPeaks] = {}
        self._asked: set[str] = set()
        editor.project_replaced.connect(self._forget)

    def outline(self, take_id: str) -> WaveformPeaks | None:
        if take_id not in self._outlines and take_id not in self._asked:
            self._asked.add(take_id)
            self._run(self._make(take_id))
        return self._outlines.get(take_id)

    async def _make(self, take_id: str) -> None:
        project = self._editor.project
        try:
            outline = await in_background(lambda: outline_of(project.samples_of(take_id), THUMBNAIL_COLUMNS))
        except StudioError as error:
            _log.info("no thumbnail of take %s: %s", take_id, error)
            return
        self._outlines[take_id] = outline
        self.ready.emit(take_id)

    def _forget(self) -> None:
        self._outlines.clear()
        self._asked.clear()
