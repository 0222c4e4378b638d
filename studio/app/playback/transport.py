"""Transport: playback of one take at a time, stored or still being generated."""

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
    """The take being played, which may still be growing."""

    line_id: str
    take_id: str
    audio: StreamingAudio


class Transport(QObject):
    """Belongs to the GUI thread; audio is played on the players' threads."""

    started = Signal(object)  # NowPlaying: playback was requested, and may still have to wait
    moved = Signal(float)  # position in seconds
    ended = Signal(object)  # PlaybackEnd
    device_lost = Signal(object)  # StudioError: the default device is tried next
    buffer_grown = Signal()  # once per session: the device needs a longer buffer
    _lost = Signal(object, object)
    _over = Signal(object, object)

    def __init__(self, outputs: AudioOutputs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.outputs = outputs
        self._device: str | None = None
        self._buffer = LatencyPolicy()
        self._initial_buffer_seconds = self._buffer.seconds
        self._now_playing: NowPlaying | None = None
        self._player: Player | None = None
        self._synthesis: TakeSynthesis | None = None
        self._prepared_player: Player | None = None  # for ``_synthesis`` until its first chunk; has an open device
        self._start_at: float | None = None
        self._underruns_before = 0
        self._start_timer = QTimer(self)
        self._start_timer.setSingleShot(True)
        self._start_timer.timeout.connect(self._allow_start)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._lost.connect(self._on_device_lost)
        self._over.connect(self._on_over)

    # State.

    @property
    def device(self) -> str | None:
        """The requested device, connected or not; None is the system default."""
        return self._device

    @property
    def now_playing(self) -> NowPlaying | None:
        return self._now_playing

    @property
    def is_playing(self) -> bool:
        """Also true while playback waits to start."""
        return self._player is not None

    @property
    def position_seconds(self) -> float:
        return self._player.position_seconds if self._player else 0.0

    @property
    def buffered_seconds(self) -> float | None:
        """Generated audio that has not been played; None unless the take is being generated."""
        if self._player is None or self._player.audio.is_complete:
            return None
        return self._player.buffered_seconds

    @property
    def starts_in_seconds(self) -> float | None:
        """Time until playback starts; None if it has started or the time is unknown."""
        if self._player is None or self._player.has_started or self._start_at is None:
            return None
        return max(0.0, self._start_at - asyncio.get_event_loop().time())

    @property
    def num_underruns(self) -> int:
        """Number of dropouts in this session."""
        return self._underruns_before + (self._player.num_underruns if self._player else 0)

    @property
    def level(self) -> float:
        """Peak level at the playback position, 0..1."""
        if self._player is None or not self._player.has_started:
            return 0.0
        audio, end = self._player.audio, round(self._player.position_seconds * self._player.audio.sample_rate)
        samples = audio.between(end - round(_LEVEL_SECONDS * audio.sample_rate), end)
        return float(np.abs(samples).max()) if len(samples) else 0.0

    # Commands.

    def use_device(self, device: str | None) -> None:
        """Select a device by name, None for the system default; running playback continues there."""
        if device == self._device:
            return
        self._device = device
        if self._prepared_player is not None:
            self._prepared_player.use_device(device)
        if self._now_playing is None or self._player is None:
            return
        if not self._player.has_started:
            self._player.use_device(device)
        else:
            self.play(self._now_playing, start_seconds=self._player.position_seconds)

    def play(self, now_playing: NowPlaying, *, start_seconds: float = 0.0) -> None:
        """Play complete audio from ``start_seconds`` on."""
        self._open(now_playing, start_sample=round(start_seconds * now_playing.audio.sample_rate))
        self._allow_start()

    def follow(self, synthesis: TakeSynthesis) -> None:
        """Play a take while it is generated, from the time it can play without a gap."""
        self.stop()
        self._synthesis = synthesis
        synthesis.prepared.connect(partial(self._on_prepared, synthesis))
        synthesis.start_time_known.connect(partial(self._on_start_time_known, synthesis))
        synthesis.audio_started.connect(partial(self._on_audio_started, synthesis))
        self._on_prepared(synthesis)
        if synthesis.audio is not None and synthesis.audio.num_samples:
            self._on_audio_started(synthesis)

    def synthesis_ended(self, synthesis: TakeSynthesis) -> None:
        """Start playback now, since no more audio will be generated."""
        if synthesis is self._synthesis:
            self._synthesis = None
            self._close_prepared_player()
            self._allow_start()

    def stop(self) -> None:
        """Stop at once."""
        self._synthesis = None
        self._close_prepared_player()
        self._start_timer.stop()
        self._start_at = None
        if self._player is not None:
            self._player.stop()
            self._close(PlaybackEnd.STOPPED)

    def _open(self, now_playing: NowPlaying, *, start_sample: int = 0) -> None:
        self.stop()
        self._show(now_playing, self._new_player(now_playing.audio, start_sample))

    def _new_player(self, audio: StreamingAudio, start_sample: int = 0) -> Player:
        return Player(
            audio,
            self.outputs,
            device=self._device,
            start_sample=start_sample,
            buffer=self._buffer,
            on_device_lost=self._lost.emit,
            on_end=self._over.emit,
        )

    def _show(self, now_playing: NowPlaying, player: Player) -> None:
        self._now_playing, self._player = now_playing, player
        self.started.emit(now_playing)
        self._tick.start()

    def _close_prepared_player(self) -> None:
        prepared, self._prepared_player = self._prepared_player, None
        if prepared is not None:
            prepared.stop()

    def _allow_start(self) -> None:
        self._start_timer.stop()
        if self._player is not None:
            self._player.allow_start()

    def _on_prepared(self, synthesis: TakeSynthesis) -> None:
        """Open the device while the first chunk is being generated."""
        if synthesis is self._synthesis and synthesis.audio is not None and self._prepared_player is None:
            self._prepared_player = self._new_player(synthesis.audio)

    def _on_audio_started(self, synthesis: TakeSynthesis) -> None:
        if synthesis is not self._synthesis or synthesis.take_id is None or self._prepared_player is None:
            return
        prepared, self._prepared_player = self._prepared_player, None
        self._show(NowPlaying(synthesis.line.id, synthesis.take_id, prepared.audio), prepared)
        synthesis.num_underruns = self._playback_underruns
        if prepared.audio.is_complete:
            self._allow_start()

    def _on_start_time_known(self, synthesis: TakeSynthesis, start: StartTime) -> None:
        """Schedule the start; the last estimate before playback starts counts."""
        if synthesis is self._synthesis and self._player is not None and not self._player.has_started:
            self._start_at = start.loop_time
            self._start_timer.start(round(1000 * start_in_seconds(start)))

    def _playback_underruns(self) -> int | None:
        return self._player.num_underruns if self._player else None

    def _on_tick(self) -> None:
        self._check_buffer()
        if self._player is not None and self._player.has_started:
            self.moved.emit(self._player.position_seconds)

    def _check_buffer(self) -> None:
        if self._initial_buffer_seconds < self._buffer.seconds:
            self._initial_buffer_seconds = float("inf")
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
        self._check_buffer()
        if player is not None:
            self._underruns_before += player.num_underruns
            self.ended.emit(end)
