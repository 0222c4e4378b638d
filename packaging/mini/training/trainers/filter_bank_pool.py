"""Kaldi filter banks of many utterances in memory, exactly as computed by the program's front end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.voices.features import KALDI_SAMPLE_RATE, kaldi_fbank
from training.corpus.store import Corpus
from training.corpus.utterance import SAMPLE_RATE, FloatArray

# Prompts are normal speech. Whispering or a changed pitch would hide the timbre.
UNUSUAL_STYLES = frozenset({"whisper", "high", "low"})
_MIN_TOKENS = 25


def filter_bank_of(corpus: Corpus, index: int, *, subtract_mean: bool = True) -> FloatArray:
    """Return the filter bank of an utterance, (frames, 80)."""
    waveform = Waveform(corpus.samples(index), SAMPLE_RATE).resampled(KALDI_SAMPLE_RATE)
    return kaldi_fbank(waveform, subtract_mean=subtract_mean)


def usual_indices(corpus: Corpus, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return utterances suitable as prompts: normal styles, at least one second."""
    return np.array(
        [
            index
            for index in indices.tolist()
            if corpus.entry(index).style not in UNUSUAL_STYLES and corpus.entry(index).num_tokens >= _MIN_TOKENS
        ],
        dtype=np.int64,
    )


def some_of_each(
    corpus: Corpus, indices: npt.NDArray[np.int64], most: int, random: np.random.Generator
) -> dict[str, npt.NDArray[np.int64]]:
    """Return at most ``most`` of ``indices`` for each speaker, by name."""
    return {name: np.sort(random.permutation(numbers)[:most]) for name, numbers in corpus.by_speaker(indices).items()}


@dataclass(frozen=True, slots=True, eq=False)
class FilterBankPool:
    """``banks`` are (frames, 80) float16, including their mean; ``speakers`` are the numbers of their speakers."""

    banks: list[npt.NDArray[np.float16]]
    speakers: npt.NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus, chosen: Mapping[str, npt.NDArray[np.int64]]) -> FilterBankPool:
        banks: list[npt.NDArray[np.float16]] = []
        speakers: list[int] = []
        for number, indices in enumerate(chosen.values()):
            for index in indices.tolist():
                banks.append(filter_bank_of(corpus, index, subtract_mean=False).astype(np.float16))
                speakers.append(number)
        return cls(banks, np.array(speakers, dtype=np.int64))

    def crops(
        self, num_rows: int, num_frames: int, random: np.random.Generator
    ) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Return mean-free pieces (rows, frames, 80) of random speakers, some with a random noise floor, and the
        speakers.

        Utterances that are too short are repeated.
        """
        # All speakers are equally likely, independent of their number of utterances.
        wanted = random.integers(self.speakers.max() + 1, size=num_rows)
        pieces = np.empty((num_rows, num_frames, self.banks[0].shape[1]), np.float32)
        for row, speaker in enumerate(wanted):
            bank = self.banks[int(random.choice(np.flatnonzero(self.speakers == speaker)))]
            start = int(random.integers(max(1, len(bank) - num_frames + 1)))
            piece = bank[start : start + num_frames].astype(np.float32)
            if len(piece) < num_frames:
                piece = np.tile(piece, (-(-num_frames // len(piece)), 1))[:num_frames]
            pieces[row] = _over_noise(piece, random) if random.random() < _NOISY_SHARE else piece
        return pieces - pieces.mean(axis=1, keepdims=True), wanted


_NOISY_SHARE = 0.5
_MIN_NOISE, _MAX_NOISE = -9.0, -2.5  # level in nats relative to the loudest band of the piece


def _over_noise(piece: FloatArray, random: np.random.Generator) -> FloatArray:
    """Add a sloping noise floor, which recordings have, unlike synthesizers, which are silent between words."""
    level = piece.max() + random.uniform(_MIN_NOISE, _MAX_NOISE) - 3.0
    slope = np.linspace(0.0, random.uniform(-3.0, 1.0), piece.shape[1])
    noise = level + slope + 0.5 * random.standard_normal(piece.shape)
    mixed: FloatArray = np.logaddexp(piece, noise).astype(np.float32)
    return mixed
