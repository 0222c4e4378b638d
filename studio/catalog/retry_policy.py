"""Retry delays for failed requests."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime

_MAX_ATTEMPTS = 7
_FIRST_SECONDS = 1.0
_MAX_SECONDS = 60.0
_MAX_REQUESTED_SECONDS = 60.0


class RetryPolicy:
    """Exponential back-off. Gives up after seven failures in a row."""

    def __init__(self, first_seconds: float = _FIRST_SECONDS) -> None:
        self._first_seconds = first_seconds
        self._num_failures = 0

    def next_delay_seconds(self, requested_seconds: float | None = None) -> float | None:
        """Count a failure and return the delay before the next attempt, or None to give up.

        ``requested_seconds`` is the server's Retry-After, honoured up to a minute.
        """
        self._num_failures += 1
        if self._num_failures >= _MAX_ATTEMPTS:
            return None
        delay = min(_MAX_SECONDS, self._first_seconds * 2.0 ** (self._num_failures - 1))
        return max(delay, min(requested_seconds or 0.0, _MAX_REQUESTED_SECONDS))

    def reset(self) -> None:
        self._num_failures = 0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date, or None if it is missing or malformed."""
    value = headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
