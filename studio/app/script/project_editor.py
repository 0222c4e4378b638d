"""Project edits with undo, and the objects that follow changes of the project.

Adding a take cannot be undone: undo is for edits, and must not discard minutes of synthesis. Choosing,
keeping and removing takes can be undone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from studio.app.undo import UndoCommand
from studio.project.changes import Change, EditDetails, EditLines
from studio.project.fingerprint import VoiceKeys, map_voice_keys
from studio.project.lines import LineState
from studio.project.project import Project
from studio.project.script import Script
from studio.project.takes import Take
from studio.text.language import language_of_script
from studio.voices.voice import Voice, default_voice, name_key

# Successive changes of one value within this time are one undo step.
_MERGE_SECONDS = 1.5


class ProjectEditor(QObject):
    """Applies all edits. Use it on the GUI thread only. Replacing the project clears the undo stack."""

    project_replaced = Signal()
    script_changed = Signal(object, object)  # Script before, Script after
    stepped = Signal(object, object)  # after undo or redo: Script before, Script after
    modified_changed = Signal(bool)
    unwritten_changed = Signal(
        object
    )  # PendingChanges after each change that cannot be written; None once all are written
    failed = Signal(object)  # StudioError: undo, redo or autosave failed

    def __init__(self, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._was_modified = project.is_modified
        self._unwritten = project.unwritten
        self.undo_stack = QUndoStack(self)

    @property
    def project(self) -> Project:
        return self._project

    @property
    def script(self) -> Script:
        return self._project.script

    def replace_project(self, project: Project) -> None:
        """Replace the project; the caller closes the old one."""
        self._project = project
        self.undo_stack.clear()
        self.project_replaced.emit()
        self._emit_modified()
        self._emit_unwritten(is_change=False)

    def push(
        self, change: Change, title: str, *, merge_key: str | None = None, merge_seconds: float = _MERGE_SECONDS
    ) -> None:
        """Apply ``change`` as an undo step named ``title``.

        Consecutive steps with the same ``merge_key``, each within ``merge_seconds`` of the previous one, are merged.
        Only ``EditLines`` can be merged. A merged step without effect is dropped.
        """
        # Applied here rather than by the command: exceptions do not propagate through QUndoStack.push.
        inverse = self.apply(change)
        self.undo_stack.push(
            _ChangeCommand(self, change, inverse, title, merge_key=merge_key, merge_seconds=merge_seconds)
        )

    def undo_merged(self, merge_key: str) -> bool:
        """Undo the last step if it has this ``merge_key``; return whether it was undone."""
        stack = self.undo_stack
        step = stack.command(stack.index() - 1) if stack.canUndo() else None
        if not isinstance(step, _ChangeCommand) or step.merge_key != merge_key:
            return False
        stack.undo()
        return True

    def apply(self, change: Change) -> Change:
        """Apply ``change`` without an undo step; return its inverse."""
        before = self.script
        inverse = self._project.apply(change)
        self.script_changed.emit(before, self.script)
        self._emit_modified()
        self._emit_unwritten(is_change=True)
        return inverse

    def refresh(self, before: Script) -> None:
        """Emit signals for changes since ``before`` that were not made here, such as a finished take."""
        if before is not self.script:
            self.script_changed.emit(before, self.script)
        self._emit_modified()
        self._emit_unwritten(is_change=False)

    def saved_state(self, line_id: str) -> LineState:
        """Return the state of a line in the project, without queued or running jobs."""
        return self._project.state_of(line_id) if self._project.has_line(line_id) else LineState.DRAFT

    def all_lines_changed(self) -> None:
        """Emit a change of all lines, for example after a change of dictionary or voices."""
        self.script_changed.emit(self.script, self.script)

    def _emit_unwritten(self, *, is_change: bool) -> None:
        before, self._unwritten = self._unwritten, self._project.unwritten
        if self._unwritten != before or (is_change and self._unwritten is not None):
            self.unwritten_changed.emit(self._unwritten)

    def _emit_modified(self) -> None:
        if self._project.is_modified != self._was_modified:
            self._was_modified = self._project.is_modified
            self.modified_changed.emit(self._was_modified)


class _ChangeCommand(UndoCommand):
    """A project change that is already applied, and its inverse."""

    def __init__(
        self,
        editor: ProjectEditor,
        change: Change,
        inverse: Change,
        title: str,
        *,
        merge_key: str | None,
        merge_seconds: float,
    ) -> None:
        super().__init__(title, editor.failed.emit, is_applied=True)
        self.merge_key = merge_key
        self._editor = editor
        self._change = change
        self._inverse = inverse
        self._merge_seconds = merge_seconds
        self._pushed_at = time.monotonic()

    def apply(self) -> None:
        self._inverse = self._step(self._change)

    def revert(self) -> None:
        self._change = self._step(self._inverse)

    def _step(self, change: Change) -> Change:
        before = self._editor.script
        inverse = self._editor.apply(change)
        self._editor.stepped.emit(before, self._editor.script)
        return inverse

    def id(self) -> int:
        return -1 if self.merge_key is None else 1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        step = cast("_ChangeCommand", other)
        if step.merge_key != self.merge_key or step._pushed_at - self._pushed_at > self._merge_seconds:
            return False
        # The two commands may edit different lines; the merged command covers the lines of both.
        self._change = _overlaid(step._change, over=self._change)
        self._inverse = _overlaid(self._inverse, over=step._inverse)
        self._pushed_at = step._pushed_at
        self.setObsolete(self._change == self._inverse)
        return True


def _overlaid(edits: Change, *, over: Change) -> EditLines:
    """Merge two edits. If both set a field, ``edits`` takes precedence."""
    assert isinstance(edits, EditLines), "only EditLines can be merged"
    assert isinstance(over, EditLines), "only EditLines can be merged"
    ids = {**over.edits, **edits.edits}
    return EditLines({line_id: {**over.edits.get(line_id, {}), **edits.edits.get(line_id, {})} for line_id in ids})


class LineVoiceUpdater(QObject):
    """Updates the voices of lines when voices are added, renamed or removed.

    Its changes are not undo steps: they follow edits of voices, and undo of those edits.
    """

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._voices: tuple[Voice, ...] | None = None
        self._keys: VoiceKeys = {}
        self._names: dict[str, str] = {}  # names of voices by the key of every name
        editor.project_replaced.connect(self._assign_default_voice)
        editor.project_replaced.connect(self._update_keys)
        editor.project_replaced.connect(self.resolve_names)

    def on_voices_changed(self, voices: Sequence[Voice]) -> None:
        """Update the voice keys; assign a new voice to all empty lines."""
        names = tuple(voice.name for voice in voices)
        self._names = {name_key(name): voice.name for voice in voices for name in (voice.bundled_name, voice.name)}
        if (keys := map_voice_keys(voices)) != self._keys:
            self._keys = keys
            self._update_keys()
        known = names if self._voices is None else tuple(voice.name for voice in self._voices)
        new = [name for name in names if name not in known]
        self._voices = tuple(voices)
        if new:
            blank = [line.id for line in self._editor.project.lines if not line.text.strip() and not line.chosen_take]
            self._assign(blank, new[-1])
        self._assign_default_voice()
        self.resolve_names()

    def on_renamed(self, before: str, after: str) -> None:
        renamed = name_key(before)
        key = self._keys.get(renamed)
        if key is not None:  # the library is read again later; takes must not become outdated in the meantime
            self._keys = {**self._keys, name_key(after): key}
            self._update_keys()
        self._assign([line.id for line in self._editor.project.lines if name_key(line.voice or "") == renamed], after)
        self._rename_in_cast(renamed, after)

    def resolve_names(self) -> None:
        """Use the library's names in lines: with its case, and with the new names of bundled voices."""
        edits = {
            line.id: {"voice": name}
            for line in self._editor.project.lines
            if line.voice and (name := self._names.get(name_key(line.voice), line.voice)) != line.voice
        }
        if edits:
            self._editor.apply(EditLines(edits))

    def _rename_in_cast(self, renamed: str, after: str) -> None:
        details = self._editor.script.details
        cast = {
            character: replace(member, voice=after) if name_key(member.voice or "") == renamed else member
            for character, member in details.cast.items()
        }
        if cast != details.cast:
            self._editor.apply(EditDetails(replace(details, cast=cast)))

    def _update_keys(self) -> None:
        """Update the voice keys, so that a take becomes outdated when its voice's clip or transcript changes."""
        self._editor.project.voice_keys = self._keys
        self._editor.all_lines_changed()

    def _assign_default_voice(self) -> None:
        """Assign a voice that speaks the language of the script, or of the window, if no line has a voice."""
        lines = self._editor.project.lines
        if self._voices and all(line.voice is None for line in lines):
            language = language_of_script(line.text for line in lines)
            voice = default_voice(self._voices, language or QLocale.languageToCode(QLocale().language()))
            self._assign([line.id for line in lines], voice.name)

    def _assign(self, line_ids: list[str], name: str) -> None:
        if line_ids:
            self._editor.apply(EditLines({line_id: {"voice": name} for line_id in line_ids}))


class RemovedTakes(QObject):
    """Removed takes, which can be restored without undoing later edits.

    They and their audio in the working copy are kept until the script is closed.
    """

    changed = Signal()

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._takes: dict[str, Take] = {}  # removed takes by id, in the order of removal
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
