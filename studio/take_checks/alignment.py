"""Times of the words of a take, computed from the attention of the language model.

For each speech token, ``SentenceEvidence.text_position`` tells which part of the text the model attended to. The tokens
are divided among the words in the order of the text, so that each token is as near as possible to its word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.words import Word, split_words


@dataclass(frozen=True, slots=True)
class AlignedSegment:
    """A word of the spoken text, or the punctuation between two words (``word`` is None).

    Attributes:
        first_piece, last_piece: Indices of its text pieces.
        start_token, end_token: Its speech tokens; equal if the model skipped it.
        coverage: The attention to its least attended piece.
    """

    word: Word | None
    first_piece: int
    last_piece: int
    start_token: int
    end_token: int
    coverage: float

    @property
    def num_tokens(self) -> int:
        return self.end_token - self.start_token

    @property
    def num_pieces(self) -> int:
        return self.last_piece - self.first_piece + 1


def aligned_segments(evidence: SentenceEvidence) -> list[AlignedSegment]:
    """Return all words and punctuation of a sentence in order; empty if the model gives no alignment."""
    if not (evidence.text_position and evidence.text_pieces and evidence.text_coverage):
        return []
    position = np.asarray(evidence.text_position)
    owners = _owners(evidence)
    starts = _divided(position, [(first, last) for _, first, last in owners])
    ends = [*starts[1:], len(position)]
    segments = []
    for (word, first, last), start, end in zip(owners, starts, ends, strict=True):
        segments.append(
            AlignedSegment(
                word,
                first,
                last,
                start,
                end,
                coverage=min(evidence.text_coverage[first : last + 1]),
            )
        )
    return segments


def _owners(evidence: SentenceEvidence) -> list[tuple[Word | None, int, int]]:
    """Return the segments as (word, first piece, last piece). A piece belongs to the word of its first letter."""
    words = split_words(evidence.spoken_text)
    owners: list[tuple[Word | None, int, int]] = []
    offset = 0
    for index, piece in enumerate(evidence.text_pieces):
        start = offset + len(piece) - len(piece.lstrip())
        offset += len(piece)
        word = next((word for word in words if word.start <= start < word.end), None)
        if owners and (owners[-1][0] is word or not piece.strip()):
            owners[-1] = (owners[-1][0], owners[-1][1], index)
        else:
            owners.append((word, index, index))
    return owners


def _divided(position: npt.NDArray[np.float64], pieces: list[tuple[int, int]]) -> list[int]:
    """Return the first token of each segment. Segments may get no token, at no cost."""
    num_tokens, num_segments = len(position), len(pieces)
    first = np.array([start for start, _ in pieces])[None]
    last = np.array([end for _, end in pieces])[None]
    cost = np.maximum(np.maximum(first - position[:, None], position[:, None] - last), 0.0)
    # Beginning with a later segment skips the first ones.
    total = cost.copy()
    for token in range(1, num_tokens):
        # The best segment of the previous token that is not after this one.
        total[token] += np.minimum.accumulate(total[token - 1])
    path = np.zeros(num_tokens, np.int64)
    num_left = num_segments
    for token in range(num_tokens - 1, -1, -1):
        path[token] = total[token, :num_left].argmin()
        num_left = int(path[token]) + 1
    return [int(np.searchsorted(path, segment)) for segment in range(num_segments)]
