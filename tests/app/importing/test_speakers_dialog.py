"""Quotations get their speakers in the window: with a few keys, learning from each, as one undo step."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton
from window_bench import Bench

from studio.app.importing.speakers_dialog import SpeakersDialog

NOVEL = """“Come in, Tom,” said Mrs Lane. “You are wet.”

“I am,” Tom replied.

Two figures stood in the hall.

“A cold night,” said the stranger.

“Very cold,” someone answered.

“Sit down,” said the stranger.
"""


@pytest.fixture
def novel(bench: Bench, tmp_path: Path) -> Bench:
    for name in ("Ada", "Angus", "Linda"):
        bench.add_voice(name)
    bench.open_window()
    (tmp_path / "novel.txt").write_text(NOVEL, "utf-8")
    bench.window.documents.open_files(tmp_path / "novel.txt")
    bench.until(lambda: len(bench.lines) > 5)
    return bench


def opened(bench: Bench) -> SpeakersDialog:
    bench.trigger("edit.speakers")
    bench.until(lambda: bench.parts.speakers.dialog is not None)
    dialog = bench.parts.speakers.dialog
    bench.until(dialog.table.hasFocus)
    return dialog


def press(bench: Bench, key: Qt.Key) -> None:
    dialog = bench.parts.speakers.dialog
    bench.loop.call_soon(lambda: QTest.keyClick(dialog.focusWidget(), key))
    bench.live(0.05)


def speakers(dialog: SpeakersDialog) -> list[str]:
    return [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]


def rows(bench: Bench) -> list[tuple[str | None, str, str | None]]:
    return [(line.character, line.text, line.voice) for line in bench.lines]


def test_an_imported_novel_is_offered_to_be_divided(novel: Bench) -> None:
    notices = novel.window.notices
    assert notices.isVisible()
    offer = next(each for each in notices.findChildren(QPushButton) if each.text() == "Assign speakers…")
    offer.click()
    novel.until(lambda: novel.parts.speakers.dialog is not None)


def test_keys_assign_doubtful_speakers_and_one_step_undoes_all(novel: Bench) -> None:
    before = rows(novel)
    dialog = opened(novel)
    assert speakers(dialog) == ["Mrs Lane", "Mrs Lane", "Tom", "the stranger", "Narrator?", "the stranger"]
    assert dialog.row == 4
    assert "Very cold" in dialog.context.toPlainText()
    press(novel, Qt.Key.Key_1)
    assert speakers(dialog)[4] == dialog.names.item(1).data(Qt.ItemDataRole.UserRole)
    dialog.accept()
    novel.until(lambda: rows(novel) != before)
    assert rows(novel)[:4] == [
        ("Mrs Lane", "“Come in, Tom,”", "Linda"),
        (None, "said Mrs Lane.", "Ada"),
        ("Mrs Lane", "“You are wet.”", "Linda"),
        ("Tom", "“I am,”", "Angus"),
    ]
    assert novel.parts.voice_tabs.currentWidget() is novel.parts.characters
    novel.trigger("edit.undo")
    assert rows(novel) == before


def test_others_follow_from_a_name_that_is_written(novel: Bench) -> None:
    dialog = opened(novel)
    dialog._go_to(3)
    dialog.name.setFocus()
    QTest.keyClicks(dialog.name, "Moriarty 2")
    press(novel, Qt.Key.Key_Return)
    novel.until(lambda: speakers(dialog)[5] == "Moriarty 2")
    assert dialog.isVisible()  # Enter has not pressed the default button
    assert dialog.model.index(3, 2).data() == "assigned by you"


def test_f8_goes_to_the_next_doubtful_quotation_and_enter_confirms_it(novel: Bench) -> None:
    dialog = opened(novel)
    dialog._go_to(0)
    press(novel, Qt.Key.Key_F8)
    assert dialog.row == 4
    press(novel, Qt.Key.Key_Return)
    assert speakers(dialog)[4] == "Narrator"
    assert not dialog.next_button.isEnabled()


def test_assigned_speakers_are_kept_when_the_dialog_is_opened_again(novel: Bench) -> None:
    dialog = opened(novel)
    dialog.assign("Tom")
    dialog.accept()
    novel.until(lambda: any(line.character == "Tom" and "Very cold" in line.text for line in novel.lines))
    again = opened(novel)
    assert speakers(again)[4] == "Tom"
    assert not again.next_button.isEnabled()


def test_cancel_asks_before_it_discards_assigned_speakers(novel: Bench) -> None:
    dialog = opened(novel)
    dialog.assign("Tom")
    dialog.reject()
    novel.until(lambda: dialog.findChild(QMessageBox))
    assert dialog.isVisible()
    dialog.findChild(QMessageBox).button(QMessageBox.StandardButton.Discard).click()
    novel.until(lambda: novel.parts.speakers.dialog is None)


def test_a_script_without_quotations_says_so(bench: Bench) -> None:
    bench.open_window()
    bench.trigger("edit.speakers")
    labels = bench.window.notices.findChildren(QLabel)
    bench.until(lambda: any("no quotations" in label.text() for label in labels))
