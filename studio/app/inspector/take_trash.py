"""Removed takes, which can be restored without undoing later edits."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from studio.app.script.project_editor import ProjectEditor
from studio.project.script import Script
from studio.project.takes import Take


class TakeTrash(QObject):
    """Keeps removed takes until the script is closed; the working copy keeps their audio as long."""

    changed = Signal()

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._takes: dict[str, Take] = {}  # by id, in the order of removal
        editor.script_changed.connect(self._on_script_changed)
        editor.project_replaced.connect(self._forget)

    def takes_of(self, line_id: str) -> tuple[Take, ...]:
        """Return the removed takes of a line, the latest first."""
        return tuple(take for take in reversed(self._takes.values()) if take.line_id == line_id)

    def _on_script_changed(self, before: Script, after: Script) -> None:
        """Track removals and restorations, including undo and redo."""
        if before.takes is after.takes:
            return
        lost = {
            take.id: take
            for line_id, takes in before.takes.items()
            if line_id in after.index_of and after.takes_of(line_id) is not takes
            for take in takes
            if take.id not in after.line_of_take
        }
        kept = {take_id: take for take_id, take in self._takes.items() if take_id not in after.line_of_take}
        if lost or len(kept) != len(self._takes):
            self._takes = kept | lost
            self.changed.emit()

    def _forget(self) -> None:
        self._takes.clear()
        self.changed.emit()
