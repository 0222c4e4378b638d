"""When to ask again after something went wrong on the way."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime

_MOST_ATTEMPTS = 7
_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 60.0
_LONGEST_WISHED_SECONDS = 60.0


class RetryPolicy:
    """Grows with every failure, is new after every success, and ends: seven failures in a row are enough."""

    def __init__(self, first_seconds: float = _FIRST_SECONDS) -> None:
        self._first_seconds = first_seconds
        self._num_failures = 0

    def next_delay_seconds(self, wished_seconds: float | None = None) -> float | None:
        """How long to wait now; at least what the server wished. None: no more."""
        self._num_failures += 1
        if self._num_failures >= _MOST_ATTEMPTS:
            return None
        own = min(_LONGEST_SECONDS, self._first_seconds * 2.0 ** (self._num_failures - 1))
        return max(own, min(wished_seconds or 0.0, _LONGEST_WISHED_SECONDS))

    def renew(self) -> None:
        self._num_failures = 0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date; None where it makes no sense."""
    wish = headers.get("Retry-After", "")
    try:
        return max(0.0, float(wish))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(wish)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
