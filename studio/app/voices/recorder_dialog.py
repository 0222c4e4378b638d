"""Dialog to record a voice, with a level meter, a countdown and playback."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.playback.play_button import PlayButton
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.icons import icon
from studio.app.voices.recording_session import RecordingSession, SessionState
from studio.app.voices.voice_text import join_sentences
from studio.app.widgets.controls import STRETCH, icon_button, in_column, in_row, text_label
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.level_meter import LevelMeter
from studio.app.widgets.peaks import Samples
from studio.app.widgets.screen_fit import fit_to_screen
from studio.app.widgets.waveform_view import WaveformView
from studio.audio import portaudio
from studio.audio.waveform import Waveform
from studio.errors import StudioError


class RecorderDialog(QDialog):
    """Recorder. After it is accepted, ``recording`` contains the audio, and ``transcript`` the text read aloud."""

    def __init__(
        self,
        session: RecordingSession,
        player: AudioPlayer,
        parent: QWidget | None = None,
        *,
        text: str = "",
        device_names: Callable[[], tuple[str, ...]] = lambda: portaudio.device_names("input"),
    ) -> None:
        """``text`` must be read aloud. Without it, a text is proposed."""
        super().__init__(parent)
        self._session = session
        self._player = player
        self._device_names = device_names
        self.setWindowTitle(self.tr("Record voice"))
        self.resize(fit_to_screen(640, 520))
        self._devices = QComboBox(self)
        self._devices.setAccessibleName(self.tr("Microphone"))
        self._refresh = icon_button("retry", self.tr("Refresh microphones"), self._on_refresh, parent=self)
        self._reads = QCheckBox(self.tr("Read this text aloud:"), self)
        self._reads.setChecked(True)
        self._reads.setToolTip(self.tr("Uses the text as the transcript, for a closer likeness"))
        self._reads.setEnabled(not text)
        self._text = QLabel(text or self._text_to_read(), self, wordWrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._waveform = WaveformView(self, empty_text=self.tr("Nothing recorded yet"))
        self._meter = LevelMeter(self)
        self._meter.setAccessibleName(self.tr("Microphone level"))
        self._state = QLabel(self, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self._problem = ErrorLine(self)
        self._stops_after_silence = QCheckBox(self.tr("Stop after 2 s silence"), self)
        self._stops_after_silence.setChecked(True)
        self._record = QPushButton(icon("record"), "", self)
        self._listen = PlayButton(self.tr("Play"), player, self)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._use = self._buttons.addButton(self.tr("Use this recording"), QDialogButtonBox.ButtonRole.AcceptRole)
        make_primary(self._use)
        self._lay_out()
        self._connect_signals()
        self._list_devices()
        self._session.listen_to(None)
        self._on_state_changed(self._session.state)
        self._record.setFocus()

    @property
    def recording(self) -> Waveform:
        assert self._session.recording is not None, "the dialog is accepted only after a recording"
        return self._session.recording

    @property
    def transcript(self) -> str:
        return self._text.text() if self._reads.isChecked() else ""

    def done(self, result: int) -> None:
        self._player.stop()
        self._session.close()
        super().done(result)

    def _lay_out(self) -> None:
        devices = QHBoxLayout()
        label = QLabel(self.tr("&Microphone"), self)
        label.setBuddy(self._devices)
        devices.addWidget(label)
        devices.addWidget(self._devices, 1)
        devices.addWidget(self._refresh)
        words = self.tr("Three to ten seconds are enough. Record in a quiet room, about 10 cm from the microphone.")
        hint = text_label(words, "quiet")
        self._state.setFont(text_font(TextSize.HEADING))
        self._state.setMinimumHeight(2 * self.fontMetrics().height())
        controls = in_row(self._record, self._listen, STRETCH, self._stops_after_silence)
        in_column(
            devices,
            hint,
            self._reads,
            self._text,
            self._problem,
            self._state,
            (self._waveform, 1),
            self._meter,
            controls,
            self._buttons,
            parent=self,
        )

    def _connect_signals(self) -> None:
        # The microphone.
        self._devices.activated.connect(self._on_device_chosen)
        self._session.heard.connect(self._meter.on_samples)
        self._session.state_changed.connect(self._on_state_changed)
        self._session.counted.connect(self._on_counted)
        self._session.recorded.connect(self._on_recorded)
        self._session.failed.connect(self._on_failed)
        # Recording and playback.
        self._record.clicked.connect(self._on_record_clicked)
        self._stops_after_silence.toggled.connect(self._session.stop_after_silence)
        self._reads.toggled.connect(self._text.setEnabled)
        self._listen.play_wanted.connect(lambda: self._play_from(0.0))
        self._waveform.seek_requested.connect(self._play_from)
        self._player.moved.connect(self._waveform.set_cursor)
        self._player.ended.connect(self._on_play_ended)
        self._player.failed.connect(self._on_failed)
        # Dialog buttons.
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)

    def _list_devices(self) -> None:
        chosen = self._devices.currentData()
        self._devices.clear()
        self._devices.addItem(self.tr("System default"), None)
        for name in self._device_names():
            self._devices.addItem(name, name)
        self._devices.setCurrentIndex(max(0, self._devices.findData(chosen)))

    def _on_device_chosen(self) -> None:
        self._session.listen_to(self._devices.currentData())

    def _on_refresh(self) -> None:
        """Scan for microphones. PortAudio finds new ones only while no stream is open."""
        self._player.stop()
        self._session.close()
        self._refresh.setEnabled(False)
        run_in_background(self, portaudio.rescan_devices, done=self._on_rescanned, failed=self._on_failed)

    def _on_rescanned(self, _has_rescanned: bool) -> None:
        self._refresh.setEnabled(True)
        self._list_devices()
        self._on_device_chosen()

    def _on_record_clicked(self) -> None:
        self._player.stop()
        if self._session.state in (SessionState.COUNTDOWN, SessionState.RECORDING):
            self._session.stop()
        else:
            self._session.record()

    def _on_state_changed(self, state: SessionState) -> None:
        is_busy = state in (SessionState.COUNTDOWN, SessionState.RECORDING)
        has_recording = self._session.recording is not None
        self._devices.setEnabled(not is_busy)
        self._refresh.setEnabled(not is_busy)
        self._record.setEnabled(self._session.has_microphone)
        self._record.setIcon(icon("stop" if is_busy else "record"))
        self._listen.setEnabled(has_recording)
        self._use.setEnabled(has_recording)
        match state:
            case SessionState.OPENING:
                self._problem.clear()
                self._show_state(self.tr("Opening the microphone…"))
            case SessionState.NO_MICROPHONE:
                self._show_state("")
            case SessionState.LISTENING:
                self._show_state(self.tr("Say something: the level should reach the middle of the bar."))
            case SessionState.RECORDING:
                self._waveform.begin(self._session.sample_rate)
            case SessionState.RECORDED:
                self._show_recorded()
        if is_busy:
            self._record.setText(self.tr("Stop"))
        else:
            self._record.setText(self.tr("Record again") if has_recording else self.tr("Record"))

    def _show_recorded(self) -> None:
        self._waveform.finish()
        words = self.tr("{seconds:.1f} seconds recorded.").format(seconds=self.recording.seconds)
        if self._session.has_gaps:
            lost = self.tr("Some audio was lost because the computer was busy. Please record again.")
            words = join_sentences(words, lost)
        self._show_state(words)
        self._use.setDefault(True)
        self._use.setFocus()

    def _on_counted(self, number: int) -> None:
        self._waveform.clear()
        self._show_state(self.tr("Speak in {number}…").format(number=number))

    def _on_recorded(self, samples: Samples) -> None:
        self._waveform.append(samples)
        self._show_state(self.tr("Recording: {seconds:.1f} s").format(seconds=self._session.recorded_seconds))

    def _on_failed(self, error: StudioError) -> None:
        self._refresh.setEnabled(True)
        self._meter.reset()
        self._problem.show_error(error)

    def _on_play_ended(self) -> None:
        self._waveform.set_cursor(None)

    def _play_from(self, seconds: float) -> None:
        if self._session.recording is not None:
            self._player.play_clip(self._session.recording, seconds)

    def _show_state(self, words: str) -> None:
        self._state.setText(words)
        self._state.setAccessibleName(words)

    def _text_to_read(self) -> str:
        return self.tr(
            "The harbour was quiet that morning. A single boat came in, slow and low in the water, "
            "and the gulls, who know such things, went out to meet it."
        )
