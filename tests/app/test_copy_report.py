"""Copy report: works for every shown error without blocking the window; error codes can be looked up."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget
from window_bench import Bench

from studio import app
from studio.app.help_dialogs import ErrorCodesDialog
from studio.app.main import show_fatal_error
from studio.app.notifications import NotificationBar
from studio.app.widgets.copy_report import CopyReportButton
from studio.catalog.machine import MachineFacts
from studio.errors import DiskFull, ModelNotFound, StudioError, VoiceNotFound, type_of_code
from studio.health import error_report

_MACHINE = MachineFacts("A processor", 2, 8 << 30, 5 << 30, 1 << 40, None)


@pytest.fixture
def may_look(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Event that lets the examination of the computer finish."""
    event = threading.Event()

    def look() -> MachineFacts:
        event.wait(60)
        return _MACHINE

    real = error_report.error_report
    monkeypatch.setattr(error_report, "error_report", lambda error: real(error, look=look))
    return event


def test_the_report_is_created_in_the_background(bench: Bench, may_look: threading.Event) -> None:
    bar = NotificationBar()
    bar.show_error(VoiceNotFound("There is no voice {name}.", remedy="Add it.", name="Aunt Mary"))
    QGuiApplication.clipboard().setText("what was there")
    bar._copy.click()
    bench.live(0.05)
    assert not bar._copy.isEnabled()
    assert QGuiApplication.clipboard().text() == "what was there"
    may_look.set()
    bench.until(bar._copy.isEnabled)
    report = QGuiApplication.clipboard().text()
    assert report.startswith("error: voice-not-found\nhappened: There is no voice ‹name›.\nremedy: Add it.\nprogram: ")
    assert "Mary" not in report
    assert bar._copy.text() == "Copied"


def test_the_next_error_has_a_separate_report(bench: Bench, may_look: threading.Event) -> None:
    QGuiApplication.clipboard().clear()  # another test may have copied the same report
    button = CopyReportButton()
    button.offer_for(VoiceNotFound("There is no voice."))
    button.click()
    button.offer_for(ModelNotFound("There is no model."))
    assert (button.text(), button.isEnabled()) == ("Copy report", True)
    may_look.set()
    bench.until(lambda: QGuiApplication.clipboard().text().startswith("error: voice-not-found"))
    assert button.text() == "Copy report"
    button.click()
    bench.until(lambda: QGuiApplication.clipboard().text().startswith("error: model-not-found"))


def test_the_report_requested_last_is_copied(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def report(error: StudioError) -> str:
        if isinstance(error, VoiceNotFound):
            may_end.wait(60)
            has_ended.set()
        return error.code

    monkeypatch.setattr(error_report, "error_report", report)
    button = CopyReportButton()
    for error in (VoiceNotFound("There is no voice."), ModelNotFound("There is no model.")):
        button.offer_for(error)
        button.click()
    bench.until(lambda: button.text() == "Copied")
    may_end.set()
    bench.until(has_ended.is_set)
    bench.live(0.05)
    assert QGuiApplication.clipboard().text() == "model-not-found"


@pytest.mark.parametrize("words", ["OK", "Replace"])
def test_a_question_stays_open_while_its_report_is_copied(
    bench: Bench, report_of: Callable[[QWidget], str], words: str
) -> None:
    box = QMessageBox()
    answer = box.addButton(words, QMessageBox.ButtonRole.AcceptRole)
    button = CopyReportButton(box)
    button.join(box, VoiceNotFound("There is no voice {name}.", name="Aunt Mary"))
    box.open()
    assert report_of(box).startswith("error: voice-not-found\n")
    assert box.isVisible()
    answer.click()
    assert not box.isVisible()
    assert box.clickedButton() is answer


def test_an_unusable_draft_folder_is_reported_before_the_window_opens(
    bench: Bench,
    report_of: Callable[[QWidget], str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "studio")
    reports = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: (box.open(), reports.append(report_of(box)), box.close()))
    show_fatal_error(DiskFull("The disk is full.", remedy="Free some space."))
    assert reports[0].startswith("error: disk-full\n")
    assert "shown: disk-full" in caplog.messages


def test_every_shown_error_has_a_copy_report_button() -> None:
    """Exceptions are tool tips and lists that repeat an error which is shown elsewhere together with the button."""
    exceptions = {
        "checking/verdicts.py": "why a take was not checked, which is no failure of the user's work",
        "engines/engine_text.py": "reasons for the choice of an engine, which are not errors",
        "help_dialogs.py": "results of checks, which the dialog copies itself, and the reference of error codes",
        "export_dialog/form.py": "titles of presets, which are not errors",
        "dictionary/word_model.py": "tool tip of a row; the page shows the error below the table",
        "error_text.py": "defines the texts",
        "inspection_dialog.py": "why a manifest is unreadable, which is a result of the inspection",
        "models/model_text.py": "why a download waits; it continues without the user",
        "script/line_model.py": "tool tip of a line; the error was shown as a notice before",
        "playback/audio_player.py": "a missing device is shown as a hint, and playback continues",
        "synthesis/language_notices.py": "a hint about the language of lines, with buttons that help",
        "synthesis/task_reporter.py": "a line without words, which is a hint; other errors are shown as notices",
        "status_bar.py": "tool tip of the engine; the error was shown as a notice before",
        "voices/transcript_comparison.py": "a hint why there is no comparison; the voice can be used",
        "voices/voice_model.py": "tool tip of a card; its menu shows the error as a notice",
    }
    folder = Path(app.__path__[0])
    sources = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}
    shows_errors = re.compile(r"\b(message_text|error_message|error_remedy|format_error)\(")
    without = {name for name, text in sources.items() if shows_errors.search(text) and "CopyReportButton" not in text}
    assert without == set(exceptions)


def test_hints_have_no_copy_report_button(bench: Bench) -> None:
    bar = NotificationBar()
    bar.show_error(VoiceNotFound("There is no voice."))
    bar.hide()
    bar.show_hint("All is well.")
    assert bar._copy.isHidden()


def test_error_codes_are_found_by_code_and_text(bench: Bench) -> None:
    dialog = ErrorCodesDialog()
    assert all(code in dialog._page.toPlainText() for code in type_of_code)
    dialog._search.setText("proxy Certificate")
    found = dialog._page.toPlainText()
    assert found.splitlines()[0] == "source-unreachable"
    assert "choose the other source" in found
    assert not any(code in found for code in type_of_code if code != "source-unreachable")
    dialog.close()
