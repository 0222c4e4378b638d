"""The picture of all lines, targets for new takes, and outliers that are spoken again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from checking_bench import chosen, open_script, speak_all, takes, wait_until_checked
from fake_checks import FakeChecks, good_check
from measured_takes import USUAL
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.checking.consistency_dialog import ConsistencyDialog
from studio.project.changes import EditLines
from studio.project.lines import Heading
from studio.take_checks.consistency import drift_problems, shown
from studio.take_checks.records import Measure, TakeCheck, TakeMeasures, Verdict
from studio.take_checks.requests import CheckRequest

MakeBench = Callable[..., Bench]
NUM_LINES, ODD = 12, 7
LINES = tuple(f"line number {number}" for number in range(NUM_LINES))
HIGH = replace(USUAL, pitch_hz=160.0 * 2 ** (2 / 12))


class MeasuringChecks(FakeChecks):
    """The first ``num_high`` checks of one line find a high pitch, or the measures ``high``."""

    def __init__(self, num_high: int = 99, *, high: TakeMeasures = HIGH) -> None:
        super().__init__(result=self._measured)
        self.high = high
        self.num_high = num_high

    def _measured(self, request: CheckRequest) -> TakeCheck:
        is_high = request.text == LINES[ODD] and self._num_of_text[request.text] <= self.num_high
        measures = self.high if is_high else USUAL
        problems = tuple(drift_problems(measures, request.targets, 1.0))
        verdict = Verdict.DOUBTFUL if problems else Verdict.GOOD
        return replace(good_check(request), verdict=verdict, problems=problems, measures=measures)


def open_dialog(make_bench: MakeBench, checks: FakeChecks) -> tuple[Bench, ConsistencyDialog]:
    bench = open_script(make_bench, checks, LINES)
    speak_all(bench)
    bench.trigger("speak.consistency")
    dialog = bench.dialog(ConsistencyDialog)
    bench.until(lambda: len(dialog.chart._lines) == NUM_LINES)
    return bench, dialog


def test_an_outlier_is_shown_and_a_click_goes_to_its_line(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    chart, script = dialog.chart, bench.window.script
    assert dialog.summary.text() == "1 of 12 lines differ from their targets."
    bench.click(dialog.next_button)
    assert script.current_line.id == f"line{ODD}"
    assert dialog.details.text().startswith("Line 8, Anna: Pitch 180 Hz (too high), Pace 5.0 syllables/s")
    assert chart.accessibleDescription() == dialog.details.text()
    place = chart._strip(Measure.LEVEL).center()
    place.setX(chart._x(2))
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert script.current_line.id == "line2"


def test_keys_go_through_the_lines(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    current = []
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Right, Qt.Key.Key_N):
        QTest.keyClick(dialog.chart, key)
        current.append(bench.window.script.current_line.id)
    assert current == ["line0", "line0", "line1", "line11", "line11", f"line{ODD}"]
    bench.window.script.view.go_to("line3")
    assert dialog.chart.accessibleDescription().startswith("Line 4, Anna"), "it follows the script"


@pytest.mark.slow
def test_outliers_are_spoken_again_until_they_are_within_the_targets(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks(num_high=3))  # first, again, second
    first = chosen(bench, ODD)
    bench.click(dialog.repair_button)
    wait_until_checked(bench)
    assert [len(takes(bench, line)) for line in range(NUM_LINES)] == [1] * ODD + [3] + [1] * (NUM_LINES - ODD - 1)
    assert chosen(bench, ODD).number == 3
    assert chosen(bench, ODD).retry_of == first.id
    bench.until(lambda: dialog.summary.text() == "0 of 12 lines differ from their targets.")
    assert not dialog.repair_button.isEnabled()
    bench.session.editor.undo_stack.undo()
    assert not bench.session.editor.script.details.targets, "setting targets is a step of the user"


@pytest.mark.slow
def test_a_line_is_spoken_again_at_most_twice_and_the_best_take_is_kept(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    bench.click(dialog.repair_button)
    wait_until_checked(bench)
    assert len(takes(bench, ODD)) == 3
    assert chosen(bench, ODD).number == 1, "none is better"
    seeds = {take.seed for take in takes(bench, ODD)}
    bench.click(dialog.repair_button)
    wait_until_checked(bench)
    again = {take.seed for take in takes(bench, ODD)}
    assert len(again) == 5
    assert seeds < again, "other seeds than before"


def test_locked_lines_are_not_spoken_again(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    bench.session.editor.apply(EditLines({f"line{ODD}": {"is_locked": True}}))
    bench.click(dialog.repair_button)
    wait_until_checked(bench)
    assert len(takes(bench, ODD)) == 1


@pytest.mark.slow
def test_new_takes_are_checked_against_kept_targets(make_bench: MakeBench) -> None:
    checks = MeasuringChecks(num_high=0)
    bench, dialog = open_dialog(make_bench, checks)
    assert all(not request.targets for request in checks.requests)
    bench.click(dialog.keeps_targets)
    assert bench.session.editor.script.details.targets
    checks.num_high = 2
    bench.session.synthesis.speak([f"line{ODD}"], plays=False)
    wait_until_checked(bench)
    assert [take.check.verdict for take in takes(bench, ODD)] == [Verdict.GOOD, Verdict.DOUBTFUL, Verdict.GOOD]
    bench.until(dialog.keeps_targets.isChecked)
    bench.click(dialog.keeps_targets)
    assert not bench.session.editor.script.details.targets


def test_selected_lines_are_an_example(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    bench.window.script.view.select_lines([f"line{ODD}"])
    bench.click(dialog.example_button)
    (target,) = bench.session.editor.script.details.targets.values()
    assert shown(target[Measure.PITCH].centre, Measure.PITCH) == pytest.approx(180.0, rel=0.01)
    bench.until(lambda: dialog.summary.text() == "11 of 12 lines differ from their targets.")


def test_takes_of_earlier_versions_are_measured_on_demand(make_bench: MakeBench) -> None:
    checks = MeasuringChecks(num_high=1, high=replace(USUAL, pitch_hz=None))
    bench, dialog = open_dialog_with_unmeasured(make_bench, checks)
    assert "1 take has not been measured." in dialog.summary.text()
    bench.click(dialog.measure_button)
    wait_until_checked(bench)
    bench.until(lambda: len(dialog.chart._lines) == NUM_LINES)
    assert not dialog.measure_button.isVisible()


def open_dialog_with_unmeasured(make_bench: MakeBench, checks: FakeChecks) -> tuple[Bench, ConsistencyDialog]:
    bench = open_script(make_bench, checks, LINES)
    speak_all(bench)
    bench.trigger("speak.consistency")
    dialog = bench.dialog(ConsistencyDialog)
    bench.until(lambda: len(dialog.chart._lines) == NUM_LINES - 1)
    return bench, dialog


def test_a_script_without_takes_says_so(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, MeasuringChecks(), LINES)
    bench.trigger("speak.consistency")
    dialog = bench.dialog(ConsistencyDialog)
    bench.until(dialog.summary.text)
    assert dialog.summary.text() == "No line has a measured take."
    assert not dialog.repair_button.isEnabled()
    assert not dialog.keeps_targets.isEnabled()


def test_headings_are_left_out(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    bench.session.editor.apply(EditLines({"line1": {"heading": Heading.CHAPTER}}))
    bench.until(lambda: dialog.summary.text() == "1 of 11 lines differ from their targets. 1 heading is left out.")


def test_the_command_brings_the_open_dialog_to_the_front(make_bench: MakeBench) -> None:
    bench, dialog = open_dialog(make_bench, MeasuringChecks())
    bench.trigger("speak.consistency")
    assert bench.window.findChildren(ConsistencyDialog) == [dialog]
    dialog.close()
    bench.trigger("speak.consistency")
    assert bench.dialog(ConsistencyDialog).isVisible()
