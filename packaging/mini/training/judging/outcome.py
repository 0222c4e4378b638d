"""The result of a measure: a value, its requirement, and whether that is met."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum


class Asked(Enum):
    """Relation between a good value and its limit."""

    AT_LEAST = ">="
    AT_MOST = "<="
    BELOW = "<"

    def holds(self, value: float, limit: float) -> bool:
        compare: dict[Asked, Callable[[float, float], bool]] = {
            Asked.AT_LEAST: operator.ge,
            Asked.AT_MOST: operator.le,
            Asked.BELOW: operator.lt,
        }
        return compare[self](value, limit)


@dataclass(frozen=True, slots=True)
class Bar:
    asked: Asked
    limit: float


def at_least(limit: float) -> Bar:
    return Bar(Asked.AT_LEAST, limit)


def at_most(limit: float) -> Bar:
    return Bar(Asked.AT_MOST, limit)


def below(limit: float) -> Bar:
    return Bar(Asked.BELOW, limit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A value with its description ``says`` and its ``name`` for programs. Without a ``bar``, nothing is required."""

    name: str
    says: str
    value: float
    bar: Bar | None = None
    aside: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the requirement is met, or None without a requirement. NaN does not meet any."""
        return self.bar.asked.holds(self.value, self.bar.limit) if self.bar else None

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "says": self.says,
            # JSON has no NaN.
            "value": float(f"{self.value:.4g}") if self.value == self.value else None,
            "asked": f"{self.bar.asked.value} {self.bar.limit:g}" if self.bar else None,
            "is_met": self.is_met,
            "aside": self.aside,
        }


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each: verdict, value, requirement, description."""
    verdicts = {True: "holds", False: "FAILS", None: ""}
    rows = [
        (verdicts[each.is_met], f"{each.value:.4g}", each.as_json()["asked"] or "", _described(each))
        for each in outcomes
    ]
    return "\n".join(f"{verdict:<6}{value:>9}  {asked:<8}  {says}" for verdict, value, asked, says in rows)


def _described(outcome: Outcome) -> str:
    return f"{outcome.says} ({outcome.aside})" if outcome.aside else outcome.says
