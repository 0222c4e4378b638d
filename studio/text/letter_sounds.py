"""The sounds of words that are in no list, guessed from their letters by a small network in the model folder.

The network is a few convolutions; numpy computes a word in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.storage.json_input import parse_json

FloatArray = npt.NDArray[np.float32]

LETTER_SOUNDS_FILE = "letter_sounds.npz"  # file name in the folder of the vocabulary
_EPSILON = 1e-6
_MAX_LETTERS = 40


class LetterSounds:
    """Guesses respellings. The file is read with the first word."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.respelled = lru_cache(maxsize=4096)(self._respelled)

    def _respelled(self, word: str) -> str:
        """Return a respelling of ``word``, or the word if the file is damaged or the network finds no sound."""
        try:
            weights = self._weights
            sounds = self._sounds
            letters = [number for letter in word[:_MAX_LETTERS] if (number := self._letters.find(letter)) > 0]
        except (OSError, ValueError, KeyError):
            return word
        if not letters:
            return word
        x = (weights["letters.weight"][letters][:, None] + weights["places"]).reshape(-1, weights["places"].shape[1])
        for number in range(self._num_blocks):
            x = _block(x, {name: weights[f"blocks.{number}.{name}"] for name in _BLOCK})
        scores = _norm(x, weights["norm"]) @ weights["head.weight"].T + weights["head.bias"]
        best = scores.argmax(axis=1)
        changes = best[np.flatnonzero(np.diff(best, prepend=-1))]
        return "".join(sounds[sound] for sound in changes if sound) or word

    @cached_property
    def _content(self) -> Mapping[str, npt.NDArray[np.generic]]:
        with np.load(self._path) as content:
            return dict(content)

    @cached_property
    def _weights(self) -> dict[str, FloatArray]:
        return {name: each.astype(np.float32) for name, each in self._content.items() if name != "facts"}

    @cached_property
    def _facts(self) -> dict[str, str]:
        facts: dict[str, str] = parse_json(str(self._content["facts"]))
        return facts

    @property
    def _letters(self) -> str:
        return self._facts["letters"]

    @property
    def _sounds(self) -> str:
        return self._facts["sounds"]

    @property
    def _num_blocks(self) -> int:
        return int(self._facts["num_blocks"])


_BLOCK = ("around.weight", "around.bias", "norm", "into.weight", "into.bias", "out_of.weight", "out_of.bias")


def _block(x: FloatArray, weights: Mapping[str, FloatArray]) -> FloatArray:
    kernel = weights["around.weight"][:, 0]  # (channels, size), one for each channel
    size = kernel.shape[1]
    padded = np.pad(x, ((size // 2, size // 2), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=0)  # (places, channels, size)
    around = np.einsum("pcs,cs->pc", windows, kernel) + weights["around.bias"]
    hidden = _norm(around, weights["norm"]) @ weights["into.weight"].T + weights["into.bias"]
    hidden = hidden / (1.0 + np.exp(-hidden))
    added: FloatArray = x + hidden @ weights["out_of.weight"].T + weights["out_of.bias"]
    return added


def _norm(x: FloatArray, weight: FloatArray) -> FloatArray:
    normed: FloatArray = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + _EPSILON) * weight
    return normed
