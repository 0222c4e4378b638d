"""Every error that is shown can be copied for a report, without the window standing still, and its code looked up."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtGui import QGuiApplication
from window_bench import Bench

from studio.app.codes_dialog import CodesDialog
from studio.app.notices import NoticeBar
from studio.app.widgets.copy_report import CopyReportButton
from studio.catalog.machine import MachineFacts
from studio.errors import ModelNotFound, VoiceNotFound, type_of_code
from studio.health import error_report

_MACHINE = MachineFacts("A processor", 2, 8 << 30, 5 << 30, 1 << 40, None)


@pytest.fixture
def may_look(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Looking at the machine takes until this is set."""
    event = threading.Event()

    def look() -> MachineFacts:
        event.wait(10)
        return _MACHINE

    real = error_report.error_report
    monkeypatch.setattr(error_report, "error_report", lambda error: real(error, look=look))
    return event


def test_the_report_is_worked_out_beside_the_window(bench: Bench, may_look: threading.Event) -> None:
    bar = NoticeBar()
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


def test_the_next_error_has_a_report_of_its_own(bench: Bench, may_look: threading.Event) -> None:
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


def test_a_hint_and_no_error_have_nothing_to_report(bench: Bench) -> None:
    bar = NoticeBar()
    bar.show_error(VoiceNotFound("There is no voice."))
    bar.show_hint("All is well.")
    assert bar._copy.isHidden()


def test_codes_are_found_by_their_name_and_by_words(bench: Bench) -> None:
    dialog = CodesDialog()
    assert set(dialog.shown_codes) == set(type_of_code)
    dialog._search.setText("proxy Certificate")
    assert dialog.shown_codes == ["source-unreachable"]
    assert "choose the other source" in dialog._page.toPlainText()
    assert "no-screen" not in dialog._page.toPlainText()
    dialog._search.setText("")
    assert "no-screen" in dialog._page.toPlainText()
    dialog.close()
