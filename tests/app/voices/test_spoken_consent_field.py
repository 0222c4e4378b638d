"""Spoken consent in the details of a voice: recorded or chosen, compared, and kept with the voice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_checks import FakeChecks
from microphone import Microphone
from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog
from pytestqt.qtbot import QtBot

from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.panel import VoicesPanel
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.recording_session import SessionState
from studio.app.voices.spoken_consent_field import SpokenConsentField
from studio.app.voices.voice_details import EditDialog
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.voice_importer import VoiceImportServices
from studio.audio.files import read_audio
from studio.take_checks.records import TakeCheck, Transcript, Verdict
from studio.take_checks.requests import TranscriptRequest
from studio.voices.library import VoiceLibrary
from studio.voices.voice import SpokenWords

PATIENCE = 60_000


@pytest.fixture
def checks() -> FakeChecks:
    return FakeChecks()


@pytest.fixture
def microphone() -> Microphone:
    return Microphone()


@pytest.fixture
def panel(
    library: VoiceLibrary,
    checks: FakeChecks,
    microphone: Microphone,
    make_player: Callable[[QObject], AudioPlayer],
    clip: Path,
    qtbot: QtBot,
) -> VoicesPanel:
    library.add(clip, "Anna")
    panel = VoicesPanel(
        VoiceEdits(library, QUndoStack()),
        lambda: VoiceImportServices(make_player, microphone.open, open_checks=checks),  # type: ignore[arg-type]
    )
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.is_loaded)
    panel.select("Anna")
    return panel


def open_details(panel: VoicesPanel) -> tuple[EditDialog, SpokenConsentField]:
    panel._list.actions_by_name["edit"].trigger()
    (dialog,) = panel.findChildren(EditDialog)
    (field,) = dialog.findChildren(SpokenConsentField)
    return dialog, field


def choose(field: SpokenConsentField, clip: Path, qtbot: QtBot) -> None:
    field._choose.click()
    (dialog,) = field.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(clip))
    dialog.reject()
    qtbot.waitUntil(field.isEnabled, timeout=PATIENCE)


def test_a_consent_is_recorded_compared_and_saved(
    panel: VoicesPanel, library: VoiceLibrary, microphone: Microphone, clip: Path, checks: FakeChecks, qtbot: QtBot
) -> None:
    dialog, field = open_details(panel)
    dialog._form._consent.setChecked(True)
    assert not field._record.isEnabled()
    dialog._form._consent_by.setText("Anna Ferrari")
    assert "My name is Anna Ferrari." in field._sentence.text()
    field._record.click()
    (recorder,) = field.findChildren(RecorderDialog)
    assert recorder.transcript.startswith("My name is Anna Ferrari.")
    recorder._session._countdown.setInterval(20)
    qtbot.waitUntil(lambda: recorder._session.has_microphone)
    recorder._record.click()
    qtbot.waitUntil(lambda: recorder._session.state is SessionState.RECORDING)
    microphone.deliver(read_audio(clip).resampled(recorder._session.sample_rate).samples)
    qtbot.waitUntil(lambda: recorder._session.recorded_seconds > 2)
    recorder._record.click()
    recorder._use.click()
    qtbot.waitUntil(lambda: field.spoken is not None, timeout=PATIENCE)
    assert field._result.text() == "Similarity to the voice: 0.80. The sentence was heard."
    assert checks.requests[-1].prompt_clip == library.get("Anna").clip
    dialog.accept()
    qtbot.waitUntil(lambda: library.get("Anna").consent.spoken == field.spoken)
    kept = library.consent_clip(library.get("Anna"))
    assert kept is not None
    assert read_audio(kept).seconds > 2


def test_another_speaker_with_other_words_is_shown(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, checks: FakeChecks, qtbot: QtBot
) -> None:
    checks._result = lambda _: TakeCheck(Verdict.GOOD, similarity=0.31)
    checks.transcribe_with = lambda _: Transcript("", error_code="recognizer-not-found")
    dialog, field = open_details(panel)
    dialog._form._consent.setChecked(True)
    dialog._form._consent_by.setText("Ben")
    choose(field, clip, qtbot)
    shown = field._result.text()
    assert shown.startswith("Similarity 0.31: probably another speaker")
    assert shown.endswith("No recogniser could compare the words.")
    dialog.accept()
    qtbot.waitUntil(lambda: library.get("Anna").consent.spoken is not None)
    spoken = library.get("Anna").consent.spoken
    assert spoken is not None
    assert (spoken.similarity, spoken.words) == (0.31, SpokenWords.UNKNOWN)


def test_details_are_not_saved_before_the_comparison_has_ended(
    panel: VoicesPanel, clip: Path, checks: FakeChecks, qtbot: QtBot
) -> None:
    may_end = threading.Event()

    def heard_late(request: TranscriptRequest) -> Transcript:
        may_end.wait()
        return Transcript(request.typed)

    checks.transcribe_with = heard_late
    dialog, field = open_details(panel)
    dialog._form._consent.setChecked(True)
    dialog._form._consent_by.setText("Anna")
    save = dialog.findChildren(QDialogButtonBox)[0].button(QDialogButtonBox.StandardButton.Save)
    field._compare(clip, "My name is Anna.")
    assert not save.isEnabled()
    may_end.set()
    qtbot.waitUntil(save.isEnabled, timeout=PATIENCE)
    assert field.spoken is not None
    dialog._form.name.setText(" ")
    assert not save.isEnabled()
    dialog.reject()


def test_a_recorded_consent_is_shown_again_and_can_be_removed(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, qtbot: QtBot
) -> None:
    dialog, field = open_details(panel)
    dialog._form._consent.setChecked(True)
    dialog._form._consent_by.setText("Anna")
    choose(field, clip, qtbot)
    dialog.accept()
    qtbot.waitUntil(lambda: library.get("Anna").consent.spoken is not None)
    qtbot.waitUntil(lambda: bool(panel.current_voice and panel.current_voice.consent.spoken))
    qtbot.waitUntil(lambda: not panel.findChildren(EditDialog))
    dialog, field = open_details(panel)
    assert field._result.text().startswith("Similarity to the voice: 0.80.")
    dialog._form._consent_by.setText("Anna Ferrari")
    assert "My name is Anna. " in field._sentence.text(), "the sentence of the recording"
    field._remove.click()
    assert "My name is Anna Ferrari. " in field._sentence.text()
    dialog.accept()
    qtbot.waitUntil(lambda: library.get("Anna").consent.spoken is None)


def test_a_file_that_is_not_audio_is_reported(panel: VoicesPanel, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "notes.wav").write_text("no sound")
    dialog, field = open_details(panel)
    dialog._form._consent.setChecked(True)
    dialog._form._consent_by.setText("Anna")
    choose(field, tmp_path / "notes.wav", qtbot)
    assert "notes.wav" in field._problem.words
    assert (field.spoken, field._result.isHidden()) == (None, True)
    dialog.reject()


def test_a_new_voice_gets_a_consent_that_is_compared_with_the_selected_part(
    panel: VoicesPanel, library: VoiceLibrary, clip: Path, checks: FakeChecks, qtbot: QtBot
) -> None:
    importer = panel._list._importer()
    importer.import_paths([clip])
    qtbot.waitUntil(lambda: bool(importer._window.findChildren(ClipEditorDialog)), timeout=PATIENCE)
    (editor,) = importer._window.findChildren(ClipEditorDialog)
    qtbot.waitUntil(editor._create.isEnabled, timeout=PATIENCE)
    (field,) = editor.findChildren(SpokenConsentField)
    assert not field.isVisible()
    editor._form._consent.setChecked(True)
    assert field.isVisible()
    editor._form._consent_by.setText("Anna")
    choose(field, clip, qtbot)
    num_compared = len(checks.requests)
    assert num_compared
    editor._waveform.select(0.0, 2.0, shortest_seconds=0.5, longest_seconds=10.0)
    editor._waveform.selection_changed.emit(0.0, 2.0)
    qtbot.waitUntil(lambda: len(checks.requests) > num_compared, timeout=PATIENCE)
    qtbot.waitUntil(editor._create.isEnabled, timeout=PATIENCE)
    editor._form.name.setText("Anna 2")
    editor.accept()
    qtbot.waitUntil(lambda: "Anna 2" in [voice.name for voice in library.voices()], timeout=PATIENCE)
    assert library.get("Anna 2").consent.spoken == field.spoken
    assert library.consent_clip(library.get("Anna 2")) is not None
