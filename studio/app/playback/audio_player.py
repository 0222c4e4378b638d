"""Qt interface to the audio player, and the notices and figures about playback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from studio.app.error_text import error_message
from studio.app.notifications import NotificationBar
from studio.audio.edits import AudioEdits
from studio.audio.output_device import AudioOutputs, LatencyPolicy
from studio.audio.player import PlaybackEnd, Player, StreamingAudio
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.pipeline.request import NetworkFigures

if TYPE_CHECKING:
    from studio.app.synthesis.take_synthesis import TakeSynthesis
    from studio.worker.request_handle import StartTime

_TICK_MILLISECONDS = 40
_LEVEL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class NowPlaying:
    """The audio being played, which may still be growing.

    The ids are empty if it is not a take. ``edits`` are already applied to ``audio``; a take that is being generated
    has no edits.
    """

    line_id: str
    take_id: str
    audio: StreamingAudio
    edits: AudioEdits = AudioEdits()


@dataclass(frozen=True, slots=True)
class PlaybackStats:
    """Figures for the transport bar. Figures of the current take are None until they are measured."""

    first_audio_seconds: float | None = None
    real_time_factor: float | None = None
    buffered_seconds: float | None = None
    num_underruns: int = 0  # total of this session
    num_takes: int = 0  # total of this session
    level: float = 0.0
    # Of ``first_audio_seconds``: the shares of the network and of the queue of another computer.
    network_seconds: float | None = None
    queue_seconds: float | None = None
    network: NetworkFigures | None = None


class AudioPlayer(QObject):
    """Plays one take or clip at a time, even while the take is being generated.

    It belongs to the GUI thread; ``Player`` plays the audio on another thread. ``device`` returns the name of the
    selected output device, or None for the system default.
    """

    started = Signal(object)  # NowPlaying: playback was requested, but may start later
    moved = Signal(float)  # position in seconds
    ended = Signal(object)  # PlaybackEnd
    failed = Signal(object)  # StudioError: playback ends because no output device can be opened
    device_lost = Signal(object)  # StudioError: playback continues on the default device if possible
    buffer_grown = Signal()  # emitted once per session: the device needs a longer buffer
    _device_failed = Signal(object, object)
    _player_ended = Signal(object, object)

    def __init__(
        self,
        outputs: AudioOutputs,
        parent: QObject | None = None,
        *,
        device: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._outputs = outputs
        self._device = device
        self._buffer = LatencyPolicy()
        self._initial_buffer_seconds = self._buffer.seconds
        self._now_playing: NowPlaying | None = None
        self._player: Player | None = None
        self._synthesis: TakeSynthesis | None = None
        self._prepared_player: Player | None = (
            None  # has an open device, until the first chunk of ``_synthesis`` arrives
        )
        self._start_at: float | None = None
        self._device_error: StudioError | None = None
        self._underruns_before = 0
        self._start_timer = QTimer(self, singleShot=True)
        self._start_timer.timeout.connect(self._allow_start)
        self._tick = QTimer(self, interval=_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._device_failed.connect(self._on_device_failed)
        self._player_ended.connect(self._on_player_ended)

    # State.

    @property
    def device(self) -> str | None:
        """Name of the selected device, even if it is disconnected. None is the system default."""
        return self._device()

    @property
    def now_playing(self) -> NowPlaying | None:
        """The audio being played, or the audio played last."""
        return self._now_playing

    @property
    def is_playing(self) -> bool:
        """Whether audio is being played or about to start."""
        return self._player is not None

    @property
    def position_seconds(self) -> float:
        return self._player.position_seconds if self._player else 0.0

    @property
    def buffered_seconds(self) -> float | None:
        """Duration of the audio not yet played. None unless the take is being generated."""
        if self._player is None or self._player.audio.is_complete:
            return None
        return self._player.buffered_seconds

    @property
    def starts_in_seconds(self) -> float | None:
        """Time until playback starts, or None if it has started or the time is unknown."""
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

    def play(self, now_playing: NowPlaying, *, start_seconds: float = 0.0) -> None:
        """Play complete audio from ``start_seconds`` on. Stops previous playback."""
        self.stop()
        audio = now_playing.audio
        self._show(now_playing, self._new_player(audio, round(start_seconds * audio.sample_rate)))
        self._allow_start()

    def play_clip(self, clip: Waveform, start_seconds: float = 0.0, end_seconds: float | None = None) -> None:
        """Play ``clip`` from ``start_seconds`` to ``end_seconds``, or to its end. Stops previous playback."""
        end = None if end_seconds is None else round(end_seconds * clip.sample_rate)
        audio = StreamingAudio.of(clip.samples[:end], clip.sample_rate)
        self.play(NowPlaying("", "", audio), start_seconds=start_seconds)

    def follow(self, synthesis: TakeSynthesis) -> None:
        """Play a take while it is generated. Playback starts as soon as it can continue without a gap."""
        self.stop()
        self._synthesis = synthesis
        synthesis.prepared.connect(partial(self._on_prepared, synthesis))
        synthesis.start_time_known.connect(partial(self._on_start_time_known, synthesis))
        synthesis.audio_started.connect(partial(self._on_audio_started, synthesis))
        self._on_prepared(synthesis)
        if synthesis.audio is not None and synthesis.audio.num_samples:
            self._on_audio_started(synthesis)

    def synthesis_ended(self, synthesis: TakeSynthesis) -> None:
        """Start playback without more delay, because no more audio will be generated."""
        if synthesis is self._synthesis:
            self._synthesis = None
            self._close_prepared_player()
            self._allow_start()

    def switch_device(self) -> None:
        """Continue on the device that is selected now."""
        if self._prepared_player is not None:
            self._prepared_player.use_device(self.device)
        if self._now_playing is None or self._player is None:
            return
        if not self._player.has_started:
            self._player.use_device(self.device)
        else:
            self.play(self._now_playing, start_seconds=self._player.position_seconds)

    def stop(self) -> None:
        """Stop at once."""
        self._synthesis = None
        self._close_prepared_player()
        self._start_timer.stop()
        self._start_at = None
        if self._player is not None:
            self._player.stop()
            self._close(PlaybackEnd.STOPPED)

    def _new_player(self, audio: StreamingAudio, start_sample: int = 0) -> Player:
        return Player(
            audio,
            self._outputs,
            device=self.device,
            start_sample=start_sample,
            buffer=self._buffer,
            on_device_lost=partial(_emit_unless_deleted, self._device_failed),
            on_end=partial(_emit_unless_deleted, self._player_ended),
        )

    def _show(self, now_playing: NowPlaying, player: Player) -> None:
        self._now_playing, self._player, self._device_error = now_playing, player, None
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

    # Takes that are being generated.

    def _on_prepared(self, synthesis: TakeSynthesis) -> None:
        """Open the device while the first chunk is being generated."""
        if synthesis is self._synthesis and synthesis.audio is not None and self._prepared_player is None:
            self._prepared_player = self._new_player(synthesis.audio)

    def _on_audio_started(self, synthesis: TakeSynthesis) -> None:
        if synthesis is not self._synthesis or synthesis.take_id is None or self._prepared_player is None:
            return
        prepared, self._prepared_player = self._prepared_player, None
        self._show(NowPlaying(synthesis.line.id, synthesis.take_id, prepared.audio), prepared)
        synthesis.num_underruns = lambda: self._player.num_underruns if self._player else None
        if prepared.audio.is_complete:
            self._allow_start()

    def _on_start_time_known(self, synthesis: TakeSynthesis, start: StartTime) -> None:
        """Schedule the start. Until playback starts, each new estimate replaces the previous one."""
        if synthesis is self._synthesis and self._player is not None and not self._player.has_started:
            self._start_at = start.loop_time
            self._start_timer.start(round(1000 * (self.starts_in_seconds or 0.0)))

    # Events of ``Player``.

    def _on_tick(self) -> None:
        self._check_buffer()
        if self._player is not None and self._player.has_started:
            self.moved.emit(self._player.position_seconds)

    def _check_buffer(self) -> None:
        if self._initial_buffer_seconds < self._buffer.seconds:
            self._initial_buffer_seconds = float("inf")
            self.buffer_grown.emit()

    def _on_device_failed(self, player: Player, error: StudioError) -> None:
        if player is self._player:
            self._device_error = error
            self.device_lost.emit(error)

    def _on_player_ended(self, player: Player, end: PlaybackEnd) -> None:
        if player is self._player:
            self._close(end)

    def _close(self, end: PlaybackEnd) -> None:
        player, self._player = self._player, None
        self._tick.stop()
        self._start_at = None
        self._check_buffer()
        if player is not None:
            self._underruns_before += player.num_underruns
            if end is PlaybackEnd.NO_DEVICE and self._device_error is not None:
                self.failed.emit(self._device_error)
            self.ended.emit(end)


def _emit_unless_deleted(signal: SignalInstance, player: Player, event: object) -> None:
    """Emit ``signal`` on the playback thread, unless the window or dialog has been deleted."""
    try:
        signal.emit(player, event)
    except RuntimeError:
        return


class AudioDeviceNotifier(QObject):
    """Shows each problem with the output device once, as a hint."""

    def __init__(self, player: AudioPlayer, notices: NotificationBar, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._player = player
        self._notices = notices
        self._is_lost = False
        self._last_hint = ""  # the same hint is not repeated for every take
        player.started.connect(self._on_started)
        player.device_lost.connect(self._on_device_lost)
        player.ended.connect(self._on_ended)
        player.buffer_grown.connect(self._on_buffer_grown)

    def _on_started(self) -> None:
        self._is_lost = False

    def _on_device_lost(self, error: StudioError) -> None:
        device = self._player.device
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
