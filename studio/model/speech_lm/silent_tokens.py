"""Filter for long silences in CosyVoice3 (specification E2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

_LONGEST_RUN = 5


def filter_silent_tokens(
    tokens: Iterable[int], silent_tokens: Collection[int], *, limit: int = _LONGEST_RUN
) -> Iterator[int]:
    """Yield ``tokens`` with each run of silent or breath tokens shortened to ``limit``.

    The history and length limits of the speech language model still include the removed tokens.
    """
    run = 0
    for token in tokens:
        run = run + 1 if token in silent_tokens else 0
        if run <= limit:
            yield token
