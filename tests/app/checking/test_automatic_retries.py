"""Lines with problems are spoken again by themselves, and the best take is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checking_bench import TEXTS, add_lines, chosen, open_script, speak_all, speaking_model, takes, wait_until_checked
from fake_checks import FakeChecks, bad_check, good_check
from window_bench import Bench

from studio.catalog.known import known_models
from studio.project.changes import ChooseTake, EditDetails, EditLines, RemoveLines
from studio.project.dubbing import FitOptions, plan_fit
from studio.project.lines import LineState, Slot
from studio.project.project import Project
from studio.settings import TAKE_CHECKS, TAKE_RETRIES
from studio.take_checks.policy import CheckMode, ProjectCheckPolicy, retry_seed
from studio.take_checks.records import ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import CheckRequest, Strictness

MakeBench = Callable[..., Bench]


@pytest.mark.slow
def test_a_bad_take_is_spoken_again_and_the_good_one_is_chosen(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 1}))
    speak_all(bench)
    assert [len(takes(bench, line)) for line in range(3)] == [1, 2, 1]
    first, second = takes(bench, 1)
    assert (first.check.verdict, second.check.verdict) == (Verdict.BAD, Verdict.GOOD)
    assert chosen(bench, 1) == second
    assert second.retry_of == first.id
    assert second.seed == retry_seed(first.seed, 1)
    assert not bench.session.editor.undo_stack.canUndo(), "the program's choice is no step of the user"


@pytest.mark.slow
def test_seeds_follow_from_the_seed_of_the_line(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[1]: 9}))
    speak_all(bench)
    assert [take.seed for take in takes(bench, 1)] == [1, retry_seed(1, 1), retry_seed(1, 2)]


@pytest.mark.slow
def test_the_best_of_bad_takes_is_chosen_and_the_others_are_kept(make_bench: MakeBench) -> None:
    results = iter(
        [
            (ProblemKind.MISSING_WORDS, Verdict.BAD),
            (ProblemKind.CLIPPING, Verdict.DOUBTFUL),
            (ProblemKind.NOISE, Verdict.BAD),
        ]
    )

    def result(request: CheckRequest) -> TakeCheck:
        kind, verdict = next(results)
        return bad_check(request, kind=kind, verdict=verdict)

    bench = open_script(make_bench, FakeChecks(result=result), TEXTS[:1])
    speak_all(bench)
    assert len(takes(bench)) == 3
    assert chosen(bench).check.verdict is Verdict.DOUBTFUL
    assert bench.session.editor.saved_state("line0") is LineState.CHECK


@pytest.mark.slow
def test_the_settings_limit_further_takes(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[0]: 99, TEXTS[1]: 99, TEXTS[2]: 99}))
    bench.settings.change({TAKE_RETRIES: 1})
    speak_all(bench)
    assert [len(takes(bench, line)) for line in range(3)] == [2, 2, 2]
    bench.settings.change({TAKE_CHECKS: "mark"})
    bench.session.synthesis.speak(["line0"])
    wait_until_checked(bench)
    assert len(takes(bench)) == 3
    assert takes(bench)[-1].check.verdict is Verdict.BAD
    bench.settings.change({TAKE_CHECKS: "off"})
    bench.session.synthesis.speak(["line0"])
    wait_until_checked(bench)
    assert takes(bench)[-1].check is None


def test_a_project_has_its_own_choices(make_bench: MakeBench) -> None:
    checks = FakeChecks({TEXTS[0]: 99})
    bench = open_script(make_bench, checks, TEXTS[:1])
    editor = bench.session.editor
    own = ProjectCheckPolicy(CheckMode.MARK, strictness=Strictness.STRICT, recognizer="off")
    editor.apply(EditDetails(replace(editor.script.details, checks=own)))
    speak_all(bench)
    assert len(takes(bench)) == 1
    assert (checks.requests[0].strictness, checks.requests[0].recognizer) == (Strictness.STRICT, "off")


@pytest.mark.slow
def test_several_takes_are_ranked_and_the_best_is_chosen(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks({TEXTS[0]: 2}), TEXTS[:1])
    bench.session.synthesis.speak(["line0"], num_takes=4, plays=False)
    wait_until_checked(bench)
    assert len(takes(bench)) == 4, "one of them is good"
    assert chosen(bench).number == 3


def test_the_choice_of_the_user_is_respected(make_bench: MakeBench) -> None:
    checks = FakeChecks({TEXTS[0]: 1}, is_held=True)
    bench = open_script(make_bench, checks, TEXTS[:1])
    other = bench.add_take(np.ones(100, np.float32))
    bench.session.synthesis.speak(["line0"])
    bench.until(lambda: checks.requests)
    bench.session.editor.push(ChooseTake("line0", other.id), "Choose take")
    checks.is_held = False
    checks.release()
    wait_until_checked(bench)
    assert chosen(bench).id == other.id
    assert len(takes(bench)) == 2, "no further take"


@pytest.mark.parametrize("excess", [0.0, 0.03])  # the second is within the tolerance
def test_a_further_take_is_stretched_to_the_slot_like_the_first(make_bench: MakeBench, excess: float) -> None:
    """A line that had been fitted to its slot was too long again."""
    checks = FakeChecks({"one two drawl": 1}, is_held=True)
    bench = open_script(make_bench, checks, ["one two drawl"])
    editor = bench.session.editor
    bench.session.synthesis.speak(["line0"])
    bench.until(lambda: checks.requests)
    (first,) = takes(bench)
    editor.push(EditLines({"line0": {"slot": Slot(1.0, 1.0 + first.audio_seconds - excess)}}), "Change slot")
    checks.is_held = False
    checks.release()
    wait_until_checked(bench)
    second = chosen(bench)
    assert second.id != first.id
    assert second.audio_seconds > first.audio_seconds
    (fit,) = plan_fit(editor.script, ["line0"], FitOptions())
    assert fit.overrun_seconds <= excess + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("edit", [{"text": "other words"}, {"is_locked": True}])
def test_an_edited_or_locked_line_is_not_spoken_again(make_bench: MakeBench, edit: dict[str, object]) -> None:
    checks = FakeChecks({TEXTS[0]: 9}, is_held=True)
    bench = open_script(make_bench, checks, TEXTS[:1])
    bench.session.synthesis.speak(["line0"])
    bench.until(lambda: checks.requests)
    bench.session.editor.apply(EditLines({"line0": edit}))
    checks.is_held = False
    checks.release()
    wait_until_checked(bench)
    assert len(takes(bench)) == 1
    assert takes(bench)[0].check is not None


def test_a_line_that_is_removed_during_its_check_does_no_harm(make_bench: MakeBench) -> None:
    checks = FakeChecks({TEXTS[0]: 9}, is_held=True)
    bench = open_script(make_bench, checks)
    bench.session.synthesis.speak(["line0", "line1"])
    bench.until(lambda: checks.requests)
    bench.session.editor.apply(RemoveLines(("line0",)))
    checks.is_held = False
    checks.release()
    wait_until_checked(bench)
    assert chosen(bench, 1).check == good_check(checks.requests[-1])


def test_lines_with_problems_are_not_changed_lines(make_bench: MakeBench) -> None:
    """After a small edit of a long script, only the edited line is spoken."""
    bench = open_script(make_bench, FakeChecks({TEXTS[0]: 99}))
    bench.settings.change({TAKE_RETRIES: 1})
    speak_all(bench)
    assert bench.session.editor.saved_state("line0") is LineState.CHECK
    bench.session.editor.apply(EditLines({"line1": {"text": "another text"}}))
    bench.trigger("speak.stale")
    assert [job.line_id for job in bench.session.queue.jobs if not job.state.is_over] == ["line1"]


def test_a_cancelled_queue_speaks_nothing_again(make_bench: MakeBench) -> None:
    checks = FakeChecks(dict.fromkeys(TEXTS, 9), is_held=True)
    bench = open_script(make_bench, checks)
    bench.trigger("speak.stale")
    bench.until(lambda: checks.requests)
    bench.session.queue.cancel_all()
    bench.session.settings.change({TAKE_RETRIES: 1})
    bench.session.parts.checker.cancel()
    bench.until(lambda: not bench.session.parts.checker.num_waiting)
    bench.live(0.05)
    assert all(job.state.is_over for job in bench.session.queue.jobs)
    assert all(len(takes(bench, line)) <= 1 for line in range(3))


def test_speech_does_not_wait_for_checks(make_bench: MakeBench) -> None:
    checks = FakeChecks(is_held=True)
    bench = open_script(make_bench, checks)
    bench.trigger("speak.stale")
    queue = bench.session.queue
    bench.until(lambda: queue.jobs and all(job.state.is_over for job in queue.jobs))
    assert len(checks.requests) == 1
    assert [take.check for line in range(3) for take in takes(bench, line)] == [None, None, None]
    assert bench.session.parts.checker.num_waiting == 3


@pytest.mark.slow
def test_takes_that_were_not_checked_before_a_crash_are_checked_later(make_bench: MakeBench) -> None:
    bench = open_script(make_bench, FakeChecks(is_held=True))
    speak = bench.session.queue
    bench.trigger("speak.stale")
    bench.until(lambda: speak.jobs and all(job.state.is_over for job in speak.jobs))
    draft: Path = bench.session.editor.project.draft_path
    bench.run(bench.session.close(keeps_draft=True))
    bench.is_closed = True
    checks = FakeChecks({TEXTS[0]: 9})
    again = make_bench(checks=checks, project=Project.recover(draft), model=speaking_model())
    again.open_window()
    again.until(lambda: len(checks.requests) == 3 and not again.session.parts.checker.num_waiting)
    assert [chosen(again, line).check.verdict for line in range(3)] == [Verdict.BAD, Verdict.GOOD, Verdict.GOOD]
    assert not again.session.queue.jobs, "nothing is spoken because a script was opened"
    assert checks.requests[0].evidence
    assert checks.requests[0].prompt_clip is not None


def test_the_program_ends_while_takes_wait_for_their_check(make_bench: MakeBench) -> None:
    checks = FakeChecks(is_held=True)
    bench = open_script(make_bench, checks)
    bench.trigger("speak.stale")
    bench.until(lambda: checks.requests)
    bench.close()
    assert checks.is_closed


@pytest.mark.slow
def test_one_spoilt_line_in_ten_of_200_is_corrected(make_bench: MakeBench) -> None:
    texts = [f"line number {number}" for number in range(200)]
    spoilt = dict.fromkeys(texts[::10], 1)
    bench = open_script(make_bench, FakeChecks(spoilt), texts)
    speak_all(bench)
    wrong = [line for line in range(200) if chosen(bench, line).check.verdict is not Verdict.GOOD]
    assert len(wrong) <= 1
    assert sum(len(takes(bench, line)) for line in range(200)) == 220


def test_takes_of_a_model_that_makes_noise_are_not_checked(make_bench: MakeBench) -> None:
    checks = FakeChecks({TEXTS[0]: 9})
    bench = make_bench(checks=checks)
    bench.add_voice()
    bench.open_window()
    add_lines(bench, TEXTS)
    speak_all(bench)
    assert checks.requests == []
    assert len(takes(bench)) == 1


@pytest.mark.slow
def test_a_line_in_a_language_that_the_model_has_not_learned_is_told_once_and_not_repeated(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    chinese = "今天我们聊一聊手冲咖啡。"
    bench = open_script(make_bench, FakeChecks({chinese: 9}), (chinese,))
    monkeypatch.setitem(known_models(), speaking_model().name, known_models()["studio-mini"])
    bench.session.language_check.allow_all()  # "Always speak"
    speak_all(bench)
    assert len(takes(bench)) == 1
    assert takes(bench)[0].needs_review
    bench.session.parts.retries.speak_outliers(["line0"])
    wait_until_checked(bench)
    assert len(takes(bench)) == 1
