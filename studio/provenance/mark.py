"""The imperceptible mark of synthetic speech: added to files, and found again after compression and changes of speed.

Decided: a fixed equaliser of ±0.7 dB below 2 kHz. Because: the network of resemble-perth (MIT licence, Resemble AI) is
such an equaliser, of ±1.7 dB: it changes each band in the same way in all speech, within 0.1 dB. A filter does this
without delay and without 37 MB of weights. A matched filter finds this pattern at less than half the strength, and that of the
network as well. Instead of: its networks, which need a mark that is easier to hear.

Both are in ``resources/mark.npz``, made by ``packaging/measure.py marks --fit``: the gains of the equaliser, and what
tells them from the spectra of unmarked speech. ``mark_code`` adds the part above 2 kHz, which is found in single lines.
The mark is not secret: it can be removed or copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio import paths
from studio.audio.files import read_audio_blocks
from studio.audio.resampling import Samples, resample_blocks
from studio.provenance.mark_code import (
    BAND_HZ,
    LOWEST_HZ,
    NUM_BANDS,
    PLAIN_CODE,
    SLOT_SECONDS,
    SlotSearch,
    gains_of,
)
from studio.settings import MARKS_FILES
from studio.settings_store import Settings

# The share of the gains that is used. With more, the quality that DNSMOS predicts falls by more than 0.05 for some voices.
STRENGTH = 0.4
# Scores that fewer than one of 1,000 unmarked files should reach, in standard deviations of unmarked speech. The highest
# of 682 files were 3.9 and 4.5.
LIMIT = 4.2
LIMIT_AT_OTHER_SPEEDS = 5.0  # of which there are 40
# The same for the code. The highest of 2,410 unmarked files were 4.6 and 5.5.
CODE_LIMIT, CODE_LIMIT_AT_OTHER_SPEEDS = 4.6, 5.5
# Short sounds resemble a code by chance more often. With fewer loud frames (20 ms) than the first number, both limits rise
# with the inverse of their number, by 0.8 for a second of speech. There the highest of 2,092 scores were 5.2 and 6.0.
_LONG_FRAMES, _RISE = 250, 40.0
_CLEAR = 3.0  # above the limit: other speeds are not searched
_FADE_SECONDS = 0.03  # from one half of a slot to the next
_NUM_BANDS, _BAND_HZ = 128, 15.625  # of the gains
_TAPS_PER_SECOND = 10  # the filter is this part of a second long

_RATE = 32_000
_WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(2048) / 2048)).astype(np.float32)
_HOP = 640
_FFT = 4096  # two bins for each band, so that spectra can be stretched
_NUM_BINS = 284
_BIN_HZ = _RATE / _FFT
_LAST_CODE_BIN = round(1.1 * (LOWEST_HZ + NUM_BANDS * BAND_HZ) / _BIN_HZ) + 4
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
    """Adds the mark to the samples of one file, which may arrive in pieces.

    Without ``code``, the mark is that of earlier versions. ``start`` is the number of samples of the file before the
    first ones.
    """

    def __init__(self, sample_rate: int, strength: float = STRENGTH, *, code: str = PLAIN_CODE, start: int = 0) -> None:
        self._filters = _filters(sample_rate, strength, code)
        self._half = round(SLOT_SECONDS / 2 * sample_rate)
        self._fade = round(_FADE_SECONDS * sample_rate)
        self._place = start
        self._before = np.zeros(len(self._filters[0]) - 1, np.float32)

    def __call__(self, samples: Samples) -> Samples:
        """Return ``samples`` with the mark."""
        joined = np.concatenate([self._before, samples])
        marked = np.zeros(len(samples), np.float32)
        start = 0
        while start < len(samples):
            half, passed = divmod(self._place + start, self._half)
            end = min(len(samples), start + self._half - passed)
            marked[start:end] = self._filtered(joined, start, end, half)
            num_fading = min(self._fade - passed, end - start)
            if half > 0 and num_fading > 0:
                share = ((passed + np.arange(num_fading)) / self._fade).astype(np.float32)
                old = self._filtered(joined, start, start + num_fading, half - 1)
                marked[start : start + num_fading] = old + share * (marked[start : start + num_fading] - old)
            start = end
        self._before = joined[len(samples) :]
        self._place += len(samples)
        return marked

    def _filtered(self, joined: Samples, start: int, end: int, half: int) -> Samples:
        chosen = self._filters[half % len(self._filters)]
        piece = joined[start : end + len(chosen) - 1]
        size = 1 << len(piece).bit_length()  # numpy, because importing scipy.signal takes as long as a short line
        filtered = np.fft.irfft(np.fft.rfft(piece, size) * np.fft.rfft(chosen, size))
        return filtered[len(chosen) - 1 : len(piece)].astype(np.float32)


@lru_cache(maxsize=4)
def _filters(sample_rate: int, strength: float, code: str) -> list[npt.NDArray[np.float32]]:
    """Return the filters of the halves of all slots, or a single one without ``code``."""
    gains = load_pattern().gains * strength
    if not code:
        return [_minimum_phase(gains, np.zeros(NUM_BANDS), sample_rate)]
    return [_minimum_phase(gains, of_code, sample_rate) for of_code in gains_of(code)]


def chosen_marker(settings: Settings, sample_rate: int) -> Marker | None:
    """Return what marks a file, or None if the user does not want it."""
    return Marker(sample_rate) if settings[MARKS_FILES] else None


def _minimum_phase(gains: Array, gains_of_code: Array, sample_rate: int) -> npt.NDArray[np.float32]:
    """Return the filter with these gains that begins at once: what it adds comes after the sound and is masked by it."""
    length = 1 << (sample_rate // 4).bit_length()
    frequencies = np.arange(length // 2 + 1) * sample_rate / length
    levels = np.interp(frequencies, np.arange(len(gains) + 1) * _BAND_HZ, [*gains, 0.0])
    bands = LOWEST_HZ + BAND_HZ * (np.arange(NUM_BANDS + 2) - 0.5)
    levels = (levels + np.interp(frequencies, bands, [0.0, *gains_of_code, 0.0])) * np.log(10) / 20
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
        limit: The least score of a mark.
        codes: What the code may be, if the mark has one.
        number: The number of the file, if its code was made with the key of this user.
    """

    state: MarkState
    score: float = 0.0
    start_seconds: float = 0.0
    end_seconds: float = 0.0
    speed: float = 1.0
    limit: float = LIMIT
    codes: tuple[str, ...] = ()
    number: str = ""

    @property
    def margin(self) -> float:
        """How much the score is above the limit."""
        return self.score - self.limit

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
    levels, is_loud = _levels(samples)
    if is_loud.sum() < _MIN_FRAMES:
        return FoundMark(MarkState.NOT_CHECKED)
    of_code = _find_code(levels, is_loud)
    found = max((of_code, _find_equaliser(levels)), key=lambda each: each.margin)
    return replace(found, state=MarkState.FOUND, codes=of_code.codes) if found.margin >= 0 else found


def _find_equaliser(levels: Array) -> FoundMark:
    spectrum, pattern = levels[:, :_NUM_BINS].mean(axis=0), load_pattern()
    found = (
        FoundMark(
            MarkState.NOT_FOUND,
            pattern.score(spectrum, speed),
            speed=speed,
            limit=LIMIT if speed == 1.0 else LIMIT_AT_OTHER_SPEEDS,
        )
        for speed in _SPEEDS
    )
    return max(found, key=lambda each: each.margin)


def _find_code(levels: Array, is_loud: npt.NDArray[np.bool_]) -> FoundMark:
    """Search at all speeds, and at all tempos with the same pitch."""
    # Contiguous in time: the bands of each speed are then gathered and normalised in 0.6 times the time.
    sums = np.zeros((_LAST_CODE_BIN + 2, len(levels)), np.float32)
    sums[1:] = np.cumsum(levels[:, : _LAST_CODE_BIN + 1], axis=1).T
    frames_per_slot = SLOT_SECONDS * _RATE / _HOP
    rise = _RISE * max(0.0, 1.0 / int(is_loud.sum()) - 1.0 / _LONG_FRAMES)
    best, place = FoundMark(MarkState.NOT_FOUND), (0.0, 0)
    searched = None
    for speed in sorted(_SPEEDS, key=lambda speed: abs(speed - 1.0)):
        search = SlotSearch.of(_code_levels(sums, is_loud, speed))
        for tempo in _SPEEDS if speed == 1.0 else (speed,):
            score, offset = search.place(frames_per_slot / tempo)
            limit = rise + (CODE_LIMIT if tempo == 1.0 else CODE_LIMIT_AT_OTHER_SPEEDS)
            if searched is None or score - limit > best.margin:
                best = FoundMark(MarkState.NOT_FOUND, score, speed=tempo, limit=limit)
                searched, place = search, (frames_per_slot / tempo, offset)
        if best.margin > _CLEAR:
            break
    assert searched is not None
    return replace(best, codes=searched.codes(*place)) if best.margin >= 0 else best


def _code_levels(
    sums: npt.NDArray[np.float32], is_loud: npt.NDArray[np.bool_], speed: float
) -> npt.NDArray[np.float32]:
    """Return the levels (frames, bands) of the code, with a mean of 0 and a variance of 1 in loud frames.

    ``sums`` (bins + 1, loud frames) are those of the levels of lower bins.
    """
    edges = speed * (LOWEST_HZ + BAND_HZ * np.arange(NUM_BANDS + 1)) / _BIN_HZ
    left = edges.astype(int)
    share = (edges - left).astype(np.float32)[:, None]
    at_edges = sums[left]
    at_edges += share * (sums[left + 1] - at_edges)
    loud = np.diff(at_edges, axis=0)
    loud -= loud.mean(axis=1, keepdims=True)
    loud /= np.sqrt(np.einsum("bf,bf->b", loud, loud) / loud.shape[1])[:, None] + np.float32(1e-9)
    levels = np.zeros((len(is_loud), NUM_BANDS), np.float32)
    levels[is_loud] = loud.T
    return levels


def levels_of(samples: Samples) -> Array:
    """Return the level in dB of each of the lowest bins, relative to its neighbours, in the loud frames of sound of 32 kHz.

    The shape is (frames, bins).
    """
    return _levels(samples)[0][:, :_NUM_BINS]


def _levels(samples: Samples) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the levels of all bins that are used, (loud frames, bins), and which frames are loud."""
    num_bins = _LAST_CODE_BIN + 1
    if len(samples) < len(_WINDOW):
        return np.zeros((0, num_bins)), np.zeros(0, np.bool_)
    frames = np.lib.stride_tricks.sliding_window_view(samples, len(_WINDOW))[::_HOP]
    margin = _NEIGHBOURS // 2
    power = np.abs(np.fft.rfft(frames * _WINDOW, _FFT)[:, : num_bins + margin]).astype(np.float64) ** 2
    mean = power[:, : _NUM_BINS + margin].mean(axis=1)
    is_loud = (mean > _MIN_LOUD_SHARE * np.percentile(mean, 95)) & (mean > 0)
    power = power[is_loud]
    sums = np.cumsum(np.pad(power, ((0, 0), (margin + 1, margin)), mode="symmetric"), axis=1)
    around = (sums[:, _NEIGHBOURS:] - sums[:, :-_NEIGHBOURS]) / _NEIGHBOURS
    levels: Array = 10 * np.log10(power / (around + _MIN_POWER) + _FLOOR)
    return levels[:, :num_bins], is_loud


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
