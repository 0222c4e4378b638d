"""Waveform thumbnails and assessments of the voice clips, each read once in the background."""

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
    """Emits ``ready`` for each clip; stored features have no waveform and are skipped."""

    ready = Signal(str, object)  # the clip's path, CardPicture

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: set[Path] = set()
        self._waiting: list[Path] = []
        self._is_reading = False

    def ask_for(self, voices: list[Voice]) -> None:
        for voice in voices:
            if voice.generation is None and voice.clip not in self._asked:
                self._asked.add(voice.clip)
                self._waiting.append(voice.clip)
        self._read_next()

    def _read_next(self) -> None:
        """Read one clip at a time, so that a long list does not block the import of a dropped file."""
        if self._waiting and not self._is_reading:
            self._is_reading = True
            clip = self._waiting.pop(0)
            run_in_background(
                self,
                partial(_picture, clip),
                done=partial(self._on_done, clip),
                failed=partial(self._on_failed, clip),
            )

    def _on_done(self, clip: Path, picture: CardPicture) -> None:
        self._is_reading = False
        self.ready.emit(str(clip), picture)
        self._read_next()

    def _on_failed(self, clip: Path, _error: StudioError) -> None:
        """Leave the card without a waveform, and allow another attempt later."""
        self._is_reading = False
        self._asked.discard(clip)
        self._read_next()


def _picture(clip: Path) -> CardPicture:
    from studio.audio.files import read_audio  # noqa: PLC0415 - after the first paint

    waveform = read_audio(clip, longest_seconds=_LONGEST_SECONDS)
    return CardPicture(outline_of(waveform.samples, THUMBNAIL_COLUMNS), assess_clip(waveform))
