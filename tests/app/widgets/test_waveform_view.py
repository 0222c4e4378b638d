"""The waveform view: growth, seeking, selection and zoom, by mouse and keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.app.theme.colors import theme_colors
from studio.app.widgets.waveform_view import WaveformView

RATE = 24_000


def tone(seconds: float, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(2 * np.pi * 220 * np.arange(int(seconds * RATE)) / RATE)).astype(np.float32)


@pytest.fixture
def waveform(qtbot: QtBot) -> WaveformView:
    widget = WaveformView()
    qtbot.addWidget(widget)
    widget.resize(400, 140)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def waveform_columns(widget: WaveformView) -> list[int]:
    """Return the columns with the colour of the waveform, except for those with only the focus frame."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    wanted = QColor(theme_colors(widget.palette()).accent).rgb()
    return [
        x for x in range(2, image.width() - 2) if sum(image.pixel(x, y) == wanted for y in range(image.height())) > 8
    ]


def test_audio_is_drawn_at_its_position(waveform: WaveformView) -> None:
    waveform.show_samples(np.concatenate([np.zeros(RATE, np.float32), tone(1.0)]), RATE)
    columns = waveform_columns(waveform)
    assert min(columns) in range(195, 206)
    assert max(columns) > 395
    assert waveform.accessibleDescription() == "2.0 seconds of audio"


def test_the_view_grows_while_audio_arrives(waveform: WaveformView) -> None:
    assert "No audio yet" in waveform.accessibleDescription()
    waveform.begin(RATE)
    assert waveform_columns(waveform) == []
    filled = []
    for _ in range(3):
        waveform.append(tone(1.0))
        filled.append(len(waveform_columns(waveform)))
    assert filled == pytest.approx([100, 200, 300], abs=4), "the time axis is four seconds long at first"
    waveform.finish()
    assert len(waveform_columns(waveform)) > 395
    assert waveform.seconds == 3.0


def test_clicking_requests_a_seek(waveform: WaveformView, qtbot: QtBot) -> None:
    waveform.show_samples(tone(4.0), RATE)
    with qtbot.waitSignal(waveform.seek_requested) as asked:
        QTest.mouseClick(waveform, Qt.MouseButton.LeftButton, pos=QPoint(100, 70))
    assert asked.args[0] == pytest.approx(1.0, abs=0.02)


def test_the_cursor_is_drawn_and_moves(waveform: WaveformView) -> None:
    waveform.show_samples(np.zeros(4 * RATE, np.float32), RATE)
    dark = QColor(theme_colors(waveform.palette()).ink)
    for seconds, x in ((1.0, 100), (3.0, 300)):
        waveform.set_cursor(seconds)
        image = waveform.grab().toImage()
        assert image.pixelColor(x, 30) == dark
    waveform.set_cursor(None)
    assert waveform.grab().toImage().pixelColor(300, 40) != dark


def test_handles_are_dragged_within_their_limits(waveform: WaveformView, qtbot: QtBot) -> None:
    waveform.show_samples(tone(20.0), RATE)
    waveform.select(4.0, 12.0, shortest_seconds=3.0, longest_seconds=10.0)
    changes: list[tuple[float, float]] = []
    waveform.selection_changed.connect(lambda start, end: changes.append((start, end)))
    QTest.mousePress(waveform, Qt.MouseButton.LeftButton, pos=QPoint(240, 70))
    QTest.mouseMove(waveform, QPoint(320, 70))
    QTest.mouseRelease(waveform, Qt.MouseButton.LeftButton, pos=QPoint(320, 70))
    assert waveform.selection == (4.0, pytest.approx(14.0))
    assert changes[-1] == waveform.selection
    QTest.mousePress(waveform, Qt.MouseButton.LeftButton, pos=QPoint(80, 70))
    QTest.mouseMove(waveform, QPoint(399, 70))
    QTest.mouseRelease(waveform, Qt.MouseButton.LeftButton, pos=QPoint(399, 70))
    assert waveform.selection == (pytest.approx(11.0), pytest.approx(14.0))


def test_handles_move_by_keys(waveform: WaveformView) -> None:
    waveform.show_samples(tone(20.0), RATE)
    waveform.select(4.0, 12.0)
    waveform.setFocus()
    QTest.keyClick(waveform, Qt.Key.Key_Right)
    QTest.keyClick(waveform, Qt.Key.Key_Down)
    QTest.keyClick(waveform, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert waveform.selection == (pytest.approx(4.01), pytest.approx(11.9))
    QTest.keyClick(waveform, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert waveform.selection == (pytest.approx(4.02), pytest.approx(11.91))
    assert "Selected from 4.02 to 11.91 seconds" in waveform.accessibleDescription()


def test_keys_zoom_and_move_the_cursor(waveform: WaveformView) -> None:
    waveform.show_samples(tone(9.0), RATE)
    waveform.seek_requested.connect(waveform.set_cursor)
    QTest.keyClick(waveform, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert waveform.cursor_seconds == pytest.approx(0.1)
    QTest.keyClick(waveform, Qt.Key.Key_Plus)
    start, end = waveform.visible_range
    assert end - start == pytest.approx(6.0)
    assert start == pytest.approx(0.1 / 3, abs=0.01), "around the cursor"
    QTest.keyClick(waveform, Qt.Key.Key_0)
    assert waveform.visible_range == (0.0, 9.0)


def test_the_wheel_zooms_only_with_ctrl(waveform: WaveformView) -> None:
    waveform.show_samples(tone(9.0), RATE)
    for modifier, visible in ((Qt.KeyboardModifier.NoModifier, 9.0), (Qt.KeyboardModifier.ControlModifier, 6.0)):
        turn = QWheelEvent(
            QPointF(200, 70),
            QPointF(200, 70),
            QPoint(0, 0),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            modifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(waveform, turn)
        start, end = waveform.visible_range
        assert end - start == pytest.approx(visible)
        assert turn.isAccepted() == (visible < 9.0), "otherwise the parent may scroll"


def test_a_high_zoom_draws_a_curve(waveform: WaveformView) -> None:
    waveform.show_samples(tone(2.0), RATE)
    for _ in range(30):
        waveform.zoom_in()
    start, end = waveform.visible_range
    assert (end - start) * RATE < 400
    assert waveform.grab().toImage().pixelColor(200, 60).isValid()
    assert waveform._scroll_bar.isVisible()


@pytest.mark.parametrize("ground", ["#ffffff", "#1e1e1e"])
def test_colours_follow_the_palette(waveform: WaveformView, ground: str) -> None:
    waveform.show_samples(np.zeros(RATE, np.float32), RATE)
    waveform.grab()
    palette = QPalette(waveform.palette())
    palette.setColor(QPalette.ColorRole.Base, QColor(ground))
    waveform.setPalette(palette)
    assert waveform.grab().toImage().pixelColor(390, 130) == QColor(ground)
