"""Scenes of dubbing: a script with slots and a timeline, and the dialog that fits all takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QWidget

from studio.app.dubbing.fit_dialog import FitDialog
from studio.app.window import MainWindow
from studio.project.changes import EditLines
from studio.project.lines import Slot


def dubbing_scenes(
    window: MainWindow, guide: Path, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    """Give the lines of the script slots, some of which are too short, and show them."""
    editor = window.session.editor
    slots = {line.id: {"slot": Slot(0.8 + 3.2 * n, 2.8 + 3.2 * n)} for n, line in enumerate(editor.script.lines)}
    editor.push(EditLines(slots), "")
    window.dubbing.guide.use(str(guide))
    wait_for(lambda: window.dubbing.guide.guide)
    window.dubbing.panel.show_guide_name(str(guide))
    window.dubbing.panel.show_time(5.1)
    yield "dubbing", window
    window.dubbing.open_fit_dialog()
    yield "fit", window.findChildren(FitDialog)[-1]
    editor.undo_stack.undo()
