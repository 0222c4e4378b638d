"""Speech tokens of both languages: the pair of sounds within 40 ms, and the relative pitch with its movement.

``token = sound + num_sounds * pitch``. Pitches are those of modal voice (levels and slopes), of soft and of loud voice
(levels), and whisper. How many of the 6,561 tokens are for sounds and how many for pitch is a scheme, which is chosen
by what a network can read from the tokens (``train.py tokens``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.corpus.phones import LABELS, SILENCE
from training.corpus.utterance import CorpusFailed, FloatArray, IntArray, LabelArray

NUM_TOKENS = 6561
TABLE_FILE = "tokens.json"  # in the work folder
EFFORT_LEVELS = 5
_SEMITONES_PER_OCTAVE = 12.0
# Steps of F0 between sounds are no movement of the voice.
_SMOOTHED_HALVES = 2
_MAX_SEMITONES = 12.0


class Register(Enum):
    """Kinds of voice that have their own tokens."""

    MODAL = "modal"
    SOFT = "soft"
    LOUD = "loud"
    WHISPER = "whisper"

    @classmethod
    def of_style(cls, style: str) -> Register:
        return {"soft": cls.SOFT, "loud": cls.LOUD, "whisper": cls.WHISPER}.get(style, cls.MODAL)


@dataclass(frozen=True, slots=True)
class TokenScheme:
    """``sounds`` classes of pairs of sounds, and for each of them ``levels`` of pitch with ``slopes`` of movement."""

    sounds: int
    levels: int
    slopes: int

    def __post_init__(self) -> None:
        if self.sounds * self.pitches > NUM_TOKENS or self.sounds < len(LABELS):
            raise CorpusFailed(
                f"{self.sounds} sounds, {self.levels} levels and {self.slopes} slopes do not fit into {NUM_TOKENS} "
                f"tokens, or are fewer than the {len(LABELS)} labels."
            )

    @property
    def modal_pitches(self) -> int:
        return self.levels * self.slopes

    @property
    def pitches(self) -> int:
        return self.modal_pitches + 2 * EFFORT_LEVELS + 1


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """``pairs`` (sounds, 2) are the labels of each class, ``class_of`` the class of any two labels.

    ``level_bounds`` and ``slope_bounds`` divide semitones relative to the median of the voice, and their change within
    a token; ``level_values`` and ``slope_values`` are the means between them. ``effort_bounds`` and ``effort_values``
    are the levels of soft and loud voice.
    """

    scheme: TokenScheme
    pairs: npt.NDArray[np.int64]
    class_of: IntArray = field(repr=False)
    level_bounds: FloatArray
    level_values: FloatArray
    slope_bounds: FloatArray
    slope_values: FloatArray
    effort_bounds: FloatArray
    effort_values: FloatArray

    @classmethod
    def of_lines(cls, scheme: TokenScheme, lines: Iterable[tuple[LabelArray, FloatArray]]) -> TokenTable:
        """Return the table for labels and F0, relative to the voice in semitones, of each 20 ms of many lines."""
        counts = np.zeros((len(LABELS), len(LABELS)), np.int64)
        contours: list[FloatArray] = []
        for labels, semitones in lines:
            np.add.at(counts, (labels[0::2], labels[1::2]), 1)
            contours.append(semitones)
        pitch = np.concatenate(contours).reshape(-1, 2)
        middle = pitch.mean(axis=1)
        levels = _divided(middle, scheme.levels)
        slopes = _divided(pitch[:, 1] - pitch[:, 0], scheme.slopes)
        pairs = _chosen_pairs(counts, scheme.sounds)
        return cls(scheme, pairs, _class_of(pairs), *levels, *slopes, *_divided(middle, EFFORT_LEVELS))

    @classmethod
    def read(cls, path: Path) -> TokenTable:
        """Raise ``CorpusFailed`` if there is no table, or it is of other labels."""
        if not path.is_file():
            raise CorpusFailed(f"{path} does not exist. Choose the speech tokens first: train.py tokens")
        content = json.loads(path.read_text("utf-8"))
        if tuple(content.pop("labels")) != LABELS:
            raise CorpusFailed(f"{path} has other labels than phones.py. Choose the speech tokens again.")
        scheme = TokenScheme(**content.pop("scheme"))
        pairs = np.array(content.pop("pairs"), np.int64)
        arrays = {name: np.array(values, np.float32) for name, values in content.items()}
        return cls(scheme=scheme, pairs=pairs, class_of=_class_of(pairs), **arrays)

    def write(self, path: Path) -> None:
        arrays = {name: getattr(self, name).tolist() for name in ("pairs", *_ARRAYS)}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"labels": LABELS, "scheme": asdict(self.scheme), **arrays}) + "\n", "utf-8")

    def encode(self, labels: LabelArray, semitones: FloatArray, register: Register = Register.MODAL) -> IntArray:
        """Return the tokens of labels and relative F0 of each 20 ms."""
        sound = self.class_of[labels[0::2], labels[1::2]]
        tokens: IntArray = (sound + self.scheme.sounds * self._pitches(semitones, register)).astype(np.int32)
        return tokens

    def _pitches(self, semitones: FloatArray, register: Register) -> IntArray:
        scheme = self.scheme
        pitch = semitones.reshape(-1, 2)
        middle = pitch.mean(axis=1)
        if register is Register.WHISPER:
            return np.full(len(middle), scheme.pitches - 1, np.int32)
        if register is Register.MODAL:
            level = np.searchsorted(self.level_bounds, middle)
            slope = np.searchsorted(self.slope_bounds, pitch[:, 1] - pitch[:, 0])
            modal: IntArray = (level * scheme.slopes + slope).astype(np.int32)
            return modal
        first = scheme.modal_pitches + (EFFORT_LEVELS if register is Register.LOUD else 0)
        effort: IntArray = (first + np.searchsorted(self.effort_bounds, middle)).astype(np.int32)
        return effort

    def sounds_of(self, tokens: IntArray) -> LabelArray:
        """Return the label of each 20 ms."""
        labels: LabelArray = self.pairs[tokens % self.scheme.sounds].reshape(-1).astype(np.uint8)
        return labels

    def phones_of(self, tokens: IntArray) -> list[str]:
        """Return the sequence of sounds without durations and silence, for comparing pronunciations."""
        labels = self.sounds_of(tokens)
        starts = np.flatnonzero(np.diff(labels.astype(np.int64), prepend=-1))
        return [LABELS[label] for label in labels[starts] if label != SILENCE]

    def registers_of(self, tokens: IntArray) -> list[Register]:
        """Return the register of each token."""
        scheme = self.scheme
        bounds = scheme.modal_pitches + EFFORT_LEVELS * np.arange(3)
        kinds = np.searchsorted(bounds, tokens // scheme.sounds, side="right")
        order = (Register.MODAL, Register.SOFT, Register.LOUD, Register.WHISPER)
        return [order[kind] for kind in kinds.tolist()]

    def semitones_of(self, tokens: IntArray) -> FloatArray:
        """Return relative F0 of each 20 ms, or zeros for a whisper."""
        scheme = self.scheme
        levels, slopes = np.repeat(self.level_values, scheme.slopes), np.tile(self.slope_values, scheme.levels)
        middles = np.concatenate([levels, self.effort_values, self.effort_values, np.zeros(1, np.float32)])
        halves = np.concatenate([slopes, np.zeros(2 * EFFORT_LEVELS + 1, np.float32)]) / 2
        pitch = tokens // scheme.sounds
        both = np.stack([middles[pitch] - halves[pitch], middles[pitch] + halves[pitch]], axis=1)
        return both.reshape(-1).astype(np.float32)


_ARRAYS = ("level_bounds", "level_values", "slope_bounds", "slope_values", "effort_bounds", "effort_values")


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


def _chosen_pairs(counts: npt.NDArray[np.int64], number: int) -> npt.NDArray[np.int64]:
    """Return each label with itself and the most frequent other pairs, (number, 2)."""
    num_labels = len(LABELS)
    order = np.argsort(-counts.reshape(-1), kind="stable")
    is_lasting = order // num_labels == order % num_labels
    chosen = np.concatenate([order[is_lasting], order[~is_lasting][: number - num_labels]])
    return np.stack([chosen // num_labels, chosen % num_labels], axis=1)


def _class_of(pairs: npt.NDArray[np.int64]) -> IntArray:
    """Return the class of every pair. A rare pair gets the class of its audible or more frequent sound."""
    class_of = np.full((len(LABELS), len(LABELS)), -1, np.int32)
    class_of[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    lasting = np.diagonal(class_of).copy()
    rank = lasting.copy()
    rank[SILENCE] = len(pairs)
    for first, second in np.argwhere(class_of < 0):
        class_of[first, second] = lasting[first if rank[first] < rank[second] else second]
    return class_of
