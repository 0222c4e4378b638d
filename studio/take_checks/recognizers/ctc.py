"""Connectionist temporal classification: greedy decoding, and alignment of a given sequence of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A token, the frames in which it is spoken, and its probability relative to that of the best token."""

    token: int
    start: int
    end: int  # exclusive
    probability: float


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return log probabilities over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalized: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalized


def greedy_tokens(log_probabilities: FloatArray, blank: int = 0) -> list[TokenSpan]:
    """Return the most probable token of each run of frames, without blanks; (frames, tokens) log probabilities."""
    best = log_probabilities.argmax(axis=1)
    spans: list[TokenSpan] = []
    starts = np.flatnonzero(np.diff(best, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(best)], strict=True):
        token = int(best[start])
        if token != blank:
            probability = float(np.exp(log_probabilities[start:end, token].max()))
            spans.append(TokenSpan(token, int(start), int(end), probability))
    return spans


def align_tokens(log_probabilities: FloatArray, tokens: Sequence[int], blank: int = 0) -> list[TokenSpan] | None:
    """Return the most probable frames of ``tokens``, or None if there are too few frames for them."""
    num_frames = len(log_probabilities)
    repeats = sum(first == second for first, second in pairwise(tokens))
    if not tokens:
        return []
    if num_frames < len(tokens) + repeats:
        return None
    # Blank states lie between and around the tokens.
    labels = np.full(2 * len(tokens) + 1, blank)
    labels[1::2] = tokens
    may_skip = np.zeros(len(labels), bool)
    may_skip[3::2] = labels[3::2] != labels[1:-2:2]
    emissions = log_probabilities[:, labels]
    scores = np.full(len(labels), -np.inf, np.float32)
    scores[:2] = emissions[0, :2]
    moves = np.zeros((num_frames, len(labels)), np.int8)
    for frame in range(1, num_frames):
        one = np.concatenate([[-np.inf], scores[:-1]])
        two = np.where(may_skip, np.concatenate([[-np.inf, -np.inf], scores[:-2]]), -np.inf)
        options = np.stack([scores, one, two])
        moves[frame] = options.argmax(axis=0)
        scores = (options.max(axis=0) + emissions[frame]).astype(np.float32)
    state = len(labels) - 1 if scores[-1] >= scores[-2] else len(labels) - 2
    path = [state]
    for frame in range(num_frames - 1, 0, -1):
        state -= int(moves[frame, state])
        path.append(state)
    states = np.array(path[::-1])
    best = log_probabilities.max(axis=1)
    spans = []
    for index, token in enumerate(tokens):
        frames = np.flatnonzero(states == 2 * index + 1)
        ratio = float(np.exp((log_probabilities[frames, token] - best[frames]).max()))
        spans.append(TokenSpan(token, int(frames[0]), int(frames[-1]) + 1, ratio))
    return spans
