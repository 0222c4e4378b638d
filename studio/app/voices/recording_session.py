"""Recording of a voice: opens the microphone, counts down, records, and stops after silence. No widgets."""

from __future__ import annotations

from enum import Enum
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.background import run_in_background
from studio.audio.recording import OpenInput, Recorder, open_input
from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.voices.loudness import EndpointDetector

_TICK_MILLISECONDS = 50
_COUNTDOWN_STEPS = 3
_MAX_SECONDS = 60.0


class SessionState(Enum):
    OPENING = "opening"
    NO_MICROPHONE = "no microphone"
    LISTENING = "listening"
    COUNTDOWN = "countdown"
    RECORDING = "recording"
    RECORDED = "recorded"


class RecordingSession(QObject):
    """Records from a microphone, which stays open until ``close``. Use it on the GUI thread only."""

    state_changed = Signal(object)  # SessionState
    counted = Signal(int)  # seconds until the recording starts: 3, 2, 1
    heard = Signal(object)  # new samples, for the level meter
    recorded = Signal(object)  # new samples of the recording
    failed = Signal(object)  # StudioError

    def __init__(
        self,
        *,
        open_input: OpenInput = open_input,
        countdown_milliseconds: int = 1000,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open_input = open_input
        self._recorder: Recorder | None = None
        self._num_openings = 0
        self._endpoint: EndpointDetector | None = None
        self._stops_after_silence = True
        self._steps_left = 0
        self.state = SessionState.OPENING
        self.recording: Waveform | None = None
        self.has_gaps = False
        self._tick = QTimer(self, interval=_TICK_MILLISECONDS)
        self._tick.timeout.connect(self._on_tick)
        self._countdown = QTimer(self, interval=countdown_milliseconds)
        self._countdown.timeout.connect(self._on_counted)

    @property
    def has_microphone(self) -> bool:
        return self._recorder is not None

    @property
    def sample_rate(self) -> int:
        assert self._recorder is not None, "the microphone must be open"
        return self._recorder.sample_rate

    @property
    def recorded_seconds(self) -> float:
        return self._recorder.recorded_seconds if self._recorder else 0.0

    def listen_to(self, device: str | None) -> None:
        """Open the microphone ``device`` in the background. None means the default microphone."""
        self._close_recorder()
        self._num_openings += 1
        self._set(SessionState.OPENING)
        run_in_background(
            self,
            partial(Recorder, device, longest_seconds=_MAX_SECONDS, open_input=self._open_input),
            done=partial(self._on_opened, self._num_openings),
            failed=partial(self._on_failed_to_open, self._num_openings),
        )

    def stop_after_silence(self, is_enabled: bool) -> None:
        """Choose whether two seconds of silence after speech end the recording."""
        self._stops_after_silence = is_enabled

    def record(self) -> None:
        """Discard the previous recording, count down, then record."""
        if self._recorder is None or self.state in (SessionState.COUNTDOWN, SessionState.RECORDING):
            return
        self.recording = None
        self._steps_left = _COUNTDOWN_STEPS
        self._set(SessionState.COUNTDOWN)
        self.counted.emit(self._steps_left)
        self._countdown.start()

    def stop(self) -> None:
        """End the recording or the countdown."""
        if self.state is SessionState.COUNTDOWN:
            self._countdown.stop()
            self._set(SessionState.LISTENING)
        elif self.state is SessionState.RECORDING and self._recorder is not None:
            self.recording = self._recorder.stop()
            self.has_gaps = self._recorder.has_gaps
            self._set(SessionState.RECORDED)

    def close(self) -> None:
        self._num_openings += 1
        self._close_recorder()

    def _on_opened(self, number: int, recorder: Recorder) -> None:
        if number != self._num_openings:  # another device has been chosen meanwhile
            recorder.close()
            return
        self._recorder = recorder
        self._tick.start()
        self._set(SessionState.LISTENING)

    def _on_failed_to_open(self, number: int, error: StudioError) -> None:
        if number == self._num_openings:
            self._set(SessionState.NO_MICROPHONE)
            self.failed.emit(error)

    def _on_counted(self) -> None:
        self._steps_left -= 1
        if self._steps_left:
            self.counted.emit(self._steps_left)
            return
        self._countdown.stop()
        assert self._recorder is not None
        self._endpoint = EndpointDetector(self._recorder.sample_rate)
        self._recorder.start()
        self._set(SessionState.RECORDING)

    def _on_tick(self) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        try:
            new = recorder.read_new()
        except StudioError as error:
            self._on_device_lost(error)
            return
        self.heard.emit(new.samples)
        if self.state is SessionState.RECORDING and self._endpoint is not None:
            self.recorded.emit(new.recorded)
            self._endpoint.add(new.recorded)
            if not recorder.is_recording or (self._stops_after_silence and self._endpoint.is_over):
                self.stop()

    def _on_device_lost(self, error: StudioError) -> None:
        """Keep the audio recorded before the device failed."""
        recorder, was_recording = self._recorder, self.state is SessionState.RECORDING
        self._close_recorder()
        if was_recording and recorder is not None:
            self.recording = recorder.stop()
            self.has_gaps = recorder.has_gaps
        self._set(SessionState.NO_MICROPHONE if self.recording is None else SessionState.RECORDED)
        self.failed.emit(error)

    def _close_recorder(self) -> None:
        self._tick.stop()
        self._countdown.stop()
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def _set(self, state: SessionState) -> None:
        if state is not self.state:
            self.state = state
            self.state_changed.emit(state)
