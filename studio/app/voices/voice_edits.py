"""Undoable changes to the voice library. Each is a command on the window's undo stack.

The library is on disk and shared with the command line, so a step may take long and may fail. Therefore, steps run in
the background, one after the other, and their signals are emitted when they have finished. If a step fails, its
command is removed from the stack.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from studio.app.background import run_in_background
from studio.app.undo import UndoCommand
from studio.catalog.built_in_speakers import mixed_speaker
from studio.errors import StudioError
from studio.voices.library import TrashedVoice, Voice, VoiceDetails, VoiceLibrary, details_of

# Names and arguments of the signals that ``VoiceEdits`` emits after a step.
_Events = list[tuple[str, tuple[object, ...]]]
_Step = Callable[[], _Events]


class VoiceEdits(QObject):
    """Edits voices by commands, which start as soon as they are pushed."""

    changed = Signal()
    renamed = Signal(str, str)  # old name, new name; also emitted on undo, so that references can be updated
    removed = Signal(str)
    added = Signal(object)  # Voice: a new or restored one, or one with changed details
    failed = Signal(object)  # StudioError

    def __init__(self, library: VoiceLibrary, stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.library = library
        self._stack = stack
        self._waiting: deque[tuple[UndoCommand, _Step]] = deque()
        self._is_busy = False

    def keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        """Push a command for ``voices``, which have just been added to the library.

        The commands that ``then`` pushes are undone together with it.
        """
        if not voices:
            return
        one = self.tr("New voice {name}") if then is None else self.tr("New voice {name}, used for the line")
        text = self._text_for(one, self.tr("{count} new voices"), voices)
        kept = _TrashableVoices(self.library, names=[voice.name for voice in voices])
        command = _EditCommand(self, text, do=kept.restore, undo=kept.trash, is_applied=True)
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
            removed = _TrashableVoices(self.library, names=[voice.name for voice in voices])
            self._stack.push(_EditCommand(self, text, do=removed.trash, undo=removed.restore))

    def restore(self, trashed: TrashedVoice) -> None:
        """Restore a deleted voice, even one deleted in an earlier session."""
        text = self.tr("Restore voice {name}").format(name=trashed.voice.name)
        restored = _TrashableVoices(self.library, numbers=[trashed.number])
        self._stack.push(_EditCommand(self, text, do=restored.restore, undo=restored.trash))

    def rename(self, voice: Voice, new_name: str) -> None:
        if new_name != voice.name:
            text = self.tr("Rename {name}").format(name=voice.name)
            do = partial(_rename, self.library, voice.name, new_name)
            undo = partial(_rename, self.library, new_name, voice.name)
            self._stack.push(_EditCommand(self, text, do=do, undo=undo))

    def describe(self, voice: Voice, details: VoiceDetails) -> None:
        """Change the transcript, notes, language and consent of ``voice``."""
        before = details_of(voice)
        after = replace(details, name=before.name, generation=before.generation)
        if after != before:
            text = self.tr("Change {name}").format(name=voice.name)
            do, undo = partial(_describe, self.library, after), partial(_describe, self.library, before)
            self._stack.push(_EditCommand(self, text, do=do, undo=undo))

    def duplicate(self, voice: Voice) -> None:
        run_in_background(
            self,
            partial(self.library.duplicate, voice.name),
            done=lambda copy: self.keep([copy]),
            failed=self.failed.emit,
        )

    def mix(self, speakers: list[Voice]) -> None:
        """Add a voice halfway between ``speakers``, which are mixable."""
        name = self.library.unique_name("+".join(voice.name for voice in speakers))
        run_in_background(
            self,
            lambda: self.library.add_copy(mixed_speaker(name, speakers), name),
            done=lambda mixed: self.keep([mixed]),
            failed=self.failed.emit,
        )

    def run(self, command: UndoCommand, step: _Step) -> None:
        """Run ``step`` of ``command`` in the background after the steps before it, then emit the signals it returns."""
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


class _EditCommand(UndoCommand):
    """A change to the library. Its two steps run in the background and return the signals to emit."""

    def __init__(self, edits: VoiceEdits, text: str, *, do: _Step, undo: _Step, is_applied: bool = False) -> None:
        super().__init__(text, edits.failed.emit, is_applied=is_applied)
        self._edits = edits
        self._do = do
        self._undo = undo

    def apply(self) -> None:
        self._edits.run(self, self._do)

    def revert(self) -> None:
        self._edits.run(self, self._undo)


class _TrashableVoices:
    """Voices that an edit moves to and from the trash, by ``names`` in the library or ``numbers`` in the trash."""

    def __init__(self, library: VoiceLibrary, *, names: Sequence[str] = (), numbers: Sequence[int] = ()) -> None:
        self._library = library
        self._names = names
        self._numbers = numbers

    def restore(self) -> _Events:
        voices = [self._library.restore(number) for number in self._numbers]
        self._names = [voice.name for voice in voices]  # a restored voice has a new name if its name is taken
        return _added(voices)

    def trash(self) -> _Events:
        """Move all voices to the trash. If one of them fails, restore the others."""
        numbers: list[int] = []
        try:
            for name in self._names:
                numbers.append(self._library.trash(name).number)  # noqa: PERF401 - restored on failure
        except StudioError:
            for number in numbers:
                self._library.restore(number)
            raise
        self._numbers = numbers
        return [("removed", (name,)) for name in self._names]


def _rename(library: VoiceLibrary, name: str, new_name: str) -> _Events:
    before = library.get(name).name
    return [("renamed", (before, library.rename(name, new_name).name))]


def _describe(library: VoiceLibrary, details: VoiceDetails) -> _Events:
    voice = library.update_metadata(
        details.name,
        transcript=details.transcript or "",
        notes=details.notes,
        language=details.language or "",
        consent=details.consent,
    )
    return _added([voice])


def _added(voices: list[Voice]) -> _Events:
    return [("added", (voice,)) for voice in voices]
