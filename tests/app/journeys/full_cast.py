"""Seventh journey: a narrator opens a novel, assigns the doubtful speakers with single keys, and gets a full cast."""

from __future__ import annotations

from typing import Any

from journey_user import User
from PySide6.QtWidgets import QFileDialog

from studio.app.importing.speakers_dialog import SpeakersDialog

NOVEL = """\
The kettle had been off the fire an hour when a boy stood dripping on the step.

“Come in, Tom, and shut the door,” said Martha. “You are letting in the whole of November.”

“I can't stay,” Tom replied. “Father wants some lamp oil.”

Two figures stood in the hall, and neither moved.

“A cold night,” said the stranger.

“Very cold,” someone answered from the stairs.

“Sit down,” said the stranger.
"""


async def journey(user: User) -> dict[str, Any]:
    session = user.session
    novel = user.folder / "novel.txt"
    novel.write_text(NOVEL, "utf-8")
    await user.press("ctrl+o")
    await user.dialog(QFileDialog)
    await user.type(str(novel))
    await user.press("Return")
    await user.back()
    project = session.editor.project
    await user.until(lambda: len(project.lines) > NOVEL.count("\n\n"), "the novel has been imported")
    await user.picture("offer")

    await user.click_button("Assign speakers…")
    dialog = await user.dialog(SpeakersDialog)
    await user.until(
        lambda: "Very cold" in dialog.model.quotations[dialog.row].text, "a doubtful quotation is selected"
    )
    await user.picture("doubtful")
    await user.press("2")
    await user.until(lambda: not dialog.next_button.isEnabled(), "no speaker is doubtful")
    await user.picture("assigned")
    await user.click(dialog.assign_button)
    await user.back()
    await user.until(lambda: any(line.character for line in project.lines), "the script is divided")
    await user.picture("full cast")
    divided = [(line.character, line.text) for line in project.lines]
    voices = {line.character: line.voice for line in project.lines if line.character}
    await user.press("ctrl+z")
    await user.until(lambda: not any(line.character for line in project.lines), "one step undoes all")
    return {"lines": divided, "voices": voices}
