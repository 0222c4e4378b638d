"""Verdicts of takes as the window shows them: name, icon and colour. The icons differ in shape, too."""

from __future__ import annotations

from dataclasses import dataclass

from studio.app.error_text import message_text
from studio.app.theme.colors import ThemeColors
from studio.project.takes import Take
from studio.take_checks.records import TakeCheck, Verdict
from studio.take_checks.sentences import reason, verdict_name


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """Attributes:
    icon: The name of the icon.
    reason: Why the take has the verdict, in one sentence.
    """

    name: str
    icon: str
    reason: str
    verdict: Verdict
    is_accepted: bool

    def colour(self, colors: ThemeColors) -> str:
        if self.is_accepted:
            return colors.good
        return {
            Verdict.GOOD: colors.good,
            Verdict.DOUBTFUL: colors.warn,
            Verdict.BAD: colors.bad,
            Verdict.NOT_CHECKED: colors.quiet,
        }[self.verdict]


def verdict_mark(take: Take | None) -> VerdictMark | None:
    """Return the mark of a take, or None if it has not been checked."""
    return None if take is None or take.check is None else _mark(take.check, is_kept=take.is_kept)


def _mark(check: TakeCheck, *, is_kept: bool) -> VerdictMark:
    is_accepted = check.verdict in (Verdict.DOUBTFUL, Verdict.BAD) and (check.is_accepted or is_kept)
    shown = TakeCheck(check.verdict, is_accepted=is_accepted)
    return VerdictMark(
        message_text(verdict_name(shown)),
        "verdict-accepted" if is_accepted else f"verdict-{check.verdict.value}",
        message_text(reason(check)),
        check.verdict,
        is_accepted,
    )
