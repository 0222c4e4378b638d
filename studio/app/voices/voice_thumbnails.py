"""Waveform thumbnails and assessments of the clips of voices. Each clip is read once, in the background."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_background
from studio.app.widgets.peaks import THUMBNAIL_COLUMNS, WaveformPeaks, outline_of
from studio.errors import StudioError
from studio.voices.clip_report import ClipReport, assess_clip
from studio.voices.library import Voice

_LONGEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CardPicture:
    outline: WaveformPeaks
    clip_report: ClipReport


class VoiceThumbnails(QObject):
    """Emits ``ready`` for each requested clip. Voices with stored features are skipped, as they have no waveform."""

    ready = Signal(str, object)  # path of the clip, CardPicture

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._requested: set[Path] = set()
        self._waiting: list[Path] = []
        self._is_busy = False

    def request(self, voices: list[Voice]) -> None:
        for voice in voices:
            if voice.generation is None and voice.clip not in self._requested:
                self._requested.add(voice.clip)
                self._waiting.append(voice.clip)
        self._read_next()

    def _read_next(self) -> None:
        """Read only one clip at a time, so that a long list does not delay the import of a dropped file."""
        if self._waiting and not self._is_busy:
            self._is_busy = True
            clip = self._waiting.pop(0)
            run_in_background(
                self,
                partial(_picture, clip),
                done=partial(self._on_done, clip),
                failed=partial(self._on_failed, clip),
            )

    def _on_done(self, clip: Path, picture: CardPicture) -> None:
        self._is_busy = False
        self.ready.emit(str(clip), picture)
        self._read_next()

    def _on_failed(self, clip: Path, _error: StudioError) -> None:
        """Leave the card without a waveform. The clip can be requested again."""
        self._is_busy = False
        self._requested.discard(clip)
        self._read_next()


def _picture(clip: Path) -> CardPicture:
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint

    waveform = read_audio(clip, longest_seconds=_LONGEST_SECONDS)
    return CardPicture(outline_of(waveform.samples, THUMBNAIL_COLUMNS), assess_clip(waveform))
