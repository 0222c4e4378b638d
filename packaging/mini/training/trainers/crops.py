"""Batches of equally long pieces of utterances, for the trainers of pitch predictor and vocoder.

The mel of a piece is a few frames longer than its audio, because the networks look ahead. After the end of an
utterance these frames are zeros, exactly as the networks pad a finished utterance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from training.corpus.store import Corpus, IndexArray, crop
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME as SAMPLES_PER_FRAME
from training.corpus.utterance import CorpusFailed, FloatArray
from training.trainers.options import TrainingFailed, TrainingOptions

Disturb = Callable[[FloatArray, np.random.Generator], FloatArray]

LOOK_AHEAD_FRAMES = 4
MARGIN_FRAMES = 1  # samples on each side, for measuring the phase at the first and last frame boundary
_MARGIN_TOKENS = 1
_LOOK_AHEAD_TOKENS = 2


@dataclass(frozen=True, slots=True)
class Crops:
    """``mel`` (batch, bins, frames + 4), ``f0_hz`` (batch, frames + 1), ``samples`` (batch, (frames + 3) x 480).

    ``samples`` begin a frame before the mel. Outside the utterance, they are zero.
    """

    mel: torch.Tensor
    f0_hz: torch.Tensor
    samples: torch.Tensor

    @property
    def num_frames(self) -> int:
        return self.mel.shape[-1] - LOOK_AHEAD_FRAMES

    @property
    def sound(self) -> torch.Tensor:
        """The samples of the frames themselves, (batch, frames x 480)."""
        start = MARGIN_FRAMES * SAMPLES_PER_FRAME
        return self.samples[:, start : start + self.num_frames * SAMPLES_PER_FRAME]

    @property
    def seconds(self) -> float:
        return self.mel.shape[0] * self.num_frames / 50.0

    def to(self, device: torch.device) -> Crops:
        return Crops(self.mel.to(device), self.f0_hz.to(device), self.samples.to(device))


class Mels(Protocol):
    """The corpus, or other mels of its lines."""

    def mel(self, index: int, *, from_token: int = 0, num_tokens: int | None = None) -> FloatArray: ...


class CropReader:
    """Draws pieces of ``num_frames`` from the utterances of ``indices``.

    The number is even, as pieces begin with a token.
    """

    def __init__(
        self,
        corpus: Corpus,
        indices: IndexArray,
        num_frames: int,
        *,
        disturb: Disturb | None = None,
        mels: Mels | None = None,
    ) -> None:
        if num_frames % 2:
            raise TrainingFailed(f"A crop must have an even number of frames (whole tokens), not {num_frames}.")
        if len(indices) == 0:
            raise TrainingFailed(
                "The corpus has no utterance of the kind that this stage needs. Extend the corpus first."
            )
        self._corpus, self._indices, self._num_frames = corpus, indices, num_frames
        self._disturb = disturb
        self._mels: Mels = mels or corpus

    def draw(self, random: np.random.Generator, num_crops: int) -> Crops:
        pieces = [self._piece(random) for _ in range(num_crops)]
        mel, f0_hz, samples = (torch.from_numpy(np.stack(part)) for part in zip(*pieces, strict=True))
        return Crops(mel, f0_hz, samples)

    def _piece(self, random: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        num_tokens = self._num_frames // 2
        index, token = crop(self._corpus, self._indices, random, num_tokens=num_tokens)
        mel = self._mels.mel(index, from_token=token, num_tokens=num_tokens + _LOOK_AHEAD_TOKENS)
        if self._disturb is not None:
            mel = self._disturb(mel, random)
        f0_hz = self._corpus.f0_hz(index, from_token=token, num_tokens=num_tokens + 1)
        lead_tokens = min(token, _MARGIN_TOKENS)
        samples = self._corpus.samples(
            index, from_token=token - lead_tokens, num_tokens=lead_tokens + num_tokens + _LOOK_AHEAD_TOKENS
        )
        first = (2 * lead_tokens - MARGIN_FRAMES) * SAMPLES_PER_FRAME
        samples = samples[first:] if first >= 0 else np.pad(samples, (-first, 0))
        return (
            _of_length(mel.T, self._num_frames + LOOK_AHEAD_FRAMES),
            _of_length(f0_hz, self._num_frames + 1),
            _of_length(samples, (self._num_frames + 1 + 2 * MARGIN_FRAMES) * SAMPLES_PER_FRAME),
        )


def open_corpus(options: TrainingOptions) -> Corpus:
    """Return the corpus, with the speech tokens of the work folder if they are chosen. Raise ``TrainingFailed``."""
    path = options.work / TABLE_FILE
    try:
        return Corpus.open(options.corpus, TokenTable.read(path) if path.exists() else None)
    except CorpusFailed as failure:
        raise TrainingFailed(str(failure)) from failure


def training_indices(corpus: Corpus) -> IndexArray:
    return corpus.indices(split="train", speaker_split="train")


def _of_length(columns: FloatArray, length: int) -> FloatArray:
    """Cut or pad with zeros at the end."""
    made: FloatArray = np.zeros((*columns.shape[:-1], length), dtype=np.float32)
    there = columns[..., :length]
    made[..., : there.shape[-1]] = there
    return made
