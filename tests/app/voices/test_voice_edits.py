"""Undo and redo of library changes; failed commands are reported and removed."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import noise_models
import pytest
import torch
from PySide6.QtGui import QUndoCommand, QUndoStack
from pytestqt.qtbot import QtBot

from studio.app.voices.voice_edits import VoiceEdits
from studio.catalog.built_in_speakers import list_speakers
from studio.errors import StudioError, VoiceExists
from studio.voices.library import Consent, Voice, VoiceDetails, VoiceLibrary, details_of


@pytest.fixture
def stack(qtbot: QtBot) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def edits(library: VoiceLibrary, stack: QUndoStack) -> VoiceEdits:
    return VoiceEdits(library, stack)


def wait_until_idle(edits: VoiceEdits, qtbot: QtBot) -> None:
    """Wait until all steps have finished."""
    qtbot.waitUntil(lambda: not edits._is_busy and not edits._waiting)


def names(library: VoiceLibrary) -> list[str]:
    return [voice.name for voice in library.voices()]


def test_a_new_voice_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    voice = library.add(clip, "Anna", "Said.").voice
    edits.keep([voice])
    wait_until_idle(edits, qtbot)
    assert stack.undoText() == "New voice Anna"
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == []
    stack.redo()
    wait_until_idle(edits, qtbot)
    assert library.get("Anna") == voice
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == []


def test_deletion_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    before = [library.add(clip, name).voice for name in ("Anna", "Ben")]
    removed: list[str] = []
    edits.removed.connect(removed.append)
    edits.remove(before)
    wait_until_idle(edits, qtbot)
    assert (names(library), removed) == ([], ["Anna", "Ben"])
    assert stack.undoText() == "Delete 2 voices"
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert library.voices() == before
    stack.redo()
    wait_until_idle(edits, qtbot)
    assert names(library) == []


def test_a_failed_deletion_keeps_all_voices(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    anna, ben = (library.add(clip, name).voice for name in ("Anna", "Ben"))
    library.remove("Ben")
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    edits.remove([anna, ben])
    wait_until_idle(edits, qtbot)
    assert len(errors) == 1
    assert names(library) == ["Anna"]
    assert not stack.canUndo(), "there is nothing to undo"


def test_renaming_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    anna = library.add(clip, "Anna").voice
    library.add(clip, "Ben")
    renames: list[tuple[str, str]] = []
    edits.renamed.connect(lambda before, after: renames.append((before, after)))
    edits.rename(anna, " Clara ")
    wait_until_idle(edits, qtbot)
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert renames == [("Anna", "Clara"), ("Clara", "Anna")]
    assert names(library) == ["Anna", "Ben"]
    stack.redo()
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Ben", "Clara"]
    stack.undo()
    wait_until_idle(edits, qtbot)
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    edits.rename(anna, "ben")
    wait_until_idle(edits, qtbot)
    assert isinstance(errors[0], VoiceExists)
    assert names(library) == ["Anna", "Ben"]
    edits.rename(anna, "Anna")
    wait_until_idle(edits, qtbot)
    assert not stack.canUndo(), "the command does not stay on the stack"


def test_a_command_may_be_pushed_when_a_voice_is_added(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    edits.changed.connect(lambda: stack.push(QUndoCommand("Change voice")) if stack.count() == 1 else None)
    edits.keep([library.add(clip, "Anna").voice])
    wait_until_idle(edits, qtbot)
    assert [stack.text(index) for index in range(stack.count())] == ["New voice Anna", "Change voice"]
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Anna"]
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == []


def test_changed_details_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    before = library.add(clip, "Anna", "Said.", notes="old").voice
    wanted = VoiceDetails("Anna", "Other words.", "new", language="en", consent=Consent("Anna", "2026-11-21", "tests"))
    edits.describe(before, wanted)
    wait_until_idle(edits, qtbot)
    assert details_of(library.get("Anna")) == wanted
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert library.get("Anna") == before
    edits.describe(before, details_of(before))
    wait_until_idle(edits, qtbot)
    assert stack.index() == 0, "the command does not stay on the stack"


def test_a_duplicate_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    edits.duplicate(library.add(clip, "Anna").voice)
    wait_until_idle(edits, qtbot)
    qtbot.waitUntil(lambda: stack.count() == 1)
    assert names(library) == ["Anna", "Anna 2"]
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Anna"]


def test_a_mixture_of_two_speakers_can_be_undone(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, tmp_path: Path, qtbot: QtBot
) -> None:
    speakers = {name: {"embedding": torch.randn(1, 192)} for name in ("中文女", "英文男")}
    shutil.copy(noise_models.V1 / "cosyvoice.yaml", tmp_path)
    torch.save(speakers, tmp_path / "spk2info.pt")
    edits.mix(list_speakers(tmp_path))
    wait_until_idle(edits, qtbot)
    qtbot.waitUntil(lambda: stack.count() == 1)
    assert names(library) == ["中文女+英文男"]
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == []


def test_changes_run_in_the_background_in_order(
    edits: VoiceEdits, library: VoiceLibrary, clip: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = library.add(clip, "Anna").voice
    may_rename = threading.Event()
    rename = library.rename

    def rename_slowly(name: str, new_name: str) -> Voice:
        may_rename.wait(60)
        return rename(name, new_name)

    monkeypatch.setattr(library, "rename", rename_slowly)
    edits.rename(anna, "Clara")
    edits.rename(anna, "Dora")
    assert names(library) == ["Anna"], "the call returns before the library has been changed"
    may_rename.set()
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Clara"], "one change after the other"
    assert [error.code for error in errors] == ["voice-not-found"]


def test_a_change_undone_before_it_fails_is_removed(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    anna = library.add(clip, "Anna").voice
    library.add(clip, "Ben")
    errors: list[StudioError] = []
    edits.failed.connect(errors.append)
    edits.rename(anna, "Ben")
    stack.undo()
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Anna", "Ben"]
    assert [error.code for error in errors] == ["voice-exists"]
    assert stack.count() == 0


def test_clearing_the_stack_while_changes_are_pending(
    edits: VoiceEdits, library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    anna = library.add(clip, "Anna").voice
    library.add(clip, "Ben")
    edits.rename(anna, "Ben")
    edits.rename(anna, "Clara")
    stack.clear()
    wait_until_idle(edits, qtbot)
    assert names(library) == ["Ben", "Clara"]
    assert stack.count() == 0
