"""A narrator speaks ten lines, two of which are spoilt, reviews them with keys only, and exports."""

from __future__ import annotations

from typing import Any

from fake_checks import FakeChecks
from journey_user import User

from studio.app.export_dialog.dialog import ExportDialog
from studio.settings import TAKE_CHECKS

LINES = (
    "The harbour was quiet.", "No ship had come.", "The old man waited.", "He knew the tide.", "It came at dawn.",
    "A bell rang twice.", "Then it was still.", "He lit a small lamp.", "The fog moved in.", "Nobody came home.",
)  # fmt: skip
SPOILT = (LINES[2], LINES[6])


async def journey(user: User) -> dict[str, Any]:
    window, session = user.window, user.session
    session.settings.change({TAKE_CHECKS: "mark"})
    checks = FakeChecks(dict.fromkeys(SPOILT, 1))
    session.parts.checker._open_service = checks  # instead of the process
    for number, text in enumerate(LINES):
        await user.type(text)
        if number + 1 < len(LINES):
            await user.press("Return")
    await user.press("ctrl+shift+Return")
    await user.until(lambda: len(checks.requests) == len(LINES), "all takes are checked")
    await user.until(lambda: not session.parts.checker.num_waiting and not session.queue.running, "the queue is empty")
    await user.picture("spoken")

    await user.press("Escape")
    await user.press("F7")
    await user.until(lambda: current(user) == SPOILT[0], "the first line to review")
    await user.picture("to review")
    await user.press("F9")
    await user.until(lambda: current(user) == SPOILT[1], "accepted, and the next line to review")
    await user.press("shift+F9")
    await user.until(lambda: len(checks.requests) == len(LINES) + 1, "the new take is checked")
    await user.until(
        lambda: not session.parts.checker.num_waiting and not session.queue.running, "the line is spoken again"
    )
    await user.press("F7")
    await user.until(lambda: "No line needs review" in window.status.task_text, "nothing is left to review")
    await user.picture("reviewed")

    await user.press("ctrl+e")
    await user.dialog(ExportDialog)
    await user.press("Return")
    await user.back()
    await user.until(
        lambda: session.parts.exports.current is not None and session.parts.exports.current.state.is_over, "exported"
    )
    project = session.editor.project
    takes = [project.chosen_take(line.id) for line in project.lines]
    return {
        "texts": [line.text for line in project.lines],
        "verdicts": [take.check.verdict.value for take in takes if take is not None and take.check is not None],
        "accepted": [take.check.is_accepted for take in takes if take is not None and take.check is not None],
    }


def current(user: User) -> str:
    line = user.window.script.current_line
    return "" if line is None else line.text
