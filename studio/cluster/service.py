"""The speech service of a cluster. Does not know Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from studio.catalog.built_in_speakers import open_voice_library
from studio.errors import StudioError
from studio.serve.backend import SpeechBackend
from studio.serve.service import ServiceOptions, SpeechService
from studio.serve.word_times import open_aligning_checks
from studio.take_checks.service import TakeCheckService
from studio.voices.library import Voice, VoiceLibrary

_log = logging.getLogger(__name__)

# Its client name in the queue, where it takes turns with the clients of requests.
_CLIENT = "preparation"
# Ray then knows which replica has a voice, and chooses another one for the next voice.
_PLACEMENT_SECONDS = 0.5


class ClusterService(SpeechService):
    """The service, which prepares new voices."""

    def __init__(
        self,
        backend: SpeechBackend,
        options: ServiceOptions,
        open_library: Callable[[], VoiceLibrary] = open_voice_library,
        open_checks: Callable[[], TakeCheckService] = open_aligning_checks,
    ) -> None:
        super().__init__(backend, options, open_library, open_checks)
        self._preparing: set[asyncio.Task[None]] = set()
        self._one_by_one = asyncio.Lock()

    def voice_added(self, voice: Voice) -> None:
        """Prepare ``voice`` in one replica, which then handles the requests of this voice, including the first."""
        task = asyncio.get_running_loop().create_task(self._prepare(voice))
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def _prepare(self, voice: Voice) -> None:
        async with self._one_by_one:
            try:
                await self.prepare_voice(self.voice_reference(voice), _CLIENT, lambda _stage, _share: None)
            except StudioError as error:  # the first request of the voice reports it
                _log.info("a new voice was not prepared: %s", error.code)
            else:
                await asyncio.sleep(_PLACEMENT_SECONDS)
