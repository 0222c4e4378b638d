"""The text of one sentence that is spoken while it is being written."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Fragment:
    """One or more whole words of a sentence, with the white space before them."""

    text: str
    is_last: bool = False


class ArrivingText:
    """The fragments of a sentence in order, from its first one. Thread-safe."""

    def __init__(self) -> None:
        self._fragments: list[Fragment] = []
        self._followers: list[Callable[[Fragment], None]] = []
        self._last_arrival = time.monotonic()
        self._is_closed = False
        self._changed = threading.Condition(threading.RLock())

    @property
    def written(self) -> str:
        """The text that has arrived."""
        return "".join(fragment.text for fragment in list(self._fragments))

    @property
    def num_fragments(self) -> int:
        return len(self._fragments)

    @property
    def is_complete(self) -> bool:
        return bool(self._fragments) and self._fragments[-1].is_last

    @property
    def idle_seconds(self) -> float:
        """Time since the last fragment."""
        return time.monotonic() - self._last_arrival

    def add(self, fragment: Fragment) -> None:
        """Append ``fragment``. Does nothing after the last one."""
        with self._changed:
            if self.is_complete:
                return
            self._fragments.append(fragment)
            self._last_arrival = time.monotonic()
            for follower in list(self._followers):
                follower(fragment)
            self._changed.notify_all()

    def fragments_from(self, index: int) -> list[Fragment]:
        return self._fragments[index:]

    def follow(self, on_fragment: Callable[[Fragment], None]) -> Callable[[], None]:
        """Call ``on_fragment`` with each fragment, from the first one. Return a function that ends this."""
        with self._changed:
            for fragment in self._fragments:
                on_fragment(fragment)
            self._followers.append(on_fragment)

        def end() -> None:
            with self._changed:
                if on_fragment in self._followers:
                    self._followers.remove(on_fragment)

        return end

    def close(self) -> None:
        """End the iterations, because the rest of the text is not needed."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Fragment]:
        """Yield the fragments, and wait for the next one. End after the last one, and after ``close``."""
        for index in count():
            fragment = self._wait_for(index)
            if fragment is None:
                return
            yield fragment
            if fragment.is_last:
                return

    def _wait_for(self, index: int) -> Fragment | None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._fragments) > index or self._is_closed)
            return None if self._is_closed else self._fragments[index]
