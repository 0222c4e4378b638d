"""Pieces of synthetic speech and of the model's own takes, with the phone of each 20 ms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from studio.text.respellings import Respellings
from training.corpus.store import Corpus, IndexArray
from training.corpus.utterance import SAMPLES_PER_TOKEN
from training.shipping.respellings import cmu_respellings
from training.trainers.reading import UNKNOWN_PHONE, phones_along
from training.trainers.speech_lm_lines import spoken_form
from training.trainers.tokenizer_batches import Augmenter, to_16k, whisper_log_mel

_SAMPLES_PER_TOKEN_16K = 640
_MIN_TOKENS = 20
_AUGMENTED_SHARE = 0.6
_OTHER_SPEED_SHARE = 0.5
# Pieces joined from several utterances, so that words that are cut, repeated or omitted are learned as they sound.
_SPLICED_SHARE = 0.35
_SPLICE_TOKENS = (6, 30)


@dataclass(frozen=True, slots=True)
class RecognizerBatch:
    """``log_mel`` (batch, 128, frames), ``lengths`` (batch,) in frames, and ``phones`` (batch, frames / 2)."""

    log_mel: torch.Tensor
    lengths: torch.Tensor
    phones: torch.Tensor

    @property
    def seconds(self) -> float:
        return float(self.lengths.sum()) / 100.0


class RecognizerLines:
    """The training lines of several corpora, of which each has a share of the pieces."""

    def __init__(self, corpora: Sequence[tuple[Corpus, float]], *, excluded: Sequence[str] = ()) -> None:
        words, _ = cmu_respellings()
        self._respellings = Respellings(words)
        self._corpora = [corpus for corpus, _ in corpora]
        self._phones: dict[tuple[int, int], IndexArray] = {}
        left_out = set(excluded)
        self._indices: list[IndexArray] = []
        self._shares: list[np.ndarray] = []
        for corpus, _ in corpora:
            indices = corpus.indices(split="train", speaker_split="train")
            fitting = [
                index
                for index in indices.tolist()
                if corpus.num_tokens[index] >= _MIN_TOKENS and corpus.entry(index).text not in left_out
            ]
            self._indices.append(np.array(fitting, np.int64))
            lengths = np.cumsum(corpus.num_tokens[fitting]).astype(np.float64)
            self._shares.append(lengths / lengths[-1] if len(lengths) else lengths)
        weights = np.array([share if len(self._indices[number]) else 0.0 for number, (_, share) in enumerate(corpora)])
        self._weights = weights / max(weights.sum(), 1e-9)

    def __len__(self) -> int:
        return sum(map(len, self._indices))

    def draw(self, random: np.random.Generator, num_pieces: int, num_tokens: int) -> RecognizerBatch:
        """Return a batch with one speed."""
        is_augmented = random.random() < _AUGMENTED_SHARE
        read = round(num_tokens * random.uniform(0.86, 1.16)) if random.random() < _OTHER_SPEED_SHARE else num_tokens
        samples = np.zeros((num_pieces, read * SAMPLES_PER_TOKEN), np.float32)
        phones = np.full((num_pieces, 2 * num_tokens), UNKNOWN_PHONE, np.int64)
        lengths = np.zeros(num_pieces, np.int64)
        for row in range(num_pieces):
            sound, own = self._piece(random, read)
            samples[row, : len(sound)] = sound
            length = min(num_tokens, int(len(own) // 2 * num_tokens / read))
            halves = ((np.arange(2 * length) + 0.5) * (read / num_tokens)).astype(np.int64)
            phones[row, : 2 * length], lengths[row] = own[np.minimum(halves, len(own) - 1)], length
        at_16k = to_16k(
            torch.from_numpy(samples), num_tokens * _SAMPLES_PER_TOKEN_16K, Augmenter(random) if is_augmented else None
        )
        return RecognizerBatch(whisper_log_mel(at_16k), torch.from_numpy(4 * lengths), torch.from_numpy(phones))

    def whole(self, corpus_number: int, index: int) -> tuple[np.ndarray, IndexArray]:
        """Return the samples of an utterance and the phone of each 20 ms."""
        return self._corpora[corpus_number].samples(index), self._phones_of(corpus_number, index)

    def _piece(self, random: np.random.Generator, num_tokens: int) -> tuple[np.ndarray, IndexArray]:
        number = int(random.choice(len(self._corpora), p=self._weights))
        if random.random() >= _SPLICED_SHARE:
            return self._part(random, number, num_tokens)
        parts = []
        while num_tokens > 0:
            parts.append(self._part(random, number, min(num_tokens, int(random.integers(*_SPLICE_TOKENS)))))
            num_tokens -= len(parts[-1][1]) // 2
        return np.concatenate([sound for sound, _ in parts]), np.concatenate([phones for _, phones in parts])

    def _part(self, random: np.random.Generator, number: int, num_tokens: int) -> tuple[np.ndarray, IndexArray]:
        corpus = self._corpora[number]
        index = int(self._indices[number][np.searchsorted(self._shares[number], random.random())])
        start = int(random.integers(max(0, corpus.entry(index).num_tokens - num_tokens) + 1))
        sound = corpus.samples(index, from_token=start, num_tokens=num_tokens)
        return sound, self._phones_of(number, index)[2 * start : 2 * start + 2 * (len(sound) // SAMPLES_PER_TOKEN)]

    def _phones_of(self, number: int, index: int) -> IndexArray:
        if (number, index) not in self._phones:
            corpus = self._corpora[number]
            spoken = spoken_form(corpus.entry(index).text)
            self._phones[number, index] = phones_along(spoken, corpus.labels(index), self._respellings).astype(np.int16)
        return self._phones[number, index]
