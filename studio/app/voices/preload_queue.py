"""Queue that prepares voices for the loaded model, one at a time, while no line is being spoken.

Lines in a prepared voice start without delay. The worker caches the results on disk, so they survive a restart.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from studio.errors import InternalError, StudioError
from studio.pipeline.request import Cancelled, VoiceReference, VoiceSummary
from studio.voices.library import Voice

_log = logging.getLogger(__name__)


class PreparationState(Enum):
    UNKNOWN = "unknown"  # no model is loaded, or the preparation has not been requested yet
    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    OTHER_MODEL = "other model"  # the voice has stored features for another model generation


@dataclass(frozen=True, slots=True)
class Preparation:
    """State of the preparation of a voice."""

    state: PreparationState = PreparationState.UNKNOWN
    share: float = 0.0  # the finished share while RUNNING, from 0 to 1
    error: StudioError | None = None  # if FAILED


class VoicePreparer(Protocol):
    """The part of the worker bridge that this queue needs."""

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary: ...


class VoicePreloadQueue(QObject):
    """Queue of voices. Use it on the GUI thread, whose event loop also runs asyncio."""

    changed = Signal(str, object)  # name of the voice, Preparation
    prepared = Signal(object, float)  # Voice, seconds of its preparation, which are few if it was prepared before

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preparer: VoicePreparer | None = None
        self._generation: str | None = None
        self._waiting: list[Voice] = []
        self._known: dict[str, Preparation] = {}
        self._running: Voice | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_paused = False

    def of(self, name: str) -> Preparation:
        return self._known.get(name, Preparation())

    def use(self, preparer: VoicePreparer | None, generation: str | None = None) -> None:
        """Use ``preparer`` for the model ``generation``, or prepare no voices if it is None. Discard all states."""
        self._cancel()
        self._preparer, self._generation = preparer, generation
        self._waiting = []
        for name in list(self._known):
            self._set(name, Preparation())

    def request(self, voice: Voice, *, is_urgent: bool = True) -> None:
        """Queue ``voice``, at the front if it is urgent."""
        if self._preparer is None:
            return
        if not voice.works_with(self._generation):
            self._set(voice.name, Preparation(PreparationState.OTHER_MODEL))
            return
        self.discard(voice.name)
        self._waiting.insert(0 if is_urgent else len(self._waiting), voice)
        self._set(voice.name, Preparation(PreparationState.WAITING))
        self._start_next()

    def discard(self, name: str) -> None:
        """Stop preparing a voice that was removed or changed, and discard its state."""
        self._waiting = [voice for voice in self._waiting if voice.name != name]
        if self._running is not None and self._running.name == name:
            self._cancel()
        if name in self._known:
            self._set(name, Preparation())
        self._start_next()

    def rename(self, before: str, after: str) -> None:
        """Keep the state of a voice that was renamed."""
        known = self._known.get(before)
        moved = [voice for voice in [*self._waiting, self._running] if voice is not None and voice.name == before]
        self.discard(before)
        for voice in moved:
            self.request(replace(voice, name=after))
        if known is not None and not moved:
            self._set(after, known)

    def pause(self) -> None:
        """Free the worker for synthesis. The running preparation is cancelled, and restarts after ``resume``."""
        self._is_paused = True
        running = self._running
        self._cancel()
        if running is not None:
            self._waiting.insert(0, running)
            self._set(running.name, Preparation(PreparationState.WAITING))

    def resume(self) -> None:
        self._is_paused = False
        self._start_next()

    def _start_next(self) -> None:
        if self._task is None and self._waiting and self._preparer is not None and not self._is_paused:
            self._running = self._waiting.pop(0)
            self._task = asyncio.ensure_future(self._prepare(self._running, self._preparer))

    def _cancel(self) -> None:
        task, self._task, self._running = self._task, None, None
        if task is not None:
            task.cancel()

    async def _prepare(self, voice: Voice, preparer: VoicePreparer) -> None:
        def show_progress(_stage: str, share: float) -> None:
            if self._running is voice:
                self._set(voice.name, Preparation(PreparationState.RUNNING, share))

        show_progress("", 0.0)
        began = time.monotonic()
        try:
            await preparer.prepare_voice(
                VoiceReference(voice.clip, voice.transcript, voice.name), on_progress=show_progress
            )
            result = Preparation(PreparationState.READY, 1.0)
        except StudioError as error:
            result = Preparation(PreparationState.FAILED, error=error)
        except Cancelled:  # the worker is closing
            result = Preparation()
        except Exception as error:  # noqa: BLE001 - end of the task: shown on the card, and the queue continues
            _log.exception("unexpected error while preparing a voice")
            result = Preparation(
                PreparationState.FAILED, error=InternalError("Unexpected error: {reason}.", reason=error)
            )
        if self._running is voice:
            self._task, self._running = None, None
            self._set(voice.name, result)
            if result.state is PreparationState.READY:
                self.prepared.emit(voice, time.monotonic() - began)
            self._start_next()

    def _set(self, name: str, preparation: Preparation) -> None:
        self._known[name] = preparation
        self.changed.emit(name, preparation)
