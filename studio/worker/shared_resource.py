"""A shared resource: set up for the first user, torn down after the last."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SharedResource:
    """Calls ``first_in`` before the first user, ``last_out`` after the last, also if ``first_in`` raises."""

    def __init__(self, *, first_in: Callable[[], None], last_out: Callable[[], None]) -> None:
        self._first_in = first_in
        self._last_out = last_out
        self._num_users = 0
        self._changed = threading.Condition()

    @property
    def is_empty(self) -> bool:
        """Whether it is neither used nor being set up."""
        if not self._changed.acquire(blocking=False):
            return False
        try:
            return not self._num_users
        finally:
            self._changed.release()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Use the resource, after waiting for setup and ``exclusive`` blocks. Errors of ``first_in`` are passed on."""
        with self._changed:
            if not self._num_users:
                try:
                    self._first_in()
                except BaseException:
                    self._last_out()
                    raise
            self._num_users += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_users -= 1
                if not self._num_users:
                    self._last_out()
                    self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Wait until the resource is unused, and block new users for the duration of the block."""
        with self._changed:
            self._changed.wait_for(lambda: not self._num_users)
            yield
