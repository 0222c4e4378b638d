"""The toolbar has titles beside its icons where there is room, and every dialog one filled button."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from window_bench import Bench

APP = Path(__file__).resolve().parents[2] / "studio" / "app"


def test_titles_are_shown_where_there_is_room(bench: Bench) -> None:
    window = bench.open_window()
    bar = window._toolbar
    window.resize(1600, 800)
    bench.live(0.05)
    export, undo = (bar.widgetForAction(window.actions_by_id[name]) for name in ("file.export", "edit.undo"))
    assert isinstance(export, QToolButton)
    assert isinstance(undo, QToolButton)
    assert export.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert export.text() == "Export audio"
    assert undo.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly, "its title changes with every edit"
    bar._labelled_width = 1700  # as in a language with longer words
    window.resize(1500, 800)
    bench.live(0.05)
    assert export.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    window.resize(1800, 800)
    bench.live(0.05)
    assert export.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert undo.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly


def test_default_buttons_of_dialogs_are_filled() -> None:
    """They are declared with ``make_primary``; only buttons that become the default later call Qt themselves."""
    callers = {path.name for path in APP.rglob("*.py") if ".setDefault(True)" in path.read_text("utf-8")}
    assert callers == {"dialogs.py", "import_page.py", "recorder_dialog.py", "compare_dialog.py"}
