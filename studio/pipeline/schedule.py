"""Chunk schedule of an utterance.

Chunks end on a grid of 25 tokens from the start of the *prompt*, since streaming is exact only there
(specification F8). CosyVoice-300M has no grid. Each utterance has its own schedule, so later requests behave like the first one
(specification J2, row 1).
"""

from __future__ import annotations

from collections.abc import Iterator

from studio.errors import OffGridCut
from studio.model.stages import FlowDecoder

# A shorter first hop yields almost no audio: the vocoder holds back 4 frames (CosyVoice3) or 8.
_MIN_FIRST_HOP_TOKENS = 7
_MAX_HOP_TOKENS = 100


def first_hops(prompt_tokens: int, chunk_tokens: int) -> tuple[int, int]:
    """Return the two shortest first hops that end on the grid, in tokens.

    For a prompt of P tokens and a grid of 25, these are h = -P mod 25 (or 25 instead of 0) and h + 25.
    """
    hop = -prompt_tokens % chunk_tokens or chunk_tokens
    return hop, hop + chunk_tokens


def first_chunk_blocks(prompt_tokens: int, chunk_tokens: int, lookahead_tokens: int) -> int:
    """Return the number of blocks that the flow computes for the first chunk (SPECIFICATION.md, M4)."""
    num_cached = max(0, prompt_tokens - lookahead_tokens) // chunk_tokens
    return (prompt_tokens + ChunkSchedule(prompt_tokens, chunk_tokens).end_tokens) // chunk_tokens - num_cached


class ChunkSchedule:
    """End positions of chunks, in tokens from the start of the utterance.

    If ``first_hop_tokens`` is None, the shortest hop that yields enough audio is used. Any other value must end on the
    grid, or ``OffGridCut`` is raised. Later hops double up to 100 tokens, because larger chunks are more efficient
    and playback has a buffer by then.
    """

    def __init__(self, prompt_tokens: int, chunk_tokens: int, *, first_hop_tokens: int | None = None) -> None:
        shortest, longer = first_hops(prompt_tokens, chunk_tokens)
        if first_hop_tokens is None:
            first_hop_tokens = shortest if shortest >= _MIN_FIRST_HOP_TOKENS else longer
        elif first_hop_tokens < 1 or (first_hop_tokens - shortest) % chunk_tokens:
            raise OffGridCut(
                "A first hop of {hop} tokens does not end on the grid of this voice.",
                remedy="Use {shortest}, or {shortest} plus a multiple of {grid}.",
                hop=first_hop_tokens,
                shortest=shortest,
                grid=chunk_tokens,
            )
        self.end_tokens = first_hop_tokens
        # The second hop is the next multiple of the grid above the first.
        self._longest_hop_tokens = _MAX_HOP_TOKENS
        self._next_hop_tokens = min(_MAX_HOP_TOKENS, chunk_tokens * (first_hop_tokens // chunk_tokens + 1))

    @classmethod
    def of(cls, flow: FlowDecoder, prompt_tokens: int, *, first_hop_tokens: int | None = None) -> ChunkSchedule:
        """Return the schedule of ``flow`` for a prompt.

        A flow that does not stream exactly has no grid. Its chunks are equally long, and ``first_hop_tokens`` may be
        any number (specification H1).
        """
        if flow.streams_exactly:
            return cls(prompt_tokens, flow.chunk_tokens, first_hop_tokens=first_hop_tokens)
        schedule = cls(0, flow.chunk_tokens)
        schedule.end_tokens = first_hop_tokens or flow.chunk_tokens
        schedule._next_hop_tokens = schedule._longest_hop_tokens = flow.chunk_tokens
        return schedule

    def advance(self) -> None:
        """Move ``end_tokens`` to the end of the next chunk."""
        self.end_tokens += self._next_hop_tokens
        self._next_hop_tokens = self._hop_after(self._next_hop_tokens)

    def _hop_after(self, hop_tokens: int) -> int:
        return min(self._longest_hop_tokens, 2 * hop_tokens)

    def remaining_chunks(self, done_tokens: int, total_tokens: int, lookahead_tokens: int) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each chunk from ``done_tokens`` to ``total_tokens``, without advancing."""
        start, end, hop = done_tokens, self.end_tokens, self._next_hop_tokens
        while end + lookahead_tokens <= total_tokens:
            yield start, end
            start, end, hop = end, end + hop, self._hop_after(hop)
        if start < total_tokens:
            yield start, total_tokens
