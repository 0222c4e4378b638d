"""Every change to the library, undoable: each is a command on the window's undo stack.

The library is on disk and shared with the command line, so any step may fail: then it is told, and the
command forgotten. What happened is told when the stack is done with the step, so that whoever hears of
it may push commands of their own.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QUndoCommand, QUndoStack

from studio.app.background import in_background
from studio.errors import StudioError
from studio.voices.library import Consent, TrashedVoice, Voice, VoiceLibrary


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
        self._untold: list[Callable[[], object]] = []
        stack.indexChanged.connect(partial(_tell, weakref.ref(self)))

    def keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        """``voices`` have been added to the library already (which takes a while, elsewhere); now it can be undone.

        Steps that ``then`` takes are undone together with it.
        """
        if not voices:
            return
        words = self._about(self.tr("New voice {name}"), self.tr("{count} new voices"), voices)
        command = _Keep(self, words, voices)
        if then is None:
            self._push(command)
            return
        self._stack.beginMacro(words)
        try:
            self._push(command)
            then()
        finally:
            self._stack.endMacro()

    def remove(self, voices: list[Voice]) -> None:
        if voices:
            words = self._about(self.tr("Delete voice {name}"), self.tr("Delete {count} voices"), voices)
            self._push(_Remove(self, words, voices))

    def restore(self, trashed: TrashedVoice) -> None:
        """A voice deleted not long ago, in this session or an earlier one."""
        words = self.tr("Have back voice {name}").format(name=trashed.voice.name)
        self._push(_Restore(self, words, trashed))

    def rename(self, voice: Voice, new_name: str) -> None:
        if new_name != voice.name:
            words = self.tr("Rename {name}").format(name=voice.name)
            self._push(_Rename(self, words, voice.name, new_name))

    def describe(self, voice: Voice, description: Description) -> None:
        if description != Description.of(voice):
            words = self.tr("Change {name}").format(name=voice.name)
            self._push(_Describe(self, words, voice.name, Description.of(voice), description))

    def duplicate(self, voice: Voice) -> None:
        in_background(
            self,
            partial(self.library.duplicate, voice.name),
            done=lambda copy: self.keep([copy]),
            failed=self.failed.emit,
        )

    def happened(self, signal: SignalInstance, *values: object) -> None:
        """For commands: ``signal`` is emitted when the stack is done with the step."""
        self._untold.append(partial(signal.emit, *values))

    def _push(self, command: QUndoCommand) -> None:
        self._stack.push(command)
        self._tell()  # the stack says nothing of a command that failed

    def _tell(self) -> None:
        while self._untold:
            self._untold.pop(0)()

    def _about(self, one: str, several: str, voices: list[Voice]) -> str:
        return one.format(name=voices[0].name) if len(voices) == 1 else several.format(count=len(voices))


def _tell(edits: weakref.ref[VoiceEdits], _index: int) -> None:
    """The stack may outlive the panel, and moves once more when it goes."""
    living = edits()
    if living is not None:
        living._tell()


class _Command(QUndoCommand):
    """A step that may fail: then nobody can undo it."""

    def __init__(self, edits: VoiceEdits, words: str) -> None:
        super().__init__(words)
        self._edits = edits
        self._library = edits.library

    def _attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except StudioError as error:
            self.setObsolete(True)
            self._edits.happened(self._edits.failed, error)
        self._edits.happened(self._edits.changed)

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
        for name in names:
            self._edits.happened(self._edits.removed, name)
        return numbers

    def _restore(self, numbers: list[int]) -> list[str]:
        """Their names, which may be others by now."""
        voices = [self._library.restore(number) for number in numbers]
        for voice in voices:
            self._edits.happened(self._edits.added, voice)
        return [voice.name for voice in voices]


class _Keep(_Command):
    def __init__(self, edits: VoiceEdits, words: str, voices: list[Voice]) -> None:
        super().__init__(edits, words)
        self._voices: list[Voice] | None = voices  # until they have been undone once
        self._names = [voice.name for voice in voices]
        self._trashed: list[int] = []

    def redo(self) -> None:
        if self._voices is None:
            self._attempt(self._have_back)
            return
        for voice in self._voices:
            self._edits.happened(self._edits.added, voice)
        self._edits.happened(self._edits.changed)

    def undo(self) -> None:
        self._voices = None
        self._attempt(self._give_away)

    def _have_back(self) -> None:
        self._names = self._restore(self._trashed)

    def _give_away(self) -> None:
        self._trashed = self._trash(self._names)


class _Remove(_Command):
    def __init__(self, edits: VoiceEdits, words: str, voices: list[Voice]) -> None:
        super().__init__(edits, words)
        self._names = [voice.name for voice in voices]
        self._trashed: list[int] = []

    def redo(self) -> None:
        self._attempt(self._give_away)

    def undo(self) -> None:
        self._attempt(self._have_back)

    def _give_away(self) -> None:
        self._trashed = self._trash(self._names)

    def _have_back(self) -> None:
        self._names = self._restore(self._trashed)


class _Restore(_Command):
    def __init__(self, edits: VoiceEdits, words: str, trashed: TrashedVoice) -> None:
        super().__init__(edits, words)
        self._names: list[str] = []
        self._trashed = [trashed.number]

    def redo(self) -> None:
        self._attempt(self._have_back)

    def undo(self) -> None:
        self._attempt(self._give_away)

    def _give_away(self) -> None:
        self._trashed = self._trash(self._names)

    def _have_back(self) -> None:
        self._names = self._restore(self._trashed)


class _Rename(_Command):
    def __init__(self, edits: VoiceEdits, words: str, before: str, after: str) -> None:
        super().__init__(edits, words)
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._attempt(self._rename)

    def undo(self) -> None:
        self._attempt(self._rename_back)

    def _rename(self) -> None:
        self._after = self._library.rename(self._before, self._after).name
        self._edits.happened(self._edits.renamed, self._before, self._after)

    def _rename_back(self) -> None:
        self._library.rename(self._after, self._before)
        self._edits.happened(self._edits.renamed, self._after, self._before)


class _Describe(_Command):
    def __init__(self, edits: VoiceEdits, words: str, name: str, before: Description, after: Description) -> None:
        super().__init__(edits, words)
        self._name = name
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._attempt(lambda: self._say(self._after))

    def undo(self) -> None:
        self._attempt(lambda: self._say(self._before))

    def _say(self, description: Description) -> None:
        voice = self._library.describe(
            self._name,
            transcript=description.transcript,
            notes=description.notes,
            language=description.language,
            consent=description.consent,
        )
        self._edits.happened(self._edits.added, voice)
