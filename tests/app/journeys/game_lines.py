"""Fourth journey: a game writer casts 32 lines and exports them. The program is killed before half of them is spoken."""

from __future__ import annotations

import asyncio
import csv
import json
from dataclasses import asdict
from typing import Any

from journey_user import User
from PySide6.QtWidgets import QComboBox, QFileDialog

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.importing.cast_dialog import CastDialog
from studio.app.importing.import_page import ImportPage

NUM_LINES = 32
NUM_TAKES_BEFORE_KILL = 12
READY_TO_BE_KILLED = "ready-to-be-killed"
CHARACTERS = ("Mira", "Bandit", "Old Tom", "Guard", "Innkeeper", "Queen")
VOICES = ("Ada", "Angus", "Max", "Miles", "Linda", "Ada")
# The bundled model knows "whisper" only.
EMOTIONS = ("", "happy", "", "whisper", "", "angry", "", "")
TEXTS = (
    "Halt!",
    "Who goes there?",
    "Run!",
    "To the gate!",
    "Hold on.",
    "Not today.",
    "Welcome.",
    "Follow me.",
    "Quiet!",
)


def rows() -> list[dict[str, str]]:
    found = []
    for number in range(NUM_LINES):
        name = CHARACTERS[number % len(CHARACTERS)]
        found.append(
            {
                "ID": f"L{number:03}",
                "Character": name,
                "Text": TEXTS[number % len(TEXTS)],
                "Emotion": EMOTIONS[number % len(EMOTIONS)],
                "File": f"vo/{name.lower().replace(' ', '_')}/l{number:03}",
            }
        )
    return found


async def journey(user: User) -> dict[str, Any]:
    """Import, cast and export, until some lines are spoken."""
    session = user.session
    table = user.folder / "lines.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows()[0]))
        writer.writeheader()
        writer.writerows(rows())

    await user.press("ctrl+o")
    await user.dialog(QFileDialog)
    await user.type(str(table))
    await user.press("Return")
    await user.dialog(ImportPage)
    await user.picture("columns")
    await user.press("Return")
    cast = await user.dialog(CastDialog)
    for name, voice in zip(CHARACTERS, VOICES, strict=True):
        box = await user.control(QComboBox, f"Voice of {name}")
        if box.currentText() != voice:
            await user.choose(box, voice)
    await user.picture("cast")
    await user.click_button("Apply")
    await user.until(lambda: cast not in user.window.findChildren(CastDialog), "the table of characters is closed")
    await user.back()
    project = session.editor.project
    assert len(project.lines) == NUM_LINES
    await user.picture("lines")

    await export(user)
    await user.until(lambda: len(session.editor.script.takes) >= NUM_TAKES_BEFORE_KILL, "lines are spoken", seconds=900)
    await user.picture("before the kill")
    mark = user.folder / "effort.json"
    mark.write_text(json.dumps(asdict(user.effort)), "utf-8")
    mark.rename(user.folder / READY_TO_BE_KILLED)
    await asyncio.sleep(600)
    raise AssertionError("The program was not killed.")


async def export(user: User) -> None:
    await user.press("ctrl+e")
    dialog = await user.dialog(ExportDialog)
    await user.until(dialog.export_button.isEnabled, "the export can begin")
    await user.picture("export")
    await user.press("Return")
    await user.back()
    await user.until(lambda: user.session.parts.exports.current is not None, "the export runs")
