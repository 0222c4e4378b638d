"""Speech tokens of a sentence, generated again if their number is implausible for the text.

Decision: a second attempt is made only if no token of the first has been decoded, which depends on numbers of
tokens, not on timing. Reason: the same request must produce the same samples. A request that is played during
synthesis therefore repeats only sentences that end within their first chunk; other requests repeat every
sentence of implausible length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from studio.pipeline.length_limits import LengthLimits
from studio.pipeline.request import LengthFinding, LengthVerdict
from studio.pipeline.token_source import TokenSource, close_source
from studio.pipeline.utterance import EVERYTHING


class CountedTokens:
    """Iterates over at most ``limit`` tokens and counts them."""

    def __init__(self, tokens: Iterator[int], limit: int) -> None:
        self.count = 0
        self._tokens = tokens
        self._limit = limit

    def __iter__(self) -> Iterator[int]:
        try:
            while self.count < self._limit:
                token = next(self._tokens, None)
                if token is None:
                    return
                self.count += 1
                yield token
        finally:
            close_source(self._tokens)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One generation of a sentence. ``counted`` includes tokens that are filtered out before the flow."""

    feed: TokenSource
    counted: CountedTokens


class CheckedFeed:
    """A ``TokenSource`` of the most plausible attempt. ``open_attempt`` takes its number, from 0.

    The first attempt is checked if it ends with fewer than ``judged_below`` tokens.
    """

    def __init__(self, open_attempt: Callable[[int], Attempt], limits: LengthLimits, *, judged_below: int) -> None:
        self._open_attempt = open_attempt
        self._limits = limits
        self._judged_below = judged_below
        self._attempt = open_attempt(0)
        self._is_settled = False
        self._earlier_seconds = 0.0

    @property
    def tokens(self) -> list[int]:
        return self._attempt.feed.tokens

    @property
    def is_finished(self) -> bool:
        return self._attempt.feed.is_finished

    @property
    def seconds(self) -> float:
        return self._earlier_seconds + self._attempt.feed.seconds

    @property
    def first_token_seconds(self) -> float:
        return self._earlier_seconds + self._attempt.feed.first_token_seconds

    @property
    def verdict(self) -> LengthVerdict | None:
        """None for a plausible length, or if the sentence has not ended."""
        return self._limits.verdict(self._attempt.counted.count) if self.is_finished else None

    def wait_for(self, count: int) -> None:
        self._attempt.feed.wait_for(count if self._is_settled else max(count, self._judged_below))
        if not self._is_settled:
            self._is_settled = True
            if len(self.tokens) < self._judged_below and self.verdict is not None:
                self._attempt_again()

    def close(self) -> None:
        self._attempt.feed.close()

    def _attempt_again(self) -> None:
        first = self._attempt
        first.feed.close()
        second = self._open_attempt(1)
        # From here on, close() applies to the second attempt, even after an error.
        self._attempt, self._earlier_seconds = second, first.feed.seconds
        second.feed.wait_for(EVERYTHING)
        second.feed.close()
        if self._limits.distance(first.counted.count) <= self._limits.distance(second.counted.count):
            self._attempt, self._earlier_seconds = first, second.feed.seconds


@dataclass
class LengthCheck:
    """Checked feeds of one request, in the order of sentences."""

    _feeds: list[tuple[str, CheckedFeed]] = field(default_factory=list)

    def add(self, spoken_text: str, feed: CheckedFeed) -> CheckedFeed:
        self._feeds.append((spoken_text, feed))
        return feed

    @property
    def findings(self) -> tuple[LengthFinding, ...]:
        found = ((text, feed.verdict) for text, feed in self._feeds)
        return tuple(LengthFinding(text, verdict) for text, verdict in found if verdict is not None)
