"""Pieces of bilingual speech with the sound and the tone of each 20 ms, as a microphone would have recorded them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from training.bilingual.phones import timed_labels
from training.bilingual.store import BilingualCorpus
from training.corpus.store import IndexArray
from training.corpus.utterance import SAMPLES_PER_TOKEN, LabelArray
from training.trainers.options import TrainingFailed
from training.trainers.tokenizer_batches import Augmenter, to_16k, whisper_log_mel

UNKNOWN = -100  # torch ignores such targets
_SAMPLES_PER_TOKEN_16K = 640
_MIN_TOKENS = 20
_AUGMENTED_SHARE = 0.6
_OTHER_SPEED_SHARE = 0.5


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
    """Draws batches of pieces of ``num_tokens`` from the lines of ``indices``."""

    def __init__(self, corpus: BilingualCorpus, indices: IndexArray, num_tokens: int) -> None:
        self._corpus, self._num_tokens = corpus, num_tokens
        self._indices = indices[corpus.num_tokens[indices] >= _MIN_TOKENS]
        if not len(self._indices):
            raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
        # Long lines are more likely, up to the length of a piece.
        self._shares = np.cumsum(np.minimum(corpus.num_tokens[self._indices], num_tokens)).astype(np.float64)
        self._shares /= self._shares[-1]
        self._labels: dict[int, tuple[LabelArray, LabelArray]] = {}

    def labels(self, index: int) -> tuple[LabelArray, LabelArray]:
        """Return the sounds and the tones of a line, which are kept."""
        if index not in self._labels:
            self._labels[index] = timed_labels(self._corpus.lines[index], self._corpus.samples(index))
        return self._labels[index]

    def draw(self, random: np.random.Generator, num_pieces: int) -> SoundBatch:
        """Return a batch with one speed: ``read`` spoken tokens last as long as ``num_tokens``."""
        wanted = self._num_tokens
        read = round(wanted * random.uniform(0.86, 1.16)) if random.random() < _OTHER_SPEED_SHARE else wanted
        samples = np.zeros((num_pieces, read * SAMPLES_PER_TOKEN), np.float32)
        targets = np.full((2, num_pieces, 2 * wanted), UNKNOWN, np.int64)
        lengths = np.zeros(num_pieces, np.int64)
        for row in range(num_pieces):
            index = int(self._indices[np.searchsorted(self._shares, random.random())])
            start = int(random.integers(max(0, int(self._corpus.num_tokens[index]) - read) + 1))
            sound = self._corpus.samples(index, from_token=start, num_tokens=read)
            samples[row, : len(sound)] = sound
            num_read = len(sound) // SAMPLES_PER_TOKEN
            lengths[row] = min(wanted, int(num_read * wanted / read))
            halves = ((np.arange(2 * lengths[row]) + 0.5) * (read / wanted)).astype(np.int64)
            for target, labels in zip(targets, self.labels(index), strict=True):
                own = labels[2 * start : 2 * (start + num_read)]
                target[row, : len(halves)] = own[np.minimum(halves, len(own) - 1)]
        augmenter = Augmenter(random) if random.random() < _AUGMENTED_SHARE else None
        at_16k = to_16k(torch.from_numpy(samples), wanted * _SAMPLES_PER_TOKEN_16K, augmenter)
        return SoundBatch(whisper_log_mel(at_16k), torch.from_numpy(4 * lengths), *map(torch.from_numpy, targets))
