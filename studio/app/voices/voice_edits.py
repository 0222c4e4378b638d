"""Undoable changes to the voice library, each a command on the window's undo stack.

The library is on disk and shared with the command line, so a step may take long and may fail. Steps run in the
background, one after the other; signals are emitted when a step has finished. A command whose step fails is removed
from the stack.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from studio.app.background import run_in_background
from studio.app.undo import UndoCommand
from studio.errors import StudioError
from studio.voices.library import Consent, TrashedVoice, Voice, VoiceLibrary

# Signals that ``VoiceEdits`` emits after a step: the name and arguments of each.
_Events = list[tuple[str, tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class Description:
    """The editable metadata of a voice. Empty text removes the stored value."""

    transcript: str = ""
    notes: str = ""
    language: str = ""
    consent: Consent = Consent()

    @classmethod
    def of(cls, voice: Voice) -> Description:
        return cls(voice.transcript or "", voice.notes, voice.language or "", voice.consent)


class VoiceEdits(QObject):
    """Edits voices. Each method pushes a command, which starts at once."""

    changed = Signal()
    renamed = Signal(str, str)  # before, after; also on undo, so that references to the voice can follow
    removed = Signal(str)
    added = Signal(object)  # Voice: new, restored, or with another transcript
    failed = Signal(object)  # StudioError

    def __init__(self, library: VoiceLibrary, stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.library = library
        self._stack = stack
        self._waiting: deque[tuple[UndoCommand, Callable[[], _Events]]] = deque()
        self._is_busy = False

    def keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        """Push a command for ``voices`` that are already in the library; adding them takes time and runs elsewhere.

        Commands pushed by ``then`` are undone together with it.
        """
        if not voices:
            return
        text = self._text_for(self.tr("New voice {name}"), self.tr("{count} new voices"), voices)
        command = _TrashCommand(self, text, names=[voice.name for voice in voices], restores=True, is_applied=True)
        if then is None:
            self._stack.push(command)
            self.run(command, partial(_added, voices))
            return
        self._stack.beginMacro(text)
        try:
            self._stack.push(command)
            self.run(command, partial(_added, voices))
            then()
        finally:
            self._stack.endMacro()

    def remove(self, voices: list[Voice]) -> None:
        if voices:
            text = self._text_for(self.tr("Delete voice {name}"), self.tr("Delete {count} voices"), voices)
            self._stack.push(_TrashCommand(self, text, names=[voice.name for voice in voices]))

    def restore(self, trashed: TrashedVoice) -> None:
        """Restore a recently deleted voice, of this run or an earlier one."""
        text = self.tr("Restore voice {name}").format(name=trashed.voice.name)
        self._stack.push(_TrashCommand(self, text, trashed=[trashed.number], restores=True))

    def rename(self, voice: Voice, new_name: str) -> None:
        if new_name != voice.name:
            text = self.tr("Rename {name}").format(name=voice.name)
            self._stack.push(_RenameCommand(self, text, voice.name, new_name))

    def describe(self, voice: Voice, description: Description) -> None:
        if description != Description.of(voice):
            text = self.tr("Change {name}").format(name=voice.name)
            self._stack.push(_DescribeCommand(self, text, voice.name, Description.of(voice), description))

    def duplicate(self, voice: Voice) -> None:
        run_in_background(
            self,
            partial(self.library.duplicate, voice.name),
            done=lambda copy: self.keep([copy]),
            failed=self.failed.emit,
        )

    def run(self, command: UndoCommand, step: Callable[[], _Events]) -> None:
        """Run ``step`` of ``command`` in the background, after the steps before it, and emit the events it returns."""
        self._waiting.append((command, step))
        self._start_next()

    def _start_next(self) -> None:
        if self._waiting and not self._is_busy:
            self._is_busy = True
            command, step = self._waiting.popleft()
            run_in_background(self, step, done=self._on_done, failed=partial(self._on_failed, command))

    def _on_done(self, events: _Events) -> None:
        self._is_busy = False
        for signal, values in events:
            getattr(self, signal).emit(*values)
        self.changed.emit()
        self._start_next()

    def _on_failed(self, command: UndoCommand, error: StudioError) -> None:
        self._is_busy = False
        self._waiting = deque(each for each in self._waiting if each[0] is not command)
        with contextlib.suppress(RuntimeError):  # the stack has already deleted the command
            command.discard(self._stack)
        self.failed.emit(error)
        self.changed.emit()
        self._start_next()

    def _text_for(self, one: str, several: str, voices: list[Voice]) -> str:
        return one.format(name=voices[0].name) if len(voices) == 1 else several.format(count=len(voices))


class _TrashCommand(UndoCommand):
    """Moves voices to the trash, or back where ``restores``; reverting does the opposite."""

    def __init__(
        self,
        edits: VoiceEdits,
        text: str,
        *,
        names: list[str] | None = None,
        trashed: list[int] | None = None,
        restores: bool = False,
        is_applied: bool = False,
    ) -> None:
        """``names`` are the voices in the library, or ``trashed`` their numbers in the trash."""
        super().__init__(text, edits.failed.emit, is_applied=is_applied)
        self._edits = edits
        self._names = names or []
        self._trashed = trashed or []
        self._restores = restores

    def apply(self) -> None:
        self._edits.run(self, self._restore if self._restores else self._trash)

    def revert(self) -> None:
        self._edits.run(self, self._trash if self._restores else self._restore)

    def _restore(self) -> _Events:
        voices = [self._edits.library.restore(number) for number in self._trashed]
        self._names = [voice.name for voice in voices]  # a name may be in use by now
        return _added(voices)

    def _trash(self) -> _Events:
        """Trash all voices, or none if one fails."""
        numbers: list[int] = []
        try:
            for name in self._names:
                numbers.append(self._edits.library.trash(name).number)  # noqa: PERF401 - restored on failure
        except StudioError:
            for number in numbers:
                self._edits.library.restore(number)
            raise
        self._trashed = numbers
        return [("removed", (name,)) for name in self._names]


class _RenameCommand(UndoCommand):
    def __init__(self, edits: VoiceEdits, text: str, before: str, after: str) -> None:
        super().__init__(text, edits.failed.emit)
        self._edits = edits
        self._before = before
        self._after = after

    def apply(self) -> None:
        self._edits.run(self, self._rename)

    def revert(self) -> None:
        self._edits.run(self, self._rename_back)

    def _rename(self) -> _Events:
        self._after = self._edits.library.rename(self._before, self._after).name
        return [("renamed", (self._before, self._after))]

    def _rename_back(self) -> _Events:
        self._edits.library.rename(self._after, self._before)
        return [("renamed", (self._after, self._before))]


class _DescribeCommand(UndoCommand):
    def __init__(self, edits: VoiceEdits, text: str, name: str, before: Description, after: Description) -> None:
        super().__init__(text, edits.failed.emit)
        self._edits = edits
        self._name = name
        self._before = before
        self._after = after

    def apply(self) -> None:
        self._edits.run(self, partial(self._describe, self._after))

    def revert(self) -> None:
        self._edits.run(self, partial(self._describe, self._before))

    def _describe(self, description: Description) -> _Events:
        voice = self._edits.library.update_metadata(
            self._name,
            transcript=description.transcript,
            notes=description.notes,
            language=description.language,
            consent=description.consent,
        )
        return _added([voice])


def _added(voices: list[Voice]) -> _Events:
    return [("added", (voice,)) for voice in voices]
