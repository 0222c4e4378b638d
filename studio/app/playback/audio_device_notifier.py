"""What a person is told about the loudspeaker, once each time it matters."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.app.error_text import error_message
from studio.app.notifications import NotificationBar
from studio.app.playback.transport import Transport
from studio.audio.player import PlaybackEnd
from studio.errors import StudioError


class AudioDeviceNotifier(QObject):
    """Listens to the transport. All are hints: play goes on by itself, or waits until somebody asks for it again."""

    def __init__(self, transport: Transport, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transport = transport
        self._notices = notices
        self._is_lost = False
        self._told = ""  # not again with every take that is heard on another device
        transport.started.connect(self._on_started)
        transport.device_lost.connect(self._on_device_lost)
        transport.ended.connect(self._on_ended)
        transport.buffer_grown.connect(self._on_buffer_grown)

    def _on_started(self) -> None:
        self._is_lost = False

    def _on_device_lost(self, error: StudioError) -> None:
        device = self._transport.device
        if device is None:
            words = self.tr("{sentence} Play is tried once more.").format(sentence=error_message(error))
        else:
            words = self.tr(
                "The sound device {device} cannot be used now. Play goes on with the one the system chooses."
            ).format(device=device)
        if not self._is_lost and words != self._told:
            self._told = words
            self._notices.show_hint(words)
        self._is_lost = True

    def _on_ended(self, end: PlaybackEnd) -> None:
        if end is PlaybackEnd.NO_DEVICE:
            self._told = ""
            self._notices.show_hint(
                self.tr("Play was paused: there is no sound device. The take is kept all the same.")
            )
        elif not self._is_lost:
            self._told = ""

    def _on_buffer_grown(self) -> None:
        self._notices.show_hint(self.tr("The sound device ran dry several times. It is given more sound ahead now."))
