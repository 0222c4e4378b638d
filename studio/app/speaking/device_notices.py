"""What a person is told about the loudspeaker, once each time it matters."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.app.notices import NoticeBar
from studio.app.speaking.playback import PlaybackEnd
from studio.app.speaking.transport import Transport


class DeviceNotices(QObject):
    """Listens to the transport. (That a device was lost is an error, shown as every other.)"""

    def __init__(self, transport: Transport, notices: NoticeBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notices = notices
        transport.ended.connect(self._on_ended)
        transport.buffer_grown.connect(self._on_buffer_grown)

    def _on_ended(self, end: PlaybackEnd) -> None:
        if end is PlaybackEnd.NO_DEVICE:
            self._notices.show_hint(
                self.tr("Play was paused: there is no sound device. The take is kept all the same.")
            )

    def _on_buffer_grown(self) -> None:
        self._notices.show_hint(self.tr("The sound device ran dry several times. It is given more sound ahead now."))
