"""What a person reads when the program cannot be set up."""

from __future__ import annotations


class SetUpFailed(Exception):
    """A sentence that says what happened, and one that says what to do about it."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}"
