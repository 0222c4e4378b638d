"""The voices panel: import, rename, search, delete, restore and export."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import noise_models
import pytest
import torch
from microphone import Microphone
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot
from thread_worker import ThreadWorker

from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices import new_voices
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.panel import VoicesPanel
from studio.app.voices.preload_queue import Preparation, PreparationState
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.voice_details import EditDialog
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_importer import VoiceImportServices
from studio.catalog.built_in_speakers import list_speakers
from studio.errors import OutOfMemory, StudioError
from studio.voices.library import Voice, VoiceLibrary
from studio.voices.voice import Grade


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
    make_player: Callable[[QObject], AudioPlayer],
    qtbot: QtBot,
) -> VoicesPanel:
    panel = VoicesPanel(
        VoiceEdits(library, stack), lambda: VoiceImportServices(make_player, microphone.open, start_worker=ThreadWorker)
    )
    qtbot.addWidget(panel)
    panel.resize(300, 600)
    panel.show()
    qtbot.waitUntil(lambda: panel.is_loaded)
    return panel


def refresh(panel: VoicesPanel, qtbot: QtBot) -> None:
    """Reload the library and wait until the panel shows it."""
    with qtbot.waitSignal(panel.voices_changed):
        panel.refresh()


def names(panel: VoicesPanel) -> list[str]:
    return [voice.name for voice in panel.voices]


def open_clip_editor(panel: VoicesPanel, qtbot: QtBot) -> ClipEditorDialog:
    def is_ready() -> bool:
        dialogs = [dialog for dialog in panel.findChildren(ClipEditorDialog) if dialog.isVisible()]
        return bool(dialogs) and dialogs[0]._create.isEnabled()

    qtbot.waitUntil(is_ready)
    (dialog,) = [dialog for dialog in panel.findChildren(ClipEditorDialog) if dialog.isVisible()]
    return dialog


def test_an_empty_library_shows_a_hint(panel: VoicesPanel) -> None:
    assert panel._placeholder.isVisible()
    assert panel._placeholder.text().startswith("No voices yet.")
    assert panel.current_voice is None
    assert panel.voice_at(1) is None


def test_a_dropped_recording_becomes_a_voice(
    panel: VoicesPanel, make_recording: Callable[..., Path], stack: QUndoStack, qtbot: QtBot
) -> None:
    recording = make_recording("anna.wav", seconds=14.0)
    assert panel.voice_importer.describe_drop([recording]) == "Drop to create a voice from anna.wav"
    panel.voice_importer.import_paths([recording])
    dialog = open_clip_editor(panel, qtbot)
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


def test_a_taken_name_gets_a_number_and_a_typed_one_is_refused(
    panel: VoicesPanel, make_recording: Callable[..., Path], library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    library.add(clip, "Ben")
    panel.voice_importer.import_paths([make_recording("anna.wav")])
    dialog = open_clip_editor(panel, qtbot)
    assert dialog.details.name == "anna 2"
    dialog._form.name.setText("ben")
    dialog.accept()
    qtbot.waitUntil(lambda: "already" in dialog._problem.words and dialog.isVisible())
    dialog._form.name.setText("Clara")
    dialog.accept()
    qtbot.waitUntil(lambda: "Clara" in names(panel))


def test_several_files_become_voices_without_dialogs(
    panel: VoicesPanel, make_recording: Callable[..., Path], stack: QUndoStack, tmp_path: Path, qtbot: QtBot
) -> None:
    for name in ("clips/anna.wav", "clips/ben.flac", "clips/deep/anna.wav"):
        make_recording(name)
    (tmp_path / "clips" / "broken.mp3").write_bytes(b"no sound at all")
    errors: list[StudioError] = []
    panel.failed.connect(errors.append)
    messages: list[str] = []
    panel.status_message.connect(messages.append)
    panel.voice_importer.import_paths([tmp_path / "clips"])
    qtbot.waitUntil(lambda: len(names(panel)) == 3)
    assert names(panel) == ["anna", "anna 2", "ben"]
    assert [words for words in messages if words.startswith("Creating")] == [
        f"Creating voices: {number} of 4…" for number in (1, 2, 3, 4)
    ]
    qtbot.waitUntil(lambda: bool(errors))
    assert str(errors[0].problem) == "1 of 4 files could not be imported."
    assert "broken.mp3 is not a readable audio file" in str(errors[0].remedy)
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == [])


def test_the_menu_shows_a_preparation_error(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._open_menu(QPoint(1, 1))
    assert not panel._list.actions_by_name["problem"].isEnabled()
    error = OutOfMemory("There is no memory left.", remedy="Close other programs.")
    panel._model.set_preparation("Anna", Preparation(PreparationState.FAILED, error=error))
    panel._open_menu(QPoint(1, 1))
    with qtbot.waitSignal(panel.failed) as failed:
        panel._list.actions_by_name["problem"].trigger()
    assert failed.args == [error]


def test_unusable_files_are_reported(panel: VoicesPanel, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "text.txt").write_text("x")
    assert panel.voice_importer.describe_drop([tmp_path / "text.txt"]) is None
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.import_paths([tmp_path / "text.txt"])
    assert str(failed.args[0]).startswith("text.txt: no usable audio found")
    (tmp_path / "bad.wav").write_text("not a sound")
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.import_paths([tmp_path / "bad.wav"])
    assert "not a readable audio file" in str(failed.args[0])


def test_a_recording_opens_the_clip_editor(
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
    microphone.deliver(recording.samples)
    qtbot.waitUntil(recorder._use.isEnabled)
    recorder._use.click()
    editor = open_clip_editor(panel, qtbot)
    assert editor.details.name == "My voice"
    assert (editor.details.transcript or "").startswith("The harbour")
    editor.accept()
    qtbot.waitUntil(lambda: names(panel) == ["My voice"])
    qtbot.waitUntil(lambda: not panel.findChildren(RecorderDialog) and not panel.findChildren(ClipEditorDialog))


def test_a_voice_is_renamed_in_its_card(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    renamed: list[tuple[str, str]] = []
    panel.voice_renamed.connect(lambda before, after: renamed.append((before, after)))
    panel._list.setFocus()
    panel._list.actions_by_name["rename"].trigger()
    editor = panel._list.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "Clara")
    panel._model.set_preparation("Anna", Preparation(PreparationState.RUNNING, 0.5))
    assert editor.text() == "Clara", "progress does not overwrite typed text"
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: names(panel) == ["Clara"])
    assert renamed == [("Anna", "Clara")]
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])


def test_deleting_voices_can_be_undone(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    panel._list.selectAll()
    panel._list.actions_by_name["delete"].trigger()
    qtbot.waitUntil(lambda: names(panel) == [])
    assert panel._placeholder.isVisible()
    stack.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Anna", "Ben"])
    assert panel._list.isVisible()


def test_deleted_voices_can_be_restored_from_the_menu(
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


def test_a_voice_is_chosen_by_its_number_or_by_the_menu(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    second = panel.voice_at(2)
    assert second is not None
    assert second.name == "Ben"
    panel.select("Ben")
    with qtbot.waitSignal(panel.voice_chosen) as chosen:
        panel._list.actions_by_name["choose"].trigger()
    assert chosen.args == ["Ben"]


def test_search_filters_and_return_selects_the_first_match(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    for name in ("Anna", "Ben"):
        library.add(clip, name)
    refresh(panel, qtbot)
    QTest.keyClicks(panel._search, "be")
    assert panel._filter.rowCount() == 1
    assert len(panel.voices) == 2, "numbers do not depend on the search"
    QTest.keyClick(panel._search, Qt.Key.Key_Return)
    assert panel.current_voice is not None
    assert panel.current_voice.name == "Ben"
    QTest.keyClicks(panel._search, "xyz")
    assert panel._placeholder.text() == "No matching voices"


def test_tags_in_the_notes_are_proposed_and_found(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    for name, notes in (("Anna", "Warm. #narrator, #English"), ("Ben", "#narrator"), ("Clara", "no tag # here")):
        library.add(clip, name, notes=notes)
    refresh(panel, qtbot)
    QTest.keyClicks(panel._search, "#")
    completer = panel._search.completer()
    model = completer.completionModel()
    assert [model.index(row, 0).data() for row in range(completer.completionCount())] == ["#English", "#narrator"]
    completer.activated.emit("#narrator")
    panel._search.setText("#narrator")
    assert panel._filter.rowCount() == 2
    completer.popup().hide()


def test_transcript_and_consent_can_be_edited(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, stack: QUndoStack, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._list.actions_by_name["edit"].trigger()
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


def test_renaming_a_bundled_voice_can_be_undone(
    library: VoiceLibrary, clip: Path, tmp_path: Path, panel: VoicesPanel, qtbot: QtBot
) -> None:
    (tmp_path / "built-in" / "Harbour.wav").write_bytes(clip.read_bytes())
    refresh(panel, qtbot)
    renamed: list[tuple[str, str]] = []
    panel.voice_renamed.connect(lambda before, after: renamed.append((before, after)))
    panel._list.rename(library.get("Harbour"), "Port")
    qtbot.waitUntil(lambda: names(panel) == ["Port"])
    panel._edits._stack.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Harbour"])
    assert renamed == [("Harbour", "Port"), ("Port", "Harbour")]


def test_only_the_name_of_a_bundled_voice_can_be_changed(
    library: VoiceLibrary, clip: Path, tmp_path: Path, panel: VoicesPanel, qtbot: QtBot
) -> None:
    (tmp_path / "built-in" / "Harbour.wav").write_bytes(clip.read_bytes())
    refresh(panel, qtbot)
    panel.select("Harbour")
    enabled = {name for name, action in panel._list.actions_by_name.items() if action.isEnabled()}
    assert enabled == {"choose", "listen", "rename", "reopen", "duplicate", "export"}
    panel._list.actions_by_name["duplicate"].trigger()
    qtbot.waitUntil(lambda: names(panel) == ["Harbour", "Harbour 2"])


def test_two_speakers_of_a_model_are_mixed_from_the_menu(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    shutil.copy(noise_models.V1 / "cosyvoice.yaml", tmp_path)
    torch.save({name: {"embedding": torch.randn(1, 192)} for name in ("Bob", "Mei")}, tmp_path / "spk2info.pt")
    for speaker in list_speakers(tmp_path):
        library.add_copy(speaker, speaker.name)
    refresh(panel, qtbot)

    def open_menu() -> tuple[QMenu, QAction]:
        panel._list.open_menu(QPoint(5, 5), [])
        (menu,) = (each for each in panel._list.findChildren(QMenu) if each.isVisible())
        (mix,) = (each for each in menu.actions() if each.text() == "Mix both voices")
        return menu, mix

    panel.select("Bob")
    menu, mix = open_menu()
    assert not mix.isEnabled()
    menu.close()
    panel._list.selectAll()
    menu, mix = open_menu()
    mix.trigger()
    menu.close()
    qtbot.waitUntil(lambda: "Bob+Mei" in names(panel))


def test_a_voice_file_is_exported_and_imported(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    voice = library.add(clip, "Anna", "Said.").voice
    with qtbot.waitSignal(panel.status_message) as messages:
        panel._list.export_to(voice, tmp_path / "anna.voice")
    assert messages.args == [f"Saved {tmp_path / 'anna.voice'}"]
    panel.voice_importer.import_paths([tmp_path / "anna.voice"])
    qtbot.waitUntil(lambda: names(panel) == ["Anna", "Anna 2"])
    (tmp_path / "evil.voice").write_bytes(b"PK\x03\x04 not really")
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.import_paths([tmp_path / "evil.voice"])
    assert failed.args[0].code == "bad-voice-file"


def test_a_clip_is_played(
    panel: VoicesPanel,
    library: VoiceLibrary,
    clip: Path,
    outputs,
    qtbot: QtBot,  # type: ignore[no-untyped-def]
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    panel.select("Anna")
    panel._list.actions_by_name["listen"].trigger()
    qtbot.waitUntil(lambda: outputs.card.first_sound is not None)
    panel._list._player.stop()


def test_a_damaged_library_is_reported(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    (tmp_path / "voices" / "library.sqlite3").write_bytes(b"no database " * 100)
    with qtbot.waitSignal(panel.failed) as failed:
        panel.refresh()
    assert failed.args[0].code == "damaged-library"


def test_official_stored_voices_are_imported(
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
    assert not panel._list.actions_by_name["listen"].isEnabled(), "stored features have no recording"
    stack.undo()
    qtbot.waitUntil(lambda: library.voices() == [])


def test_stored_voices_without_a_model_are_reported(panel: VoicesPanel, tmp_path: Path) -> None:
    (tmp_path / "spk2info.pt").write_bytes(b"x")
    errors: list[StudioError] = []
    panel.failed.connect(errors.append)

    async def scenario() -> None:
        await panel.voice_importer._import_spk2info(tmp_path / "spk2info.pt")

    asyncio.run(scenario())
    assert [error.code for error in errors] == ["model-not-found"]


def test_an_unexpected_error_in_the_background_is_reported(
    panel: VoicesPanel, make_recording: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(new_voices, "suggest_from_file", fail)
    with qtbot.waitSignal(panel.failed) as failed:
        panel.voice_importer.import_paths([make_recording("anna.wav")])
    assert failed.args[0].code == "internal-error"


def test_the_tab_key_goes_from_the_search_to_the_list_and_the_buttons(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    refresh(panel, qtbot)
    order, control = [], panel._search
    for _ in range(20):
        order.append(control)
        control = control.nextInFocusChain()  # type: ignore[assignment]
    places = [order.index(each) for each in (panel._search, panel._list, panel._new, panel._record)]
    assert places == sorted(places)


def test_a_refresh_reads_the_library_once(panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot) -> None:
    """The test counts reads, because the time depends on the machine."""
    first = library.add(clip, "Anna").voice
    many = [replace(first, name=f"Voice {number}") for number in range(200)]
    num_reads = 0

    def voices() -> list[Voice]:
        nonlocal num_reads
        num_reads += 1
        return many

    library.voices = voices  # type: ignore[method-assign]
    refresh(panel, qtbot)
    assert num_reads == 1
    assert panel._filter.rowCount() == 200
    assert not panel.grab().isNull()


def test_the_library_is_read_in_the_background(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(clip, "Anna")
    may_read = threading.Event()
    voices = library.voices
    reading_threads: list[int] = []

    def read_slowly() -> list[Voice]:
        reading_threads.append(threading.get_ident())
        may_read.wait(60)
        return voices()

    monkeypatch.setattr(library, "voices", read_slowly)
    panel.refresh()
    assert names(panel) == [], "refresh returns before the library has been read"
    may_read.set()
    qtbot.waitUntil(lambda: names(panel) == ["Anna"])
    assert threading.get_ident() not in reading_threads


def test_no_hint_is_shown_before_the_library_is_read(
    library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot
) -> None:
    library.add(clip, "Anna")
    panel = VoicesPanel(VoiceEdits(library, stack))
    qtbot.addWidget(panel)
    assert not panel.is_loaded
    assert panel._placeholder.text() == ""
    qtbot.waitUntil(lambda: panel.is_loaded)
    assert names(panel) == ["Anna"]


def test_voices_are_prepared_when_the_model_is_loaded_first(
    library: VoiceLibrary, stack: QUndoStack, clip: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(clip, "Anna")
    panel = VoicesPanel(VoiceEdits(library, stack))
    qtbot.addWidget(panel)
    requested: list[str] = []
    monkeypatch.setattr(panel.preparation, "request", lambda voice, *, is_urgent=True: requested.append(voice.name))
    panel.use_model(None)
    assert requested == []
    qtbot.waitUntil(lambda: requested == ["Anna"])
