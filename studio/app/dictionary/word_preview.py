"""Playback of a single dictionary entry, without creating a take."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from studio.app.background import in_background
from studio.app.bridge import WorkerBridge
from studio.app.playback.audio_player import AudioPlayer, NowPlaying
from studio.app.synthesis.take_synthesis import FindVoice
from studio.audio.streaming_audio import StreamingAudio
from studio.errors import StudioError
from studio.pipeline.request import AudioChunk
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import Line, new_id
from studio.project.requests import synthesis_request
from studio.worker.request_handle import Callbacks

_SEED = 0


class WordPreview(QObject):
    """Plays one word at a time; a new word stops the previous one."""

    failed = Signal(object)  # StudioError
    ended = Signal()

    def __init__(
        self, bridge: WorkerBridge, transport: AudioPlayer, find_voice: FindVoice, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._transport = transport
        self._find_voice = find_voice
        self._task: asyncio.Task[None] | None = None

    def hear(self, entry: DictionaryEntry, voice_name: str) -> None:
        self.stop()
        self._task = self._bridge.run(self._hear(entry, voice_name))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _hear(self, entry: DictionaryEntry, voice_name: str) -> None:
        try:
            await self._speak(entry, voice_name)
        except StudioError as error:
            self.failed.emit(error)
        finally:
            self.ended.emit()

    async def _speak(self, entry: DictionaryEntry, voice_name: str) -> None:
        description = await self._bridge.ready()
        voice = await in_background(self._find_voice, voice_name)
        line = Line(id=new_id(), text=entry.written, voice=voice_name)
        request = synthesis_request(
            line,
            PronunciationDictionary((entry,)),
            voice=voice.reference,
            generation=description.generation,
            seed=_SEED,
        )
        sound = StreamingAudio(description.sample_rate)

        def keep(chunk: AudioChunk) -> None:
            sound.append(chunk.samples)

        running = self._bridge.speak(request, Callbacks(on_audio=keep))
        await running.finished()  # cancelling this wait cancels the request
        sound.complete()
        # A word is short: play it when it is complete, without gaps.
        self._transport.play(NowPlaying("", "", sound))
