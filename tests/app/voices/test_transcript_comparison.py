"""The transcript of a voice is compared with its recording, or proposed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from fake_checks import FakeChecks
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot
from window_bench import Bench, clip_of_noise

from studio.app.models.model_tasks import ModelTasks
from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.new_voices import suggest_clip
from studio.app.voices.transcript_comparison import TranscriptComparison
from studio.app.voices.voice_details import EditDialog
from studio.audio.waveform import Waveform
from studio.errors import SourceUnreachable
from studio.settings_store import Settings
from studio.take_checks.records import Difference, DifferenceKind, Transcript
from studio.take_checks.requests import TranscriptRequest

PATIENCE = 30_000
TYPED = "😀 Nobody told the gulls."


def transcribe(request: TranscriptRequest) -> Transcript:
    """Hear "nobody" for "Nobody", "girls" for "gulls", and "all" in addition."""
    if "gulls" not in request.typed:
        return Transcript("nobody told the girls")
    at = request.typed.index("gulls")
    return Transcript(
        "nobody told all the girls",
        differences=(
            Difference(DifferenceKind.OTHER, "gulls", "girls", at, at + 5, 1.0, 1.4),
            Difference(DifferenceKind.EXTRA, "", "all", at - 4, at - 4, 0.8, 0.9),
            Difference(DifferenceKind.MISSING, "Nobody", "", 2, 8, 0.0, 0.2),
        ),
    )


@pytest.fixture
def checks() -> FakeChecks:
    checks = FakeChecks()
    checks.transcribe_with = transcribe
    return checks


@pytest.fixture
def open_dialog(
    qtbot: QtBot, make_player: Callable[[QObject], AudioPlayer], recording: Waveform, checks: FakeChecks
) -> Callable[[str], ClipEditorDialog]:
    windows: list[QWidget] = []  # keeps a reference to each

    def open_dialog(transcript: str) -> ClipEditorDialog:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        suggestion = suggest_clip(recording, "Anna", transcript)
        dialog = ClipEditorDialog(suggestion, make_player(window), window, transcribe=checks.transcribe)
        dialog.open()
        return dialog

    return open_dialog


def comparison_of(dialog: QWidget) -> TranscriptComparison:
    return dialog.findChildren(TranscriptComparison)[0]


def wait_for(qtbot: QtBot, dialog: QWidget, words: str) -> None:
    comparison = comparison_of(dialog)
    qtbot.waitUntil(lambda: comparison.isVisible() and comparison.words.text().startswith(words), timeout=PATIENCE)


def marked(dialog: ClipEditorDialog) -> list[str]:
    return [mark.cursor.selectedText() for mark in dialog._form.transcript.extraSelections()]


@pytest.mark.slow
def test_a_proposal_is_inserted_by_one_click_only(
    open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot, checks: FakeChecks
) -> None:
    dialog = open_dialog("")
    wait_for(qtbot, dialog, "Heard: “nobody told the girls”")
    assert dialog.details.transcript is None, "a proposal is not inserted by itself"
    assert len(checks.transcript_requests[-1].samples) == pytest.approx(8.0 * 24_000, rel=0.1), "the selection"
    comparison = comparison_of(dialog)
    assert comparison.use.isVisible()
    QTest.mouseClick(comparison.use, Qt.MouseButton.LeftButton)
    assert dialog.details.transcript == "nobody told the girls"
    wait_for(qtbot, dialog, "The recording contains these words.")
    assert not comparison.use.isVisible()
    dialog._form.transcript.undo()
    assert dialog.details.transcript is None
    dialog.reject()


@pytest.mark.slow
def test_words_that_differ_are_named_and_marked(open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot) -> None:
    dialog = open_dialog(TYPED)
    wait_for(qtbot, dialog, "The recording differs")
    assert comparison_of(dialog).words.text() == (
        "The recording differs: “gulls” was heard as “girls”, “all” is missing here, “Nobody” was not heard."
    )
    assert marked(dialog) == ["gulls", "the", "Nobody"]
    field = dialog._form.transcript
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "Nobody told all the girls.")
    wait_for(qtbot, dialog, "The recording contains these words.")
    assert marked(dialog) == []
    dialog.reject()


@pytest.mark.slow
def test_what_was_heard_replaces_the_transcript_of_another_recording(
    open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot, checks: FakeChecks
) -> None:
    """Only the differing words were listed, until the field was emptied."""
    typed = "A text about boats."

    def hear(request: TranscriptRequest) -> Transcript:
        if request.typed != typed:
            return transcribe(request)
        other = Difference(DifferenceKind.OTHER, "text about boats", "nobody told", 2, 18, 0.0, 1.0)
        return Transcript("nobody told the girls", differences=(other,))

    checks.transcribe_with = hear
    dialog = open_dialog(typed)
    wait_for(qtbot, dialog, "The recording says something else: “nobody told the girls”")
    comparison = comparison_of(dialog)
    assert comparison.use.isVisible()
    assert comparison.use.text() == "Use what was heard"
    QTest.keyClick(comparison.use, Qt.Key.Key_Space)
    assert dialog.details.transcript == "nobody told the girls"
    dialog.reject()


@pytest.mark.slow
def test_another_selection_is_compared_again(
    open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot, checks: FakeChecks
) -> None:
    dialog = open_dialog(TYPED)
    wait_for(qtbot, dialog, "The recording differs")
    before = len(checks.transcript_requests)
    dialog._waveform.select(3.0, 7.0)
    dialog._waveform.selection_changed.emit(3.0, 7.0)
    qtbot.waitUntil(lambda: len(checks.transcript_requests) > before, timeout=PATIENCE)
    request = checks.transcript_requests[-1]
    assert len(request.samples) / request.sample_rate == pytest.approx(4.0, abs=0.3)
    wait_for(qtbot, dialog, "The recording differs")
    dialog.reject()


@pytest.mark.parametrize(
    ("code", "typed", "words"),
    [
        (
            "recognizer-not-found",
            TYPED,
            "SenseVoiceSmall can compare the words with the recording. It is not installed yet.",
        ),
        (
            "recognizer-not-found",
            "",
            "SenseVoiceSmall can compare the words with the recording. It is not installed yet. "
            "Type the words of the recording.",
        ),
        (
            "unrecognized-voice",
            TYPED,
            "The recogniser does not understand this voice, so the transcript is not compared.",
        ),
        ("unrecognized-voice", "", "The recogniser does not understand this voice. Type the words of the recording."),
        ("checker-died", TYPED, "The transcript was not compared (checker-died)."),
        ("checker-died", "", "No words were recognised (checker-died). Type the words of the recording."),
    ],
)
def test_without_a_result_one_sentence_says_why(
    open_dialog: Callable[[str], ClipEditorDialog],
    qtbot: QtBot,
    checks: FakeChecks,
    code: str,
    typed: str,
    words: str,
) -> None:
    checks.transcribe_with = lambda _: Transcript("", error_code=code)
    dialog = open_dialog(typed)
    wait_for(qtbot, dialog, words)
    assert not comparison_of(dialog).use.isVisible()
    assert dialog._create.isEnabled(), "the voice can be created all the same"
    dialog.reject()


def test_a_missing_recogniser_is_downloaded_without_leaving_the_dialog(
    qtbot: QtBot, make_player: Callable[[QObject], AudioPlayer], recording: Waveform, checks: FakeChecks, tmp_path: Path
) -> None:
    checks.transcribe_with = lambda _: Transcript("", error_code="recognizer-not-found")
    models = ModelTasks(Settings(tmp_path / "settings.json"), lambda work: work.close())
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ClipEditorDialog(
        suggest_clip(recording, "Anna", TYPED),
        make_player(window),
        window,
        transcribe=checks.transcribe,
        models=models,
    )
    dialog.open()
    comparison = comparison_of(dialog)
    qtbot.waitUntil(comparison.install.isVisible, timeout=PATIENCE)
    assert comparison.install.text() == "Download SenseVoiceSmall (239.55 MB)"
    QTest.mouseClick(comparison.install, Qt.MouseButton.LeftButton)
    assert models.task_of("SenseVoiceSmall") is not None
    assert comparison.words.text().startswith("SenseVoiceSmall is being downloaded.")
    assert not comparison.install.isVisible()
    models.failed.emit(SourceUnreachable("The server cannot be reached.", remedy="Check the connection."))
    assert comparison.words.text() == "The server cannot be reached. Check the connection."
    assert comparison.install.isVisible()
    checks.transcribe_with = transcribe
    models.installed.emit("SenseVoiceSmall")
    wait_for(qtbot, dialog, "The recording differs")
    assert not comparison.install.isVisible()
    dialog.reject()


@pytest.mark.slow
def test_another_language_is_compared_again(
    open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot, checks: FakeChecks
) -> None:
    dialog = open_dialog("")
    wait_for(qtbot, dialog, "Heard")
    box = next(box for box in dialog.findChildren(QComboBox) if box.accessibleName() == "Language")
    box.setCurrentIndex(box.findData("zh"))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: checks.transcript_requests[-1].language == "zh", timeout=PATIENCE)
    dialog.reject()


@pytest.mark.slow
def test_closing_the_dialog_cancels(
    open_dialog: Callable[[str], ClipEditorDialog], qtbot: QtBot, checks: FakeChecks
) -> None:
    checks.is_held = True
    futures: list[Future[Transcript]] = []
    dialog = open_dialog("")
    comparison = comparison_of(dialog)
    qtbot.waitUntil(lambda: comparison._future is not None, timeout=PATIENCE)
    assert comparison._future is not None
    futures.append(comparison._future)
    assert comparison.words.text() == "Recognising the words…"
    dialog.reject()
    assert futures[0].cancelled()


@pytest.mark.slow
def test_details_of_a_voice_are_compared_with_its_clip(make_bench: Callable[..., Bench], checks: FakeChecks) -> None:
    bench = make_bench(checks=checks)
    bench.library.add(clip_of_noise(bench.folder / "Anna.wav"), "Anna", TYPED)
    window = bench.open_window()
    window.voices.select("Anna")
    bench.loop.call_soon(window.voices._list._edit)
    bench.until(lambda: window.findChildren(EditDialog))
    dialog = window.findChildren(EditDialog)[0]
    comparison = comparison_of(dialog)
    bench.until(lambda: comparison.words.text().startswith("The recording differs"))
    assert checks.transcript_requests[-1].typed == TYPED
    dialog.reject()
