"""Voices of the library, to mark lines whose voice is missing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from studio.project.lines import Line
from studio.voices.voice import Voice, name_key


class VoiceNames:
    """The voices of the library. Until ``use`` is called, no voice counts as missing."""

    def __init__(self) -> None:
        self.voices: tuple[Voice, ...] = ()
        self._keys: frozenset[str] | None = None  # None until the library has been read

    def use(self, voices: Sequence[Voice]) -> None:
        self.voices = tuple(voices)
        self._keys = frozenset(name_key(voice.name) for voice in voices)

    def is_missing(self, line: Line) -> bool:
        """Return whether the voice of ``line`` is not in the library, for example after it was deleted."""
        return line.voice is not None and self._keys is not None and name_key(line.voice) not in self._keys

    @staticmethod
    def missing_words(line: Line) -> str:
        words = QCoreApplication.translate(
            "VoiceNames", "There is no voice named {name}. Choose another voice, or add one with this name."
        )
        return words.format(name=line.voice)
