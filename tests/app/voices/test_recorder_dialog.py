"""Recorder: level, countdown, automatic stop, repeated recording, and missing or lost microphones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from microphone import Microphone, no_microphone
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.recording_session import RecordingSession, SessionState
from studio.audio.recording import InputCallback, InputStream, OpenInput

RATE = 24_000


def speech(seconds: float) -> np.ndarray:
    num_samples = int(seconds * RATE)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(num_samples) / RATE)
    return (np.random.default_rng(0).normal(0, 0.1, num_samples) * syllables).astype(np.float32)


SILENCE = np.zeros(3 * RATE, np.float32)


@pytest.fixture
def open_dialog(qtbot: QtBot, make_player: Callable[[QObject], AudioPlayer]) -> Callable[[OpenInput], RecorderDialog]:
    windows: list[QWidget] = []  # keeps a reference to each

    def open_dialog(open_input: OpenInput) -> RecorderDialog:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        session = RecordingSession(open_input=open_input, countdown_milliseconds=30, parent=window)
        dialog = RecorderDialog(session, make_player(window), window, device_names=lambda: ("Desk", "Webcam"))
        dialog.open()
        return dialog

    return open_dialog


@pytest.fixture
def microphone() -> Microphone:
    return Microphone()


def wait_for_state(qtbot: QtBot, dialog: RecorderDialog, state: SessionState) -> None:
    qtbot.waitUntil(lambda: dialog._session.state is state)


def test_a_recording_stops_after_silence(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    dialog = open_dialog(microphone.open)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    assert not dialog._use.isEnabled()
    microphone.deliver(speech(0.5))
    qtbot.waitUntil(lambda: dialog._meter.level_dbfs > -30)
    dialog._record.click()
    assert dialog._state.text() == "Speak in 3…"
    wait_for_state(qtbot, dialog, SessionState.RECORDING)
    for part in (SILENCE[: RATE // 2], speech(4.0), SILENCE[:RATE]):
        microphone.deliver(part)
    qtbot.waitUntil(lambda: dialog._state.text() == "Recording: 5.5 s")
    assert dialog._waveform.seconds == 5.5
    microphone.deliver(SILENCE)
    wait_for_state(qtbot, dialog, SessionState.RECORDED)
    assert dialog.recording.seconds == pytest.approx(8.5)
    assert dialog._state.text() == "8.5 seconds recorded."
    assert dialog.transcript.startswith("The harbour was quiet")
    dialog._reads.setChecked(False)
    assert dialog.transcript == ""
    dialog._use.click()
    assert dialog.result() == RecorderDialog.DialogCode.Accepted
    assert not microphone.is_running
    np.testing.assert_array_equal(dialog.recording.samples[RATE // 2 : 4 * RATE], speech(4.0)[: round(3.5 * RATE)])


@pytest.mark.slow
def test_a_recording_can_be_stopped_and_repeated(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    dialog = open_dialog(microphone.open)
    dialog._stops_after_silence.setChecked(False)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    for seconds in (2.0, 1.0):
        dialog._record.click()
        wait_for_state(qtbot, dialog, SessionState.RECORDING)
        microphone.deliver(speech(seconds))
        microphone.deliver(SILENCE)
        qtbot.wait(120)
        assert dialog._session.state is SessionState.RECORDING, "automatic stop is off"
        dialog._record.click()
        assert dialog.recording.seconds == seconds + 3.0
        assert dialog._record.text() == "Record again"
    dialog.reject()


def test_the_countdown_can_be_cancelled(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    dialog = open_dialog(microphone.open)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    dialog._record.click()
    dialog._record.click()
    assert dialog._session.state is SessionState.LISTENING
    qtbot.wait(150)
    assert dialog._session.state is SessionState.LISTENING
    dialog.reject()
    assert not microphone.is_running


def test_a_missing_microphone_is_reported(
    open_dialog: Callable[[OpenInput], RecorderDialog], qtbot: QtBot, report_of: Callable[[QWidget], str]
) -> None:
    dialog = open_dialog(no_microphone)
    wait_for_state(qtbot, dialog, SessionState.NO_MICROPHONE)
    assert dialog._problem.words == "No microphone can be used here. Connect a microphone, or use a sound file."
    assert report_of(dialog).startswith("error: no-audio-device\n")
    assert not dialog._record.isEnabled()
    assert dialog._refresh.isEnabled()
    dialog.reject()


def test_a_microphone_connected_later_is_found(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    results: list[OpenInput] = [no_microphone, microphone.open]

    def open_next(device: str | None, take: InputCallback) -> InputStream:
        return results.pop(0)(device, take)

    dialog = open_dialog(open_next)
    wait_for_state(qtbot, dialog, SessionState.NO_MICROPHONE)
    dialog._refresh.click()
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    assert dialog._record.isEnabled()
    assert not dialog._problem.isVisible()
    dialog.reject()


def test_the_recording_survives_a_lost_microphone(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    dialog = open_dialog(microphone.open)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    dialog._record.click()
    wait_for_state(qtbot, dialog, SessionState.RECORDING)
    microphone.deliver(speech(3.0))
    microphone.vanish()
    wait_for_state(qtbot, dialog, SessionState.RECORDED)
    assert dialog.recording.seconds == 3.0
    assert "The microphone was disconnected" in dialog._problem.words
    assert dialog._problem.isVisible()
    assert dialog._use.isEnabled()
    assert not dialog._record.isEnabled()
    dialog.reject()


def test_another_microphone_can_be_chosen(
    open_dialog: Callable[[OpenInput], RecorderDialog], microphone: Microphone, qtbot: QtBot
) -> None:
    dialog = open_dialog(microphone.open)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    assert [dialog._devices.itemText(row) for row in range(3)][1:] == ["Desk", "Webcam"]
    dialog._devices.setCurrentIndex(2)
    dialog._on_device_chosen()
    qtbot.waitUntil(lambda: microphone.device == "Webcam" and dialog._session.has_microphone)
    dialog.reject()


@pytest.mark.slow
def test_the_recording_can_be_played(
    open_dialog: Callable[[OpenInput], RecorderDialog],
    microphone: Microphone,
    outputs,
    qtbot: QtBot,  # type: ignore[no-untyped-def]
) -> None:
    dialog = open_dialog(microphone.open)
    wait_for_state(qtbot, dialog, SessionState.LISTENING)
    dialog._record.click()
    wait_for_state(qtbot, dialog, SessionState.RECORDING)
    microphone.deliver(speech(0.8))
    qtbot.wait(100)
    dialog._record.click()
    dialog._listen.click()
    qtbot.waitUntil(lambda: dialog._listen.text() == "Play")
    np.testing.assert_allclose(outputs.card.heard, dialog.recording.samples, atol=1e-6)
    dialog.reject()
