"""Player of clips for the dialogs: one at a time, with playback position."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from studio.audio.output_device import AudioOutputs, PortAudioOutputs
from studio.audio.player import PlaybackEnd, Player
from studio.audio.streaming_audio import StreamingAudio
from studio.audio.waveform import Waveform
from studio.errors import StudioError

_TICK_MILLISECONDS = 30


class ClipPlayer(QObject):
    """Lives on the GUI thread and plays on another. ``device`` returns the chosen output, None for the default."""

    moved = Signal(float)  # seconds into the waveform
    ended = Signal()
    failed = Signal(object)  # StudioError: no output device can be opened
    _lost = Signal(object, object)
    _over = Signal(object, object)

    def __init__(
        self,
        outputs: AudioOutputs | None = None,
        *,
        device: Callable[[], str | None] = lambda: None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._outputs = outputs or PortAudioOutputs()
        self._device = device
        self._player: Player | None = None
        self._error: StudioError | None = None
        self._start_seconds = 0.0
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._lost.connect(self._on_lost)
        self._over.connect(self._on_over)

    @property
    def is_playing(self) -> bool:
        return self._player is not None

    def play(self, waveform: Waveform, start_seconds: float = 0.0, end_seconds: float | None = None) -> None:
        """Play from ``start_seconds`` to ``end_seconds``, or to the end. Stops previous playback."""
        self.stop()
        self._error = None
        rate = waveform.sample_rate
        end = None if end_seconds is None else round(end_seconds * rate)
        self._start_seconds = start_seconds
        self._player = Player(
            StreamingAudio.of(waveform.samples[round(start_seconds * rate) : end], rate),
            self._outputs,
            device=self._device(),
            on_device_lost=partial(_emit_from_thread, self._lost),
            on_end=partial(_emit_from_thread, self._over),
        )
        self._player.allow_start()
        self._tick.start()

    def stop(self) -> None:
        if self._player is not None:
            player, self._player = self._player, None
            self._tick.stop()
            player.stop()
            self.ended.emit()

    def _on_tick(self) -> None:
        if self._player is not None:
            self.moved.emit(self._start_seconds + self._player.position_seconds)

    def _on_lost(self, player: Player, error: StudioError) -> None:
        if player is self._player:
            self._error = error

    def _on_over(self, player: Player, end: PlaybackEnd) -> None:
        if player is self._player:
            self._player = None
            self._tick.stop()
            if end is PlaybackEnd.NO_DEVICE and self._error is not None:
                self.failed.emit(self._error)
            self.ended.emit()


def _emit_from_thread(signal: object, player: Player, what: object) -> None:
    """Emit ``signal`` on the playback thread, unless the dialog has been deleted."""
    try:
        signal.emit(player, what)  # type: ignore[attr-defined]
    except RuntimeError:
        return
