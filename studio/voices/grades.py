"""How fit something is for its purpose, in three steps."""

from __future__ import annotations

from enum import Enum


class Grade(Enum):
    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"

    @classmethod
    def worst(cls, grades: list[Grade]) -> Grade:
        """GOOD where there are none."""
        return max(grades, key=list(cls).index, default=cls.GOOD)
