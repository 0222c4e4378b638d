"""The settings for checking takes."""

from __future__ import annotations

from studio.settings import CHECK_STRICTNESS, RECOGNIZER, TAKE_CHECKS, TAKE_RETRIES
from studio.settings_store import Settings
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.take_checks.requests import Strictness


def policy_of(settings: Settings) -> CheckPolicy:
    return CheckPolicy(
        CheckMode(settings[TAKE_CHECKS]),
        settings[TAKE_RETRIES],
        Strictness(settings[CHECK_STRICTNESS]),
        settings[RECOGNIZER],
    )
