"""Fourth journey, second part: after the kill, the writer recovers the script and exports again."""

from __future__ import annotations

from typing import Any

from game_lines import NUM_LINES, export
from journey_user import User

from studio.app.recovery_dialog import RecoveryDialog


async def journey(user: User) -> dict[str, Any]:
    session = user.session
    await user.dialog(RecoveryDialog)
    await user.picture("recover")
    await user.click_button("Recover")
    await user.back()
    await user.until(lambda: len(session.editor.project.lines) == NUM_LINES, "the lines are back")
    await user.picture("recovered")
    num_recovered = sum(map(len, session.editor.script.takes.values()))
    await export(user)
    task = session.parts.exports.current
    assert task is not None
    await user.until(lambda: task.state.is_over, "the export has ended", seconds=1200)
    await user.picture("exported")
    lines, takes = session.editor.project.lines, session.editor.script.takes
    return {
        "num_recovered": num_recovered,
        "num_takes": sum(map(len, takes.values())),
        "voices": [line.voice for line in lines],
        "styles": [line.style.preset for line in lines],
        "folder": str(task.order.folder),
    }
