"""Background reader of the voice library; only the latest request is answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_background
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice, VoiceLibrary


@dataclass(frozen=True, slots=True)
class LibraryContent:
    voices: list[Voice]
    trashed: list[TrashedVoice]


class LibraryReader(QObject):
    finished = Signal(object)  # LibraryContent
    failed = Signal(object)  # StudioError

    def __init__(self, library: VoiceLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._num_requests = 0

    def read(self) -> None:
        """Read the library and emit ``finished`` or ``failed``, unless another call follows first."""
        self._num_requests += 1
        run_in_background(
            self,
            partial(_read_library, self._library),
            done=partial(self._on_done, self._num_requests),
            failed=partial(self._on_failed, self._num_requests),
        )

    def _on_done(self, number: int, content: LibraryContent) -> None:
        if number == self._num_requests:
            self.finished.emit(content)

    def _on_failed(self, number: int, error: StudioError) -> None:
        if number == self._num_requests:
            self.failed.emit(error)


def _read_library(library: VoiceLibrary) -> LibraryContent:
    return LibraryContent(library.voices(), library.trashed())
