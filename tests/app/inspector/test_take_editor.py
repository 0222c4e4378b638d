"""Editing a take: trimming it, and speaking selected words again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.inspector.take_editor import TakeEditor
from studio.app.inspector.take_rows import mark_texts, take_rows
from studio.app.window import MainWindow
from studio.export.project_lines import lines_of_project
from studio.pipeline.request import Mode, SentenceEvidence, SynthesisReport
from studio.project.changes import AddTake, EditDictionary, EditLines, EditTakes
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.lines import LineState
from studio.project.take_match import TakeMatch, compare_take
from studio.project.takes import Take, TakeParameters
from studio.provenance.statement import REPLACED_WORDS
from studio.take_checks.records import TakeCheck, Verdict, WordTime
from studio.take_checks.words import split_words
from studio.voices.voice import Consent

RATE = 24_000
TEXT = "Nobody told the gulls, and they went on as ever."


def words(seconds: float, level: float = 0.2) -> np.ndarray:
    times = np.arange(round(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * 200 * times)).astype(np.float32)


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    """A line with a take of two seconds of tone, half a second of silence, and two seconds of tone."""
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": TEXT, "voice": "Anna"}}))
    bench.add_take(np.concatenate([words(2.0), np.zeros(RATE // 2, np.float32), words(2.0)]))
    return bench.open_window()


def add_take_with_tokens(bench: Bench, text: str = TEXT, model_key: str = "") -> Take:
    """Add a take of 0.1 s for each token, four for each word, as the fake model speaks known tokens."""
    project, line = bench.session.editor.project, bench.lines[0]
    tokens = tuple(range(100, 100 + 4 * len(text.split())))
    folder = bench.session.model_selection.local_folder().name
    parameters = TakeParameters(
        text, 1, project.fingerprint_of(line.id), "zero-shot", "Anna", "", "model", model_key or f"weights of {folder}"
    )
    recorder = project.begin_take(line.id, parameters, RATE)
    recorder.append(np.repeat(np.array(tokens, np.float32) / 1000, RATE // 10))
    seconds = 0.1 * len(tokens)
    evidence = SentenceEvidence(text, 0.0, seconds, tokens, token_seconds=0.1)
    report = SynthesisReport(0.5, seconds, 1.0, RATE, Mode.ZERO_SHOT, 50, {}, {}, evidence=(evidence,))
    words = tuple(
        WordTime(word.text, 0.4 * number, 0.4 * number + 0.4, word.start, word.end)
        for number, word in enumerate(split_words(text))
    )
    take = replace(recorder.finish(report), check=TakeCheck(Verdict.GOOD, words=words))
    bench.session.editor.apply(AddTake(take))
    return take


@pytest.fixture
def spoken(bench: Bench) -> Take:
    """A take whose speech tokens and word times are known."""
    bench.add_voice()
    bench.session.editor.apply(EditLines({bench.lines[0].id: {"text": TEXT, "voice": "Anna"}}))
    return add_take_with_tokens(bench)


def edit(bench: Bench) -> TakeEditor:
    window = bench.open_window()
    bench.trigger("play.edit_take")
    dialog = window.findChildren(TakeEditor)[0]
    bench.until(dialog._play.isEnabled)
    return dialog


@pytest.fixture
def take(bench: Bench, window: MainWindow) -> Take:
    return bench.session.editor.project.takes_of(bench.lines[0].id)[0]


@pytest.fixture
def dialog(bench: Bench, window: MainWindow, take: Take) -> TakeEditor:
    bench.trigger("play.edit_take")
    dialog = window.findChildren(TakeEditor)[0]
    bench.until(dialog._play.isEnabled)
    return dialog


def select(dialog: TakeEditor, selected: str) -> None:
    start = TEXT.index(selected)
    cursor = dialog._text.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(start + len(selected), QTextCursor.MoveMode.KeepAnchor)
    dialog._text.setTextCursor(cursor)


def takes(bench: Bench) -> tuple[Take, ...]:
    return bench.session.editor.project.takes_of(bench.lines[0].id)


def test_trimming_is_heard_and_undone(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    project = bench.session.editor.project
    dialog._waveform.select(1.0, 4.0)
    dialog._trim.click()
    assert len(project.samples_of(take.id)) == 3 * RATE
    dialog._untrim.click()
    assert len(project.samples_of(take.id)) == round(4.5 * RATE)
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert project.take(take.id).trim_start_seconds == 0.0
    assert not dialog._untrim.isEnabled()
    dialog.reject()


def test_enter_presses_the_focused_button_and_not_the_default_one(bench: Bench, dialog: TakeEditor) -> None:
    dialog._waveform.select(1.0, 4.0)
    dialog.activateWindow()
    dialog._trim.setFocus()
    bench.until(dialog._trim.hasFocus)
    QTest.keyClick(dialog._trim, Qt.Key.Key_Return)
    assert dialog._untrim.isEnabled(), "the take was trimmed"
    assert dialog.isVisible()
    dialog.reject()


def test_selected_words_select_their_span_between_the_pauses(bench: Bench, dialog: TakeEditor) -> None:
    select(dialog, "Nobody told the gulls")
    assert dialog._waveform.selection is not None
    start, end = dialog._waveform.selection
    assert start == 0.0
    assert end == pytest.approx(2.0, abs=0.3)
    dialog.reject()


def test_keys_on_the_waveform_select_words(bench: Bench, dialog: TakeEditor) -> None:
    dialog._waveform.select(2.5, 4.5)
    dialog._waveform.setFocus()
    QTest.keyClick(dialog._waveform, Qt.Key.Key_Left)
    assert dialog._text.textCursor().selectedText().endswith("on as ever.")
    dialog.reject()


def test_words_are_said_again_and_all_else_is_kept(bench: Bench, spoken: Take) -> None:
    project, dialog = bench.session.editor.project, edit(bench)
    assert not dialog._say.isEnabled()  # no word is selected
    assert not dialog._say_changed.isEnabled()
    select(dialog, "gulls")
    assert dialog._waveform.selection == pytest.approx((1.2, 1.6), abs=0.01), "the time of the word, by the check"
    dialog._say.click()
    assert not dialog._trim.isEnabled()
    bench.until(lambda: len(takes(bench)) == 2)
    made = takes(bench)[1]
    assert bench.lines[0].chosen_take == made.id
    assert compare_take(project, made) is TakeMatch.CURRENT
    assert project.state_of(bench.lines[0].id) is LineState.READY
    before, after = project.recording_of(spoken.id), project.recording_of(made.id)
    np.testing.assert_array_equal(after[: round(0.98 * RATE)], before[: round(0.98 * RATE)])
    np.testing.assert_array_equal(after[-round(2.2 * RATE) :], before[-round(2.2 * RATE) :])
    assert after.max() > 0.9, "the new tokens"
    (evidence,) = project.evidence_of(made.id)
    assert evidence.speech_tokens[:11] == tuple(range(100, 111))
    assert evidence.speech_tokens[-20:] == tuple(range(120, 140))
    bench.until(lambda: dialog.windowTitle() == "Edit Take 2")
    bench.until(lambda: dialog._player.is_playing)
    bench.trigger("edit.undo")
    assert [each.id for each in takes(bench)] == [spoken.id]
    assert bench.lines[0].chosen_take == spoken.id
    bench.trigger("edit.redo")
    np.testing.assert_array_equal(project.recording_of(made.id), after)
    dialog.reject()


def test_only_words_that_the_dictionary_changes_are_said_again(bench: Bench, spoken: Take) -> None:
    project = bench.session.editor.project
    bench.session.editor.apply(EditDictionary(PronunciationDictionary((DictionaryEntry("gulls", "seagulls"),))))
    assert compare_take(project, spoken) is TakeMatch.OLDER_TEXT
    dialog = edit(bench)
    assert dialog._say_changed.isEnabled()
    dialog._say_changed.click()
    bench.until(lambda: len(takes(bench)) == 2)
    made = takes(bench)[1]
    assert made.parameters.text == TEXT.replace("gulls", "seagulls")
    assert compare_take(project, made) is TakeMatch.CURRENT
    before, after = project.recording_of(spoken.id), project.recording_of(made.id)
    np.testing.assert_array_equal(after[: round(0.98 * RATE)], before[: round(0.98 * RATE)])
    np.testing.assert_array_equal(after[-round(2.2 * RATE) :], before[-round(2.2 * RATE) :])
    dialog.reject()


def test_words_of_a_recording_are_replaced_with_the_consent_of_its_speaker(
    bench: Bench, spoken: Take, tmp_path: Path
) -> None:
    project, line = bench.session.editor.project, bench.lines[0]
    source = tmp_path / "recording.wav"
    soundfile.write(source, project.recording_of(spoken.id), RATE, subtype="FLOAT")
    bench.open_window()
    bench.parts.recorded_takes.add(line.id, source)
    bench.until(lambda: "consent of the speaker of Anna is not recorded" in bench.window.notices.words)
    assert len(takes(bench)) == 1

    bench.library.update_metadata("Anna", consent=Consent("Anna"))
    bench.parts.recorded_takes.add(line.id, source)
    bench.until(lambda: len(takes(bench)) == 2)
    recorded = takes(bench)[1]
    assert (recorded.parameters.mode, recorded.is_recording) == (Mode.RECORDING.value, True)
    assert project.state_of(line.id) is LineState.READY
    assert [mark_texts(row) for row in take_rows(project, line.id) if row.take.id == recorded.id] == [["Recording"]]
    np.testing.assert_array_equal(project.recording_of(recorded.id), project.recording_of(spoken.id))
    words = spoken.check.words  # type: ignore[union-attr]
    bench.session.editor.apply(EditTakes({recorded.id: {"check": TakeCheck(Verdict.GOOD, words=words)}}))

    bench.trigger("play.edit_take")
    (dialog,) = bench.window.findChildren(TakeEditor)
    bench.until(dialog._play.isEnabled)
    select(dialog, "gulls")
    dialog._say.click()
    bench.until(lambda: len(takes(bench)) == 3)
    made = takes(bench)[2]
    assert (made.parameters.mode, made.is_recording) == (Mode.REPLACED_WORDS.value, True)
    before, after = project.recording_of(recorded.id), project.recording_of(made.id)
    np.testing.assert_array_equal(after[: round(0.98 * RATE)], before[: round(0.98 * RATE)])
    np.testing.assert_array_equal(after[-round(2.2 * RATE) :], before[-round(2.2 * RATE) :])
    (spoken_line,) = (item.spoken for item in lines_of_project(project, [line.id]).items)
    assert spoken_line.recording == REPLACED_WORDS

    bench.library.update_metadata("Anna", consent=Consent())
    bench.until(dialog._say.isEnabled)
    select(dialog, "told")
    dialog._say.click()
    bench.until(dialog._problem.isVisible)
    assert "consent" in dialog._problem.words
    dialog.reject()


def test_words_of_a_take_without_tokens_cannot_be_said_again(bench: Bench, spoken: Take) -> None:
    """Takes that were edited, joined or spoken by another model."""
    for expected, model_key in (("model, which is not loaded", "another"), ("tokens of this take are not stored", "")):
        take = add_take_with_tokens(bench, model_key=model_key)
        if not model_key:
            bench.session.editor.project._storage.put_evidence(take.id, "[]")
        dialog = edit(bench)
        select(dialog, "gulls")
        dialog._say.click()
        bench.until(dialog._problem.isVisible)
        assert expected in dialog._problem.words
        assert dialog._say.isEnabled()
        dialog.reject()
        dialog.setParent(None)


def test_an_error_is_shown_and_the_take_stays(bench: Bench, dialog: TakeEditor, take: Take) -> None:
    bench.library.remove("Anna")
    select(dialog, "Nobody told the gulls")
    dialog._say.click()
    bench.until(dialog._problem.isVisible)
    assert [each.id for each in takes(bench)] == [take.id]
    assert dialog._say.isEnabled()
    dialog.reject()


@pytest.mark.slow
def test_closing_the_dialog_cancels(bench: Bench, spoken: Take) -> None:
    dialog = edit(bench)
    select(dialog, "gulls")
    dialog._say.click()
    dialog.reject()
    bench.live(1.0)
    assert [each.id for each in takes(bench)] == [spoken.id]


def test_a_take_of_a_locked_line_is_not_changed(bench: Bench, window: MainWindow, take: Take) -> None:
    window.script.toggle_lock()
    bench.trigger("play.edit_take")
    dialog = window.findChildren(TakeEditor)[0]
    bench.until(dialog._play.isEnabled)
    select(dialog, "Nobody told the gulls")
    assert not dialog._say.isEnabled()
    assert not dialog._trim.isEnabled()
    assert "locked" in dialog._message.text()
    dialog.reject()
