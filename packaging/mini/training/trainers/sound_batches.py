"""Pieces of speech with two targets for each 20 ms, as a microphone would have recorded them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from training.corpus.store import Corpus, IndexArray
from training.corpus.utterance import SAMPLES_PER_TOKEN, FloatArray, LabelArray
from training.trainers.augmentation import Augmenter, to_16k, whisper_log_mel
from training.trainers.options import TrainingFailed

UNKNOWN = -100  # torch ignores such targets
Targets = Callable[[int], tuple[LabelArray, LabelArray]]

_SAMPLES_PER_TOKEN_16K = 640
_MIN_TOKENS = 20
_AUGMENTED_SHARE = 0.6
_OTHER_SPEED_SHARE = 0.5
_SPLICED_TOKENS = (6, 30)


@dataclass(frozen=True, slots=True)
class SoundBatch:
    """``log_mel`` (batch, 128, frames), ``lengths`` (batch,) in frames; ``sounds`` and ``tones`` (batch, frames / 2)."""

    log_mel: torch.Tensor
    lengths: torch.Tensor
    sounds: torch.Tensor
    tones: torch.Tensor

    @property
    def seconds(self) -> float:
        return float(self.lengths.sum()) / 100.0

    def to(self, device: torch.device) -> SoundBatch:
        return SoundBatch(*(part.to(device) for part in (self.log_mel, self.lengths, self.sounds, self.tones)))


class SoundPieces:
    """Draws batches of pieces of ``num_tokens`` from the lines of ``indices``.

    ``targets`` are the sounds and tones of a line, or two other numbers for each 20 ms. ``spliced_share`` of the pieces
    are joined from several lines, so that words that are cut, repeated or omitted are learned as they sound.
    """

    def __init__(
        self,
        corpus: Corpus,
        indices: IndexArray,
        num_tokens: int,
        *,
        targets: Targets | None = None,
        spliced_share: float = 0.0,
    ) -> None:
        self._corpus, self._num_tokens, self._spliced_share = corpus, num_tokens, spliced_share
        self._targets = targets or corpus.labels
        self._indices = indices[corpus.num_tokens[indices] >= _MIN_TOKENS]
        if not len(self._indices):
            raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
        # Long lines are more likely, up to the length of a piece.
        self._shares = np.cumsum(np.minimum(corpus.num_tokens[self._indices], num_tokens)).astype(np.float64)
        self._shares /= self._shares[-1]

    def draw(self, random: np.random.Generator, num_pieces: int) -> SoundBatch:
        """Return a batch with one speed: ``read`` spoken tokens last as long as ``num_tokens``."""
        wanted = self._num_tokens
        read = round(wanted * random.uniform(0.86, 1.16)) if random.random() < _OTHER_SPEED_SHARE else wanted
        samples = np.zeros((num_pieces, read * SAMPLES_PER_TOKEN), np.float32)
        targets = np.full((2, num_pieces, 2 * wanted), UNKNOWN, np.int64)
        lengths = np.zeros(num_pieces, np.int64)
        for row in range(num_pieces):
            sound, *found = self._piece(random, read)
            samples[row, : len(sound)] = sound
            num_read = len(sound) // SAMPLES_PER_TOKEN
            lengths[row] = min(wanted, int(num_read * wanted / read))
            halves = ((np.arange(2 * lengths[row]) + 0.5) * (read / wanted)).astype(np.int64)
            for target, own in zip(targets, found, strict=True):
                target[row, : len(halves)] = own[np.minimum(halves, len(own) - 1)]
        augmenter = Augmenter(random) if random.random() < _AUGMENTED_SHARE else None
        at_16k = to_16k(torch.from_numpy(samples), wanted * _SAMPLES_PER_TOKEN_16K, augmenter)
        return SoundBatch(whisper_log_mel(at_16k), torch.from_numpy(4 * lengths), *map(torch.from_numpy, targets))

    def _piece(self, random: np.random.Generator, num_tokens: int) -> Sequence[FloatArray | LabelArray]:
        if random.random() >= self._spliced_share:
            return self._part(random, num_tokens)
        parts = []
        while num_tokens > 0:
            parts.append(self._part(random, min(num_tokens, int(random.integers(*_SPLICED_TOKENS)))))
            num_tokens -= len(parts[-1][1]) // 2
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    def _part(self, random: np.random.Generator, num_tokens: int) -> tuple[FloatArray, LabelArray, LabelArray]:
        index = int(self._indices[np.searchsorted(self._shares, random.random())])
        start = int(random.integers(max(0, int(self._corpus.num_tokens[index]) - num_tokens) + 1))
        sound = self._corpus.samples(index, from_token=start, num_tokens=num_tokens)
        part = slice(2 * start, 2 * (start + len(sound) // SAMPLES_PER_TOKEN))
        sounds, tones = self._targets(index)
        return sound, sounds[part], tones[part]
