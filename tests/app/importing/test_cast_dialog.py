"""Casting in the window: the table after an import, its keys, and selection of a character's lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.importing.cast_dialog import CastDialog
from studio.app.importing.import_page import ImportPage
from studio.project.details import CastMember
from studio.project.lines import LineStyle

DIALOGUE = "Mira: The harbour is quiet tonight.\nTom: Too quiet.\nMira: Listen to that bell.\nAnna: I hear it.\n"


@pytest.fixture
def cast(bench: Bench) -> Bench:
    for name in ("Anna", "Bert", "Carl"):
        bench.add_voice(name)
    bench.open_window()
    bench.until(lambda: bench.session.model_selection.styles.styles)
    return bench


def import_dialogue(bench: Bench, tmp_path: Path, text: str = DIALOGUE) -> CastDialog:
    (tmp_path / "scene.txt").write_text(text)
    bench.window.documents.open_files(tmp_path / "scene.txt")
    accept_page(bench)
    bench.until(lambda: bench.parts.casting.dialog is not None)
    return bench.parts.casting.dialog


def accept_page(bench: Bench) -> None:
    """Accept the import page as soon as it is shown."""
    window = bench.window
    bench.until(lambda: any(page.isVisible() for page in window.findChildren(ImportPage)))
    next(page for page in window.findChildren(ImportPage) if page.isVisible()).accept()


def press(bench: Bench, key: Qt.Key) -> None:
    """Press a key in the control with the focus of the table."""
    dialog = bench.parts.casting.dialog
    bench.loop.call_soon(lambda: QTest.keyClick(dialog.focusWidget() or dialog, key))
    bench.live(0.02)


def voices_of(bench: Bench) -> list[str | None]:
    return [line.voice for line in bench.lines]


def test_enter_accepts_the_suggested_voices_in_one_undo_step(cast: Bench, tmp_path: Path) -> None:
    dialog = import_dialogue(cast, tmp_path)
    assert [(role.name, len(role.line_ids)) for role in dialog.roles] == [("Mira", 2), ("Tom", 1), ("Anna", 1)]
    assert [box.currentText() for box in dialog.voice_boxes] == ["Bert", "Carl", "Anna"]
    press(cast, Qt.Key.Key_Return)
    assert voices_of(cast) == ["Bert", "Carl", "Bert", "Anna"]
    details = cast.session.editor.script.details
    assert details.cast == {"mira": CastMember("Bert"), "tom": CastMember("Carl"), "anna": CastMember("Anna")}
    cast.trigger("edit.undo")
    assert voices_of(cast)[:3] == ["Anna", "Anna", "Anna"]
    assert not cast.session.editor.script.details.cast


@pytest.mark.slow
def test_voices_and_styles_are_chosen_by_keys_and_kept_for_the_next_import(cast: Bench, tmp_path: Path) -> None:
    dialog = import_dialogue(cast, tmp_path)
    press(cast, Qt.Key.Key_Down)
    assert dialog.voice_boxes[0].currentText() == "Carl"
    style = cast.session.model_selection.styles.styles[0]
    dialog.style_boxes[0].setFocus()
    press(cast, Qt.Key.Key_Down)
    press(cast, Qt.Key.Key_Return)
    mira = CastMember("Carl", LineStyle(preset=style.family))
    assert cast.session.editor.script.details.cast["mira"] == mira
    (tmp_path / "next.txt").write_text("MIRA: We must go.\nTom: Now?\nMIRA: Yes.\n")
    cast.window.documents.open_files(tmp_path / "next.txt")
    accept_page(cast)
    cast.until(lambda: len(cast.lines) == 7)
    cast.live(0.05)
    assert cast.parts.casting.dialog is None, "all are known"
    assert voices_of(cast)[4:] == ["Carl", "Carl", "Carl"]
    assert cast.lines[4].style == mira.style
    cast.trigger("edit.cast")
    cast.until(lambda: cast.parts.casting.dialog is not None)
    again = cast.parts.casting.dialog
    assert again.members["mira"] == mira
    again.reject()


def test_a_voice_is_heard_with_one_click_and_stopped_with_the_next(cast: Bench, tmp_path: Path) -> None:
    dialog = import_dialogue(cast, tmp_path)
    dialog.play_buttons[0].click()
    cast.until(lambda: dialog._player.is_playing)
    dialog.play_buttons[0].click()
    assert not dialog._player.is_playing
    press(cast, Qt.Key.Key_F5)
    cast.until(lambda: dialog._player.is_playing)
    player = dialog._player
    dialog.reject()
    assert not player.is_playing


def test_an_unknown_voice_of_a_table_goes_through_the_same_dialog(cast: Bench, tmp_path: Path) -> None:
    (tmp_path / "lines.csv").write_text("Text,Voice\nStand and deliver!,Bandit\nNever!,bert\n")
    cast.window.documents.open_files(tmp_path / "lines.csv")
    accept_page(cast)
    cast.until(lambda: cast.parts.casting.dialog is not None)
    assert [role.name for role in cast.parts.casting.dialog.roles] == ["Bandit"]
    cast.parts.casting.dialog.accept()
    assert voices_of(cast) == ["Anna", "Bert"]
    assert cast.lines[0].character == "Bandit"


def test_all_lines_of_a_character_or_voice_are_selected(cast: Bench, tmp_path: Path) -> None:
    import_dialogue(cast, tmp_path).accept()
    window = cast.window
    window.script.view.go_to(cast.lines[2].id)
    cast.trigger("edit.select_character")
    assert window.script.selected_line_ids == [cast.lines[0].id, cast.lines[2].id]
    window.script.view.go_to(cast.lines[3].id)
    cast.trigger("edit.select_voice")
    assert window.script.selected_line_ids == [cast.lines[3].id]
