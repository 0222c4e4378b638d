"""Several readings of one line, of which one is heard: another takes over at the same place, without a gap.

Decided: the same place is the same share of what is spoken, because readings of one text differ in pace,
instead of the same second, at which one of them may be a word ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.audio.resampling import Samples

# Long enough for no click, short enough to be a switch and no blend.
_FADE_SECONDS = 0.02
_PAUSE_SECONDS = 0.5
_SILENT_BELOW_PEAK = 10 ** (-40 / 20)


@dataclass(frozen=True, slots=True, eq=False)
class ABTrack:
    """``samples`` (n,) at the rate of the device; speech lasts from sample ``first`` to ``last``."""

    samples: Samples
    first: int
    last: int

    @classmethod
    def of(cls, samples: Samples) -> ABTrack:
        levels = np.abs(samples)
        (loud,) = np.nonzero(levels > _SILENT_BELOW_PEAK * levels.max(initial=0.0))
        return cls(samples, int(loud[0]), int(loud[-1]) + 1) if len(loud) else cls(samples, 0, len(samples))

    def place_like(self, other: ABTrack, place: int) -> int:
        """Where this one is when ``other`` is at ``place``: as far into its speech."""
        if place <= other.first:
            return max(0, self.first - (other.first - place))
        if place >= other.last:
            return self.last + (place - other.last)
        share = (place - other.first) / (other.last - other.first)
        return self.first + round(share * (self.last - self.first))


class ABSource:
    """``fill`` is called on the device's thread, the rest on another one. Repeats until it is paused."""

    def __init__(self) -> None:
        self._readings: tuple[ABTrack, ...] = ()
        self._fade_samples = 1
        self._pause_samples = 0
        self._is_playing = False
        self._is_in_turn = False
        # What is asked for: which reading, and from its beginning or where the other one was.
        self._wanted: tuple[int, bool] | None = None
        # The device's own, from here on.
        self._index = 0
        self._place = 0
        self._level = 0.0
        self._leaving: tuple[int, int] | None = None  # the reading before, and its place
        self._num_left = 0  # samples of the change that have been heard
        self._is_over = False  # the last of a turn has just ended, in silence

    def load(self, readings: tuple[ABTrack, ...], sample_rate: int) -> None:
        """For a device that was just opened, at its rate; what was asked for meanwhile holds. From the beginning."""
        self._readings = ()  # while the rest changes nothing is read
        self._fade_samples = max(1, round(_FADE_SECONDS * sample_rate))
        self._pause_samples = round(_PAUSE_SECONDS * sample_rate)
        self._wanted = self._wanted or (self._index, True)
        self._index, self._place, self._level, self._leaving = 0, 0, 0.0, None
        self._readings = readings

    @property
    def index(self) -> int:
        """Which one is heard, or will be in a moment."""
        wanted = self._wanted
        return self._index if wanted is None else wanted[0]

    @property
    def share(self) -> float:
        """How far it has been read, 0..1."""
        readings = self._readings
        if not readings:
            return 0.0
        return min(1.0, self._place / max(1, len(readings[self._index].samples)))

    @property
    def is_playing(self) -> bool:
        return self._is_playing

    @property
    def is_in_turn(self) -> bool:
        return self._is_in_turn

    @property
    def is_silent(self) -> bool:
        """Whether the last fade is over as well."""
        return not self._is_playing and self._level == 0.0

    def switch(self, index: int) -> None:
        """That one goes on where the other is."""
        self._is_in_turn = False
        self._wanted = (index, False)

    def play(self) -> None:
        """On, from where it was paused."""
        self._is_playing = True

    def play_in_turn(self) -> None:
        """Each from its beginning to its end, then silence."""
        self._wanted = (0, True)
        self._is_in_turn = True
        self._is_playing = True

    def pause(self) -> None:
        self._is_in_turn = False
        self._is_playing = False

    # On the device's thread.

    def fill(self, output: Samples, has_run_dry: bool) -> None:  # noqa: ARG002 - a short gap is no harm here
        output[:] = 0.0
        if not self._readings:
            return
        if self._leaving is None:
            self._obey()
        target = 1.0 if self._is_playing else 0.0
        if target or self._level:
            levels = self._levels_towards(target, len(output))
            output += self._read(len(output)) * levels
            self._level = 0.0 if self._is_over else float(levels[-1])
            self._is_over = False

    def _obey(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        index, is_from_start = wanted
        before, place = self._index, self._place
        self._index = index
        self._place = 0 if is_from_start else self._readings[index].place_like(self._readings[before], place)
        if self._level and (index, self._place) != (before, place):
            self._leaving, self._num_left = (before, place), 0

    def _levels_towards(self, target: float, num_samples: int) -> Samples:
        step = 1 / self._fade_samples if target > self._level else -1 / self._fade_samples
        ramp = self._level + step * np.arange(1, num_samples + 1, dtype=np.float32)
        low, high = sorted((self._level, target))
        levels: Samples = np.clip(ramp, low, high).astype(np.float32)
        return levels

    def _read(self, num_samples: int) -> Samples:
        sound = np.zeros(num_samples, np.float32)
        done = 0
        while done < num_samples:
            samples = self._readings[self._index].samples
            end = len(samples) + self._pause_samples
            count = max(0, min(num_samples - done, end - self._place))
            piece = samples[self._place : self._place + count]
            sound[done : done + len(piece)] = piece
            self._place += count
            done += count
            if self._place >= end and not self._begin_again():
                break
        return sound if self._leaving is None else self._blend(sound, *self._leaving)

    def _begin_again(self) -> bool:
        """At the end of one, after its pause; whether anything follows."""
        self._place = 0
        if not self._is_in_turn:
            return True
        if self._index + 1 < len(self._readings):
            self._index += 1
            return True
        self.pause()
        self._is_over = True
        return False

    def _blend(self, sound: Samples, before: int, place: int) -> Samples:
        """Equal power: two readings have nothing in common that could add up."""
        count = min(len(sound), self._fade_samples - self._num_left)
        share = (self._num_left + np.arange(1, count + 1)) / self._fade_samples
        old = self._readings[before].samples[place : place + count]
        sound[:count] *= np.sin(0.5 * np.pi * share).astype(np.float32)
        sound[: len(old)] += old * np.cos(0.5 * np.pi * share[: len(old)]).astype(np.float32)
        self._num_left += count
        self._leaving = (before, place + count) if self._num_left < self._fade_samples else None
        return sound
