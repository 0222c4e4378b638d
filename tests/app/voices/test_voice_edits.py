"""Every change to the library can be undone and done again, and a failure is told and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QUndoCommand, QUndoStack
from pytestqt.qtbot import QtBot

from studio.app.voices.voice_edits import Description, VoiceEdits
from studio.errors import StudioError, VoiceExists
from studio.voices.library import Consent, VoiceLibrary


@pytest.fixture
def stack(qtbot: QtBot) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def edits(library: VoiceLibrary, stack: QUndoStack) -> VoiceEdits:
    return VoiceEdits(library, stack)


def names(library: VoiceLibrary) -> list[str]:
    return [voice.name for voice in library.voices()]


def test_a_new_voice_can_be_undone(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path) -> None:
    voice = library.add(clip, "Anna", "Said.").voice
    edits.keep([voice])
    assert stack.undoText() == "New voice Anna"
    stack.undo()
    assert names(library) == []
    stack.redo()
    assert library.get("Anna") == voice
    stack.undo()
    assert names(library) == []


def test_deleted_voices_come_back(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path) -> None:
    before = [library.add(clip, name).voice for name in ("Anna", "Ben")]
    removed: list[str] = []
    edits.removed.connect(removed.append)
    edits.remove(before)
    assert (names(library), removed) == ([], ["Anna", "Ben"])
    assert stack.undoText() == "Delete 2 voices"
    stack.undo()
    assert library.voices() == before
    stack.redo()
    assert names(library) == []


def test_all_or_none_are_deleted(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path) -> None:
    anna, ben = (library.add(clip, name).voice for name in ("Anna", "Ben"))
    library.remove("Ben")
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    edits.remove([anna, ben])
    assert len(errors) == 1
    assert names(library) == ["Anna"]
    assert not stack.canUndo(), "there is nothing to undo"


def test_rename(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path) -> None:
    anna = library.add(clip, "Anna").voice
    library.add(clip, "Ben")
    told: list[tuple[str, str]] = []
    edits.renamed.connect(lambda before, after: told.append((before, after)))
    edits.rename(anna, " Clara ")
    stack.undo()
    assert told == [("Anna", "Clara"), ("Clara", "Anna")]
    assert names(library) == ["Anna", "Ben"]
    stack.redo()
    assert names(library) == ["Ben", "Clara"]
    stack.undo()
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    edits.rename(anna, "ben")
    assert isinstance(errors[0], VoiceExists)
    assert names(library) == ["Anna", "Ben"]
    edits.rename(anna, "Anna")
    assert not stack.canUndo(), "nothing was changed"


def test_whoever_hears_of_a_new_voice_may_push_a_step_of_their_own(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path
) -> None:
    edits.changed.connect(lambda: stack.push(QUndoCommand("Lines speak in it")) if stack.count() == 1 else None)
    edits.keep([library.add(clip, "Anna").voice])
    assert [stack.text(index) for index in range(stack.count())] == ["New voice Anna", "Lines speak in it"]
    stack.undo()
    assert names(library) == ["Anna"]
    stack.undo()
    assert names(library) == []


def test_describe(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path) -> None:
    before = library.add(clip, "Anna", "Said.", notes="old").voice
    wanted = Description("Other words.", "new", "en", Consent("Anna", "2026-11-21", "tests"))
    edits.describe(before, wanted)
    assert Description.of(library.get("Anna")) == wanted
    stack.undo()
    assert library.get("Anna") == before
    edits.describe(before, Description.of(before))
    assert stack.index() == 0, "nothing was changed"


def test_duplicate(edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot) -> None:
    edits.duplicate(library.add(clip, "Anna").voice)
    qtbot.waitUntil(lambda: stack.count() == 1)
    assert names(library) == ["Anna", "Anna 2"]
    stack.undo()
    assert names(library) == ["Anna"]
