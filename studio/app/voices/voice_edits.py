"""Every change to the library, undoable: each is a command on the window's undo stack.

The library is on disk and shared with the command line, so a step may take long and may fail. Steps run in the
background, one after the other; signals follow when a step is over. A command whose step failed is removed from the
stack.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from studio.app.background import run_in_background
from studio.errors import StudioError
from studio.voices.library import Consent, TrashedVoice, Voice, VoiceLibrary

_Events = list[tuple[str, tuple[object, ...]]]


@dataclass(frozen=True, slots=True)
class Description:
    """What a person may write about a voice; empty words remove what was there."""

    transcript: str = ""
    notes: str = ""
    language: str = ""
    consent: Consent = Consent()

    @classmethod
    def of(cls, voice: Voice) -> Description:
        return cls(voice.transcript or "", voice.notes, voice.language or "", voice.consent)


class VoiceEdits(QObject):
    """What can be done to voices. Each method does it at once and puts it on the stack."""

    changed = Signal()
    renamed = Signal(str, str)  # before, after; also when it is undone: whoever refers to the voice follows
    removed = Signal(str)
    added = Signal(object)  # Voice: new, restored, or with another transcript
    failed = Signal(object)  # StudioError

    def __init__(self, library: VoiceLibrary, stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.library = library
        self._stack = stack
        self._waiting: deque[tuple[_Command, Callable[[], _Events]]] = deque()
        self._is_busy = False

    def keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        """``voices`` have been added to the library already (which takes a while, elsewhere); now it can be undone.

        Steps that ``then`` takes are undone together with it.
        """
        if not voices:
            return
        words = self._about(self.tr("New voice {name}"), self.tr("{count} new voices"), voices)
        command = _AddVoicesCommand(self, words, voices)
        if then is None:
            self._stack.push(command)
            return
        self._stack.beginMacro(words)
        try:
            self._stack.push(command)
            then()
        finally:
            self._stack.endMacro()

    def remove(self, voices: list[Voice]) -> None:
        if voices:
            words = self._about(self.tr("Delete voice {name}"), self.tr("Delete {count} voices"), voices)
            self._stack.push(_Remove(self, words, voices))

    def restore(self, trashed: TrashedVoice) -> None:
        """A voice deleted not long ago, in this session or an earlier one."""
        words = self.tr("Have back voice {name}").format(name=trashed.voice.name)
        self._stack.push(_Restore(self, words, trashed))

    def rename(self, voice: Voice, new_name: str) -> None:
        if new_name != voice.name:
            words = self.tr("Rename {name}").format(name=voice.name)
            self._stack.push(_Rename(self, words, voice.name, new_name))

    def describe(self, voice: Voice, description: Description) -> None:
        if description != Description.of(voice):
            words = self.tr("Change {name}").format(name=voice.name)
            self._stack.push(_Describe(self, words, voice.name, Description.of(voice), description))

    def duplicate(self, voice: Voice) -> None:
        run_in_background(
            self,
            partial(self.library.duplicate, voice.name),
            done=lambda copy: self.keep([copy]),
            failed=self.failed.emit,
        )

    def run(self, command: _Command, step: Callable[[], _Events]) -> None:
        """For commands: runs ``step`` in the background after those before it, then emits what it returns."""
        self._waiting.append((command, step))
        self._begin_next()

    def _begin_next(self) -> None:
        if self._waiting and not self._is_busy:
            self._is_busy = True
            command, step = self._waiting.popleft()
            run_in_background(self, step, done=self._on_done, failed=partial(self._on_failed, command))

    def _on_done(self, events: _Events) -> None:
        self._is_busy = False
        for signal, values in events:
            getattr(self, signal).emit(*values)
        self.changed.emit()
        self._begin_next()

    def _on_failed(self, command: _Command, error: StudioError) -> None:
        self._is_busy = False
        self._waiting = deque(each for each in self._waiting if each[0] is not command)
        with contextlib.suppress(RuntimeError):  # the stack has deleted the command meanwhile
            command.setObsolete(True)
            self._forget(command)
        self.failed.emit(error)
        self.changed.emit()
        self._begin_next()

    def _forget(self, command: _Command) -> None:
        """The stack removes obsolete commands when it comes to them, without undoing or redoing them."""
        index = self._stack.index()
        if index > 0 and self._stack.command(index - 1) is command:
            self._stack.undo()
        elif index < self._stack.count() and self._stack.command(index) is command:
            self._stack.redo()

    def _about(self, one: str, several: str, voices: list[Voice]) -> str:
        return one.format(name=voices[0].name) if len(voices) == 1 else several.format(count=len(voices))


class _Command(QUndoCommand):
    """Its steps run in the background: they return what happened, as names and values of signals of ``VoiceEdits``."""

    def __init__(self, edits: VoiceEdits, words: str) -> None:
        super().__init__(words)
        self._edits = edits
        self._library = edits.library

    def _trash(self, names: list[str]) -> list[int]:
        """All of them, or none."""
        numbers: list[int] = []
        try:
            for name in names:
                numbers.append(self._library.trash(name).number)  # noqa: PERF401 - those before a failure count
        except StudioError:
            for number in numbers:
                self._library.restore(number)
            raise
        return numbers


class _Removal(_Command):
    """Moves voices to the trash and back."""

    def __init__(self, edits: VoiceEdits, words: str, *, names: list[str], trashed: list[int]) -> None:
        super().__init__(edits, words)
        self._names = names
        self._trashed = trashed

    def _restore_from_trash(self) -> _Events:
        voices = [self._library.restore(number) for number in self._trashed]
        self._names = [voice.name for voice in voices]  # they may be others by now
        return _added(voices)

    def _move_to_trash(self) -> _Events:
        self._trashed = self._trash(self._names)
        return [("removed", (name,)) for name in self._names]


class _AddVoicesCommand(_Removal):
    def __init__(self, edits: VoiceEdits, words: str, voices: list[Voice]) -> None:
        super().__init__(edits, words, names=[voice.name for voice in voices], trashed=[])
        self._voices: list[Voice] | None = voices  # until they have been undone once

    def redo(self) -> None:
        self._edits.run(self, self._restore_from_trash if self._voices is None else partial(_added, self._voices))

    def undo(self) -> None:
        self._voices = None
        self._edits.run(self, self._move_to_trash)


class _Remove(_Removal):
    def __init__(self, edits: VoiceEdits, words: str, voices: list[Voice]) -> None:
        super().__init__(edits, words, names=[voice.name for voice in voices], trashed=[])

    def redo(self) -> None:
        self._edits.run(self, self._move_to_trash)

    def undo(self) -> None:
        self._edits.run(self, self._restore_from_trash)


class _Restore(_Removal):
    def __init__(self, edits: VoiceEdits, words: str, trashed: TrashedVoice) -> None:
        super().__init__(edits, words, names=[], trashed=[trashed.number])

    def redo(self) -> None:
        self._edits.run(self, self._restore_from_trash)

    def undo(self) -> None:
        self._edits.run(self, self._move_to_trash)


class _Rename(_Command):
    def __init__(self, edits: VoiceEdits, words: str, before: str, after: str) -> None:
        super().__init__(edits, words)
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._edits.run(self, self._rename)

    def undo(self) -> None:
        self._edits.run(self, self._rename_back)

    def _rename(self) -> _Events:
        self._after = self._library.rename(self._before, self._after).name
        return [("renamed", (self._before, self._after))]

    def _rename_back(self) -> _Events:
        self._library.rename(self._after, self._before)
        return [("renamed", (self._after, self._before))]


class _Describe(_Command):
    def __init__(self, edits: VoiceEdits, words: str, name: str, before: Description, after: Description) -> None:
        super().__init__(edits, words)
        self._name = name
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._edits.run(self, partial(self._describe, self._after))

    def undo(self) -> None:
        self._edits.run(self, partial(self._describe, self._before))

    def _describe(self, description: Description) -> _Events:
        voice = self._library.update_metadata(
            self._name,
            transcript=description.transcript,
            notes=description.notes,
            language=description.language,
            consent=description.consent,
        )
        return _added([voice])


def _added(voices: list[Voice]) -> _Events:
    return [("added", (voice,)) for voice in voices]
