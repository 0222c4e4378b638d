"""All that the window needs of the dictionary: the person's words in every project, and the dialog to change them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.app.dictionary.dialog import DictionaryDialog
from studio.app.dictionary.word_preview import WordPreview
from studio.app.session import Session
from studio.errors import VoiceNotFound
from studio.project.dictionary import DictionaryEntry


class Pronunciation(QObject):
    """Lasts as long as the window; ``load`` it once."""

    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._words = session.global_words
        self._hearing = WordPreview(session.bridge, session.transport, session.find_voice, self)
        self._words.failed.connect(self.failed)
        self._hearing.failed.connect(self.failed)

    def load(self) -> None:
        """The words of all projects."""
        self._words.load()

    def open(self, voice_name: str | None, selected: str = "") -> DictionaryDialog:
        """Words are heard in the voice of that name; ``selected`` is a word to begin with."""
        dialog = DictionaryDialog(self._session.editor, self._words, parent=self._window)
        dialog.hear_clicked.connect(lambda entry: self._hear(entry, voice_name))
        dialog.finished.connect(self._hearing.stop)
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
                    "There is no voice yet to say it.",
                    remedy="Drop a recording of a voice on the window.",
                )
            )
            return
        self._hearing.hear(entry, name)
