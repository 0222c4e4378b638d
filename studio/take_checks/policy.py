"""Policy for takes with problems: which checks run, how often a line is spoken again, and which take is the best."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from studio.take_checks.records import ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import Strictness

DEFAULT_RETRIES = 2
MAX_RETRIES = 9
_SEED_BITS = 31

# Best first. An unchecked take comes last, because choosing it would hide the problems of the others.
_ORDER = (Verdict.GOOD, Verdict.DOUBTFUL, Verdict.BAD, Verdict.NOT_CHECKED)
_LIGHT_KINDS = frozenset(
    (ProblemKind.CLIPPING, ProblemKind.DC_OFFSET, ProblemKind.ODD_LEVEL, ProblemKind.ODD_BANDWIDTH)
)
_MEDIUM_KINDS = frozenset(
    (
        ProblemKind.LONG_SILENCE,
        ProblemKind.NOISE,
        ProblemKind.ODD_LENGTH,
        ProblemKind.ODD_PACE,
        ProblemKind.ODD_PITCH,
        ProblemKind.VOICE_DRIFT,
    )
)


class CheckMode(Enum):
    """What happens after a line is spoken. The values are stored in settings and projects."""

    OFF = "off"
    MARK = "mark"
    RETRY = "retry"  # mark, and speak lines with problems again


@dataclass(frozen=True, slots=True)
class CheckPolicy:
    """Choices about checks.

    Attributes:
        num_retries: Maximum number of additional takes of a line in mode ``RETRY``.
        recognizer: Id of a recogniser, ``auto`` or ``off``, as in ``CheckRequest``.
    """

    mode: CheckMode = CheckMode.RETRY
    num_retries: int = DEFAULT_RETRIES
    strictness: Strictness = Strictness.NORMAL
    recognizer: str = "auto"

    def wants_retry(self, check: TakeCheck, num_retries_made: int) -> bool:
        return self.mode is CheckMode.RETRY and check.needs_review and num_retries_made < self.num_retries


@dataclass(frozen=True, slots=True)
class ProjectCheckPolicy:
    """The choices of one project. None means the choice of the settings."""

    mode: CheckMode | None = None
    num_retries: int | None = None
    strictness: Strictness | None = None
    recognizer: str | None = None

    def over(self, policy: CheckPolicy) -> CheckPolicy:
        """Return ``policy`` with the choices of the project."""
        return CheckPolicy(
            policy.mode if self.mode is None else self.mode,
            policy.num_retries if self.num_retries is None else self.num_retries,
            policy.strictness if self.strictness is None else self.strictness,
            policy.recognizer if self.recognizer is None else self.recognizer,
        )


def retry_seed(seed: int, attempt: int) -> int:
    """Return the seed of another take. It depends only on the ``seed`` of the line and the number of the attempt."""
    if attempt == 0:
        return seed
    digest = hashlib.blake2b(f"{seed} {attempt}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _SEED_BITS)


def quality_key(check: TakeCheck | None) -> tuple[float, ...]:
    """Return a key that sorts checks from the best take to the worst."""
    if check is None:
        return (len(_ORDER), 0.0, 0.0, 0.0)
    weight = sum(problem_weight(problem.kind) * problem.confidence for problem in check.problems)
    similarity = 0.0 if check.similarity is None else check.similarity
    return (_ORDER.index(check.verdict), weight, check.word_error_rate or 0.0, -similarity)


def find_best(checks: Sequence[TakeCheck | None]) -> int:
    """Return the index of the best check, the first if several are equal."""
    return min(range(len(checks)), key=lambda index: quality_key(checks[index]))


def problem_weight(kind: ProblemKind) -> float:
    return 1.0 if kind in _LIGHT_KINDS else 2.0 if kind in _MEDIUM_KINDS else 3.0
