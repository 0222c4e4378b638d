"""Lifetime of everything that outlives the window: project, queue, worker, playback, voices and settings."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.bridge import EngineState
from studio.app.inspector.thumbnails import WaveformThumbnails
from studio.app.model_selection import ModelSelection
from studio.app.playback.playback import Playback
from studio.app.script.line_statuses import LineStatusStore
from studio.app.script.project_editor import ProjectEditor, RemovedTakes
from studio.app.services import Services
from studio.app.synthesis.commands import LanguageCheck, SynthesisCommands
from studio.app.synthesis.queue import SynthesisJob, SynthesisQueue
from studio.app.synthesis.take_synthesis import find_voice
from studio.app.voices.voice_edits import VoiceEdits
from studio.project.project import Project
from studio.settings import OUTPUT_DEVICE
from studio.settings_store import Settings

if TYPE_CHECKING:
    from collections.abc import Container

    from studio.app.session_parts import SessionParts


class Session(QObject):
    """The long-lived parts of the program that are not widgets.

    ``parts`` exist from ``begin`` on.
    """

    parts: SessionParts
    failed = Signal(object)  # StudioError
    settings_changed = Signal(object)  # the settings that changed; emitted on the thread that changed them

    def __init__(self, project: Project, settings: Settings, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.services = services
        self.editor = ProjectEditor(project, self)
        self.line_statuses = LineStatusStore(self)
        self.library = services.open_library()
        self.find_voice = partial(find_voice, self.library)
        self.voice_edits = VoiceEdits(self.library, self.editor.undo_stack, self)
        self.removed_takes = RemovedTakes(self.editor, self)
        self.model_selection = ModelSelection(settings, services, self)
        self.bridge = self.model_selection.bridge
        self.queue = SynthesisQueue(
            self.bridge, self.editor, self.line_statuses, self.find_voice, self, settings=settings
        )
        self.playback = Playback(
            self.editor, self.queue, self, bridge=self.bridge, settings=settings, outputs=services.outputs
        )
        self.language_check = LanguageCheck(self.editor, self.line_statuses, self.bridge, self)
        self.synthesis = SynthesisCommands(self.editor, self.queue, self.playback, self.language_check, self)
        self.thumbnails = WaveformThumbnails(self.editor, self.bridge.run, self)
        self._has_begun = False
        self._unwatch = settings.watch(self.settings_changed.emit)
        self.settings_changed.connect(self._apply_settings)
        self.queue.job_finished.connect(self._report_failure)
        for part in (self.bridge, self.playback, self.editor):
            part.failed.connect(self.failed)

    def begin(self) -> None:
        """Build ``parts``, and check takes that were not checked before. Call once, after the first paint."""
        from studio.app.session_parts import SessionParts  # noqa: PLC0415 - its imports take as long as the rest

        self.parts = SessionParts(
            self.model_selection,
            self.editor,
            self.queue,
            self,
            find_voice=self.find_voice,
            settings=self.settings,
            services=self.services,
        )
        self._has_begun = True

    @property
    def is_ready(self) -> bool:
        return self.bridge.engine.state is EngineState.READY

    @property
    def is_exporting(self) -> bool:
        return self._has_begun and self.parts.exports.is_busy

    async def replace_project(self, project: Project, *, keeps_draft: bool = False) -> None:
        """Close the open project, cancel its jobs and show ``project``."""
        self.playback.stop_and_cancel()
        if self._has_begun:
            await self.parts.end_exports()
        self.queue.forget_project()
        await self.queue.finished()
        old = self.editor.project
        self.editor.replace_project(project)
        await run_in_thread(old.close, keeps_draft=keeps_draft)

    async def close(self, *, keeps_draft: bool) -> None:
        """End everything including the worker. Never hangs; a failing step does not prevent the others."""
        async with contextlib.AsyncExitStack() as steps:  # callbacks run in reverse order
            steps.push_async_callback(run_in_thread, self.editor.project.close, keeps_draft=keeps_draft)
            steps.push_async_callback(self.bridge.close)
            if self._has_begun:
                steps.push_async_callback(self.parts.models.close)
            steps.push_async_callback(self.queue.finished)
            if self._has_begun:
                steps.push_async_callback(self.parts.end_exports)
                steps.push_async_callback(self.parts.serving.finished)
            steps.callback(self.queue.cancel_all)
            steps.callback(self.playback.close)
            if self._has_begun:
                steps.callback(self.parts.serving.release)
                steps.callback(self.parts.checker.close)
            steps.callback(self.editor.undo_stack.blockSignals, True)
            steps.callback(self._unwatch)

    def _apply_settings(self, changed: Container[object]) -> None:
        if OUTPUT_DEVICE in changed:
            self.playback.player.switch_device()
        self.model_selection.apply_settings(changed)

    def _report_failure(self, job: SynthesisJob) -> None:
        if job.error is not None and job.snapshot is None:  # an export lists its failures
            self.failed.emit(job.error)
