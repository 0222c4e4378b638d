"""The pronunciation dictionary in the window: its dialog, and playback of single words."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.background import run_in_thread
from studio.app.dictionary.dialog import DictionaryDialog
from studio.app.playback.audio_player import NowPlaying
from studio.app.session import Session
from studio.audio.player import StreamingAudio
from studio.errors import StudioError, VoiceNotFound
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import Line, new_id
from studio.project.requests import synthesis_request
from studio.worker.request_handle import Callbacks

_SEED = 0


class Pronunciation(QObject):
    """Opens the dialog and plays words from it, without creating takes. Exists as long as the window."""

    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._playback: asyncio.Task[None] | None = None
        session.parts.global_words.failed.connect(self.failed)

    def load(self) -> None:
        """Load the shared dictionary. Call it once."""
        self._session.parts.global_words.load()

    def open(self, voice_name: str | None, selected: str = "") -> DictionaryDialog:
        """Open the dialog. Words are played in ``voice_name``. ``selected`` is added as a new word."""
        dialog = DictionaryDialog(self._session.editor, self._session.parts.global_words, self._window)
        dialog.play_clicked.connect(lambda entry: self.play(entry, voice_name))
        dialog.finished.connect(self._stop)
        dialog.finished.connect(dialog.deleteLater)
        if selected.strip():
            dialog.add_word(selected)
        dialog.open()
        return dialog

    def play(self, entry: DictionaryEntry, voice_name: str | None) -> None:
        """Stop the current word and play ``entry``. If ``voice_name`` is None, use the first voice in the script."""
        self._stop()
        voices = (voice_name, *(line.voice for line in self._session.editor.script.lines))
        name = next((voice for voice in voices if voice), None)
        if name is None:
            self.failed.emit(
                VoiceNotFound(
                    "No voice is available to play the word.",
                    remedy="Drop a recording on the window to create a voice.",
                )
            )
            return
        self._playback = self._session.bridge.run(self._play_entry(entry, name))

    def _stop(self) -> None:
        if self._playback is not None:
            self._playback.cancel()
            self._playback = None

    async def _play_entry(self, entry: DictionaryEntry, voice_name: str) -> None:
        try:
            audio = await self._synthesize(entry, voice_name)
        except StudioError as error:
            self.failed.emit(error)
        else:
            self._session.playback.player.play(NowPlaying("", "", audio))

    async def _synthesize(self, entry: DictionaryEntry, voice_name: str) -> StreamingAudio:
        """Return the complete audio. A word is short: playing it while it arrives would only risk gaps."""
        description = await self._session.bridge.load()
        voice = await run_in_thread(self._session.find_voice, voice_name)
        request = synthesis_request(
            Line(id=new_id(), text=entry.written, voice=voice_name),
            PronunciationDictionary((entry,)),
            voice=voice.reference,
            generation=description.generation,
            seed=_SEED,
        )
        audio = StreamingAudio(description.sample_rate)
        running = self._session.bridge.synthesize(
            request, hooks=Callbacks(on_audio=lambda chunk: audio.append(chunk.samples))
        )
        await running.finished()  # cancelling this wait cancels the request
        audio.complete()
        return audio
