"""Entry point of the dictionary for the window: the shared dictionary and its dialog."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.dictionary.dialog import DictionaryDialog
from studio.app.dictionary.word_preview import WordPreview
from studio.app.session import Session
from studio.errors import VoiceNotFound
from studio.project.dictionary import DictionaryEntry


class Pronunciation(QObject):
    """Exists as long as the window; call ``load`` once."""

    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._words = session.global_words
        self._preview = WordPreview(session.bridge, session.transport, session.find_voice, self)
        self._words.failed.connect(self.failed)
        self._preview.failed.connect(self.failed)

    def load(self) -> None:
        """Load the shared dictionary."""
        self._words.load()

    def open(self, voice_name: str | None, selected: str = "") -> DictionaryDialog:
        """Open the dialog. Words are played in ``voice_name``; ``selected`` is added as a new word."""
        dialog = DictionaryDialog(self._session.editor, self._words, parent=self._window)
        dialog.hear_clicked.connect(lambda entry: self._hear(entry, voice_name))
        dialog.finished.connect(self._preview.stop)
        dialog.finished.connect(dialog.deleteLater)
        if selected.strip():
            dialog.add_word(selected)
        dialog.open()
        return dialog

    def _hear(self, entry: DictionaryEntry, voice_name: str | None) -> None:
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
        self._preview.hear(entry, name)
