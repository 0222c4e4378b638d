"""The one door to the project: every edit goes through here, and so can be undone.

Takes that were just spoken are added without a step of undo: whoever undoes means what they wrote, and
minutes of work must not vanish with a keystroke. Choosing, keeping and removing takes are steps.
"""

from __future__ import annotations

import time
from typing import cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from studio.errors import StudioError
from studio.project.changes import Change
from studio.project.lines import LineState
from studio.project.project import Project
from studio.project.script import Script

# Turning a knob is one step, however many values it passes.
_MERGE_SECONDS = 1.5


class ProjectEditor(QObject):
    """Belongs to the window's thread. ``project`` may be replaced by another, which begins without undo."""

    project_replaced = Signal()
    script_changed = Signal(object, object)  # Script before, Script after
    modified_changed = Signal(bool)
    failed = Signal(object)  # StudioError: undo or redo could not be written

    def __init__(self, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._was_modified = project.is_modified
        self.undo_stack = QUndoStack(self)

    @property
    def project(self) -> Project:
        return self._project

    @property
    def script(self) -> Script:
        return self._project.script

    def replace_project(self, project: Project) -> None:
        """The old one is closed by whoever opened it."""
        self._project = project
        self.undo_stack.clear()
        self.project_replaced.emit()
        self._tell_modified()

    def do(self, change: Change, title: str, *, merge_key: str | None = None) -> None:
        """Applies ``change`` as a step of undo called ``title``; steps with one ``merge_key`` in a row are one."""
        # Applied here and not in the step: an error inside of Qt's stack could not reach whoever asked.
        inverse = self.apply(change)
        self.undo_stack.push(_Step(self, change, inverse, title, merge_key))

    def apply(self, change: Change) -> Change:
        """Applies ``change`` without a step of undo; returns its inverse."""
        before = self.script
        inverse = self._project.apply(change)
        self.script_changed.emit(before, self.script)
        self._tell_modified()
        return inverse

    def noticed(self, before: Script) -> None:
        """The project was changed by itself since it was ``before``: a take was finished, it was saved."""
        if before is not self.script:
            self.script_changed.emit(before, self.script)
        self._tell_modified()

    def saved_state(self, line_id: str) -> LineState:
        """Draft, changed or ready: what is known without looking at what is at work."""
        return self._project.state_of(line_id) if self._project.has_line(line_id) else LineState.DRAFT

    def all_lines_changed(self) -> None:
        """Every line may read or sound differently now: another dictionary, other voices."""
        self.script_changed.emit(self.script, self.script)

    def _tell_modified(self) -> None:
        if self._project.is_modified != self._was_modified:
            self._was_modified = self._project.is_modified
            self.modified_changed.emit(self._was_modified)


class _Step(QUndoCommand):
    """A change that has been applied already, and the one that takes it back."""

    def __init__(
        self, editor: ProjectEditor, change: Change, inverse: Change, title: str, merge_key: str | None
    ) -> None:
        super().__init__(title)
        self._editor = editor
        self._change = change
        self._inverse = inverse
        self._merge_key = merge_key
        self._done_at = time.monotonic()
        self._is_pushed = False

    def redo(self) -> None:
        if self._is_pushed:
            self._inverse = self._apply(self._change) or self._inverse
        self._is_pushed = True

    def undo(self) -> None:
        self._change = self._apply(self._inverse) or self._change

    def id(self) -> int:
        return -1 if self._merge_key is None else 1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        step = cast("_Step", other)
        if step._merge_key != self._merge_key or step._done_at - self._done_at > _MERGE_SECONDS:
            return False
        self._change, self._done_at = step._change, step._done_at
        return True

    def _apply(self, change: Change) -> Change | None:
        try:
            return self._editor.apply(change)
        except StudioError as error:
            self._editor.failed.emit(error)
            return None
