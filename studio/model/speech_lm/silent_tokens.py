"""CosyVoice3's filter for long silences (specification E2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

_LONGEST_RUN = 5


def filter_silent_tokens(
    tokens: Iterable[int], silent_tokens: Collection[int], *, limit: int = _LONGEST_RUN
) -> Iterator[int]:
    """``tokens`` without those of a run of silent or breath tokens that come after its first ``limit``.

    The speech language model knows nothing of it: its history and its length rules count them all.
    """
    run = 0
    for token in tokens:
        run = run + 1 if token in silent_tokens else 0
        if run <= limit:
            yield token
