"""Panel with the waveform, level and playback position of the current take."""

from __future__ import annotations

import math

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from studio.app.theme.icons import icon
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.level_meter import LevelMeter
from studio.app.widgets.waveform_view import WaveformView
from studio.audio.streaming_audio import StreamingAudio

# Audio arrives in chunks of half a second and more.
_GROW_MILLISECONDS = 120
_LEVEL_PIXELS = 160


class WaveformPanel(QWidget):
    """Shows one take. ``seek_requested`` carries the clicked position in seconds."""

    seek_requested = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._audio: StreamingAudio | None = None
        self._num_shown = 0
        self._number: int | None = None
        self._text = ""  # text of the line
        self._title = ElidedLabel()
        self._time = QLabel()
        self._time.setProperty("role", "quiet")
        self._time.setAccessibleName(self.tr("Playback position"))
        self.waveform = WaveformView(empty_text=self.tr("This line has not been spoken yet"))
        self._level = LevelMeter(has_marks=False)
        self._growth = QTimer(self)
        self._growth.setInterval(_GROW_MILLISECONDS)
        self._growth.timeout.connect(self._grow)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._time)
        head.addWidget(self._level)
        for name, icon_name, slot in (
            (self.tr("Zoom out"), "zoom-out", self.waveform.zoom_out),
            (self.tr("Zoom in"), "zoom-in", self.waveform.zoom_in),
            (self.tr("Show all"), "zoom-fit", self.waveform.zoom_to_fit),
        ):
            button = QToolButton(autoRaise=True)
            button.setIcon(icon(icon_name))
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.clicked.connect(slot)
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 8)
        layout.addLayout(head)
        layout.addWidget(self.waveform, 1)
        self.waveform.seek_requested.connect(self.seek_requested)

    @property
    def sound(self) -> StreamingAudio | None:
        """The audio that the panel shows."""
        return self._audio

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Leave more space for the title in a narrow panel."""
        self._level.setMaximumWidth(min(_LEVEL_PIXELS, self.width() // 5))
        super().resizeEvent(event)

    def show_sound(self, audio: StreamingAudio | None, number: int | None = None, text: str = "") -> None:
        """Show the audio of the line with this ``number``, even while it grows. None clears the panel."""
        self._number, self._text = number, " ".join(text.split())
        self._show_title()
        if audio is self._audio:
            return
        self._audio = audio
        self._num_shown = 0
        self._growth.stop()
        self._time.setText("")
        if audio is None:
            self.waveform.clear()
        elif audio.is_complete:
            self._num_shown = audio.num_samples
            self.waveform.show_samples(audio.all(), audio.sample_rate)
        else:
            self.waveform.begin(audio.sample_rate)
            self._grow()
            self._growth.start()

    def _show_title(self) -> None:
        words = self.tr("Line {number}: {text}") if self._text else self.tr("Line {number}")
        self._title.setText("" if self._number is None else words.format(number=self._number, text=self._text))

    def show_position(self, seconds: float | None) -> None:
        self.waveform.set_cursor(seconds)
        if seconds is not None and self._audio is not None:
            self._time.setText(f"{_clock(seconds)} / {_clock(self._audio.seconds)}")

    def show_level(self, level: float) -> None:
        """Show the peak level, 0..1."""
        self._level.set_level(20 * math.log10(level) if level > 1e-6 else -120.0)

    def _grow(self) -> None:
        assert self._audio is not None, "the timer runs while there is audio"
        is_complete = self._audio.is_complete  # read first: the last samples are appended before this is set
        end = self._audio.num_samples
        if end > self._num_shown:
            self.waveform.append(self._audio.between(self._num_shown, end))
            self._num_shown = end
        if is_complete:
            self._growth.stop()
            self.waveform.finish()


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"
