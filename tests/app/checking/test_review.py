"""Review of takes with problems in the window: by keys, with undo, and what it looks like to a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from checking_bench import TEXTS, chosen, open_script, speak_all, takes, wait_until_checked
from fake_checks import FakeChecks, bad_check
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_bench import Bench

from studio.app.checking.policy_dialog import PolicyDialog
from studio.app.script.line_model import PROBLEMS_ROLE, Column
from studio.project.changes import ChooseTake, EditTakes
from studio.project.lines import LineState
from studio.project.text_places import TextPlaces, TextRange
from studio.settings import TAKE_CHECKS
from studio.take_checks.policy import CheckMode, ProjectCheckPolicy, retry_seed
from studio.take_checks.records import ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest

MakeBench = Callable[..., Bench]
FIVE = (*TEXTS, "ten eleven twelve", "one more line")


def press(bench: Bench, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    assert bench.window is not None
    view = bench.window.script.view
    bench.loop.call_soon(lambda: QTest.keyClick(view, key, modifiers))
    bench.live(0.02)


def open_marked(make_bench: MakeBench, *spoilt: str, texts: tuple[str, ...] = FIVE) -> Bench:
    """Show a script whose ``spoilt`` texts stay bad."""
    bench = open_script(make_bench, FakeChecks(dict.fromkeys(spoilt, 99)), texts)
    bench.window.activateWindow()
    speak_all(bench)
    bench.window.script.view.setFocus()
    return bench


def current(bench: Bench) -> str:
    return bench.window.script.current_line.text


@pytest.mark.slow
def test_keys_review_the_lines_with_problems(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench, FIVE[1], FIVE[3])
    press(bench, Qt.Key.Key_F7)
    assert current(bench) == FIVE[1]
    press(bench, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
    assert current(bench) == FIVE[3], "before the first one is the last one"
    press(bench, Qt.Key.Key_F7)
    assert current(bench) == FIVE[1]
    press(bench, Qt.Key.Key_F9)
    assert bench.session.editor.saved_state("line1") is LineState.READY
    assert current(bench) == FIVE[3]
    press(bench, Qt.Key.Key_F9)
    assert "No other line needs review." in bench.window.status.task_text
    press(bench, Qt.Key.Key_F7)
    assert bench.window.status.task_text == "No line needs review."


@pytest.mark.slow
def test_accepting_removes_the_other_automatic_takes_and_undo_restores_them(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench, TEXTS[0])
    assert len(takes(bench)) == 3
    before = bench.session.editor.script
    bench.trigger("play.accept")
    assert len(takes(bench)) == 1
    assert chosen(bench).check.is_accepted
    bench.trigger("edit.undo")
    assert bench.session.editor.script == before


@pytest.mark.slow
def test_a_take_that_is_kept_survives_accepting_another(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench, TEXTS[0])
    bench.session.editor.apply(EditTakes({takes(bench)[2].id: {"is_kept": True}}))
    bench.trigger("play.accept")
    assert [take.number for take in takes(bench)] == [1, 3]


@pytest.mark.slow
def test_accepting_a_good_take_says_that_there_is_nothing_to_accept(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench)
    bench.trigger("play.accept")
    assert bench.window.status.task_text == "The take has no unaccepted problems."
    assert not bench.session.editor.undo_stack.canUndo()


@pytest.mark.slow
def test_a_line_is_spoken_again_with_another_seed(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 1}))
    bench.settings.change({TAKE_CHECKS: "mark"})
    speak_all(bench)
    press(bench, Qt.Key.Key_F7)
    press(bench, Qt.Key.Key_F9, Qt.KeyboardModifier.ShiftModifier)
    wait_until_checked(bench)
    first, second = takes(bench, 1)
    assert (first.seed, second.seed) == (1, retry_seed(1, 1))
    assert chosen(bench, 1) == second
    assert second.check.verdict is Verdict.GOOD


@pytest.mark.slow
def test_only_lines_to_review_are_shown(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench, FIVE[1], FIVE[3])
    press(bench, Qt.Key.Key_F7, Qt.KeyboardModifier.ControlModifier)
    view = bench.window.script.view
    assert view.hidden_rows.shown == {"line1", "line3"}
    view.go_to("line1")
    press(bench, Qt.Key.Key_F9)
    bench.until(lambda: view.hidden_rows.shown == {"line3"})
    press(bench, Qt.Key.Key_F7, Qt.KeyboardModifier.ControlModifier)
    assert view.hidden_rows.shown is None


@pytest.mark.slow
def test_rows_tell_the_verdict_in_words(make_bench: MakeBench) -> None:
    bench = open_marked(make_bench, TEXTS[1])
    model = bench.window.script.view.model()
    verdicts = [model.index(row, Column.VERDICT).data() for row in range(3)]
    assert verdicts == ["Good", "Bad", "Good"]
    index = model.index(1, Column.STATE)
    assert index.data() == "Bad", "“Review” looked like a check to come"
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "At 0.0 s, “four” is missing."
    spoken = model.index(1, Column.TEXT).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "Bad: At 0.0 s, “four” is missing." in spoken
    assert model.index(1, Column.TEXT).data(PROBLEMS_ROLE) == (TextRange(0, 4),)
    assert model.index(0, Column.TEXT).data(PROBLEMS_ROLE) == ()
    bench.window.script.view.go_to("line1")
    bench.trigger("play.accept")
    assert model.index(1, Column.VERDICT).data() == "Accepted"
    assert model.index(1, Column.TEXT).data(PROBLEMS_ROLE) == ()


@pytest.mark.slow
@pytest.mark.parametrize("is_compact", [False, True])
def test_rows_with_problems_are_painted(make_bench: MakeBench, is_compact: bool) -> None:
    bench = open_marked(make_bench, TEXTS[0])
    window = bench.window
    window.resize(1280, 800)
    window.actions_by_id["view.compact"].setChecked(is_compact)
    bench.live(0.05)
    assert window.script.view.isColumnHidden(Column.VERDICT) is not is_compact
    view = window.script.view
    place = view.visualRect(view.model().index(0, Column.TEXT))
    with_problem = view.viewport().grab(place).toImage()
    bench.trigger("play.accept")
    bench.live(0.05)
    assert view.viewport().grab(place).toImage() != with_problem


@pytest.mark.slow
def test_the_best_take_can_be_chosen(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[0]: 1}))
    speak_all(bench)
    bench.session.editor.apply(ChooseTake("line0", takes(bench)[0].id))
    bench.trigger("play.best")
    assert chosen(bench).number == 2
    bench.trigger("edit.undo")
    assert chosen(bench).number == 1


def test_takes_are_checked_again_on_request(make_bench: MakeBench) -> None:
    checks = FakeChecks({TEXTS[0]: 99})
    bench = open_script(make_bench, checks, TEXTS[:1])
    bench.settings.change({TAKE_CHECKS: "off"})
    speak_all(bench)
    assert chosen(bench).check is None
    bench.trigger("speak.check")
    wait_until_checked(bench)
    assert chosen(bench).check.verdict is Verdict.BAD
    assert len(takes(bench)) == 1


@pytest.mark.slow
def test_the_status_bar_tells_that_takes_are_checked(make_bench: MakeBench) -> None:
    checks = FakeChecks(is_held=True)
    bench = open_script(make_bench, checks)
    bench.trigger("speak.stale")
    queue = bench.session.queue
    bench.until(lambda: queue.jobs and all(job.state.is_over for job in queue.jobs))
    chip = bench.parts.review.chip
    assert chip.text() == "Checking 3 takes"
    checks.is_held = False
    checks.release()
    wait_until_checked(bench)
    assert not chip.isVisible()


def test_a_script_gets_its_own_choices(make_bench: MakeBench) -> None:
    bench = open_script(make_bench)
    bench.trigger("speak.check_policy")
    (dialog,) = bench.window.findChildren(PolicyDialog)
    assert dialog.mode.currentText() == "As in the settings (Mark, and try again)"
    dialog.mode.setCurrentIndex(dialog.mode.findData("mark"))
    dialog.num_retries.setCurrentIndex(dialog.num_retries.findData(3))
    dialog.accept()
    editor = bench.session.editor
    assert editor.script.details.checks == ProjectCheckPolicy(CheckMode.MARK, 3)
    assert bench.session.parts.check_policy().mode is CheckMode.MARK
    bench.trigger("edit.undo")
    assert editor.script.details.checks == ProjectCheckPolicy()


def test_places_are_found_again_in_an_edited_text() -> None:
    assert TextPlaces("one two", " one two\n").range_of(4, 7) == TextRange(5, 8)
    assert TextPlaces("I like sequel a lot", "I like SQL a lot").range_of(14, 19) == TextRange(11, 16)
    assert TextPlaces("I like sequel a lot", "I like a lot").range_of(7, 13) is None
    assert TextPlaces("one", "two").range_of(-1, -1) is None


@pytest.mark.slow
def test_a_problem_elsewhere_in_the_take_is_no_mark_in_the_text(make_bench: MakeBench) -> None:
    def result(request: CheckRequest) -> TakeCheck:
        check = bad_check(request, kind=ProblemKind.NOISE)
        return replace(check, problems=(replace(check.problems[0], text="", text_start=-1, text_end=-1),))

    checks = FakeChecks(result=result)
    bench = open_script(make_bench, checks, TEXTS[:1])
    speak_all(bench)
    index = bench.window.script.view.model().index(0, Column.TEXT)
    assert index.data(PROBLEMS_ROLE) == ()
    state = index.sibling(0, Column.STATE)
    assert state.data(Qt.ItemDataRole.ToolTipRole) == "At 0.0 s, there is noise."
