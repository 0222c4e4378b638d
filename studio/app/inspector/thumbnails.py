"""Cache of the waveform thumbnails of takes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.peaks import THUMBNAIL_COLUMNS, WaveformPeaks, outline_of
from studio.audio.edits import AudioEdits
from studio.errors import StudioError

_log = logging.getLogger(__name__)

Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]


class WaveformThumbnails(QObject):
    """Thumbnails by take. ``outline`` starts computing a missing one on another thread; ``ready`` reports it.

    When the edits of a take change, its former thumbnail is shown until the new one is ready.
    """

    ready = Signal(str)  # take id

    def __init__(self, editor: ProjectEditor, run: Run, parent: QObject | None = None) -> None:
        """``run`` starts a coroutine (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._run = run
        self._editor = editor
        self._outlines: dict[str, WaveformPeaks] = {}
        self._edits: dict[str, AudioEdits] = {}  # keys of the outlines, including those being computed
        self._pending: set[str] = set()
        editor.project_replaced.connect(self._forget)

    def outline(self, take_id: str) -> WaveformPeaks | None:
        project = self._editor.project
        if take_id in project.script.line_of_take and take_id not in self._pending:
            edits = project.edits_of(project.take(take_id))
            if self._edits.get(take_id) != edits:
                self._edits[take_id] = edits
                self._pending.add(take_id)
                self._run(self._compute(take_id, edits))
        return self._outlines.get(take_id)

    async def _compute(self, take_id: str, edits: AudioEdits) -> None:
        project = self._editor.project
        sample_rate = project.take(take_id).sample_rate
        try:
            outline = await run_in_thread(
                lambda: outline_of(edits.apply(project.recording_of(take_id), sample_rate), THUMBNAIL_COLUMNS)
            )
        except StudioError as error:
            _log.info("no thumbnail of take %s: %s", take_id, error)
            return
        finally:
            self._pending.discard(take_id)
        if project is self._editor.project:
            self._outlines[take_id] = outline
            self.ready.emit(take_id)

    def _forget(self) -> None:
        self._outlines.clear()
        self._edits.clear()
        self._pending.clear()
