"""Speech tokens of both languages: the pair of sounds within 40 ms, and the relative pitch with its movement.

``token = sound + num_sounds * pitch``. How many of the 6,561 tokens are for sounds and how many for pitch is a scheme,
to be chosen by what a network can read from the tokens (``train.py token_reader``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from training.bilingual.phones import LABELS, SILENCE
from training.corpus.utterance import CorpusFailed, FloatArray, IntArray, LabelArray

NUM_TOKENS = 6561
_SEMITONES_PER_OCTAVE = 12.0
# Steps of F0 between sounds are no movement of the voice.
_SMOOTHED_HALVES = 2
_MAX_SEMITONES = 12.0


@dataclass(frozen=True, slots=True)
class TokenScheme:
    """``sounds`` classes of pairs of sounds, and for each of them ``levels`` of pitch with ``slopes`` of movement."""

    sounds: int
    levels: int
    slopes: int

    def __post_init__(self) -> None:
        if self.sounds * self.levels * self.slopes > NUM_TOKENS or self.sounds < len(LABELS):
            raise CorpusFailed(
                f"{self.sounds} sounds, {self.levels} levels and {self.slopes} slopes do not fit into {NUM_TOKENS} "
                f"tokens, or are fewer than the {len(LABELS)} labels."
            )


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """``pairs`` (sounds, 2) are the labels of each class, ``class_of`` the class of any two labels.

    ``level_bounds`` and ``slope_bounds`` divide semitones relative to the median of the voice, and their change within
    a token; ``level_values`` and ``slope_values`` are the means between them.
    """

    scheme: TokenScheme
    pairs: npt.NDArray[np.int64]
    class_of: IntArray = field(repr=False)
    level_bounds: FloatArray
    level_values: FloatArray
    slope_bounds: FloatArray
    slope_values: FloatArray

    @classmethod
    def of_lines(cls, scheme: TokenScheme, lines: Iterable[tuple[LabelArray, FloatArray]]) -> TokenTable:
        """Return the table for labels and F0, relative to the voice in semitones, of each 20 ms of many lines."""
        counts = np.zeros((len(LABELS), len(LABELS)), np.int64)
        contours: list[FloatArray] = []
        for labels, semitones in lines:
            np.add.at(counts, (labels[0::2], labels[1::2]), 1)
            contours.append(semitones)
        pitch = np.concatenate(contours).reshape(-1, 2)
        levels = _divided(pitch.mean(axis=1), scheme.levels)
        slopes = _divided(pitch[:, 1] - pitch[:, 0], scheme.slopes)
        return cls(scheme, *_classes(counts, scheme.sounds), *levels, *slopes)

    def encode(self, labels: LabelArray, semitones: FloatArray) -> IntArray:
        """Return the tokens of labels and relative F0 of each 20 ms."""
        pitch = semitones.reshape(-1, 2)
        level = np.searchsorted(self.level_bounds, pitch.mean(axis=1))
        slope = np.searchsorted(self.slope_bounds, pitch[:, 1] - pitch[:, 0])
        sound = self.class_of[labels[0::2], labels[1::2]]
        tokens: IntArray = (sound + self.scheme.sounds * (level * self.scheme.slopes + slope)).astype(np.int32)
        return tokens

    def sounds_of(self, tokens: IntArray) -> LabelArray:
        """Return the label of each 20 ms."""
        labels: LabelArray = self.pairs[tokens % self.scheme.sounds].reshape(-1).astype(np.uint8)
        return labels

    def semitones_of(self, tokens: IntArray) -> FloatArray:
        """Return relative F0 of each 20 ms."""
        level, slope = np.divmod(tokens // self.scheme.sounds, self.scheme.slopes)
        middle, half = self.level_values[level], self.slope_values[slope] / 2
        return np.stack([middle - half, middle + half], axis=1).reshape(-1).astype(np.float32)


def relative_semitones(f0_hz: FloatArray, median_f0_hz: float) -> FloatArray:
    """Return F0 in semitones above ``median_f0_hz``, smoothed and without gaps, or zeros if nothing is voiced."""
    voiced = np.flatnonzero(f0_hz > 0)
    if not len(voiced) or median_f0_hz <= 0:
        return np.zeros(len(f0_hz), np.float32)
    height = _SEMITONES_PER_OCTAVE * np.log2(f0_hz[voiced] / median_f0_hz)
    whole = np.interp(np.arange(len(f0_hz)), voiced, height.clip(-_MAX_SEMITONES, _MAX_SEMITONES))
    width = 2 * _SMOOTHED_HALVES - 1
    padded = np.pad(whole, width // 2, mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid").astype(np.float32)


def _divided(values: FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
    """Return bounds of ``number`` ranges with about equal widths in the cube root of their frequency, and their means.

    Equal frequencies would spend most ranges on the usual pitch, and equal widths on the rare ones.
    """
    if number == 1:
        return np.zeros(0, np.float32), np.array([values.mean()], np.float32)
    counts, edges = np.histogram(values, bins=400)
    share = np.cumsum(np.cbrt(counts))
    bounds = np.interp(np.arange(1, number) / number, share / share[-1], edges[1:])
    group = np.searchsorted(bounds, values)
    means = np.array([values[group == each].mean() if (group == each).any() else 0.0 for each in range(number)])
    return bounds.astype(np.float32), means.astype(np.float32)


def _classes(counts: npt.NDArray[np.int64], number: int) -> tuple[npt.NDArray[np.int64], IntArray]:
    """Return each label with itself and the most frequent other pairs, and the class of every pair.

    A rare pair gets the class of its audible or more frequent sound.
    """
    num_labels = len(LABELS)
    order = np.argsort(-counts.reshape(-1), kind="stable")
    is_lasting = order // num_labels == order % num_labels
    chosen = np.concatenate([order[is_lasting], order[~is_lasting][: number - num_labels]])
    pairs = np.stack([chosen // num_labels, chosen % num_labels], axis=1)
    class_of = np.full((num_labels, num_labels), -1, np.int32)
    class_of[pairs[:, 0], pairs[:, 1]] = np.arange(number)
    lasting = np.diagonal(class_of).copy()
    rank = lasting.copy()
    rank[SILENCE] = number
    for first, second in np.argwhere(class_of < 0):
        class_of[first, second] = lasting[first if rank[first] < rank[second] else second]
    return pairs, class_of
