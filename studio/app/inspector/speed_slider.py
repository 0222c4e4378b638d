"""Slider for the speed of a line."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider

from studio.audio.time_stretch import MAX_SPEED

_STEPS = 40  # from the middle to each end
_FINE_STEPS = 28  # of them up to ``_USUAL_SPEED``, and down to its reciprocal
_USUAL_SPEED = 1.25
_DETENT = 1  # steps on both sides of the middle that stand for the original speed while the mouse drags


class SpeedSlider(QSlider):
    """Slider with the original speed in the middle, where steps are finest.

    The scale is logarithmic on each of its parts, so that slower and faster speeds have the same space.
    """

    speed_chosen = Signal(float)  # by the user

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(-_STEPS, _STEPS)
        self.setPageStep(5)
        self._is_showing = False
        self.actionTriggered.connect(self._on_action)
        self.valueChanged.connect(self._on_value)

    def show_speed(self, speed: float) -> None:
        """Move to ``speed`` without reporting it."""
        if _speed_at(self.value()) != speed:
            self._is_showing = True
            self.setValue(_step_at(speed))
            self._is_showing = False
        self.setAccessibleDescription(f"{speed:.2f}×")

    def _on_action(self, action: int) -> None:
        if action == self.SliderAction.SliderMove.value and abs(self.sliderPosition()) <= _DETENT:
            self.setSliderPosition(0)

    def _on_value(self, step: int) -> None:
        if not self._is_showing:
            self.speed_chosen.emit(_speed_at(step))


def _speed_at(step: int) -> float:
    fine, coarse = min(abs(step), _FINE_STEPS), max(0, abs(step) - _FINE_STEPS)
    octaves = fine / _FINE_STEPS * math.log2(_USUAL_SPEED)
    octaves += coarse / (_STEPS - _FINE_STEPS) * math.log2(MAX_SPEED / _USUAL_SPEED)
    return round(2 ** math.copysign(octaves, step), 2)


def _step_at(speed: float) -> int:
    """Return the step whose speed is nearest to ``speed``."""
    return min(range(-_STEPS, _STEPS + 1), key=lambda step: abs(_speed_at(step) - speed))
