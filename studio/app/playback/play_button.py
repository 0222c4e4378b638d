"""Button that plays something, and stops it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from studio.app.playback.audio_player import AudioPlayer
from studio.app.theme.icons import icon


class PlayButton(QPushButton):
    """Asks to play something with ``player``, or stops it while it plays."""

    play_wanted = Signal()

    def __init__(self, words: str, player: AudioPlayer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._player = player
        self.setAutoDefault(False)
        self.clicked.connect(self._on_clicked)
        player.started.connect(self._on_started)
        player.ended.connect(self._on_ended)
        self._on_ended()

    def _on_clicked(self) -> None:
        if self._player.is_playing:
            self._player.stop()
        else:
            self.play_wanted.emit()

    def _on_started(self) -> None:
        self.setText(self.tr("Stop"))
        self.setIcon(icon("stop"))

    def _on_ended(self) -> None:
        self.setText(self._words)
        self.setIcon(icon("play"))
