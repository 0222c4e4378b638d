"""Exports in the window: waiting for checks, doubtful lines in the preview, the manifest and the report."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from checking_bench import TEXTS, chosen, open_script, speak_all, takes
from fake_checks import FakeChecks
from PySide6.QtWidgets import QCheckBox
from window_bench import Bench

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_task import ExportState, ExportTask
from studio.settings import EXPORT_FOLDER, EXPORT_HAS_MANIFEST, EXPORT_WAITS_FOR_CHECKS, TAKE_CHECKS
from studio.take_checks.policy import retry_seed

MakeBench = Callable[..., Bench]


def open_dialog(bench: Bench, folder: Path) -> ExportDialog:
    bench.settings.change({EXPORT_FOLDER: str(folder), EXPORT_HAS_MANIFEST: True})
    bench.trigger("file.export")
    bench.until(lambda: bench.window.findChild(ExportDialog))
    return bench.window.findChild(ExportDialog)


def export(bench: Bench, folder: Path) -> ExportTask:
    return confirm(bench, open_dialog(bench, folder))


def confirm(bench: Bench, dialog: ExportDialog) -> ExportTask:
    bench.until(dialog.export_button.isEnabled)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: bench.session.parts.exports.current is not None)
    task = bench.session.parts.exports.current
    assert task is not None
    return task


def table(folder: Path) -> list[dict[str, str]]:
    (file,) = folder.rglob("*.csv")
    return list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))


@pytest.mark.slow
def test_an_export_waits_for_checks_and_its_result_can_be_opened_again(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 1}))
    assert not bench.window.actions_by_id["file.last_export"].isEnabled()
    task = export(bench, tmp_path / "target")
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE
    rows = table(tmp_path / "target")
    assert [row["verdict"] for row in rows] == ["good", "good", "good"]
    assert rows[1]["seed"] == str(retry_seed(1, 1)), "the second take"
    bench.trigger("file.last_export")
    details = bench.parts.exports.details
    assert details is not None
    assert details.outcome.title.text() == "Export finished"
    details.reject()


@pytest.mark.slow
def test_the_dialog_offers_to_wait_for_checks(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 1}))
    dialog = open_dialog(bench, tmp_path / "target")
    waits = dialog.form.editor(EXPORT_WAITS_FOR_CHECKS).control
    assert isinstance(waits, QCheckBox)
    assert waits.isVisibleTo(dialog)
    dialog.form.leave_out.setChecked(True)
    assert not waits.isVisibleTo(dialog)
    dialog.form.speak_first.setChecked(True)
    assert waits.isChecked()
    waits.click()
    task = confirm(bench, dialog)
    bench.until(lambda: task.state.is_over)
    assert bench.settings[EXPORT_WAITS_FOR_CHECKS] is False


def test_the_dialog_does_not_offer_it_without_checks(make_bench: MakeBench, tmp_path: Path) -> None:
    bench = open_script(make_bench, FakeChecks())
    bench.settings.change({TAKE_CHECKS: "off"})
    dialog = open_dialog(bench, tmp_path / "target")
    assert not dialog.form.editor(EXPORT_WAITS_FOR_CHECKS).control.isVisibleTo(dialog)


@pytest.mark.slow
def test_an_export_does_not_wait_otherwise(make_bench: MakeBench, tmp_path: Path) -> None:
    checks = FakeChecks({TEXTS[1]: 1}, is_held=True)
    bench = open_script(make_bench, checks)
    bench.settings.change({EXPORT_WAITS_FOR_CHECKS: False})
    task = export(bench, tmp_path / "target")
    bench.until(lambda: task.state.is_over)
    assert task.state is ExportState.DONE
    assert "verdict" not in table(tmp_path / "target")[0]


@pytest.mark.slow
def test_a_waiting_export_can_be_cancelled(make_bench: MakeBench, tmp_path: Path) -> None:
    checks = FakeChecks(is_held=True)
    bench = open_script(make_bench, checks)
    task = export(bench, tmp_path / "target")
    bench.until(lambda: checks.requests and not bench.session.queue.running)
    assert not task.state.is_over
    task.cancel()
    assert task.state is ExportState.CANCELLED
    checks.is_held = False
    checks.release()
    bench.until(lambda: not bench.session.parts.checker.num_waiting)
    assert not (tmp_path / "target").exists()


def test_the_preview_lists_the_lines_to_review(make_bench: MakeBench, tmp_path: Path) -> None:
    from studio.export.checks import LineToCheck, check_lines
    from studio.project.lines import Line

    lines = [
        LineToCheck(number, Line(str(number), "x", "Anna"), must_speak=False, needs_review=number == 7)
        for number in (3, 7)
    ]
    (finding,) = check_lines(lines, find_voice=lambda _: None)
    assert finding.line_numbers == (7,)
    assert not finding.is_blocking
    assert "problems" in str(finding.message)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["html", "csv"])
def test_the_report_lists_verdicts_and_reasons(make_bench: MakeBench, tmp_path: Path, suffix: str) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 99}), (*TEXTS, "five < six"))
    speak_all(bench)
    path = tmp_path / f"report.{suffix}"
    bench.parts.review.write_report(path, "My script")
    bench.until(path.exists)
    text = path.read_text("utf-8-sig")
    assert "At" not in text
    assert "0.0 s: “four” is missing" in text
    assert ("five &lt; six" in text) is (suffix == "html")
    if suffix == "html":
        assert "1 of 4 lines need review." in text
        assert text.count('class="review"') == 1
    else:
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["verdict"] for row in rows] == ["Good", "Bad", "Good", "Good"]
    assert len(takes(bench, 1)) == 3
    assert chosen(bench).check is not None
