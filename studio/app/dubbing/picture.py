"""Picture of the guide track beside the timeline. Needs Qt Multimedia, which is optional."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget

from studio.app.widgets.controls import in_row
from studio.audio.media import MEDIA_SUFFIXES

_WIDTH_PIXELS = 200
_MAX_DRIFT_SECONDS = 0.08  # two frames; a picture further from the sound is moved


class GuidePicture(QWidget):
    """Shows a video without its sound. ``seek`` sets the time."""

    def __init__(self, multimedia: Any, multimedia_widgets: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._player = multimedia.QMediaPlayer(self)
        self._surface = multimedia_widgets.QVideoWidget()
        self._player.setVideoOutput(self._surface)
        self.setFixedWidth(_WIDTH_PIXELS)
        self.setAccessibleName(self.tr("Picture"))
        in_row(self._surface, parent=self, margins=0)
        self.hide()

    def show_file(self, path: str | None) -> None:
        video = path if path is not None and Path(path).suffix.lower() in MEDIA_SUFFIXES else None
        self._player.setSource(QUrl() if video is None else QUrl.fromLocalFile(video))
        self._player.pause()
        self.setVisible(video is not None)

    def set_playing(self, is_playing: bool) -> None:
        if is_playing:
            self._player.play()
        else:
            self._player.pause()

    def seek(self, seconds: float) -> None:
        """Show the picture at this time, unless the current one is close enough."""
        if abs(self._player.position() / 1000 - seconds) > _MAX_DRIFT_SECONDS:
            self._player.setPosition(round(seconds * 1000))


def make_picture() -> GuidePicture | None:
    """Return None without Qt Multimedia."""
    try:
        multimedia = importlib.import_module("PySide6.QtMultimedia")
        widgets = importlib.import_module("PySide6.QtMultimediaWidgets")
    except ImportError:
        return None
    return GuidePicture(multimedia, widgets)
