"""The dialog that offers to recover unsaved work."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtWidgets import QListWidget, QMessageBox
from pytestqt.qtbot import QtBot

from studio.app.recovery_dialog import RecoveryDialog
from studio.project.drafts import Draft


def test_long_first_words_are_wrapped_and_not_scrolled(qtbot: QtBot) -> None:
    words = "The ship left the harbour before sunrise, and nobody along the pier was awake to watch it go."
    draft = Draft(Path("a.draft"), None, "Untitled", 1, 1, words, datetime.now(UTC))
    dialog = RecoveryDialog([draft])
    qtbot.addWidget(dialog)
    dialog.show()
    shown = dialog.findChild(QListWidget)
    assert shown is not None
    line_height = shown.fontMetrics().lineSpacing()
    assert shown.visualItemRect(shown.item(0)).height() >= 3 * line_height
    assert shown.visualItemRect(shown.item(0)).right() <= shown.viewport().width()
    assert not shown.horizontalScrollBar().isVisible()


@pytest.mark.parametrize(("project", "loss"), [
    (None, "This work was never saved."),
    (Path("book.timbre"), "The changes since the last save will be lost."),
])  # fmt: skip
def test_deleting_a_draft_says_what_is_lost(qtbot: QtBot, project: Path | None, loss: str) -> None:
    dialog = RecoveryDialog([Draft(Path("a.draft"), project, "book", 1, 0, "", datetime.now(UTC))])
    qtbot.addWidget(dialog)
    dialog.show()
    dialog._discard.click()
    (question,) = dialog.findChildren(QMessageBox)
    assert question.informativeText().startswith(loss)
