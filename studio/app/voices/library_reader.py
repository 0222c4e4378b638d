"""Reads the library of voices in the background; of several requests only the last one counts."""

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
        """``finished`` or ``failed`` follows, unless it is called again before."""
        self._num_requests += 1
        run_in_background(
            self,
            partial(_content_of, self._library),
            done=partial(self._on_done, self._num_requests),
            failed=partial(self._on_failed, self._num_requests),
        )

    def _on_done(self, number: int, content: LibraryContent) -> None:
        if number == self._num_requests:
            self.finished.emit(content)

    def _on_failed(self, number: int, error: StudioError) -> None:
        if number == self._num_requests:
            self.failed.emit(error)


def _content_of(library: VoiceLibrary) -> LibraryContent:
    return LibraryContent(library.voices(), library.trashed())
