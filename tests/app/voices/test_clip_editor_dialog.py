"""The prompt doctor's dialog: it proposes, judges what the handles hold, says which mode follows, and plays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.clip_player import ClipPlayer
from studio.app.voices.clip_suggestion import suggest_clip
from studio.audio.waveform import Waveform
from studio.errors import VoiceExists
from studio.voices.clip_report import Aspect

MakePlayer = Callable[[QObject], ClipPlayer]


@pytest.fixture
def open_dialog(qtbot: QtBot, make_player: MakePlayer) -> Callable[..., ClipEditorDialog]:
    windows: list[QWidget] = []  # kept: nobody else refers to them

    def open_dialog(recording: Waveform, **details: str) -> ClipEditorDialog:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        dialog = ClipEditorDialog(
            suggest_clip(recording, "Anna", details.pop("transcript", "")), make_player(window), window, **details
        )
        dialog.open()
        qtbot.waitUntil(lambda: dialog._findings.clip_report is not None)
        return dialog

    return open_dialog


def test_it_proposes_the_best_part_and_judges_it(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform
) -> None:
    dialog = open_dialog(recording)
    window = dialog.window_of_clip
    assert (window.start_seconds, window.end_seconds) == (pytest.approx(1.9, abs=0.1), pytest.approx(10.2, abs=0.1))
    words = {subject: row[1].text() for subject, row in dialog._findings._rows.items()}
    assert words[Aspect.LENGTH].startswith("Good: ")
    assert all(words.values())
    assert dialog._make.isEnabled()
    assert not dialog._problem.isVisible()


def test_handles_change_the_verdict(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform, qtbot: QtBot
) -> None:
    dialog = open_dialog(recording)
    dialog._waveform.select(2.0, 3.2)
    dialog._waveform.selection_changed.emit(2.0, 3.2)
    row = dialog._findings._rows[Aspect.LENGTH][1]
    qtbot.waitUntil(lambda: row.text().startswith("Fair: It holds only"))
    dialog._waveform.select(0.0, 1.0)
    dialog._waveform.selection_changed.emit(0.0, 1.0)
    qtbot.waitUntil(dialog._problem.isVisible)
    assert "silent" in dialog._problem.words
    assert not dialog._make.isEnabled()
    dialog._propose()
    qtbot.waitUntil(dialog._make.isEnabled)
    assert row.text().startswith("Good: ")


def test_a_low_sample_rate_is_explained_and_nothing_made_of_it(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform
) -> None:
    dialog = open_dialog(Waveform(recording.samples, 8_000))
    assert "at least 16000 are needed" in dialog._problem.words
    assert "16000" in dialog._findings._rows[Aspect.BANDWIDTH][1].text()
    assert not dialog._make.isEnabled()


def test_the_transcript_decides_the_mode(open_dialog: Callable[..., ClipEditorDialog], recording: Waveform) -> None:
    form = open_dialog(recording)._form
    assert "cross-lingual" in form._mode_text.text()
    form.transcript.insertPlainText("今天天气很好")
    assert "Zero-shot" in form._mode_text.text()
    assert form.description.language == "zh"
    form._language.setCurrentIndex(form._language.findData("ja"))
    form._on_language_chosen()
    QTest.keyClicks(form.transcript, " and what she said then")
    assert form.description.language == "ja", "what was chosen stays"


def test_details(open_dialog: Callable[..., ClipEditorDialog], recording: Waveform) -> None:
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
    assert not dialog._make.isEnabled()


def test_listening_plays_the_chosen_part(
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
    qtbot.waitUntil(lambda: dialog._listen.text() == "Listen to this part")
    rate = recording.sample_rate
    np.testing.assert_allclose(outputs.card.heard, recording.samples[4 * rate : round(4.6 * rate)], atol=1e-6)
    assert dialog._waveform.cursor_seconds is None
    dialog._listen.click()
    dialog.reject()
    assert not dialog._player.is_playing


def test_a_problem_keeps_what_was_typed(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform, report_of: Callable[[QWidget], str]
) -> None:
    dialog = open_dialog(recording)
    dialog._form.name.setText("Ben")
    dialog.accept()
    dialog.show_problem(VoiceExists("There is a voice named {name} already.", remedy="Choose another.", name="Ben"))
    dialog.open()
    assert dialog._problem.words == "There is a voice named Ben already. Choose another."
    assert "There is a voice named ‹name› already." in report_of(dialog)
    assert dialog.details.name == "Ben"


def test_everything_can_be_reached_and_is_named(
    open_dialog: Callable[..., ClipEditorDialog], recording: Waveform
) -> None:
    dialog = open_dialog(recording)
    for control in dialog.findChildren(QWidget):
        is_inner = control.objectName().startswith("qt_") or isinstance(control.parent(), QLineEdit)
        if control.focusPolicy() & Qt.FocusPolicy.TabFocus and control.isVisible() and not is_inner:
            words = control.accessibleName() or (control.text() if isinstance(control, QAbstractButton) else "")
            title = getattr(control, "title", lambda: "")()
            assert words or title or control.metaObject().className() in ("QScrollArea",), control
