"""Closed dialogs are destroyed on the window's thread only."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from studio.app.application import gui_thread_collection


class Dialog(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.itself = self  # a reference cycle, as slots and closures create them


def leave_dialog() -> list[bool]:
    """Create a closed dialog that is garbage, and record whether the GUI thread destroys it."""
    ends: list[bool] = []
    weakref.finalize(Dialog(), lambda: ends.append(threading.current_thread() is threading.main_thread()))
    return ends


def need_memory_elsewhere() -> list[Any]:
    """Allocate enough objects to make a collection due."""
    kept: list[Any] = []
    other = threading.Thread(target=lambda: kept.extend([number] for number in range(5000)))
    other.start()
    other.join(60)
    assert len(kept) == 5000
    return kept


@pytest.mark.slow
def test_allocation_on_another_thread_destroys_no_dialog(qtbot: QtBot) -> None:
    gc.collect()
    gc.enable()
    with gui_thread_collection():
        ends = leave_dialog()
        kept = need_memory_elsewhere()
        assert ends == []
        qtbot.waitUntil(lambda: ends == [True])
    assert kept
    assert gc.isenabled()


def test_default_collection_would_destroy_it_there(qtbot: QtBot) -> None:
    """Shows that the test above can fail."""
    gc.collect()
    gc.enable()
    ends = leave_dialog()
    kept = need_memory_elsewhere()
    assert ends == [False]
    assert kept
