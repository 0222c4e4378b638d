"""Scale of the slider for speeds."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.app.inspector.speed_slider import SpeedSlider
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED


@pytest.fixture
def slider(qtbot: QtBot) -> SpeedSlider:
    slider = SpeedSlider()
    qtbot.addWidget(slider)
    slider.resize(140, 24)
    slider.show()
    return slider


def test_usual_speeds_take_most_of_the_slider(slider: SpeedSlider) -> None:
    """0.8 to 1.25 had an eighth of it."""
    slider.show_speed(1.0)
    assert slider.value() == 0
    slider.show_speed(1.25)
    fast = slider.value()
    slider.show_speed(0.8)
    assert -slider.value() == fast >= 0.6 * slider.maximum()


def test_the_ends_are_the_limits(slider: SpeedSlider) -> None:
    chosen: list[float] = []
    slider.speed_chosen.connect(chosen.append)
    QTest.keyClick(slider, Qt.Key.Key_Home)
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert chosen == [MIN_SPEED, MAX_SPEED]


def test_an_arrow_key_changes_the_speed_by_about_a_hundredth(slider: SpeedSlider) -> None:
    chosen: list[float] = []
    slider.speed_chosen.connect(chosen.append)
    slider.show_speed(1.0)
    QTest.keyClick(slider, Qt.Key.Key_Right)
    QTest.keyClick(slider, Qt.Key.Key_Left)
    QTest.keyClick(slider, Qt.Key.Key_Left)
    assert chosen == [1.01, 1.0, 0.99]


def test_a_speed_that_is_shown_is_not_reported(slider: SpeedSlider) -> None:
    """The slider rounds it."""
    chosen: list[float] = []
    slider.speed_chosen.connect(chosen.append)
    for speed in (1.13, 2.87, 0.25, 4.0):
        slider.show_speed(speed)
        assert slider.accessibleDescription() == f"{speed:.2f}×"
    assert chosen == []


def test_dragging_near_the_middle_finds_the_original_speed(slider: SpeedSlider) -> None:
    chosen: list[float] = []
    slider.speed_chosen.connect(chosen.append)
    slider.show_speed(1.1)
    slider.setSliderDown(True)
    slider.setSliderPosition(1)
    slider.triggerAction(SpeedSlider.SliderAction.SliderMove)
    slider.setSliderDown(False)
    assert chosen[-1] == 1.0
