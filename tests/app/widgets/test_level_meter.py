"""The level meter: rise, fall, clipping warning and silence."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from studio.app.widgets.level_meter import LevelMeter


@pytest.fixture
def meter(qtbot: QtBot) -> LevelMeter:
    widget = LevelMeter()
    qtbot.addWidget(widget)
    return widget


def test_the_level_rises_at_once_and_falls_slowly(meter: LevelMeter, qtbot: QtBot) -> None:
    meter.on_samples(np.array([0.0, -0.5, 0.1], np.float32))
    assert meter.level_dbfs == pytest.approx(-6.02, abs=0.01)
    assert meter.accessibleDescription() == "-6 decibels"
    meter.set_level(-40.0)
    assert meter.level_dbfs == pytest.approx(-6.02, abs=0.01), "the bar falls slowly"
    qtbot.waitUntil(lambda: meter.level_dbfs < -12.0)


def test_clipping_shows_a_warning(meter: LevelMeter) -> None:
    meter.on_samples(np.array([0.9], np.float32))
    assert not meter.is_too_loud
    meter.on_samples(np.array([1.0], np.float32))
    assert meter.is_too_loud
    assert meter.accessibleDescription() == "Too loud"
    assert not meter.grab().isNull()


@pytest.mark.slow
def test_the_timer_stops_in_silence(meter: LevelMeter, qtbot: QtBot) -> None:
    meter.set_level(-58.0)
    assert meter._timer.isActive()
    qtbot.waitUntil(lambda: not meter._timer.isActive())
    assert meter.accessibleDescription() == "Silence"


def test_reset(meter: LevelMeter) -> None:
    meter.on_samples(np.ones(10, np.float32))
    meter.reset()
    assert meter.accessibleDescription() == "Silence"
    assert not meter._timer.isActive()
    meter.on_samples(np.zeros(0, np.float32))
    assert meter.level_dbfs == -60.0
