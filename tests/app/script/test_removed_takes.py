"""Removed takes can be restored from the menu after other edits."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QMenu
from window_bench import Bench

from studio.app.window import MainWindow
from studio.project.takes import Take


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    bench.add_voice()
    window = bench.open_window()
    for seconds in (1, 2):
        bench.add_take(np.full(24_000 * seconds, 0.1, np.float32))
    bench.live(0.01)
    return window


def takes(bench: Bench) -> list[int]:
    return [take.number for take in bench.session.editor.project.takes_of(bench.lines[0].id)]


def chosen(bench: Bench) -> Take | None:
    return bench.session.editor.project.chosen_take(bench.lines[0].id)


def test_the_last_removed_take_is_restored_and_chosen(bench: Bench, window: MainWindow) -> None:
    restore = window.actions_by_id["play.restore_take"]
    assert not restore.isEnabled()
    for _ in range(2):
        bench.trigger("play.remove_take")
    assert takes(bench) == []
    window.script.set_field("text", "Something else.", "Edit")
    assert restore.isEnabled()
    bench.trigger("play.restore_take")
    assert takes(bench) == [1]
    bench.trigger("play.restore_take")
    assert takes(bench) == [1, 2]
    taken = chosen(bench)
    assert taken is not None
    assert taken.number == 2
    assert len(bench.session.editor.project.samples_of(taken.id))
    assert not restore.isEnabled()
    bench.trigger("edit.undo")
    assert takes(bench) == [1]
    assert restore.isEnabled()


def test_the_takes_menu_lists_removed_takes(bench: Bench, window: MainWindow) -> None:
    for _ in range(2):
        bench.trigger("play.remove_take")
    bench.loop.call_soon(bench.parts.take_dialogs.open_menu, None, window.rect().center(), [])
    bench.live(0.05)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    (removed,) = (action.menu() for action in menu.actions() if action.menu())
    assert isinstance(removed, QMenu)
    assert [action.text()[:6] for action in removed.actions()] == ["Take 1", "Take 2"]
    removed.actions()[1].trigger()
    menu.close()
    assert takes(bench) == [2]


def test_opening_another_script_discards_removed_takes(bench: Bench, window: MainWindow) -> None:
    bench.trigger("play.remove_take")
    line_id = bench.lines[0].id
    assert [take.number for take in window.takes.removed_takes] == [2]
    bench.session.editor.project_replaced.emit()
    assert window.takes._trash.takes_of(line_id) == ()
