"""Third journey: an editor dubs thirty subtitles, ten of which are too short for their texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from journey_user import User
from PySide6.QtWidgets import QComboBox, QFileDialog

from studio.app.dubbing.fit_dialog import FitDialog
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.script.line_model import SLOT_ROLE, Column
from studio.project.dubbing import overrun_seconds, take_seconds

NUM_CUES = 30
FIRST_SECONDS, DISTANCE_SECONDS = 1.234, 3.3
TEXTS = ("Where were you?", "I was at home.", "Nobody saw you there.", "Then nobody was looking.")
LONG_TEXTS = (
    "The last train had left the station before midnight.",
    "Somebody must have heard the window break in the hall.",
)
# Speech of the long texts takes about three seconds. The last slot is far too short for any reading.
SHORT_SLOTS_SECONDS = (2.2, 2.1, 2.0, 1.8, 0.7)
LONG_SLOT_SECONDS = 3.2


def cues() -> list[tuple[float, float, str]]:
    """Return start, end and text of each subtitle. Every third is too short."""
    found = []
    for number in range(NUM_CUES):
        start, third = FIRST_SECONDS + number * DISTANCE_SECONDS, number // 3
        if number % 3 == 2:
            text, seconds = LONG_TEXTS[third % 2], SHORT_SLOTS_SECONDS[third % 5]
        else:
            text, seconds = TEXTS[number % 4], LONG_SLOT_SECONDS
        found.append((start, start + seconds, text))
    return found


async def journey(user: User) -> dict[str, Any]:
    window, session = user.window, user.session
    film = user.folder / "film.srt"
    film.write_text("\n".join(_cue(at, *cue) for at, cue in enumerate(cues(), 1)), "utf-8")

    await user.press("ctrl+o")
    await user.dialog(QFileDialog)
    await user.type(str(film))
    await user.press("Return")
    await user.back()
    project = session.editor.project
    await user.until(lambda: len(project.lines) == NUM_CUES, "the subtitles have been imported")
    await user.picture("subtitles")

    await user.press("ctrl+shift+Return")
    await user.until(lambda: session.queue.current is not None, "the lines are being spoken")
    await user.hears_everything()
    before = overruns(user)
    await user.picture("overruns")

    await user.choose_in_menu("Speak", "Fit all to slots…")
    fitting = await user.dialog(FitDialog)
    await user.picture("fit all")
    await user.press("Return")
    await user.until(lambda: fitting.cancel_button.text() == "Close", "the lines have been fitted", seconds=900)
    await user.picture("fitted")
    await user.press("Escape")
    await user.back()
    await user.hears_everything()
    after, marked = overruns(user), marks(user)

    await user.press("ctrl+e")
    dialog = await user.dialog(ExportDialog)
    await user.choose(await user.control(QComboBox, "Files"), "One for all lines")
    await user.choose(await user.control(QComboBox, "Joined lines"), "At their original times")
    await user.until(dialog.export_button.isEnabled, "the export can begin")
    await user.picture("export")
    await user.press("Return")
    await user.back()
    await user.until(
        lambda: session.parts.exports.current is not None and session.parts.exports.current.state.is_over, "exported"
    )
    await user.picture("exported")
    np.savez(user.folder / "takes.npz", *[_samples(user, at) for at in range(NUM_CUES)])
    has_time_line = window.dubbing.panel.isVisible()
    return {"before": before, "after": after, "marked": marked, "has_time_line": has_time_line}


def overruns(user: User) -> list[float]:
    script = user.session.editor.script
    return [overrun_seconds(line.slot, take_seconds(script, line), script.speech_slots) for line in script.lines]


def marks(user: User) -> list[bool]:
    """Whether the row of each line shows that it is too long."""
    model = user.window.script.view.model()
    return [model.index(row, Column.TEXT).data(SLOT_ROLE).is_overrun for row in range(model.rowCount())]


def _samples(user: User, at: int) -> Any:
    project = user.session.editor.project
    line = project.lines[at]
    take = project.chosen_take(line.id)
    assert take is not None
    return project.edits_of(take).apply(project.recording_of(take.id), take.sample_rate)


def _cue(number: int, start: float, end: float, text: str) -> str:
    return f"{number}\n{_time(start)} --> {_time(end)}\n{text}\n"


def _time(seconds: float) -> str:
    milliseconds = round(1000 * seconds)
    return (
        f"{milliseconds // 3_600_000:02}:{milliseconds // 60_000 % 60:02}:"
        f"{milliseconds // 1000 % 60:02},{milliseconds % 1000:03}"
    )
