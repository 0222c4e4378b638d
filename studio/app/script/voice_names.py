"""Names of the voices in the library, to mark lines whose voice is missing."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from studio.project.lines import Line
from studio.voices.voice import name_key


class VoiceNames:
    """Until ``use`` is called, no voice counts as missing."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._keys: frozenset[str] | None = None  # None until the library has been read

    def use(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._keys = frozenset(map(name_key, names))

    def is_missing(self, line: Line) -> bool:
        """Return whether the voice of ``line`` is not in the library, for example after it was deleted."""
        return line.voice is not None and self._keys is not None and name_key(line.voice) not in self._keys

    @staticmethod
    def missing_words(line: Line) -> str:
        words = QCoreApplication.translate(
            "VoiceNames", "There is no voice named {name}. Choose another voice, or add one with this name."
        )
        return words.format(name=line.voice)
