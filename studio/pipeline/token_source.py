"""Sources of speech tokens between language model and flow.

Decision: on a CPU, both run alternately in one thread (``SyncTokenSource``); on a GPU, the language model runs
ahead in a separate thread (``AsyncTokenSource``), up to a limit. Reason: two thread pools on few cores slow each
other down several times over, while on a GPU the language model is limited by its host thread. Waiting uses
conditions, not polling, and errors are raised in the waiting thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Protocol

from studio.pipeline.control import RequestControl


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
        """Wait for ``count`` tokens or the end of the sentence. Raise errors of the generation."""
        ...

    def close(self) -> None: ...


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
    """Known tokens, for voice conversion and benchmarks."""

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens
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
