"""The result of a measure: a value, its requirement, and whether that is met."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum


class Relation(Enum):
    """Relation between a value that passes and its limit."""

    AT_LEAST = ">="
    AT_MOST = "<="
    BELOW = "<"

    def holds(self, value: float, limit: float) -> bool:
        compare: dict[Relation, Callable[[float, float], bool]] = {
            Relation.AT_LEAST: operator.ge,
            Relation.AT_MOST: operator.le,
            Relation.BELOW: operator.lt,
        }
        return compare[self](value, limit)


@dataclass(frozen=True, slots=True)
class Requirement:
    relation: Relation
    limit: float


def at_least(limit: float) -> Requirement:
    return Requirement(Relation.AT_LEAST, limit)


def at_most(limit: float) -> Requirement:
    return Requirement(Relation.AT_MOST, limit)


def below(limit: float) -> Requirement:
    return Requirement(Relation.BELOW, limit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A value with its ``description`` and a ``name`` for programs. Without a ``requirement``, any value passes."""

    name: str
    description: str
    value: float
    requirement: Requirement | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the requirement is met, or None without a requirement. NaN meets no requirement."""
        return self.requirement.relation.holds(self.value, self.requirement.limit) if self.requirement else None

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "says": self.description,
            # JSON has no NaN.
            "value": float(f"{self.value:.4g}") if self.value == self.value else None,
            "asked": f"{self.requirement.relation.value} {self.requirement.limit:g}" if self.requirement else None,
            "is_met": self.is_met,
            "aside": self.note,
        }


def table(outcomes: Sequence[Outcome]) -> str:
    """Return one line for each outcome: verdict, value, requirement, description."""
    verdicts = {True: "holds", False: "FAILS", None: ""}
    rows = [
        (verdicts[each.is_met], f"{each.value:.4g}", each.as_json()["asked"] or "", _described(each))
        for each in outcomes
    ]
    return "\n".join(f"{verdict:<6}{value:>9}  {required:<8}  {text}" for verdict, value, required, text in rows)


def _described(outcome: Outcome) -> str:
    return f"{outcome.description} ({outcome.note})" if outcome.note else outcome.description
