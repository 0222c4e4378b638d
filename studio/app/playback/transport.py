"""What is heard: one sound at a time, a stored take or one that is still being made."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.synthesis.take_synthesis import TakeSynthesis, start_in_seconds
from studio.audio.output_device import AudioOutputs, LatencyPolicy
from studio.audio.player import PlaybackEnd, Player
from studio.audio.streaming_audio import StreamingAudio
from studio.errors import StudioError

if TYPE_CHECKING:
    from studio.worker.request_handle import StartTime

_TICK_MILLISECONDS = 40
_LEVEL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class NowPlaying:
    """What is being played: a take of a line; ``take_id`` of a take that is not finished is known already."""

    line_id: str
    take_id: str
    sound: StreamingAudio


class Transport(QObject):
    """Belongs to the window's thread; sound is played on threads of its own."""

    started = Signal(object)  # Heard: play was asked for; it may have to wait
    moved = Signal(float)  # seconds into the sound, while it is heard
    ended = Signal(object)  # PlaybackEnd
    device_lost = Signal(object)  # StudioError: play is tried on the default one next
    buffer_grown = Signal()  # once a session: the device needs a longer one
    _lost = Signal(object, object)
    _over = Signal(object, object)

    def __init__(self, outputs: AudioOutputs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.outputs = outputs
        self._device: str | None = None
        self._buffer = LatencyPolicy()
        self._least_buffer_seconds = self._buffer.seconds
        self._heard: NowPlaying | None = None
        self._player: Player | None = None
        self._making: TakeSynthesis | None = None
        self._ahead: Player | None = None  # of ``_making`` until its first sound: its device is open already
        self._start_at: float | None = None
        self._underruns_before = 0
        self._start_timer = QTimer(self)
        self._start_timer.setSingleShot(True)
        self._start_timer.timeout.connect(self._begin)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._lost.connect(self._on_device_lost)
        self._over.connect(self._on_over)

    # What is going on.

    @property
    def device(self) -> str | None:
        """The one that was asked for, whether it is there or not; None is the system's default."""
        return self._device

    @property
    def heard(self) -> NowPlaying | None:
        return self._heard

    @property
    def is_playing(self) -> bool:
        """Also while play waits for its moment."""
        return self._player is not None

    @property
    def position_seconds(self) -> float:
        return self._player.position_seconds if self._player else 0.0

    @property
    def buffered_seconds(self) -> float | None:
        """How much of a sound that is being made has not been heard yet; None where nothing is being made."""
        if self._player is None or self._player.sound.is_complete:
            return None
        return self._player.buffered_seconds

    @property
    def starts_in_seconds(self) -> float | None:
        """None once it is heard, or while nobody knows."""
        if self._player is None or self._player.is_heard or self._start_at is None:
            return None
        return max(0.0, self._start_at - asyncio.get_event_loop().time())

    @property
    def num_underruns(self) -> int:
        """Of this session."""
        return self._underruns_before + (self._player.num_underruns if self._player else 0)

    @property
    def level(self) -> float:
        """The loudest sample around what is heard now, 0..1."""
        if self._player is None or not self._player.is_heard:
            return 0.0
        sound, end = self._player.sound, round(self._player.position_seconds * self._player.sound.sample_rate)
        samples = sound.between(end - round(_LEVEL_SECONDS * sound.sample_rate), end)
        return float(np.abs(samples).max()) if len(samples) else 0.0

    # What can be asked for.

    def use_device(self, device: str | None) -> None:
        """By its name; None is the system's default. What is being played goes on there."""
        if device == self._device:
            return
        self._device = device
        if self._ahead is not None:
            self._ahead.use_device(device)
        if self._heard is None or self._player is None:
            return
        if not self._player.is_heard:
            self._player.use_device(device)
        else:
            self.play(self._heard, start_seconds=self._player.position_seconds)

    def play(self, heard: NowPlaying, *, start_seconds: float = 0.0) -> None:
        """A sound that is there, from ``start_seconds`` on."""
        self._open(heard, start_sample=round(start_seconds * heard.sound.sample_rate))
        self._begin()

    def follow(self, making: TakeSynthesis) -> None:
        """A take that is being made, from the moment it can be heard without a gap."""
        self.stop()
        self._making = making
        making.prepared.connect(partial(self._on_making_prepared, making))
        making.start_time_known.connect(partial(self._on_start_known, making))
        making.audio_started.connect(partial(self._on_synthesis_begun, making))
        self._on_making_prepared(making)
        if making.sound is not None and making.sound.num_samples:
            self._on_synthesis_begun(making)

    def synthesis_ended(self, making: TakeSynthesis) -> None:
        """Nothing more comes: what there is can be heard at once."""
        if making is self._making:
            self._making = None
            self._close_ahead()
            self._begin()

    def stop(self) -> None:
        """Silence at once."""
        self._making = None
        self._close_ahead()
        self._start_timer.stop()
        self._start_at = None
        if self._player is not None:
            self._player.stop()
            self._close(PlaybackEnd.STOPPED)

    # Inside.

    def _open(self, heard: NowPlaying, *, start_sample: int = 0) -> None:
        self.stop()
        self._show(heard, self._new_player(heard.sound, start_sample))

    def _new_player(self, sound: StreamingAudio, start_sample: int = 0) -> Player:
        return Player(
            sound,
            self.outputs,
            device=self._device,
            start_sample=start_sample,
            buffer=self._buffer,
            on_device_lost=self._lost.emit,
            on_end=self._over.emit,
        )

    def _show(self, heard: NowPlaying, player: Player) -> None:
        self._heard, self._player = heard, player
        self.started.emit(heard)
        self._tick.start()

    def _close_ahead(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.stop()

    def _begin(self) -> None:
        self._start_timer.stop()
        if self._player is not None:
            self._player.allow_start()

    def _on_making_prepared(self, making: TakeSynthesis) -> None:
        """Open the device while the first sound is being made."""
        if making is self._making and making.sound is not None and self._ahead is None:
            self._ahead = self._new_player(making.sound)

    def _on_synthesis_begun(self, making: TakeSynthesis) -> None:
        if making is not self._making or making.take_id is None or self._ahead is None:
            return
        ahead, self._ahead = self._ahead, None
        self._show(NowPlaying(making.line.id, making.take_id, ahead.sound), ahead)
        making.num_underruns = self._playback_underruns
        if ahead.sound.is_complete:
            self._begin()

    def _on_start_known(self, making: TakeSynthesis, start: StartTime) -> None:
        """The last word counts, until play has begun."""
        if making is self._making and self._player is not None and not self._player.is_heard:
            self._start_at = start.loop_time
            self._start_timer.start(round(1000 * start_in_seconds(start)))

    def _playback_underruns(self) -> int | None:
        return self._player.num_underruns if self._player else None

    def _on_tick(self) -> None:
        self._look_at_buffer()
        if self._player is not None and self._player.is_heard:
            self.moved.emit(self._player.position_seconds)

    def _look_at_buffer(self) -> None:
        if self._least_buffer_seconds < self._buffer.seconds:
            self._least_buffer_seconds = float("inf")
            self.buffer_grown.emit()

    def _on_device_lost(self, player: Player, error: StudioError) -> None:
        if player is self._player:
            self.device_lost.emit(error)

    def _on_over(self, player: Player, end: PlaybackEnd) -> None:
        if player is self._player:
            self._close(end)

    def _close(self, end: PlaybackEnd) -> None:
        player, self._player = self._player, None
        self._tick.stop()
        self._start_at = None
        self._look_at_buffer()
        if player is not None:
            self._underruns_before += player.num_underruns
            self.ended.emit(end)
