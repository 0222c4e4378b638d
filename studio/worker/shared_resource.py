"""Something that several may use at the same time, and that is made ready for the first and put away after the last."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SharedResource:
    """``first_in`` is called before the first comes in, ``last_out`` after the last has left; also where ``first_in`` raises."""

    def __init__(self, *, first_in: Callable[[], None], last_out: Callable[[], None]) -> None:
        self._first_in = first_in
        self._last_out = last_out
        self._num_inside = 0
        self._door = threading.Condition()

    @property
    def is_empty(self) -> bool:
        """Not while it is being made ready either."""
        if not self._door.acquire(blocking=False):
            return False
        try:
            return not self._num_inside
        finally:
            self._door.release()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Waits while it is made ready, or shut. Raises what ``first_in`` raises."""
        with self._door:
            if not self._num_inside:
                try:
                    self._first_in()
                except BaseException:
                    self._last_out()
                    raise
            self._num_inside += 1
        try:
            yield
        finally:
            with self._door:
                self._num_inside -= 1
                if not self._num_inside:
                    self._last_out()
                    self._door.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Waits until nobody is inside; nobody comes in meanwhile."""
        with self._door:
            self._door.wait_for(lambda: not self._num_inside)
            yield
