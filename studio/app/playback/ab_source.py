"""Audio source that switches between takes of one line at the same position, without a gap.

Decision: positions correspond if they are at the same fraction of the speech. Reason: takes of one text differ in pace.
Alternative: equal times; one take may then be a word ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.audio.resampling import Samples

# Long enough to avoid a click, and too short to be noticed as a fade.
_FADE_SECONDS = 0.02
_PAUSE_SECONDS = 0.5
_SILENT_BELOW_PEAK = 10 ** (-40 / 20)


@dataclass(frozen=True, slots=True, eq=False)
class ABTrack:
    """The audio of one take at the sample rate of the device."""

    samples: Samples  # (n,)
    first: int  # where speech begins, in samples
    last: int  # where speech ends, in samples

    @classmethod
    def of(cls, samples: Samples) -> ABTrack:
        levels = np.abs(samples)
        (loud,) = np.nonzero(levels > _SILENT_BELOW_PEAK * levels.max(initial=0.0))
        return cls(samples, int(loud[0]), int(loud[-1]) + 1) if len(loud) else cls(samples, 0, len(samples))

    def matching_position(self, other: ABTrack, position: int) -> int:
        """Return the position in this track that matches ``position`` in ``other``."""
        if position <= other.first:
            return max(0, self.first - (other.first - position))
        if position >= other.last:
            return self.last + (position - other.last)
        share = (position - other.first) / (other.last - other.first)
        return self.first + round(share * (self.last - self.first))


class ABSource:
    """Plays one of several tracks in a loop. ``fill`` runs on the device's thread, everything else on the GUI thread."""

    def __init__(self) -> None:
        self.is_playing = False
        self.is_in_turn = False  # whether the tracks are played once, one after the other
        self._tracks: tuple[ABTrack, ...] = ()
        self._fade_samples = 1
        self._pause_samples = 0
        # The requested track, and whether to play it from its beginning.
        self._requested: tuple[int, bool] | None = None
        # Used only on the device's thread.
        self._index = 0
        self._position = 0
        self._level = 0.0
        self._outgoing: tuple[int, int] | None = None  # the previous track and its position
        self._num_faded = 0  # samples of the crossfade already played
        self._is_over = False  # whether the last track of a sequence has just ended

    def load(self, tracks: tuple[ABTrack, ...], sample_rate: int) -> None:
        """Set the tracks for a newly opened device. A pending request stays valid."""
        self._tracks = ()  # the device's thread must not read the fields below while they change
        self._fade_samples = max(1, round(_FADE_SECONDS * sample_rate))
        self._pause_samples = round(_PAUSE_SECONDS * sample_rate)
        self._requested = self._requested or (self._index, True)
        self._index, self._position, self._level, self._outgoing = 0, 0, 0.0, None
        self._tracks = tracks

    @property
    def index(self) -> int:
        """Index of the current or requested track."""
        requested = self._requested
        return self._index if requested is None else requested[0]

    @property
    def progress(self) -> float:
        """Position in the current track, 0..1."""
        tracks = self._tracks
        if not tracks:
            return 0.0
        return min(1.0, self._position / max(1, len(tracks[self._index].samples)))

    @property
    def is_silent(self) -> bool:
        """Whether playback and its fade-out have ended."""
        return not self.is_playing and self._level == 0.0

    def switch(self, index: int) -> None:
        """Continue with another track at the same position."""
        self.is_in_turn = False
        self._requested = (index, False)

    def play_in_turn(self) -> None:
        """Play all tracks from beginning to end, one after the other."""
        self._requested = (0, True)
        self.is_in_turn = True
        self.is_playing = True

    def pause(self) -> None:
        self.is_in_turn = False
        self.is_playing = False

    # On the device's thread.

    def fill(self, output: Samples, has_underrun: bool) -> None:  # noqa: ARG002 - a short gap is harmless here
        output[:] = 0.0
        if not self._tracks:
            return
        if self._outgoing is None:
            self._apply_switch()
        target = 1.0 if self.is_playing else 0.0
        if target or self._level:
            levels = self._levels_towards(target, len(output))
            output += self._read(len(output)) * levels
            self._level = 0.0 if self._is_over else float(levels[-1])
            self._is_over = False

    def _apply_switch(self) -> None:
        requested, self._requested = self._requested, None
        if requested is None:
            return
        index, is_from_start = requested
        before, position = self._index, self._position
        self._index = index
        self._position = 0 if is_from_start else self._tracks[index].matching_position(self._tracks[before], position)
        if self._level and (index, self._position) != (before, position):
            self._outgoing, self._num_faded = (before, position), 0

    def _levels_towards(self, target: float, num_samples: int) -> Samples:
        step = 1 / self._fade_samples if target > self._level else -1 / self._fade_samples
        ramp = self._level + step * np.arange(1, num_samples + 1, dtype=np.float32)
        low, high = sorted((self._level, target))
        levels: Samples = np.clip(ramp, low, high).astype(np.float32)
        return levels

    def _read(self, num_samples: int) -> Samples:
        output = np.zeros(num_samples, np.float32)
        done = 0
        while done < num_samples:
            samples = self._tracks[self._index].samples
            end = len(samples) + self._pause_samples
            count = max(0, min(num_samples - done, end - self._position))
            piece = samples[self._position : self._position + count]
            output[done : done + len(piece)] = piece
            self._position += count
            done += count
            if self._position >= end and not self._next_track():
                break
        return output if self._outgoing is None else self._crossfade(output, *self._outgoing)

    def _next_track(self) -> bool:
        """Start the next track or repeat this one. Return False at the end of a sequence."""
        self._position = 0
        if not self.is_in_turn:
            return True
        if self._index + 1 < len(self._tracks):
            self._index += 1
            return True
        self.pause()
        self._is_over = True
        return False

    def _crossfade(self, output: Samples, before: int, position: int) -> Samples:
        """Crossfade with equal power, because two takes are uncorrelated."""
        count = min(len(output), self._fade_samples - self._num_faded)
        share = (self._num_faded + np.arange(1, count + 1)) / self._fade_samples
        old = self._tracks[before].samples[position : position + count]
        output[:count] *= np.sin(0.5 * np.pi * share).astype(np.float32)
        output[: len(old)] += old * np.cos(0.5 * np.pi * share[: len(old)]).astype(np.float32)
        self._num_faded += count
        self._outgoing = (before, position + count) if self._num_faded < self._fade_samples else None
        return output
