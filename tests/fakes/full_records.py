"""Records whose fields all differ from their defaults, for tests that write and read them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import TypeVar

from studio.take_checks.records import Problem, ProblemKind, TakeCheck, TakeMeasures, Verdict, WordTime

T = TypeVar("T")


def full(record: T, *, besides: Collection[str] = ()) -> T:
    """Return ``record`` after checking that no field of it or of its parts is empty or has its default.

    Such a field would be equal after a round trip even if it were not stored. The fields ``besides`` may have any value.
    """
    assert is_dataclass(record)
    for field in fields(record):
        value = getattr(record, field.name)
        name = f"{type(record).__name__}.{field.name}"
        if field.name not in besides:
            assert field.default is MISSING or value != field.default, f"{name} has its default"
            assert value not in (None, "", (), {}), f"{name} is empty"
        for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,):
            if is_dataclass(part):
                full(part, besides=besides)
    return record


FULL_CHECK = full(
    TakeCheck(
        Verdict.BAD,
        (Problem(ProblemKind.MISSING_WORDS, 0.2, 0.4, "Hello", 0.9, 1, 5),),
        similarity=0.8,
        word_error_rate=0.5,
        words=(WordTime("Hello", 0.1, 0.4, 1, 5),),
        recognizer="pocketsphinx",
        error_code="checker-died",
        is_accepted=True,
        measures=TakeMeasures(1.1, -20.0, 8000.0, 0.8, 120.0, 4.0, 0.3),
    )
)
