"""Clip editor: suggested segment, assessment of the selection, prompt mode and playback."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.new_voices import suggest_clip
from studio.app.voices.voice_details import DetailsForm
from studio.audio.waveform import Waveform
from studio.errors import VoiceExists
from studio.voices.clip_report import Aspect

MakePlayer = Callable[[QObject], AudioPlayer]


@pytest.fixture
def open_dialog(qtbot: QtBot, make_player: MakePlayer) -> Callable[..., ClipEditorDialog]:
    windows: list[QWidget] = []  # keeps a reference to each

    def open_dialog(recording: Waveform, **details: str) -> ClipEditorDialog:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        dialog = ClipEditorDialog(
            suggest_clip(recording, details.get("name", "Anna"), details.get("transcript", "")),
            make_player(window),
            window,
        )
        dialog.open()
        qtbot.waitUntil(lambda: dialog._report_view.clip_report is not None)
        return dialog

    return open_dialog


def test_the_best_segment_is_suggested_and_assessed(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform
) -> None:
    dialog = open_dialog(recording)
    window = dialog.window_of_clip
    assert (window.start_seconds, window.end_seconds) == (pytest.approx(1.9, abs=0.1), pytest.approx(10.2, abs=0.1))
    words = {aspect: row[1].text() for aspect, row in dialog._report_view._rows.items()}
    assert words[Aspect.LENGTH].endswith("s of speech.")
    assert all(words.values())
    assert dialog._create.isEnabled()
    assert not dialog._problem.isVisible()


@pytest.mark.slow
def test_changing_the_selection_updates_the_report(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform, qtbot: QtBot
) -> None:
    dialog = open_dialog(recording)
    dialog._waveform.select(2.0, 3.2)
    dialog._waveform.selection_changed.emit(2.0, 3.2)
    row = dialog._report_view._rows[Aspect.LENGTH][1]
    qtbot.waitUntil(lambda: row.text().startswith("Fair: It contains only"))
    dialog._waveform.select(0.0, 1.0)
    dialog._waveform.selection_changed.emit(0.0, 1.0)
    qtbot.waitUntil(dialog._problem.isVisible)
    assert "silent" in dialog._problem.words
    assert not dialog._create.isEnabled()
    dialog._select_suggestion()
    qtbot.waitUntil(dialog._create.isEnabled)
    assert row.text().endswith("s of speech.")


def test_a_low_sample_rate_is_reported_and_refused(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform
) -> None:
    dialog = open_dialog(Waveform(recording.samples, 8_000))
    assert "at least 16000 Hz is needed" in dialog._problem.words
    assert "16000" in dialog._report_view._rows[Aspect.BANDWIDTH][1].text()
    assert not dialog._create.isEnabled()


def test_the_mode_depends_on_the_transcript(open_dialog: Callable[..., ClipEditorDialog], recording: Waveform) -> None:
    form = open_dialog(recording)._form
    assert "audio alone" in form._mode_text.text()
    form.transcript.insertPlainText("今天天气很好")
    assert "best likeness" in form._mode_text.text()
    assert form.details.language == "zh"
    form._language.setCurrentIndex(form._language.findData("ja"))
    form._on_language_chosen()
    QTest.keyClicks(form.transcript, " and what she said then")
    assert form.details.language == "ja", "the language that the user chose is not changed"


def test_the_details_of_the_new_voice(open_dialog: Callable[..., ClipEditorDialog], recording: Waveform) -> None:
    dialog = open_dialog(recording, transcript="What she said.", name="Anna 2")
    form = dialog._form
    assert (dialog.details.name, dialog.details.transcript, dialog.details.language) == (
        "Anna 2",
        "What she said.",
        "en",
    )
    assert not dialog.details.consent
    form._consent.setChecked(True)
    form._consent_by.setText("Anna Ferrari")
    form._consent_scope.setText("one audio book")
    consent = dialog.details.consent
    assert (consent.by, consent.scope, len(consent.date)) == ("Anna Ferrari", "one audio book", 10)
    form.name.setText("  ")
    assert not dialog._create.isEnabled()


@pytest.mark.slow
def test_play_plays_the_selection(
    open_dialog: Callable[..., ClipEditorDialog],
    recording: Waveform,
    outputs,
    qtbot: QtBot,  # type: ignore[no-untyped-def]
) -> None:
    dialog = open_dialog(recording)
    dialog._waveform.select(4.0, 4.6)
    dialog._listen.click()
    assert dialog._listen.text() == "Stop"
    qtbot.waitUntil(lambda: (dialog._waveform.cursor_seconds or 0) > 4.1)
    qtbot.waitUntil(lambda: dialog._listen.text() == "Play selection")
    rate = recording.sample_rate
    np.testing.assert_allclose(outputs.card.heard, recording.samples[4 * rate : round(4.6 * rate)], atol=1e-6)
    assert dialog._waveform.cursor_seconds is None
    dialog._listen.click()
    dialog.reject()
    assert not dialog._player.is_playing


def test_an_error_keeps_the_input(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform, report_of: Callable[[QWidget], str]
) -> None:
    dialog = open_dialog(recording)
    dialog._form.name.setText("Ben")
    dialog.accept()
    dialog.show_problem(VoiceExists("A voice named {name} already exists.", remedy="Choose another.", name="Ben"))
    dialog.open()
    assert dialog._problem.words == "A voice named Ben already exists. Choose another."
    assert "A voice named ‹name› already exists." in report_of(dialog)
    assert dialog.details.name == "Ben"


def test_the_hint_below_the_transcript_does_not_cover_it_in_a_small_dialog(qtbot: QtBot) -> None:
    form = DetailsForm()
    qtbot.addWidget(form)
    form.resize(420, form.heightForWidth(420))
    form.show()
    assert form.height() == form.heightForWidth(420), "the page around it asks for this height"
    assert form.transcript.geometry().bottom() < form._mode_text.geometry().top()
