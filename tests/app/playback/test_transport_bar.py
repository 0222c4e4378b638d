"""The transport bar and its keys, as the user works with them."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton, QWidget
from window_bench import Bench, write_on

from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.window import MainWindow
from studio.audio.player import StreamingAudio
from studio.project.changes import EditLines
from studio.project.lines import Line, new_id
from studio.take_checks.records import WordTime

RATE = 24_000


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    window = bench.open_window()
    bench.session.editor.push(EditLines({bench.lines[0].id: {"text": "First."}}), "Edit")
    window.script.insert_lines([Line(id=new_id(), text=text) for text in ("Second.", "Third.")])
    for line in range(2):
        bench.add_take(np.full(2 * RATE, 0.1 + 0.1 * line, np.float32), line=line)
    window.script.view.go_to(bench.lines[0].id)
    window.activateWindow()
    window.script.view.setFocus()
    bench.until(lambda: window.transport_bar.sound is not None)
    return window


def press(window: MainWindow, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(window.focusWidget(), key, modifier)


def button(window: MainWindow, name: str) -> QToolButton:
    (found,) = (each for each in window.transport_bar.findChildren(QToolButton) if each.accessibleName() == name)
    return found


@pytest.mark.slow
def test_space_pauses_and_continues_at_the_same_place(bench: Bench, window: MainWindow) -> None:
    transport, bar = bench.session.playback.player, window.transport_bar
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: transport.position_seconds > 0.3)
    press(window, Qt.Key.Key_Space)
    assert not transport.is_playing
    stopped_at = bar.waveform.cursor_seconds
    assert stopped_at is not None
    assert stopped_at > 0.2
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: transport.is_playing)
    assert transport.position_seconds >= stopped_at - 0.05
    press(window, Qt.Key.Key_Escape)
    assert not transport.is_playing
    assert bar.waveform.cursor_seconds is None
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: transport.is_playing)
    assert transport.position_seconds < stopped_at, "after Esc it starts from the beginning"


def test_the_key_for_stopping_does_not_keep_a_focused_widget_alive(bench: Bench, window: MainWindow) -> None:
    """Otherwise the next change of focus destroys it while Qt uses it, which crashes the program."""
    field = QLineEdit()
    field.show()
    field.activateWindow()
    field.setFocus()
    bench.until(field.hasFocus)
    is_alive = weakref.ref(field)
    del field
    assert is_alive() is None


@pytest.mark.slow
def test_the_script_continues_after_a_pause(bench: Bench, window: MainWindow) -> None:
    session = bench.session
    bench.trigger("play.from_here")
    bench.until(lambda: session.playback.player.position_seconds > 0.2)
    press(window, Qt.Key.Key_Space)
    assert not session.playback.script_player.is_active
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: window.script.current_line.id == bench.lines[1].id)
    assert session.playback.script_player.is_active


def test_the_buttons_go_to_the_next_and_previous_line(bench: Bench, window: MainWindow) -> None:
    QTest.mouseClick(button(window, "Next line"), Qt.MouseButton.LeftButton)
    assert window.script.current_line.id == bench.lines[1].id
    bench.until(lambda: window.transport_bar.title == "Line 2: Second.")
    press(window, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert window.script.current_line.id == bench.lines[0].id
    press(window, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert window.script.current_line.id == bench.lines[0].id, "there is no line before the first"


def test_the_next_line_is_played_while_something_is_played(bench: Bench, window: MainWindow) -> None:
    transport = bench.session.playback.player
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: transport.is_playing)
    press(window, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    bench.until(lambda: transport.now_playing.line_id == bench.lines[1].id and transport.is_playing)


class LinuxLineEdit(QLineEdit):
    """A field that keeps keys from shortcuts, as all fields of one line do on Linux with Ctrl+E and Ctrl+K."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)


@pytest.mark.parametrize(
    ("key", "action_id", "is_window_shortcut"),
    [
        pytest.param(Qt.Key.Key_E, "file.export", True, id="export"),
        pytest.param(Qt.Key.Key_K, "play.keep", True, id="keep-take"),
        pytest.param(Qt.Key.Key_A, "edit.select_all", False, id="select-text"),
    ],
)
def test_shortcuts_work_in_fields_of_one_line(
    window: MainWindow, key: Qt.Key, action_id: str, is_window_shortcut: bool
) -> None:
    field = LinuxLineEdit("Anna", window)
    field.show()
    field.setFocus()
    action = window.findChild(QAction, action_id)
    assert action is not None
    action.triggered.disconnect()
    triggered: list[bool] = []
    action.triggered.connect(lambda: triggered.append(True))
    press(window, key, Qt.KeyboardModifier.ControlModifier)
    assert bool(triggered) == is_window_shortcut
    assert field.hasSelectedText() == (not is_window_shortcut)


def test_esc_stops_the_sound_before_it_closes_a_field(bench: Bench, window: MainWindow) -> None:
    transport = bench.session.playback.player
    press(window, Qt.Key.Key_Space)
    bench.until(lambda: transport.is_playing)
    field = write_on(window)
    bench.until(field.hasFocus)
    press(window, Qt.Key.Key_Escape)
    assert not transport.is_playing
    assert window.script.view.text_field is field
    bench.session.playback.play_take(bench.lines[0].chosen_take)
    bench.until(lambda: transport.is_playing)
    window.script.find_bar.open(replaces=False)
    bench.until(lambda: window.focusWidget() is not field)
    press(window, Qt.Key.Key_Escape)
    assert not transport.is_playing
    assert window.script.find_bar.isVisible()
    press(window, Qt.Key.Key_Escape)
    assert not window.script.find_bar.isVisible()


def test_clicking_the_waveform_plays_from_there(bench: Bench, window: MainWindow) -> None:
    waveform = window.transport_bar.waveform
    place = QPoint(waveform.width() // 2, waveform.height() // 2)
    QTest.mouseClick(waveform, Qt.MouseButton.LeftButton, pos=place)
    bench.until(lambda: bench.session.playback.player.is_playing)
    bench.until(lambda: bench.session.playback.player.position_seconds > 0.9)


@pytest.mark.slow
def test_the_length_grows_with_a_take_that_is_not_played(bench: Bench, window: MainWindow) -> None:
    """Without a sound card, or while playback is paused, no position is reported."""
    audio = StreamingAudio(RATE)
    audio.append(np.full(round(0.9 * RATE), 0.1, np.float32))
    window.transport_bar.show_sound(audio)
    assert window.transport_bar._time.text() == "0:00.0 / 0:00.9"
    audio.append(np.full(round(2.5 * RATE), 0.1, np.float32))
    audio.complete()
    bench.until(lambda: window.transport_bar._time.text() == "0:00.0 / 0:03.4", 5.0)


@pytest.mark.slow
def test_quiet_and_loud_takes_are_drawn_on_the_same_scale(qapp: QApplication, window: MainWindow) -> None:
    apply_theme(qapp, Appearance.LIGHT)
    waveform = window.transport_bar.waveform
    heights = []
    for level in (0.2, 0.8):
        samples = np.full(RATE, level, np.float32)
        window.transport_bar.show_sound(StreamingAudio.of(samples, RATE))
        image = waveform.grab().toImage()
        x = image.width() // 3
        faint = QColor("#8a8f9e").rgb()
        heights.append(max(sum(image.pixel(x + dx, y) == faint for y in range(image.height())) for dx in range(3)))
    assert heights[1] > 3 * heights[0] > 0


def test_speak_is_the_only_primary_button(window: MainWindow) -> None:
    primary = [each for each in window.findChildren(QToolButton) if each.property("role") == "primary"]
    assert primary == [window.transport_bar.speak_button]
    entries = [action.text() for action in primary[0].menu().actions()]
    assert entries[0] == "Speak all changed lines"
    assert "takes" in entries[1]


def test_the_position_moves_without_a_layout(bench: Bench, window: MainWindow) -> None:
    """Each layout of the bars paints all of them, which takes longer than everything else during playback."""
    bar = window.transport_bar
    bar.show_position(0.1)
    bench.live(0.05)
    layouts = _Layouts(bar)
    for tenths in range(2, 18):
        bar.show_position(tenths / 10)
        bench.live(0.01)
    assert bar._time.text() == "0:01.7 / 0:02.0"
    assert not layouts.seen


def test_words_appear_without_a_layout(bench: Bench, window: MainWindow) -> None:
    """The window was laid out and painted twice, because the bar grew by the words and shrank by the waveform."""
    bar = window.transport_bar
    bench.live(0.05)
    height, below = bar.waveform.height(), window.statusBar().height()
    layouts = _Layouts(bar)
    bar.show_check((WordTime("First", 0.2, 0.9, 0, 5),), ())
    bench.live(0.02)
    assert bar.words.isVisible()
    assert bar.waveform.height() == height - bar.words.height()
    assert bar.words.y() == bar.waveform.geometry().bottom() + 1
    assert bar.words.width() == bar.waveform.width()
    bar.show_check((), ())
    bench.live(0.02)
    assert not bar.words.isVisible()
    assert bar.waveform.height() == height
    assert window.statusBar().height() == below
    assert not layouts.seen


class _Layouts(QObject):
    """Requests for a new layout of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.seen: list[QObject] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:
            self.seen.append(watched)
        return False


def test_a_narrow_bar_hides_the_figures_first(bench: Bench, window: MainWindow) -> None:
    bar = window.transport_bar
    window.resize(1280, 700)
    bench.live(0.02)
    assert bar._figures.isVisible()
    assert bar._level.isVisible()
    window.resize(window.minimumSizeHint().width(), 700)
    bench.live(0.02)
    assert not bar._figures.isVisible()
    assert bar.speak_button.isVisible()
    assert bar.waveform.width() >= 80
