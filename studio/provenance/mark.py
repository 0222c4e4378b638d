"""The imperceptible mark of synthetic speech: added to files, and found again after compression and changes of speed.

Decided: a fixed equaliser of ±0.9 dB below 2 kHz. Because: the network of resemble-perth (MIT licence, Resemble AI) is
such an equaliser, of ±1.7 dB: it changes each band in the same way in all speech, within 0.1 dB. A filter does this
without delay and without 37 MB of weights. A matched filter finds this pattern at half the strength, and that of the
network as well. Instead of: its networks, which need a mark that is easier to hear.

Both are in ``resources/mark.npz``, made by ``packaging/measure.py marks --fit``: the gains of the equaliser, and what
tells them from the spectra of unmarked speech. The mark is not secret: it can be removed or copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio import paths
from studio.audio.files import read_audio_blocks
from studio.audio.resampling import Samples, resample_blocks
from studio.settings import MARKS_FILES
from studio.settings_store import Settings

# The share of the gains that is used. With more, the quality that DNSMOS predicts falls by more than 0.05 on average.
STRENGTH = 0.5
# Scores that fewer than one of 1,000 unmarked files should reach, in standard deviations of unmarked speech. The highest
# of 682 files were 3.9 and 4.5.
LIMIT = 4.2
LIMIT_AT_OTHER_SPEEDS = 5.0  # of which there are 40
_NUM_BANDS, _BAND_HZ = 128, 15.625  # of the gains
_TAPS_PER_SECOND = 10  # the filter is this part of a second long

_RATE = 32_000
_WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(2048) / 2048)).astype(np.float32)
_HOP = 640
_FFT = 4096  # two bins for each band, so that spectra can be stretched
_NUM_BINS = 284
_NEIGHBOURS = 49  # bins to whose mean the level of a bin is compared
_FLOOR = 0.1  # of this mean: hides what is between the harmonics of a voice
_MIN_POWER = 1e-20
_MIN_LOUD_SHARE = 1e-3  # of the power of loud frames
_MIN_FRAMES = 20
_SPEEDS = tuple(round(0.9 + 0.005 * step, 3) for step in range(41))
_PIECE_SECONDS = 30

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What marks speech and finds the mark.

    Attributes:
        gains: The gain in dB of each band at full strength.
        mean: The mean spectrum of unmarked speech, of ``levels_of``.
        whitening: Makes the bands of unmarked speech independent, with a variance of 1.
        mark: The mark after that, of length 1.
    """

    gains: Array
    mean: Array
    whitening: Array
    mark: Array

    def score(self, spectrum: Array, speed: float) -> float:
        """Return how much a spectrum contains the mark if the speech was played faster by ``speed``.

        It is compared with how much the spectrum differs from the mean in any way, as that of music or a single tone
        does: the adaptive coherence estimator.
        """
        found = self.whitening @ stretched(spectrum - self.mean, speed)
        return float(self.mark @ found / np.sqrt((found**2).mean()))


@cache
def load_pattern() -> Pattern:
    with np.load(paths.resources() / "mark.npz") as arrays:
        return Pattern(**{field.name: arrays[field.name].astype(np.float64) for field in fields(Pattern)})


class Marker:
    """Adds the mark to the samples of one file, which may arrive in pieces."""

    def __init__(self, sample_rate: int, strength: float = STRENGTH) -> None:
        self._filter = _minimum_phase(load_pattern().gains * strength, sample_rate)
        self._before = np.zeros(len(self._filter) - 1, np.float32)

    def __call__(self, samples: Samples) -> Samples:
        """Return ``samples`` with the mark."""
        joined = np.concatenate([self._before, samples])
        self._before = joined[len(samples) :]
        length = len(joined)
        size = 1 << length.bit_length()  # numpy, because importing scipy.signal takes as long as a short line
        marked = np.fft.irfft(np.fft.rfft(joined, size) * np.fft.rfft(self._filter, size))
        return marked[len(self._filter) - 1 : length].astype(np.float32)


def chosen_marker(settings: Settings, sample_rate: int) -> Marker | None:
    """Return what marks a file, or None if the user does not want it."""
    return Marker(sample_rate) if settings[MARKS_FILES] else None


def _minimum_phase(gains: Array, sample_rate: int) -> npt.NDArray[np.float32]:
    """Return the filter with these gains that begins at once: what it adds comes after the sound and is masked by it."""
    length = 1 << (sample_rate // 4).bit_length()
    frequencies = np.arange(length // 2 + 1) * sample_rate / length
    levels = np.interp(frequencies, np.arange(len(gains) + 1) * _BAND_HZ, [*gains, 0.0]) * np.log(10) / 20
    cepstrum = np.fft.irfft(levels)
    cepstrum[1 : length // 2] *= 2
    cepstrum[length // 2 + 1 :] = 0
    response = np.fft.irfft(np.exp(np.fft.rfft(cepstrum)))
    return response[: sample_rate // _TAPS_PER_SECOND].astype(np.float32)


class MarkState(Enum):
    FOUND = "found"
    NOT_FOUND = "not-found"
    NOT_CHECKED = "not-checked"


@dataclass(frozen=True, slots=True)
class FoundMark:
    """Result of a search.

    Attributes:
        score: The strength of the mark, in standard deviations of unmarked speech.
        start_seconds, end_seconds: The piece of the file with the clearest mark.
        speed: How much faster the speech is than when it was marked.
    """

    state: MarkState
    score: float = 0.0
    start_seconds: float = 0.0
    end_seconds: float = 0.0
    speed: float = 1.0

    @property
    def margin(self) -> float:
        """How much the score is above the limit."""
        return self.score - (LIMIT if self.speed == 1.0 else LIMIT_AT_OTHER_SPEEDS)

    @property
    def probability(self) -> float | None:
        """An estimate of how probable a mark is, 0.5 at the limit; None if the file was not searched."""
        if self.state is MarkState.NOT_CHECKED:
            return None
        return round(float(1 / (1 + np.exp(-2 * self.margin))), 4)


def find_mark(path: Path) -> FoundMark:
    """Search the audio of a file. Raise ``UnreadableClip`` and ``BrokenClip``."""
    start, found = 0.0, []
    for piece in _pieces(path):
        end = start + len(piece) / _RATE
        found.append(replace(find_in(piece), start_seconds=start, end_seconds=end))
        start = end
    searched = [each for each in found if each.state is not MarkState.NOT_CHECKED]
    return max(searched, key=lambda each: each.margin, default=FoundMark(MarkState.NOT_CHECKED))


def find_in(samples: Samples) -> FoundMark:
    """Search sound of 32 kHz as a whole."""
    levels = levels_of(samples)
    if len(levels) < _MIN_FRAMES:
        return FoundMark(MarkState.NOT_CHECKED)
    spectrum, pattern = levels.mean(axis=0), load_pattern()
    found = (FoundMark(MarkState.NOT_FOUND, pattern.score(spectrum, speed), speed=speed) for speed in _SPEEDS)
    best = max(found, key=lambda each: each.margin)
    return replace(best, state=MarkState.FOUND) if best.margin >= 0 else best


def levels_of(samples: Samples) -> Array:
    """Return the level in dB of each of the lowest bins, relative to its neighbours, in the loud frames of sound of 32 kHz.

    The shape is (frames, bins).
    """
    if len(samples) < len(_WINDOW):
        return np.zeros((0, _NUM_BINS))
    frames = np.lib.stride_tricks.sliding_window_view(samples, len(_WINDOW))[::_HOP]
    margin = _NEIGHBOURS // 2
    power = np.abs(np.fft.rfft(frames * _WINDOW, _FFT)[:, : _NUM_BINS + margin]).astype(np.float64) ** 2
    mean = power.mean(axis=1)
    power = power[(mean > _MIN_LOUD_SHARE * np.percentile(mean, 95)) & (mean > 0)]
    sums = np.cumsum(np.pad(power, ((0, 0), (margin + 1, margin)), mode="symmetric"), axis=1)
    around = (sums[:, _NEIGHBOURS:] - sums[:, :-_NEIGHBOURS]) / _NEIGHBOURS
    levels: Array = 10 * np.log10(power / (around + _MIN_POWER) + _FLOOR)
    return levels[:, :_NUM_BINS]


def stretched(spectra: Array, speed: float) -> Array:
    """Return the level of each band before the sound was played faster by ``speed``, of shape (…, bands)."""
    places = 2 * speed * np.arange(_NUM_BANDS)
    left = np.minimum(places.astype(int), spectra.shape[-1] - 2)
    share = places - left
    levels: Array = spectra[..., left] * (1 - share) + spectra[..., left + 1] * share
    return levels


def _pieces(path: Path) -> Iterator[Samples]:
    """Yield the sound of a file at 32 kHz, in pieces of 30 s. A short rest joins the last one."""
    blocks = read_audio_blocks(path)
    first, rate = next(blocks, (np.zeros(0, np.float32), _RATE))
    sound = itertools.chain([first], (samples for samples, _ in blocks))
    size, waiting = _PIECE_SECONDS * _RATE, np.zeros(0, np.float32)
    for block in resample_blocks(sound, rate, _RATE):
        waiting = np.concatenate([waiting, block])
        while len(waiting) >= 2 * size:
            yield waiting[:size]
            waiting = waiting[size:]
    yield waiting
