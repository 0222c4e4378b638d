"""Notices about the output device."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.app.error_text import error_message
from studio.app.notifications import NotificationBar
from studio.app.playback.transport import Transport
from studio.audio.player import PlaybackEnd
from studio.errors import StudioError


class AudioDeviceNotifier(QObject):
    """Shows each problem of the output device once, as a hint."""

    def __init__(self, transport: Transport, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transport = transport
        self._notices = notices
        self._is_lost = False
        self._last_hint = ""  # not repeated for every take
        transport.started.connect(self._on_started)
        transport.device_lost.connect(self._on_device_lost)
        transport.ended.connect(self._on_ended)
        transport.buffer_grown.connect(self._on_buffer_grown)

    def _on_started(self) -> None:
        self._is_lost = False

    def _on_device_lost(self, error: StudioError) -> None:
        device = self._transport.device
        if device is None:
            words = self.tr("{sentence} Trying again.").format(sentence=error_message(error))
        else:
            words = self.tr(
                "The output device {device} is not available. Playback continues on the system default."
            ).format(device=device)
        if not self._is_lost and words != self._last_hint:
            self._last_hint = words
            self._notices.show_hint(words)
        self._is_lost = True

    def _on_ended(self, end: PlaybackEnd) -> None:
        if end is PlaybackEnd.NO_DEVICE:
            self._last_hint = ""
            self._notices.show_hint(self.tr("Playback stopped: no output device is available. The take is kept."))
        elif not self._is_lost:
            self._last_hint = ""

    def _on_buffer_grown(self) -> None:
        self._notices.show_hint(self.tr("Playback stuttered; the buffer has been enlarged."))
