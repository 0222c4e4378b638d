"""Dialogs for audiobooks: details of the work, and audio levels with one-click correction."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.app.audiobook.book_dialog import BookDialog
from studio.app.audiobook.levels_dialog import LevelsPanel
from studio.app.script.project_editor import ProjectEditor
from studio.project.changes import InsertLines
from studio.project.lines import Heading, Line
from studio.project.project import Project

RATE = 44_100


@pytest.fixture
def editor(tmp_path: Path, qapp: Any) -> Iterator[ProjectEditor]:
    with Project.create(tmp_path / "drafts") as project:
        yield ProjectEditor(project)


def image(file_format: str) -> bytes:
    picture = QImage(40, 40, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.darkBlue)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, file_format)
    return io.BytesIO(buffer.data().data()).getvalue()


def test_book_details_are_one_undo_step(editor: ProjectEditor, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = BookDialog(editor)
    qtbot.addWidget(dialog)
    QTest.keyClicks(dialog.title, "The Rain")
    QTest.keyClicks(dialog.author, "Jane Writer ")
    (tmp_path / "cover.png").write_bytes(image("PNG"))
    dialog.load_cover(tmp_path / "cover.png")
    qtbot.waitUntil(lambda: not dialog.picture.pixmap().isNull())
    dialog.accept()
    details = editor.script.details
    assert (details.title, details.author, details.narrator) == ("The Rain", "Jane Writer", "")
    assert details.cover == image("PNG")
    editor.undo_stack.undo()
    assert editor.script.details.title == ""
    assert editor.script.details.cover is None


def test_the_pause_between_paragraphs_is_set_for_the_whole_book(editor: ProjectEditor, qtbot: QtBot) -> None:
    lines = (
        Line("h", "One", heading=Heading.CHAPTER, pause_after_seconds=1.0),
        Line("a", "Rain fell.", pause_after_seconds=0.3),
        Line("b", "It was cold.", pause_after_seconds=0.6),
        Line("c", "Snow fell.", begins_paragraph=True, pause_after_seconds=0.6),
        Line("n", "A note.", is_spoken=False),
    )
    editor.push(InsertLines(0, lines), "Insert")
    dialog = BookDialog(editor)
    qtbot.addWidget(dialog)
    assert dialog.pause.value() == 0.6
    dialog.pause.setValue(0.9)
    dialog.accept()
    assert [line.pause_after_seconds for line in editor.script.lines[:5]] == [1.0, 0.3, 0.9, 0.9, 0.3]
    editor.undo_stack.undo()
    assert [line.pause_after_seconds for line in editor.script.lines[:5]] == [1.0, 0.3, 0.6, 0.6, 0.3]


def test_unchanged_details_are_no_undo_step(editor: ProjectEditor, qtbot: QtBot) -> None:
    dialog = BookDialog(editor)
    qtbot.addWidget(dialog)
    dialog.accept()
    assert not editor.undo_stack.canUndo()


def test_a_cover_of_another_format_is_refused(editor: ProjectEditor, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "cover.bmp").write_bytes(image("BMP"))
    dialog = BookDialog(editor)
    qtbot.addWidget(dialog)
    dialog.load_cover(tmp_path / "cover.bmp")
    qtbot.waitUntil(lambda: "not a readable JPEG or PNG" in dialog.problem.words)
    assert not dialog.remove_button.isEnabled()


def speech(level: float) -> np.ndarray:
    times = np.arange(3 * RATE) / RATE
    voice = sum(np.sin(2 * np.pi * 120 * k * times + k * k) / k for k in range(1, 20))
    return (level * voice * (0.55 + 0.45 * np.sin(8 * np.pi * times))).astype(np.float32)


@pytest.mark.slow
def test_failing_files_are_marked_and_corrected_with_one_click(qtbot: QtBot, tmp_path: Path) -> None:
    files = [tmp_path / "1.wav", tmp_path / "2.wav"]
    for path, level in zip(files, (0.1, 0.02), strict=True):
        soundfile.write(path, speech(level), RATE)
    dialog = LevelsPanel(files)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.is_busy, timeout=20_000)
    assert dialog.table.rowCount() == 2
    rms = dialog.table.item(1, 1)
    assert rms.text().startswith("✗")
    assert "outside the standard" in rms.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "2" in dialog.summary.text()
    assert dialog.fix_button.isEnabled()
    dialog.fix_button.click()
    qtbot.waitUntil(lambda: not dialog.is_busy, timeout=20_000)
    assert dialog.summary.text() == "All files meet the standard."
    assert not dialog.fix_button.isEnabled()
    assert dialog.table.item(1, 1).text().startswith("✓")
    assert sorted(path.name for path in (tmp_path / "originals").iterdir()) == ["1.wav", "2.wav"]


def test_another_standard_measures_again_and_errors_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "1.wav", speech(0.1), RATE)
    dialog = LevelsPanel([tmp_path / "1.wav", tmp_path / "missing.wav"])
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.is_busy, timeout=20_000)
    assert "missing.wav" in dialog.problem.words
    dialog.standard.setCurrentIndex(1)
    qtbot.waitUntil(lambda: not dialog.is_busy, timeout=20_000)
    titles = [dialog.table.horizontalHeaderItem(column).text() for column in range(dialog.table.columnCount())]
    assert "True peak (dBTP)" in titles
    assert "Head (s)" not in titles
