"""Quality grades."""

from __future__ import annotations

from enum import Enum


class Grade(Enum):
    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"

    @classmethod
    def worst(cls, grades: list[Grade]) -> Grade:
        """Return the worst of ``grades``; GOOD if empty."""
        return max(grades, key=list(cls).index, default=cls.GOOD)
