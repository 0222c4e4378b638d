"""Transport bar at the bottom of the window: playback, the waveform of the current take, its level, and Speak."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from studio.app.actions import Actions
from studio.app.playback.audio_player import PlaybackStats
from studio.app.playback.word_strip import WordStrip
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID
from studio.app.widgets.controls import text_label
from studio.app.widgets.level_meter import LevelMeter
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.waveform_painting import time_text
from studio.app.widgets.waveform_view import WaveformView
from studio.audio.player import StreamingAudio
from studio.take_checks.records import WordTime

# Audio arrives in chunks of half a second or more.
_GROW_MILLISECONDS = 120
_WAVEFORM_HEIGHT = 44
_MIN_WAVEFORM_WIDTH = 88
_METER_WIDTH = 128
_BUTTON_ACTIONS = ("play.previous_line", "play.toggle", "play.next_line", "play.stop")
_SPEAK_MENU = ("speak.stale", "speak.takes")


def _set_text(label: QLabel, text: str) -> None:
    """Set the text of a label that never shrinks: its size is fixed, so a new text needs no layout.

    After each layout, Qt paints all of the status bar and the bars in it.
    """
    label.setText(text)
    needed = label.sizeHint().expandedTo(label.minimumSize())
    if needed != label.minimumSize():
        label.setFixedSize(needed)


@paints_safely
class _AudioArea(QWidget):
    """Waveform above words, without a layout: the bar keeps its height when words appear, and nothing is laid out."""

    def __init__(self, waveform: WaveformView, words: WordStrip) -> None:
        super().__init__()
        self._waveform, self._words = waveform, words
        waveform.setParent(self)
        words.setParent(self)
        self.setFixedHeight(_WAVEFORM_HEIGHT)

    def place(self) -> None:
        below = self._words.height() if self._words.words else 0
        self._waveform.setGeometry(0, 0, self.width(), self.height() - below)
        self._words.setGeometry(0, self.height() - below, self.width(), self._words.height())

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._waveform.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._waveform.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self.place()
        super().resizeEvent(event)


@paints_safely
class TransportBar(QWidget):
    """Shows one take. ``seek_requested`` carries the clicked position in seconds.

    Figures and level meter are hidden if the window is too narrow for them.
    """

    seek_requested = Signal(float)

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Playback"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._audio: StreamingAudio | None = None
        self._num_shown = 0
        self._number: int | None = None
        self._text = ""  # text of the line
        self._actions = actions
        self._growth = QTimer(self, interval=_GROW_MILLISECONDS)
        self._growth.timeout.connect(self._grow)
        self.waveform = WaveformView(empty_text=self.tr("No take yet"), is_compact=True)
        self.waveform.seek_requested.connect(self.seek_requested)
        self.words = WordStrip(self.waveform)
        self.words.seek_requested.connect(self.seek_requested)
        self._time = self._make_time()
        self._level = LevelMeter(is_compact=True)
        self._level.setFixedWidth(_METER_WIDTH)
        self._figures = text_label("", "meta", wraps=False)
        self._figures.setAccessibleName(self.tr("Playback statistics"))
        self.speak_button = self._make_speak_button()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self._row.setSpacing(GRID)
        self._buttons = [self._make_button(actions[action_id]) for action_id in _BUTTON_ACTIONS]
        for button in self._buttons:
            self._row.addWidget(button)
        self._row.addWidget(self._time)
        self._audio_area = _AudioArea(self.waveform, self.words)
        self._row.addWidget(self._audio_area, 1)
        for widget in (self._level, self._figures, self.speak_button):
            self._row.addWidget(widget)
        actions["speak.line"].changed.connect(self._on_speak_changed)
        self._on_speak_changed()
        self.show_meters(PlaybackStats())
        self.show_sound(None)

    @property
    def sound(self) -> StreamingAudio | None:
        """The displayed audio."""
        return self._audio

    @property
    def title(self) -> str:
        """Number and text of the line of the displayed audio."""
        if self._number is None:
            return ""
        words = self.tr("Line {number}: {text}") if self._text else self.tr("Line {number}")
        return words.format(number=self._number, text=self._text)

    # Contents.

    def show_sound(self, audio: StreamingAudio | None, number: int | None = None, text: str = "") -> None:
        """Show the audio of the line with this ``number``, even while it is being generated. None clears the bar."""
        self._number, self._text = number, " ".join(text.split())
        keys = self.tr("+ and - zoom, 0 shows all, Left and Right move the position.")
        self.waveform.setToolTip("\n".join(filter(None, (self.title, keys))))
        if audio is self._audio and audio is not None:
            return
        self._audio = audio
        self._num_shown = 0
        self._growth.stop()
        if audio is None:
            self.waveform.clear()
        elif audio.is_complete:
            self._num_shown = audio.num_samples
            self.waveform.show_samples(audio.all(), audio.sample_rate)
        else:
            self.waveform.begin(audio.sample_rate)
            self._grow()
            self._growth.start()
        self._show_time()

    def show_check(self, words: Sequence[WordTime], problems: Sequence[tuple[float, float]]) -> None:
        """Show the words of the audio, and mark the places of its problems, as start and end in seconds."""
        if tuple(words) != self.words.words:
            self.words.show_words(words)
            self._audio_area.place()
        self.waveform.set_marks(problems)

    def show_position(self, seconds: float | None) -> None:
        self.waveform.set_cursor(seconds)
        self.words.show_position(seconds)
        self._show_time()

    def show_level(self, level: float) -> None:
        """Show the peak level, 0..1."""
        self._level.set_level(20 * math.log10(level) if level > 1e-6 else -120.0)

    def show_playing(self, is_playing: bool) -> None:
        """Show the button as Pause or as Play."""
        self._actions["play.toggle"].setIcon(icon("pause" if is_playing else "play"))

    def show_meters(self, stats: PlaybackStats) -> None:
        latency = self.tr("Latency {value}").format(value=_seconds(stats.first_audio_seconds))
        if stats.network_seconds is not None:
            latency += " · " + self.tr("network {value}").format(value=_seconds(stats.network_seconds))
        factor = self.tr("RTF {value}").format(value=_figure(stats.real_time_factor))
        dropouts = self.tr("Dropouts {count}").format(count=stats.num_underruns)
        _set_text(self._figures, f"{latency}\n{factor}" + (f" · {dropouts}" if stats.num_underruns else ""))
        buffered = self.tr("Buffered {value}").format(value=_seconds(stats.buffered_seconds))
        shares = ""
        if stats.network_seconds is not None:
            shares = self.tr("Latency includes: network {network}, queue {queue}").format(
                network=_seconds(stats.network_seconds), queue=_seconds(stats.queue_seconds)
            )
        if stats.network is not None:
            shares += "\n" + self.tr("RTF there {factor}; network delays of later audio up to {delay}").format(
                factor=_figure(stats.network.real_time_factor), delay=_seconds(stats.network.delay_seconds)
            )
        self._figures.setAccessibleDescription(" · ".join(filter(None, (latency, shares, factor, buffered, dropouts))))
        self._figures.setToolTip(
            "\n".join(filter(None, (f"{buffered} · {dropouts}", shares)))
            + "\n\n"
            + self.tr(
                "Latency: time from the request to the first audio.\n"
                "RTF: computing time per second of speech; below 1 is faster than real time.\n"
                "Buffered: generated audio that has not been played yet.\n"
                "Dropouts: interruptions of playback in this session."
            )
        )

    def _show_time(self) -> None:
        position, length = self.waveform.cursor_seconds or 0.0, self._audio.seconds if self._audio is not None else 0.0
        _set_text(self._time, f"{time_text(position)} / {time_text(length)}")

    def _grow(self) -> None:
        assert self._audio is not None, "the timer runs only while there is audio"
        is_complete = self._audio.is_complete  # read this first, because it is set after the last samples are appended
        end = self._audio.num_samples
        if end > self._num_shown:
            self.waveform.append(self._audio.between(self._num_shown, end))
            self._num_shown = end
            self._show_time()
        if is_complete:
            self._growth.stop()
            self.waveform.finish()

    # Controls.

    def _make_button(self, action: QAction) -> QToolButton:
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setAccessibleName(action.text())
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setIconSize(QSize(20, 20))
        return button

    def _make_time(self) -> QLabel:
        label = QLabel()
        label.setAccessibleName(self.tr("Playback position"))
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance("00:00.0 / 00:00.0"))
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        return label

    def _make_speak_button(self) -> QToolButton:
        """Return the primary button of the window. Its arrow opens a menu of other ways to speak."""
        button = QToolButton()
        button.setProperty("role", "primary")
        button.setText(self.tr("Speak"))
        button.setAccessibleName(self.tr("Speak"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(self._actions["speak.line"].trigger)
        menu = QMenu(button)
        menu.addActions([self._actions[action_id] for action_id in _SPEAK_MENU])
        button.setMenu(menu)
        return button

    def _on_speak_changed(self) -> None:
        action = self._actions["speak.line"]
        self.speak_button.setEnabled(action.isEnabled())
        self.speak_button.setToolTip(action.toolTip())

    # Geometry.

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit()
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._needed_width, self._row.sizeHint().height())

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(self._needed_width + _METER_WIDTH, self.minimumSizeHint().height())

    @property
    def _needed_width(self) -> int:
        """Total width of the parts that are never hidden."""
        parts = [part.sizeHint().width() for part in (*self._buttons, self._time, self.speak_button)]
        return sum(parts) + _MIN_WAVEFORM_WIDTH + (len(parts) + 2) * GRID

    def _fit(self) -> None:
        spare = self.width() - self._needed_width
        self._level.setVisible(spare >= _METER_WIDTH + 2 * _MIN_WAVEFORM_WIDTH)
        figures = text_font(TextSize.META)
        self._figures.setFont(figures)
        needed = _METER_WIDTH + self._figures.sizeHint().width() + 2 * _MIN_WAVEFORM_WIDTH
        self._figures.setVisible(spare >= needed)


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
