"""The dock as a person uses it: drop, answer, rename, search, delete, have it back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import noise_models
import pytest
from microphone import Microphone
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot
from thread_worker import ThreadWorker

from studio.app.voices import clip_suggestion
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.clip_player import ClipPlayer
from studio.app.voices.edit_dialog import EditDialog
from studio.app.voices.panel import VoicesPanel
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.voice_importer import VoiceImportServices
from studio.errors import OutOfMemory, StudioError
from studio.voices.grades import Grade
from studio.voices.library import Voice, VoiceLibrary


@pytest.fixture
def stack(qtbot: QtBot) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def microphone() -> Microphone:
    return Microphone()


@pytest.fixture
def panel(
    library: VoiceLibrary,
    stack: QUndoStack,
    microphone: Microphone,
    make_player: Callable[[QObject], ClipPlayer],
    qtbot: QtBot,
) -> VoicesPanel:
    panel = VoicesPanel(library, stack, VoiceImportServices(make_player, microphone.open, start_worker=ThreadWorker))
    qtbot.addWidget(panel)
    panel.resize(300, 600)
    panel.show()
    qtbot.waitUntil(lambda: panel.is_loaded)
    return panel


def refresh(panel: VoicesPanel, qtbot: QtBot) -> None:
    """Wait until the panel shows what the library holds now."""
    with qtbot.waitSignal(panel.voices_changed):
        panel.refresh()


def names(panel: VoicesPanel) -> list[str]:
    return [voice.name for voice in panel.voices]


def open_doctor(panel: VoicesPanel, qtbot: QtBot) -> ClipEditorDialog:
    def is_ready() -> bool:
        dialogs = [dialog for dialog in panel.findChildren(ClipEditorDialog) if dialog.isVisible()]
        return bool(dialogs) and dialogs[0]._make.isEnabled()

    qtbot.waitUntil(is_ready)
    (dialog,) = [dialog for dialog in panel.findChildren(ClipEditorDialog) if dialog.isVisible()]
    return dialog


def test_an_empty_library_says_what_to_do(panel: VoicesPanel) -> None:
    assert panel._empty.isVisible()
    assert panel._empty.text().startswith("No voices yet.")
    assert panel.current_voice is None
    assert panel.voice_at(1) is None


def test_a_dropped_sound_becomes_a_voice(
    panel: VoicesPanel, make_sound: Callable[..., Path], stack: QUndoStack, qtbot: QtBot
) -> None:
    sound = make_sound("anna.wav", seconds=14.0)
    assert panel.voice_importer.describe_drop([sound]) == "Drop it to make a voice of anna.wav"
    panel.voice_importer.take([sound])
    dialog = open_doctor(panel, qtbot)
    dialog._form.transcript.setPlainText("What she said.")
    dialog.accept()
    qtbot.waitUntil(lambda: names(panel) == ["anna"])
    (voice,) = panel.voices
    assert 3.0 < voice.clip_seconds < 10.5
    assert (voice.transcript, voice.language, voice.quality) == ("What she said.", "en", Grade.GOOD)
    assert panel.current_voice == voice, "its card is selected"
    qtbot.waitUntil(lambda: panel._model.card(0).picture is not None)
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == [])
    stack.redo()
    qtbot.waitUntil(lambda: names(panel) == ["anna"])


def test_a_name_that_is_taken_gets_a_number_and_one_typed_is_asked_for_again(
    panel: VoicesPanel, make_sound: Callable[..., Path], library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    library.add(clip, "Ben")
    panel.voice_importer.take([make_sound("anna.wav")])
    dialog = open_doctor(panel, qtbot)
    assert dialog.details.name == "anna 2"
    dialog._form.name.setText("ben")
    dialog.accept()
    qtbot.waitUntil(lambda: "already" in dialog._problem.words and dialog.isVisible())
    dialog._form.name.setText("Clara")
    dialog.accept()
    qtbot.waitUntil(lambda: "Clara" in names(panel))


def test_several_sounds_become_several_voices_at_once(
    panel: VoicesPanel, make_sound: Callable[..., Path], stack: QUndoStack, tmp_path: Path, qtbot: QtBot
) -> None:
    for name in ("clips/anna.wav", "clips/ben.flac", "clips/deep/anna.wav"):
        make_sound(name)
    (tmp_path / "clips" / "broken.mp3").write_bytes(b"no sound at all")
    errors: list[StudioError] = []
    panel.failed.connect(errors.append)
    told: list[str] = []
    panel.status_message.connect(told.append)
    panel.voice_importer.take([tmp_path / "clips"])
    qtbot.waitUntil(lambda: len(names(panel)) == 3)
    assert names(panel) == ["anna", "anna 2", "ben"]
    assert [words for words in told if words.startswith("Making")] == [
        f"Making voices: {number} of 4…" for number in (1, 2, 3, 4)
    ]
    qtbot.waitUntil(lambda: bool(errors))
    assert errors[0].message == "1 of 4 files could not become voices."
    assert "broken.mp3 is not a readable audio file" in errors[0].remedy
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == [])


def test_why_a_voice_could_not_be_prepared_is_told_from_its_menu(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._open_menu(QPoint(1, 1))
    assert not panel._actions["problem"].isEnabled()
    error = OutOfMemory("There is no memory left.", remedy="Close other programs.")
    panel._model.set_preparation("Anna", Preparation(PreparationState.FAILED, error=error))
    panel._open_menu(QPoint(1, 1))
    with qtbot.waitSignal(panel.failed) as failed:
        panel._actions["problem"].trigger()
    assert failed.args == [error]


def test_what_cannot_become_a_voice_is_a_sentence(panel: VoicesPanel, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "text.txt").write_text("x")
    assert panel.voice_importer.describe_drop([tmp_path / "text.txt"]) is None
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.take([tmp_path / "text.txt"])
    assert str(failed.args[0]).startswith("text.txt: there is no sound in it")
    (tmp_path / "bad.wav").write_text("not a sound")
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.take([tmp_path / "bad.wav"])
    assert "not a readable audio file" in str(failed.args[0])


def test_recording_leads_to_the_doctor(
    panel: VoicesPanel,
    microphone: Microphone,
    recording,
    qtbot: QtBot,  # type: ignore[no-untyped-def]
) -> None:
    panel.voice_importer.record()
    (recorder,) = panel.findChildren(RecorderDialog)
    qtbot.waitUntil(lambda: recorder._session.has_microphone)
    recorder._session._countdown.setInterval(20)
    recorder._record.click()
    qtbot.waitUntil(lambda: recorder._state.text().startswith("Recording"))
    microphone.hear(recording.samples)
    qtbot.waitUntil(recorder._use.isEnabled)
    recorder._use.click()
    doctor = open_doctor(panel, qtbot)
    assert doctor.details.name == "My voice"
    assert (doctor.details.transcript or "").startswith("The harbour")
    doctor.accept()
    qtbot.waitUntil(lambda: names(panel) == ["My voice"])
    qtbot.waitUntil(lambda: not panel.findChildren(RecorderDialog) and not panel.findChildren(ClipEditorDialog))


def test_rename_in_place(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    renamed: list[tuple[str, str]] = []
    panel.voice_renamed.connect(lambda before, after: renamed.append((before, after)))
    panel._list.setFocus()
    panel._actions["rename"].trigger()
    editor = panel._list.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "Clara")
    panel._model.set_preparation("Anna", Preparation(PreparationState.RUNNING, 0.5))
    assert editor.text() == "Clara", "progress does not undo what is being typed"
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: names(panel) == ["Clara"])
    assert renamed == [("Anna", "Clara")]
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])


def test_delete_and_have_back(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    removed: list[str] = []
    panel.voice_removed.connect(removed.append)
    panel._list.selectAll()
    panel._actions["delete"].trigger()
    qtbot.waitUntil(lambda: names(panel) == [])
    assert removed == ["Anna", "Ben"]
    assert panel._empty.isVisible()
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Anna", "Ben"])
    assert panel._list.isVisible()


def test_voices_deleted_on_other_days_can_be_had_back(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    library.trash("Anna")
    refresh(panel, qtbot)
    panel._open_menu(QPoint(5, 5))
    (menu,) = [menu for menu in panel.findChildren(QMenu) if menu.isVisible()]
    deleted = menu.actions()[-1].menu()
    assert isinstance(deleted, QMenu)
    (action,) = deleted.actions()
    assert action.text().startswith("Anna, deleted on ")
    action.trigger()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == [])
    stack.redo()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])
    menu.close()


def test_choosing_and_numbers(panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    second = panel.voice_at(2)
    assert second is not None
    assert second.name == "Ben"
    panel.select("Ben")
    with qtbot.waitSignal(panel.voice_chosen) as chosen:
        panel._actions["choose"].trigger()
    assert chosen.args == ["Ben"]


def test_search_narrows_and_return_goes_on_to_what_was_found(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    QTest.keyClicks(panel._search, "be")
    assert panel._filter.rowCount() == 1
    assert len(panel.voices) == 2, "numbers stay"
    QTest.keyClick(panel._search, Qt.Key.Key_Return)
    assert panel.current_voice is not None
    assert panel.current_voice.name == "Ben"
    QTest.keyClicks(panel._search, "xyz")
    assert panel._empty.text() == "No voice is called that."


def test_words_notes_and_consent(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._actions["edit"].trigger()
    (dialog,) = panel.findChildren(EditDialog)
    dialog._form.transcript.setPlainText("Was sie gesagt hat, und nicht nur das.")
    dialog._form.name.setText("Clara")
    dialog._form._consent.setChecked(True)
    dialog._form._consent_by.setText("Clara")
    dialog.accept()
    qtbot.waitUntil(lambda: [voice.name for voice in library.voices()] == ["Clara"])
    voice = library.get("Clara")
    assert (voice.transcript, voice.language, voice.consent.by) == (
        "Was sie gesagt hat, und nicht nur das.", "de", "Clara",
    )  # fmt: skip
    stack.undo()
    stack.undo()
    qtbot.waitUntil(lambda: [voice.transcript for voice in library.voices() if voice.name == "Anna"] == [None])


def test_the_programs_own_voices_are_left_alone(
    library: VoiceLibrary, clip: Path, tmp_path: Path, panel: VoicesPanel, qtbot: QtBot
) -> None:
    (tmp_path / "built-in" / "Harbour.wav").write_bytes(clip.read_bytes())
    refresh(panel, qtbot)
    panel.select("Harbour")
    enabled = {name for name, action in panel._actions.items() if action.isEnabled()}
    assert enabled == {"choose", "listen", "doctor", "duplicate", "export"}
    panel._actions["duplicate"].trigger()
    qtbot.waitUntil(lambda: names(panel) == ["Harbour", "Harbour 2"])


def test_a_voice_travels_as_a_file(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    voice = library.add(clip, "Anna", "Said.").voice
    with qtbot.waitSignal(panel.status_message) as told:
        panel.export_to(voice, tmp_path / "anna.voice")
    assert told.args == [f"Wrote {tmp_path / 'anna.voice'}"]
    panel.voice_importer.take([tmp_path / "anna.voice"])
    qtbot.waitUntil(lambda: names(panel) == ["Anna", "Anna 2"])
    (tmp_path / "evil.voice").write_bytes(b"PK\x03\x04 not really")
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.take([tmp_path / "evil.voice"])
    assert failed.args[0].code == "bad-voice-file"


def test_listening_to_a_clip(
    panel: VoicesPanel,
    library: VoiceLibrary,
    clip: Path,
    outputs,
    qtbot: QtBot,  # type: ignore[no-untyped-def]
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._actions["listen"].trigger()
    qtbot.waitUntil(lambda: outputs.card.first_sound is not None)
    panel._player.stop()


def test_a_damaged_library_is_a_sentence(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    (tmp_path / "voices" / "library.sqlite3").write_bytes(b"no database " * 100)
    with qtbot.waitSignal(panel.failed) as failed:
        panel.refresh()
    assert failed.args[0].code == "damaged-library"


def test_official_stored_voices_are_taken_over(
    panel: VoicesPanel, library: VoiceLibrary, stack: QUndoStack, qtbot: QtBot
) -> None:
    path = noise_models.V2 / "spk2info.pt"

    async def scenario() -> None:
        panel.voice_importer._import_stored(path)
        async with asyncio.timeout(60):
            await asyncio.gather(*panel.voice_importer._imports)

    asyncio.run(scenario())
    qtbot.waitUntil(lambda: bool(panel.voices))
    (voice,) = panel.voices
    assert (voice.name, voice.generation) == ("my_zero_shot_spk", "cosyvoice2")
    panel.select(voice.name)
    assert not panel._actions["listen"].isEnabled(), "there is no recording"
    stack.undo()
    qtbot.waitUntil(lambda: library.voices() == [])


def test_stored_voices_without_a_model_are_a_sentence(panel: VoicesPanel, tmp_path: Path) -> None:
    (tmp_path / "spk2info.pt").write_bytes(b"x")
    errors: list[StudioError] = []
    panel.failed.connect(errors.append)

    async def scenario() -> None:
        await panel.voice_importer._take_over(tmp_path / "spk2info.pt")

    asyncio.run(scenario())
    assert [error.code for error in errors] == ["model-not-found"]


def test_a_bug_in_the_background_is_told(
    panel: VoicesPanel, make_sound: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(clip_suggestion, "propose_from", fail)
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.take([make_sound("anna.wav")])
    assert failed.args[0].code == "internal-error"


def test_everything_is_named_and_reached_by_keys(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    for control in panel.findChildren(QWidget):
        if control.isVisible() and control.focusPolicy() & Qt.FocusPolicy.TabFocus:
            words = control.text() if isinstance(control, QAbstractButton) else ""
            assert control.accessibleName() or words, control
    order, control = [], panel._search
    for _ in range(20):
        order.append(control)
        control = control.nextInFocusChain()  # type: ignore[assignment]
    places = [order.index(each) for each in (panel._search, panel._list, panel._new, panel._record)]
    assert places == sorted(places)


def test_two_hundred_voices_are_shown_at_once(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    """Counted in readings of the list, not in seconds, which depend on the machine."""
    first = library.add(clip, "Anna").voice
    many = [replace(first, name=f"Voice {number}") for number in range(200)]
    readings = 0

    def voices() -> list[Voice]:
        nonlocal readings
        readings += 1
        return many

    library.voices = voices  # type: ignore[method-assign]
    refresh(panel, qtbot)
    assert readings == 1
    assert panel._filter.rowCount() == 200
    assert not panel.grab().isNull()


def test_the_window_does_not_wait_for_the_library(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(clip, "Anna")
    gate = threading.Event()
    voices = library.voices
    readers: list[int] = []

    def read_slowly() -> list[Voice]:
        readers.append(threading.get_ident())
        gate.wait(60)
        return voices()

    monkeypatch.setattr(library, "voices", read_slowly)
    panel.refresh()
    assert names(panel) == [], "refresh returned although the library cannot be read yet"
    gate.set()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])
    assert threading.get_ident() not in readers


def test_until_the_library_is_read_no_voice_is_called_missing(
    library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    panel = VoicesPanel(library, stack)
    qtbot.addWidget(panel)
    assert not panel.is_loaded
    assert panel._empty.text() == ""
    qtbot.waitUntil(lambda: panel.is_loaded)
    assert names(panel) == ["Anna"]


def test_a_model_that_is_loaded_before_the_library_prepares_its_voices(
    library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(clip, "Anna")
    panel = VoicesPanel(library, stack)
    qtbot.addWidget(panel)
    requested: list[str] = []
    monkeypatch.setattr(panel.preparation, "request", lambda voice, *, is_urgent=True: requested.append(voice.name))
    panel.use_model(None)
    assert requested == []
    qtbot.waitUntil(lambda: requested == ["Anna"])
