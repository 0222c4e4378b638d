"""The error of a failed set-up."""

from __future__ import annotations


class SetUpFailed(Exception):
    """A message with a remedy for the user."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}"
