"""Diagnostics dialog: background checks and a report that can be copied."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget
from window_bench import Bench

from studio.app.help_dialogs import DiagnosticsDialog
from studio.errors import DamagedLibrary, StudioError
from studio.health import checks
from studio.health.checks import Check, CheckVerdict
from studio.health.report import HealthReport
from studio.messages import message


def report(*verdicts: CheckVerdict) -> HealthReport:
    return HealthReport(
        tuple(
            Check(
                message("memory"),
                verdict,
                message("{all}, {free} of it free", all="8 GB", free="1 GB"),
                message("Do this."),
            )
            for verdict in verdicts
        )
    )


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ((CheckVerdict.FINE,), "Everything works."),
        ((CheckVerdict.FINE, CheckVerdict.LIMITED), "Speech works. 1 item can be improved."),
        ((CheckVerdict.BROKEN, CheckVerdict.LIMITED), "Speech does not work until the marked problems are fixed."),
    ],
)
def test_the_verdict_is_shown_and_the_report_can_be_copied(
    bench: Bench, verdicts: tuple[CheckVerdict, ...], words: str
) -> None:
    go = threading.Event()

    def look(_: object) -> HealthReport:
        go.wait(60)
        return report(*verdicts)

    dialog = DiagnosticsDialog(look)
    dialog.show()
    bench.live(0.05)
    assert "Checking" in dialog.verdict
    assert not dialog._copy.isEnabled()
    go.set()
    bench.until(dialog._copy.isEnabled)
    assert dialog.verdict == words
    assert dialog._list.topLevelItemCount() == len(verdicts)
    assert dialog._list.topLevelItem(0).text(1) == "8 GB, 1 GB of it free\nDo this."
    dialog._copy.click()
    assert "memory: 8 GB, 1 GB of it free" in QGuiApplication.clipboard().text()
    dialog.close()


def test_results_appear_as_they_arrive(bench: Bench) -> None:
    go = threading.Event()
    first, second = report(CheckVerdict.FINE, CheckVerdict.LIMITED).checks

    def look(on_check: Callable[[Check], None]) -> HealthReport:
        on_check(first)
        go.wait(60)
        on_check(second)
        return HealthReport((first, second))

    dialog = DiagnosticsDialog(look)
    dialog.show()
    bench.until(lambda: dialog._list.topLevelItemCount() == 1)
    assert "Checking" in dialog.verdict
    assert dialog._list.topLevelItem(0).text(0) == "Memory"
    go.set()
    bench.until(dialog._copy.isEnabled)
    assert dialog._list.topLevelItemCount() == 2
    dialog.close()


def test_a_failed_check_shows_its_error_and_can_be_repeated(bench: Bench, report_of: Callable[[QWidget], str]) -> None:
    answers: list[HealthReport | StudioError] = [
        DamagedLibrary("The library is damaged.", remedy="Take it away."),
        report(CheckVerdict.FINE),
    ]

    def look(_: object) -> HealthReport:
        answer = answers.pop(0)
        if isinstance(answer, StudioError):
            raise answer
        return answer

    dialog = DiagnosticsDialog(look)
    dialog.show()
    bench.until(dialog._again.isEnabled)
    assert dialog._problem.words == "The library is damaged. Take it away."
    assert report_of(dialog._problem).startswith("error: damaged-library\n")
    dialog._again.click()
    bench.until(dialog._copy.isEnabled)
    assert dialog._problem.isHidden()
    assert dialog.verdict == "Everything works."
    dialog.close()


def test_a_long_result_is_wrapped_in_a_narrow_dialog(bench: Bench) -> None:
    libraries = ", ".join(f"library-{number} 1.{number}" for number in range(30))
    check = Check(message("libraries"), CheckVerdict.FINE, message("{versions}", versions=libraries))
    dialog = DiagnosticsDialog(lambda _: HealthReport((check,)))
    dialog.show()
    bench.until(dialog._copy.isEnabled)
    heights = []
    for width in (1600, 500):
        dialog.resize(width, 400)
        bench.live(0.1)
        heights.append(dialog._list.visualItemRect(dialog._list.topLevelItem(0)).height())
    line = dialog.fontMetrics().lineSpacing()
    assert heights[1] > heights[0] >= line
    assert heights[1] >= 4 * line
    dialog.close()


def test_the_help_menu_opens_the_dialog_with_real_checks(bench: Bench, monkeypatch: Any) -> None:
    answer = {"torch": "2", "onnxruntime": "1", "gpus": [], "unsupported": [], "seconds_per_second": 3.2}
    monkeypatch.setattr(checks, "_ENGINES_PROBE", ("-c", f"print({json.dumps(json.dumps(answer))})"))
    window = bench.open_window()
    bench.trigger("help.doctor")
    (dialog,) = window.findChildren(DiagnosticsDialog)
    bench.until(dialog._copy.isEnabled, 60)
    assert "program: Timbre Studio" in dialog._report.as_text()  # type: ignore[union-attr]
    dialog.close()


def test_about_names_the_licence_and_links(bench: Any) -> None:
    window = bench.open_window()
    bench.trigger("help.about")
    bench.until(lambda: window.findChild(QMessageBox))
    box = window.findChild(QMessageBox)
    assert "Licence: " in box.text()
    assert 'href="https://www.apache.org/licenses/LICENSE-2.0"' in box.text()
    assert 'href="https://github.com/FunAudioLLM/CosyVoice"' in box.text()
    box.close()


def test_models_and_engines_have_different_icons(bench: Any) -> None:
    specs = bench.open_window().actions_by_id.specs
    assert specs["file.models"].icon != specs["file.engines"].icon
