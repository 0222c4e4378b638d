"""Sources of speech tokens between language model and flow.

Decision: on a CPU, both run alternately in one thread (``SyncTokenSource``); on a GPU, the language model runs
ahead in a separate thread (``AsyncTokenSource``), up to a limit. Reason: two thread pools on few cores slow each
other down several times over, while on a GPU the language model is limited by its host thread. Waiting uses
conditions, not polling, and errors are raised in the waiting thread.

``CheckedFeed`` generates a sentence again if the number of its tokens is implausible for the text.

Decision: a second attempt is made only if no token of the first has been decoded, which depends on numbers of
tokens, not on timing. Reason: the same request must produce the same samples. A request that is played during
synthesis therefore repeats only sentences that end within their first chunk; other requests repeat every
sentence of implausible length.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from studio.pipeline.evidence import Generation
from studio.pipeline.length_limits import LengthLimits
from studio.pipeline.request import LengthVerdict, RequestControl

# A number of tokens that no sentence reaches.
UNLIMITED = 1 << 30


class TokenSource(Protocol):
    """Speech tokens of one sentence generated so far."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def is_finished(self) -> bool: ...

    @property
    def seconds(self) -> float:
        """Time spent generating tokens."""
        ...

    @property
    def first_token_seconds(self) -> float:
        """Part of ``seconds`` before the first token, mainly prefill."""
        ...

    def wait_for(self, count: int) -> None:
        """Wait for ``count`` tokens or the end of the sentence. Raise any error that ended the generation."""
        ...

    def close(self) -> None: ...


class SentenceFeed(TokenSource, Protocol):
    """The source of a sentence, with its generation for the checks of takes; None if no text was spoken."""

    @property
    def generation(self) -> Generation | None: ...


class SyncTokenSource:
    """Runs the language model on demand, in ``wait_for``."""

    def __init__(self, source: Iterator[int], control: RequestControl) -> None:
        self.tokens: list[int] = []
        self.is_finished = False
        self.seconds = 0.0
        self.first_token_seconds = 0.0
        self._source = source
        self._control = control

    def wait_for(self, count: int) -> None:
        started = time.perf_counter()
        while len(self.tokens) < count and not self.is_finished:
            self._control.raise_if_cancelled()
            token = next(self._source, None)
            if token is None:
                self.is_finished = True
            else:
                self.tokens.append(token)
                if len(self.tokens) == 1:
                    self.first_token_seconds = time.perf_counter() - started
        self.seconds += time.perf_counter() - started

    def close(self) -> None:
        close_source(self._source)


class AsyncTokenSource:
    """Runs the language model in a thread, at most ``limit_tokens`` ahead of the flow."""

    def __init__(self, source: Iterator[int], control: RequestControl, *, limit_tokens: int = 500) -> None:
        self.tokens: list[int] = []
        self.is_finished = False
        self.seconds = 0.0
        self.first_token_seconds = 0.0
        self._source = source
        self._control = control
        self._limit = limit_tokens
        self._wanted = 0
        self._closed = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        control.when_cancelled(self._wake)
        self._thread = threading.Thread(target=self._run, name="speech-lm", daemon=True)
        self._thread.start()

    def wait_for(self, count: int) -> None:
        with self._changed:
            self._wanted = max(self._wanted, count)
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: len(self.tokens) >= count or self.is_finished or self._error or self._control.is_cancelled
            )
            self._control.raise_if_cancelled()
            if self._error and len(self.tokens) < count:
                raise self._error

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        # Its traceback references the generator and this object, and would keep their memory.
        self._error = None

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _may_run(self) -> bool:
        return self._closed or self._control.is_cancelled or len(self.tokens) < self._wanted + self._limit

    def _run(self) -> None:
        try:
            while True:
                started = time.perf_counter()
                token = next(self._source, None)
                with self._changed:
                    self.seconds += time.perf_counter() - started
                    if token is None:
                        self.is_finished = True
                    else:
                        self.tokens.append(token)
                        if len(self.tokens) == 1:
                            self.first_token_seconds = self.seconds
                    self._changed.notify_all()
                    self._changed.wait_for(self._may_run)
                    if self.is_finished or self._closed or self._control.is_cancelled:
                        return
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            with self._changed:
                self._error = error
                self._changed.notify_all()
        finally:
            close_source(self._source)


class FixedTokens:
    """Known tokens, for voice conversion and for sentences that were spoken before."""

    def __init__(self, tokens: list[int], generation: Generation | None = None) -> None:
        self.tokens = tokens
        self.generation = generation
        self.is_finished = True
        self.seconds = 0.0
        self.first_token_seconds = 0.0

    def wait_for(self, count: int) -> None: ...

    def close(self) -> None: ...


def close_source(source: Iterator[int]) -> None:
    """Close a generator now, so that its caches are freed before the next sentence starts."""
    close = getattr(source, "close", None)
    if close is not None:
        close()


class CountedTokens:
    """Iterates over at most ``limit`` tokens and keeps them."""

    def __init__(self, tokens: Iterator[int], limit: int) -> None:
        self.generated: list[int] = []
        self._tokens = tokens
        self.limit = limit

    def __iter__(self) -> Iterator[int]:
        try:
            while len(self.generated) < self.limit:
                token = next(self._tokens, None)
                if token is None:
                    return
                self.generated.append(token)
                yield token
        finally:
            close_source(self._tokens)


class ArrivingFeed:
    """The tokens of a sentence that is still being written, as a ``SentenceFeed``. They are generated only once.

    ``describe`` returns the generation and the limits of the length, once the sentence is complete.
    """

    def __init__(
        self,
        source: TokenSource,
        close_text: Callable[[], None],
        describe: Callable[[], tuple[Generation, LengthLimits | None]],
    ) -> None:
        self._source = source
        self._close_text = close_text
        self._describe = describe

    @property
    def tokens(self) -> list[int]:
        return self._source.tokens

    @property
    def is_finished(self) -> bool:
        return self._source.is_finished

    @property
    def seconds(self) -> float:
        return self._source.seconds

    @property
    def first_token_seconds(self) -> float:
        return self._source.first_token_seconds

    @property
    def generation(self) -> Generation:
        return self._describe()[0]

    @property
    def verdict(self) -> LengthVerdict | None:
        generation, limits = self._describe()
        return None if limits is None or not self.is_finished else limits.verdict(len(generation.tokens))

    def wait_for(self, count: int) -> None:
        self._source.wait_for(count)

    def close(self) -> None:
        self._close_text()  # the source may be waiting for it
        self._source.close()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One generation of a sentence. ``generation`` includes tokens that are removed before the flow."""

    source: TokenSource
    generation: Generation

    @property
    def num_tokens(self) -> int:
        return len(self.generation.tokens)


class CheckedFeed:
    """The tokens of the most plausible attempt at a sentence, as a ``SentenceFeed``.

    ``start_attempt`` receives the number of the attempt, 0 or 1. The first attempt is checked if it ends with fewer
    than ``retry_below_tokens`` tokens. Without ``limits``, there is no other attempt.
    """

    def __init__(
        self, start_attempt: Callable[[int], Attempt], limits: LengthLimits | None, retry_below_tokens: int
    ) -> None:
        self._start_attempt = start_attempt
        self._limits = limits
        self._retry_below_tokens = retry_below_tokens
        self._attempt = start_attempt(0)
        self._is_settled = limits is None
        self._earlier_seconds = 0.0

    @property
    def tokens(self) -> list[int]:
        return self._attempt.source.tokens

    @property
    def is_finished(self) -> bool:
        return self._attempt.source.is_finished

    @property
    def seconds(self) -> float:
        return self._earlier_seconds + self._attempt.source.seconds

    @property
    def first_token_seconds(self) -> float:
        return self._earlier_seconds + self._attempt.source.first_token_seconds

    @property
    def generation(self) -> Generation:
        return self._attempt.generation

    @property
    def verdict(self) -> LengthVerdict | None:
        """The result of the length check, or None if the length is plausible or the sentence has not ended."""
        if self._limits is None or not self.is_finished:
            return None
        return self._limits.verdict(self._attempt.num_tokens)

    def wait_for(self, count: int) -> None:
        self._attempt.source.wait_for(count if self._is_settled else max(count, self._retry_below_tokens))
        if not self._is_settled:
            self._is_settled = True
            if len(self.tokens) < self._retry_below_tokens and self.verdict is not None:
                self._attempt_again()

    def close(self) -> None:
        self._attempt.source.close()

    def _attempt_again(self) -> None:
        first = self._attempt
        first.source.close()
        second = self._start_attempt(1)
        # From here on, close() applies to the second attempt, even after an error.
        self._attempt, self._earlier_seconds = second, first.source.seconds
        second.source.wait_for(UNLIMITED)
        second.source.close()
        assert self._limits is not None
        if self._limits.distance(first.num_tokens) <= self._limits.distance(second.num_tokens):
            self._attempt, self._earlier_seconds = first, second.source.seconds
