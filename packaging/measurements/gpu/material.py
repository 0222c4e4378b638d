"""Inputs of both sides: tokens, mels and embeddings. Imports only numpy, for the official side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOKENS_PER_SECOND = 25
_SMOOTHED_FRAMES = 8
# Ordinary words of every tokenizer, without bytes and special tokens.
_FIRST_WORD, _LAST_WORD = 300, 600
# The official schedule: first hop, largest hop (it doubles), and look-ahead, in tokens.
_FIRST_HOP, _MAX_HOP, _LOOK_AHEAD = 25, 100, 3


@dataclass(frozen=True)
class Voice:
    """A prompt of speech tokens with its log mel (2 x tokens, 80) and its embedding (192,)."""

    tokens: list[int]
    mel: np.ndarray[Any, np.dtype[np.float32]] = field(repr=False)
    embedding: np.ndarray[Any, np.dtype[np.float32]] = field(repr=False)


@dataclass(frozen=True)
class Cut:
    """A call of the flow, which decodes tokens ``start`` to ``stop``. Tokens before ``known`` are available."""

    start: int
    stop: int
    known: int
    is_last: bool


@dataclass(frozen=True)
class Material:
    """``instruction``: token ids of the prefix that the generation adds to the prompt text."""

    num_speech_tokens: int
    instruction: list[int]

    def voice(self, num_tokens: int) -> Voice:
        random = np.random.default_rng((7, num_tokens))
        return Voice(
            tokens=random.integers(self.num_speech_tokens // 3, self.num_speech_tokens, num_tokens).tolist(),
            mel=smooth_mel(2 * num_tokens, seed=7),
            embedding=random.standard_normal(192).astype(np.float32),
        )

    def speech_tokens(self, count: int) -> list[int]:
        """Return ``count`` speech tokens without silent ones, which the programs limit."""
        random = np.random.default_rng((11, count))
        tokens: list[int] = random.integers(self.num_speech_tokens // 3, self.num_speech_tokens, count).tolist()
        return tokens

    def text(self, num_speech_tokens: int) -> list[int]:
        """Return text tokens for about ``num_speech_tokens`` of speech."""
        return _words(max(4, num_speech_tokens // 6), seed=13)

    def prompt_text(self, num_prompt_tokens: int) -> list[int]:
        return [*self.instruction, *_words(max(4, num_prompt_tokens // 6), seed=17)]


def official_cuts(num_prompt_tokens: int, num_tokens: int) -> Iterator[Cut]:
    """Yield the calls of the flow in the official schedule, with all tokens available."""
    hop, start, extra = _FIRST_HOP, 0, -num_prompt_tokens % _FIRST_HOP
    while num_tokens - start >= hop + extra + _LOOK_AHEAD:
        stop = start + hop + extra
        yield Cut(start, stop, stop + _LOOK_AHEAD, is_last=False)
        start, extra, hop = stop, 0, min(2 * hop, _MAX_HOP)
    yield Cut(start, num_tokens, num_tokens, is_last=True)


def smooth_mel(num_frames: int, *, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return a random mel, (num_frames, 80), about as smooth as a mel of speech."""
    noise = np.random.default_rng((seed, num_frames)).standard_normal((num_frames + _SMOOTHED_FRAMES, 80))
    sums = np.cumsum(noise, axis=0)
    smooth = (sums[_SMOOTHED_FRAMES:] - sums[:-_SMOOTHED_FRAMES]) / np.sqrt(_SMOOTHED_FRAMES)
    return np.ascontiguousarray(1.5 * smooth - 5.0, dtype=np.float32)


def _words(count: int, *, seed: int) -> list[int]:
    words: list[int] = np.random.default_rng((seed, count)).integers(_FIRST_WORD, _LAST_WORD, count).tolist()
    return words
