"""Fitting of takes to their time slots in a video.

Decision: takes are shortened only as far as their slots and the silence after them require, and never beyond the
user's limits. Takes that remain
too long are reported. Reason: a clearly marked overrun is easier to fix than speech that was squeezed beyond
recognition.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.errors import UnusableSetting
from studio.project.changes import EditLines
from studio.project.lines import Line, Slot, spare_seconds
from studio.project.script import Script
from studio.project.takes import Take, edits_of

TOLERANCE_SECONDS = 0.05  # a smaller difference from the slot is neither seen nor heard
DEFAULT_SLOWEST, DEFAULT_FASTEST = 0.85, 1.25
# Style presets with which a model speaks faster, by family.
_FASTER_STYLES = ("speed.fast", "speed.very_fast")
_SPEED_STEPS = 1000  # speeds are multiples of 0.001, rounded up so that the take is never longer than its slot


class Retakes(Enum):
    """Choice of overlong lines to speak again in a faster style of the model."""

    NEVER = "never"
    BEYOND_LIMITS = "beyond-limits"  # lines for which stretching within the limits is not enough
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Limits of fitting. Raises ``UnusableSetting``.

    Attributes:
        slowest, fastest: The limits of the stretch, as factors of the recorded speed, and of the speed of the line.
        lengthens: Whether takes that are shorter than their slots are slowed down.
        retakes: Which overlong lines are spoken again in ``faster_style``, if they have no style.
        faster_style: The style for that, or None if the model has none.
    """

    slowest: float = DEFAULT_SLOWEST
    fastest: float = DEFAULT_FASTEST
    lengthens: bool = False
    retakes: Retakes = Retakes.NEVER
    faster_style: str | None = None

    def __post_init__(self) -> None:
        if not MIN_SPEED <= self.slowest <= 1.0 <= self.fastest <= MAX_SPEED:
            raise UnusableSetting(
                "The speed limits {slowest:g} and {fastest:g} are out of range.",
                remedy="Choose {least:g} to 1 for the slowest and 1 to {most:g} for the fastest speed.",
                slowest=self.slowest,
                fastest=self.fastest,
                least=MIN_SPEED,
                most=MAX_SPEED,
            )

    def stretch(self, seconds: float, slot_seconds: float, *, spare: float = 0.0, now: float = 1.0) -> float:
        """Return the factor, within the limits, by which a recording of ``seconds`` is sped up to fit its slot.

        ``spare`` seconds of the silence after the slot may be used. ``now`` is its current factor, which is returned if
        the recording fits or no factor is better.
        """
        available = slot_seconds + spare
        if seconds / now - available > TOLERANCE_SECONDS:
            return max(now, _round_up(min(seconds / available if available > 0 else math.inf, self.fastest)))
        if self.lengthens and slot_seconds - seconds / now > TOLERANCE_SECONDS:
            return min(now, _round_up(max(seconds / slot_seconds, self.slowest)))
        return now

    def wants_retake(self, seconds: float, available_seconds: float, fitted_seconds: float) -> bool:
        """Return whether a line is spoken again faster, given the length of its take before and after stretching."""
        if self.faster_style is None or seconds - available_seconds <= TOLERANCE_SECONDS:
            return False
        is_beyond = fitted_seconds - available_seconds > TOLERANCE_SECONDS
        return self.retakes is Retakes.ALWAYS or (self.retakes is Retakes.BEYOND_LIMITS and is_beyond)


@dataclass(frozen=True, slots=True)
class LineFit:
    """A line, its slot and its chosen take, and the measures that make the take fit.

    Attributes:
        take_seconds: The current length of the take.
        speed: The speed that the line gets; its current one if nothing is changed.
        is_retaken: Whether the line is spoken again in a faster style first.
        fitted_seconds: The length of the present take at ``speed``.
        spare_seconds: How much of the silence after the slot the take may use.
    """

    line: Line
    slot: Slot
    take_seconds: float
    speed: float
    is_retaken: bool
    fitted_seconds: float
    spare_seconds: float = 0.0

    @property
    def overrun_seconds(self) -> float:
        """The length of the take beyond the slot; negative if the take is shorter."""
        return self.take_seconds - self.slot.seconds

    @property
    def remaining_seconds(self) -> float:
        """The overrun after fitting."""
        return self.fitted_seconds - self.slot.seconds

    @property
    def is_stretched(self) -> bool:
        return self.speed != self.line.speed

    @property
    def still_overruns(self) -> bool:
        return self.remaining_seconds - self.spare_seconds > TOLERANCE_SECONDS


def take_seconds(script: Script, line: Line) -> float | None:
    """Return the length of the chosen take of ``line`` with its edits, or None without a take."""
    take = _chosen_take(script, line)
    return None if take is None else edits_of(take, line).seconds(take.audio_seconds)


def overrun_seconds(slot: Slot | None, seconds: float | None, speech: Sequence[Slot]) -> float:
    """Return the length of ``seconds`` of audio beyond ``slot``.

    It is 0 if the audio ends within the silence that it may use, or if one is missing. ``speech`` is the ``speech_slots``
    of the script.
    """
    if slot is None or seconds is None:
        return 0.0
    excess = seconds - slot.seconds
    return excess if excess - spare_seconds(slot, speech) > TOLERANCE_SECONDS else 0.0


def has_slots(script: Script) -> bool:
    return any(line.slot is not None for line in script.lines)


def faster_style(families: Collection[str]) -> str | None:
    """Return the style preset for faster speech in ``families``, or None if the model has no such style."""
    return next((style for style in _FASTER_STYLES if style in families), None)


def plan_fit(script: Script, line_ids: Iterable[str], options: FitOptions) -> tuple[LineFit, ...]:
    """Return a plan for each line that has a slot and a take, the longest overrun first.

    Locked lines are never changed.
    """
    wanted = set(line_ids)
    plan: list[LineFit] = []
    for line in script.lines:
        take = _chosen_take(script, line)
        if line.id in wanted and line.slot is not None and line.is_spoken and take is not None:
            plan.append(_fit(line, line.slot, take, options, spare_seconds(line.slot, script.speech_slots)))
    return tuple(sorted(plan, key=lambda fit: -fit.overrun_seconds))


def stretches(plan: Sequence[LineFit]) -> EditLines | None:
    """Return the change that stretches the takes of ``plan``, or None if none is stretched."""
    edits = {fit.line.id: {"speed": fit.speed} for fit in plan if fit.is_stretched}
    return EditLines(edits) if edits else None


def _fit(line: Line, slot: Slot, take: Take, options: FitOptions, spare: float) -> LineFit:
    edits = edits_of(take, line)
    seconds = edits.seconds(take.audio_seconds)
    recorded = seconds * edits.speed
    factor = edits.speed
    if not line.is_locked:
        limits = _within_limits(options, take.parameters.speed)
        factor = limits.stretch(recorded, slot.seconds, spare=spare, now=edits.speed)
    speed = line.speed
    if factor != edits.speed:
        speed = min(max(MIN_SPEED, _round_up(factor * take.parameters.speed)), MAX_SPEED)
        factor = speed / take.parameters.speed
    fitted = recorded / factor
    may_retake = line.style.is_plain and not line.is_locked
    is_retaken = may_retake and options.wants_retake(seconds, slot.seconds + spare, fitted)
    return LineFit(line, slot, seconds, speed, is_retaken, fitted, spare)


def _within_limits(options: FitOptions, spoken_speed: float) -> FitOptions:
    """Return narrower limits for a take that was not spoken at normal speed, so that both together keep the limits."""
    return replace(
        options,
        slowest=min(options.slowest / min(spoken_speed, 1.0), 1.0),
        fastest=max(options.fastest / max(spoken_speed, 1.0), 1.0),
    )


def _round_up(speed: float) -> float:
    return math.ceil(speed * _SPEED_STEPS - 1e-6) / _SPEED_STEPS


def _chosen_take(script: Script, line: Line) -> Take | None:
    return None if line.chosen_take is None else script.take(line.chosen_take)
