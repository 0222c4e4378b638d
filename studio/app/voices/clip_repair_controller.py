"""Repair of the clip of a voice: compares its candidates in the background, and adds the chosen one as a voice."""

from __future__ import annotations

import asyncio
from contextlib import closing
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from studio.app.background import run_in_background, run_in_thread
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.voices.clip_repair_dialog import ClipRepairDialog
from studio.app.voices.voice_items import read_clip
from studio.app.voices.voice_text import guess_language
from studio.app.widgets.dialogs import open_dialog
from studio.errors import StudioError
from studio.take_checks.clip_repair import (
    Candidate,
    add_repaired_voice,
    list_candidates,
    require_recording,
    survey,
    try_candidates,
)
from studio.take_checks.service import TakeCheckService
from studio.voices.library import Voice
from studio.voices.permission import require_permission


class ClipRepairController(QObject):
    """Opens the dialog for a voice. The comparison ends with the dialog."""

    def __init__(self, session: Session, notices: NotificationBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        self._window = parent

    def repair(self, voice: Voice) -> None:
        open_checks = self._session.services.open_checks
        assert open_checks is not None
        try:
            require_recording(voice)
            require_permission(voice)
        except StudioError as error:
            self._notices.show_error(error)
            return
        dialog = ClipRepairDialog(voice, self._session.playback.make_player(self._window), self._window)
        comparison = _ClipComparison(self._session, open_checks(), dialog)
        dialog.accepted.connect(lambda: self._add(voice, dialog.candidate))
        dialog.finished.connect(comparison.end)
        dialog.speaker_chosen.connect(comparison.begin)
        open_dialog(dialog)
        comparison.begin()

    def _add(self, voice: Voice, candidate: Candidate) -> None:
        name = self.tr("{name} repaired").format(name=voice.name)
        run_in_background(
            self,
            partial(self._add_to_library, voice, candidate, name),
            done=self._on_added,
            failed=self._notices.show_error,
        )

    def _add_to_library(self, voice: Voice, candidate: Candidate, name: str) -> Voice:
        open_checks = self._session.services.open_checks
        assert open_checks is not None
        with closing(open_checks()) as checks:
            return add_repaired_voice(self._session.library, voice, candidate, checks, name)

    def _on_added(self, voice: Voice) -> None:
        self._session.voice_edits.keep([voice])
        self._notices.show_hint(self.tr("{name} was added.").format(name=voice.name))


class _ClipComparison:
    """The comparison of one dialog. ``begin`` starts it again for another speaker."""

    def __init__(self, session: Session, checks: TakeCheckService, dialog: ClipRepairDialog) -> None:
        self._session = session
        self._checks = checks
        self._dialog = dialog
        self._task: asyncio.Task[None] | None = None

    def begin(self, speaker: int = 1) -> None:
        self._cancel()
        self._dialog.begin()
        self._task = asyncio.ensure_future(self._run(speaker))

    def end(self) -> None:
        """End the comparison. Closing the checks cancels the requests of a thread that is still running."""
        self._cancel()
        self._checks.close()

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self, speaker: int) -> None:
        dialog, session, voice = self._dialog, self._session, self._dialog.voice
        try:
            folder = session.model_selection.local_folder()
            recording = await run_in_thread(read_clip, voice)
            found = await run_in_thread(partial(survey, speaker=speaker), recording, self._checks, folder)
            dialog.show_speakers(found, speaker)
            candidates = await run_in_thread(list_candidates, recording, found)
            if len(candidates) > 1:
                await session.bridge.load()
            repair = await try_candidates(
                candidates,
                self._checks,
                folder,
                session.bridge.synthesize,
                transcript=voice.transcript,
                language=voice.language or guess_language(voice.transcript or "") or "en",
                on_progress=dialog.show_progress,
            )
        except StudioError as error:
            dialog.show_problem(error)
        else:
            dialog.show_repair(repair)
