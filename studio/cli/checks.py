"""Options and results of checks of takes in `say` and `export`."""

from __future__ import annotations

import argparse
from typing import Any

from studio.cli.old_options import add_old_options
from studio.export.line_checks import LineCheck
from studio.settings import CHECK_STRICTNESS, TAKE_RETRIES
from studio.settings_store import Settings
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.requests import Strictness
from studio.take_checks.sentences import reason, verdict_name

# Prefixes of the warnings about takes in the JSON output.
DOUBTFUL_TAKE = "doubtful-take"
NOT_CHECKED = "take-not-checked"


def add_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check",
        action="store_true",
        help="check each take for wrong words, noise and another voice, and speak it again if it has problems; the number "
        "of retries and the strictness come from the settings",
    )
    add_old_options(parser, "--retries", "--strict")


def check_policy(arguments: argparse.Namespace) -> CheckPolicy | None:
    """Return the policy for checks, or None without checks. The old ``--retries`` and ``--strict`` imply ``--check``."""
    if not (arguments.check or arguments.strict or arguments.retries is not None):
        return None
    settings = Settings()
    num_retries = settings[TAKE_RETRIES] if arguments.retries is None else arguments.retries
    return CheckPolicy(
        CheckMode.RETRY if num_retries else CheckMode.MARK,
        num_retries,
        Strictness.STRICT if arguments.strict else Strictness(settings[CHECK_STRICTNESS]),
    )


def check_values(check: TakeCheck) -> dict[str, Any]:
    """Return a check for the JSON output. Keys are never removed or renamed."""
    return {
        "verdict": check.verdict.value,
        "problems": [
            {
                "kind": problem.kind.value,
                "from_seconds": round(problem.from_seconds, 3),
                "to_seconds": round(problem.to_seconds, 3),
                "text": problem.text,
                "confidence": round(problem.confidence, 3),
            }
            for problem in check.problems
        ],
        "similarity": _rounded(check.similarity),
        "word_error_rate": _rounded(check.word_error_rate),
        "words": [
            {"text": word.text, "from_seconds": round(word.from_seconds, 3), "to_seconds": round(word.to_seconds, 3)}
            for word in check.words
        ],
        "recognizer": check.recognizer or None,
        "error_code": check.error_code or None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def line_check_values(line: LineCheck) -> dict[str, Any]:
    """Return the check of a line that was spoken, with the seed and the number of retries of its best take."""
    retries = {"seed": line.seed, "retries": line.num_retries}
    return {**check_values(line.check), "accepted": line.check.is_accepted, **retries}


def check_warning(check: TakeCheck) -> tuple[str, str] | None:
    """Return the code and the sentence of a warning about a take, or None if there is none."""
    if check.needs_review:
        return DOUBTFUL_TAKE, f"{verdict_name(check)}: {reason(check)}"
    if check.verdict is Verdict.NOT_CHECKED:
        return NOT_CHECKED, str(reason(check))
    return None
