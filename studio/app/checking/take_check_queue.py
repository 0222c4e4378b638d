"""Checks takes one after the other in a separate process, and stores the results in the project."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.take_synthesis import FindVoice
from studio.errors import StudioError
from studio.project.changes import SetTakeChecks
from studio.project.check_request import can_check, check_request
from studio.project.project import Project
from studio.project.takes import Take
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.take_checks.records import TakeCheck, Transcript
from studio.take_checks.requests import CheckRequest, TranscriptRequest
from studio.take_checks.service import TakeCheckService

_log = logging.getLogger(__name__)


class TakeCheckQueue(QObject):
    """Queue of takes to check. Belongs to the GUI thread.

    Only one take at a time is read and sent, so that waiting takes need no memory.
    """

    checked = Signal(str)  # id of a take whose check has ended; the take may have been removed meanwhile
    changed = Signal()  # the number of waiting takes

    def __init__(
        self,
        editor: ProjectEditor,
        open_service: Callable[[], TakeCheckService] | None,
        parent: QObject | None = None,
        *,
        find_voice: FindVoice,
        policy: Callable[[], CheckPolicy],
        run: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
        model_folder: Callable[[], Path],
    ) -> None:
        """``run`` starts a coroutine (``WorkerBridge.run``). Without ``open_service``, nothing is checked."""
        super().__init__(parent)
        self._editor = editor
        self._open_service = open_service
        self._find_voice = find_voice
        self._policy = policy
        self._run = run
        self._model_folder = model_folder
        self._service: TakeCheckService | None = None
        self._waiting: dict[str, None] = {}  # ids of takes, in order
        self._current: str | None = None
        self._future: Future[TakeCheck] | None = None
        self._is_closed = False
        editor.project_replaced.connect(self._on_project_replaced)

    @property
    def is_on(self) -> bool:
        return self._open_service is not None and not self._is_closed and self._policy().mode is not CheckMode.OFF

    @property
    def num_waiting(self) -> int:
        """The number of takes without a result, including the one being checked."""
        return len(self._waiting) + (self._current is not None)

    def is_waiting(self, take_id: str) -> bool:
        return take_id in self._waiting or take_id == self._current

    def check(self, take_ids: Iterable[str]) -> int:
        """Check takes, also those that were checked before. Return the number of those that can be checked."""
        if self._open_service is None or self._is_closed:
            return 0
        script = self._editor.script
        found = [take_id for take_id in take_ids if take_id in script.line_of_take and can_check(script.take(take_id))]
        self._waiting |= dict.fromkeys(found)
        if found:
            self.changed.emit()
            self._check_next()
        return len(found)

    def transcribe(self, request: TranscriptRequest) -> Future[Transcript]:
        """Recognise a recording, interleaved with the checks, even if these are off. Cancelled after ``close``."""
        if self._is_closed:
            future: Future[Transcript] = Future()
            future.cancel()
            return future
        return self._opened_service().transcribe(request)

    def check_unchecked(self) -> None:
        """Check the takes that were not checked before the program ended, unless checks are off."""
        if self.is_on:
            self._run(self._find_unchecked(self._editor.project))

    def cancel(self) -> None:
        """Clear the queue. The waiting takes stay unchecked."""
        self._waiting.clear()
        if self._future is not None:
            self._future.cancel()
        self.changed.emit()

    def close(self) -> None:
        self._is_closed = True
        self.cancel()
        if self._service is not None:
            self._service.close()

    async def _find_unchecked(self, project: Project) -> None:
        takes = await run_in_thread(project.takes_to_check)
        if project is self._editor.project:
            self.check(take.id for take in takes)

    def _check_next(self) -> None:
        if self._current is not None or not self._waiting or self._is_closed:
            return
        self._current = next(iter(self._waiting))
        del self._waiting[self._current]
        self._run(self._check(self._current, self._editor.project))

    async def _check(self, take_id: str, project: Project) -> None:
        try:
            check = await self._result(project, take_id)
            if check is not None and project is self._editor.project and take_id in project.script.line_of_take:
                self._editor.apply(SetTakeChecks({take_id: check}))
        except StudioError as error:
            _log.warning("take %s could not be checked: %s", take_id, error)
        finally:
            self._current = self._future = None
        if project is self._editor.project and not self._is_closed:
            self.checked.emit(take_id)
        self.changed.emit()
        self._check_next()

    async def _result(self, project: Project, take_id: str) -> TakeCheck | None:
        """Return the check of a take, or None if it was cancelled or the take was removed."""
        if take_id not in project.script.line_of_take:
            return None
        take, policy, folder = project.take(take_id), self._policy(), self._model_folder()
        request = await run_in_thread(lambda: self._request(project, take, policy, folder))
        if self._is_closed or project is not self._editor.project:
            return None
        self._future = self._opened_service().submit(request)
        try:
            return await asyncio.wrap_future(self._future)
        except asyncio.CancelledError:
            if self._future.cancelled():
                return None
            raise

    def _opened_service(self) -> TakeCheckService:
        if self._service is None:
            assert self._open_service is not None, "takes are checked only if there is a service"
            self._service = self._open_service()
        return self._service

    def _request(self, project: Project, take: Take, policy: CheckPolicy, model_folder: Path) -> CheckRequest:
        """Runs on a background thread."""
        clip = None
        try:
            voice = self._find_voice(take.parameters.voice_name)
            clip = voice.reference.clip if voice.sha256 == take.parameters.voice_sha256 else None
        except StudioError:
            pass  # the voice was removed: the take is checked without a comparison of voices
        return check_request(project, take, policy, prompt_clip=clip, model_folder=model_folder)

    def _on_project_replaced(self) -> None:
        self.cancel()
        self.check_unchecked()
