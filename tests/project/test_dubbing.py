"""Fitting of takes to the time slots of a video."""

from __future__ import annotations

from dataclasses import replace

import pytest
from project_samples import RATE, insert, speak

from studio.errors import UnusableSetting
from studio.project.changes import EditLines, EditTakes
from studio.project.dubbing import (
    FitOptions,
    LineFit,
    Retakes,
    faster_style,
    has_slots,
    overrun_seconds,
    plan_fit,
    stretches,
    take_seconds,
)
from studio.project.lines import LineStyle, Slot, merge_slots, spare_seconds
from studio.project.project import Project

FASTER = FitOptions(retakes=Retakes.BEYOND_LIMITS, faster_style="speed.fast")


def spoken(project: Project, slot_seconds: float, seconds: float, **values: object) -> str:
    """Add a line with a slot and a take of ``seconds``; return its id."""
    (line_id,) = insert(project, "Hello.")
    start = 1.05 * len(project.lines)  # no silence after a slot that a take may use
    edits = {"slot": Slot(start, start + slot_seconds), **values}
    project.apply(EditLines({line_id: edits}))
    speak(project, line_id, seconds)
    return line_id


def fit_of(project: Project, line_id: str, options: FitOptions | None = None) -> LineFit:
    (fit,) = plan_fit(project.script, [line_id], options or FitOptions())
    return fit


def test_a_script_of_60_cues_with_20_overruns(project: Project) -> None:
    """Every overrun is either fitted to its slot or marked, the rest is not touched, and one undo restores all."""
    ids = [
        spoken(project, 1.0, 0.6 if number % 3 else 1.1 + 0.015 * number) for number in range(60)
    ]  # the 20 overruns are 10 % to 97 % too long
    before = project.script
    plan = plan_fit(project.script, ids, FitOptions())

    over = [fit for fit in plan if fit.overrun_seconds > 0.05]
    assert len(plan) == 60
    assert len(over) == 20
    assert plan[:20] == tuple(over)
    assert [fit.overrun_seconds for fit in over] == sorted((fit.overrun_seconds for fit in over), reverse=True)
    change = stretches(plan)
    assert change is not None
    assert set(change.edits) == {fit.line.id for fit in over}
    inverse = project.apply(change)
    left_over = []
    for fit in plan:
        samples = project.samples_of(project.line(fit.line.id).chosen_take or "")
        assert len(samples) / RATE == pytest.approx(fit.fitted_seconds, abs=0.001)
        if len(samples) / RATE - fit.slot.seconds > 0.1:
            left_over.append(fit.line.id)
    assert left_over
    assert set(left_over) <= {fit.line.id for fit in plan if fit.still_overruns}
    assert sum(fit.still_overruns for fit in plan) < 20
    project.apply(inverse)
    assert project.script == before


def test_a_take_is_stretched_only_as_far_as_its_slot_requires(project: Project) -> None:
    fit = fit_of(project, spoken(project, 1.0, 1.2))
    assert fit.speed == pytest.approx(1.2, abs=0.0011)
    assert 1e-9 >= fit.remaining_seconds > -0.001
    assert not fit.still_overruns


def test_an_overrun_within_the_tolerance_is_left_alone(project: Project) -> None:
    fit = fit_of(project, spoken(project, 1.0, 1.04))
    assert not fit.is_stretched
    assert not fit.still_overruns


def test_beyond_the_limit_the_take_is_stretched_to_the_limit_and_marked(project: Project) -> None:
    fit = fit_of(project, spoken(project, 1.0, 2.0), FitOptions(fastest=1.25))
    assert fit.speed == 1.25
    assert fit.remaining_seconds == pytest.approx(0.6)
    assert fit.still_overruns


def test_a_line_that_is_faster_than_the_limit_is_not_slowed_down(project: Project) -> None:
    line_id = spoken(project, 1.0, 3.0)
    project.apply(EditLines({line_id: {"speed": 1.6}}))
    fit = fit_of(project, line_id)
    assert not fit.is_stretched
    assert fit.still_overruns


def test_short_takes_are_lengthened_only_if_wanted(project: Project) -> None:
    line_id = spoken(project, 1.0, 0.5)
    assert not fit_of(project, line_id).is_stretched
    assert fit_of(project, line_id, FitOptions(lengthens=True)).speed == 0.85
    nearly = spoken(project, 1.0, 0.9)
    assert fit_of(project, nearly, FitOptions(lengthens=True)).speed == 0.9


def test_locked_lines_are_marked_and_not_changed(project: Project) -> None:
    fit = fit_of(project, spoken(project, 1.0, 1.2, is_locked=True), FASTER)
    assert not fit.is_stretched
    assert not fit.is_retaken
    assert fit.still_overruns


def test_a_trimmed_take_needs_less_stretching(project: Project) -> None:
    line_id = spoken(project, 1.0, 1.4)
    project.apply(
        EditTakes({project.line(line_id).chosen_take or "": {"trim_start_seconds": 0.1, "trim_end_seconds": 0.1}})
    )
    assert fit_of(project, line_id).speed == pytest.approx(1.2, abs=0.0011)


def test_the_limits_apply_to_the_recorded_speed_of_the_take(project: Project) -> None:
    """A take that was spoken at 0.8 may become 1.25 times as fast as it was recorded."""
    line_id = spoken(project, 1.0, 2.0)
    take = project.chosen_take(line_id)
    assert take is not None
    slow = replace(take, parameters=replace(take.parameters, speed=0.8))
    script = project.script.with_takes({line_id: (slow,)}).with_edited(
        {line_id: replace(project.line(line_id), speed=0.8)}
    )
    (fit,) = plan_fit(script, [line_id], FitOptions())
    assert fit.speed == 1.0
    assert fit.fitted_seconds == pytest.approx(1.6)


def test_a_take_that_was_spoken_faster_is_not_sped_up_beyond_the_limit_again(project: Project) -> None:
    """After a line at 1.25 was spoken again, fitting it made it 1.56 times as fast."""
    line_id = spoken(project, 1.0, 2.0)
    take = project.chosen_take(line_id)
    assert take is not None
    for speed, fitted in ((1.25, 1.25), (1.1, 1.25), (1.5, 1.5)):
        quick = replace(take, parameters=replace(take.parameters, speed=speed))
        script = project.script.with_takes({line_id: (quick,)}).with_edited(
            {line_id: replace(project.line(line_id), speed=speed)}
        )
        (fit,) = plan_fit(script, [line_id], FitOptions())
        assert fit.speed == pytest.approx(fitted, abs=0.0011)


def test_lines_are_spoken_again_where_stretching_is_not_enough(project: Project) -> None:
    little, much = spoken(project, 1.0, 1.2), spoken(project, 1.0, 1.5)
    styled = spoken(project, 1.0, 1.5, style=LineStyle(instruct="Whisper."))
    assert {line_id: fit_of(project, line_id, FASTER).is_retaken for line_id in (little, much, styled)} == {
        little: False,
        much: True,
        styled: False,
    }
    assert fit_of(project, little, replace(FASTER, retakes=Retakes.ALWAYS)).is_retaken
    assert not fit_of(project, much, replace(FASTER, retakes=Retakes.NEVER)).is_retaken
    assert not fit_of(project, much, replace(FASTER, faster_style=None)).is_retaken


def test_lines_without_slot_or_take_are_not_planned(project: Project) -> None:
    line_id = spoken(project, 1.0, 1.5)
    (unspoken, plain) = insert(project, "No take.", "No slot.")
    project.apply(EditLines({unspoken: {"slot": Slot(0.0, 1.0)}}))
    speak(project, plain, 0.5)
    plan = plan_fit(project.script, [line.id for line in project.lines], FitOptions())
    assert [fit.line.id for fit in plan] == [line_id]
    assert has_slots(project.script)
    assert take_seconds(project.script, project.line(line_id)) == pytest.approx(1.5)
    assert take_seconds(project.script, project.line(unspoken)) is None


def test_an_empty_slot_is_marked(project: Project) -> None:
    fit = fit_of(project, spoken(project, 0.0, 0.5))
    assert fit.speed == 1.25
    assert fit.still_overruns


def test_overrun_of_a_length() -> None:
    slot = Slot(1.0, 2.0)
    assert overrun_seconds(slot, 1.5, [slot]) == 0.5
    assert overrun_seconds(slot, 1.03, [slot]) == 0.0
    assert overrun_seconds(slot, None, [slot]) == 0.0
    assert overrun_seconds(None, 9.0, [slot]) == 0.0
    assert overrun_seconds(slot, 1.4, [slot, Slot(2.5, 3.0)]) == 0.0


def test_a_take_may_use_the_silence_after_its_slot_up_to_a_limit() -> None:
    slot = Slot(1.0, 2.0)
    for later, spare in ((2.05, 0.0), (2.3, 0.2), (9.0, 0.5)):
        assert spare_seconds(slot, merge_slots([Slot(later, later + 1.0), slot])) == spare
    assert spare_seconds(slot, merge_slots([slot])) == 0.0  # the video may end there
    during_another = merge_slots([slot, Slot(1.5, 4.0), Slot(9.0, 10.0)])
    assert during_another == (Slot(1.0, 4.0), Slot(9.0, 10.0))
    assert spare_seconds(slot, during_another) == 0.0
    assert spare_seconds(Slot(1.5, 4.0), during_another) == 0.5


def test_notes_do_not_end_the_silence_and_prove_that_the_video_continues(project: Project) -> None:
    line_id = spoken(project, 0.7, 1.4)
    assert fit_of(project, line_id).still_overruns  # the video may end there
    end = project.line(line_id).slot.end_seconds  # type: ignore[union-attr]
    (note,) = insert(project, "[door]")
    project.apply(EditLines({note: {"slot": Slot(end + 1.9, end + 3.0), "is_spoken": False}}))
    fit = fit_of(project, line_id)
    assert fit.spare_seconds == 0.5
    assert not fit.still_overruns


def test_fitting_uses_the_silence_before_it_changes_the_speed(project: Project) -> None:
    line_id = spoken(project, 0.7, 1.1)
    far = spoken(project, 1.0, 0.5)
    project.apply(EditLines({far: {"slot": Slot(5.0, 6.0)}}))
    fit = fit_of(project, line_id)
    assert not fit.is_stretched
    assert not fit.still_overruns
    project.apply(EditLines({far: {"slot": Slot(2.05, 3.0)}}))  # 0.2 s of the silence may be used
    fit = fit_of(project, line_id)
    assert fit.fitted_seconds == pytest.approx(0.9, abs=0.001)
    assert not fit.still_overruns
    project.apply(EditLines({far: {"is_spoken": False}}))  # a sound is no speech, and the video lasts until its end
    assert fit_of(project, line_id).fitted_seconds == pytest.approx(1.1, abs=0.001)


def test_the_faster_style_of_a_model() -> None:
    assert faster_style({"speed.slow", "speed.very_fast", "speed.fast"}) == "speed.fast"
    assert faster_style({"speed.very_fast"}) == "speed.very_fast"
    assert faster_style({"emotion.happy"}) is None


@pytest.mark.parametrize(("slowest", "fastest"), [(0.2, 1.2), (0.9, 4.1), (1.1, 1.2), (0.9, 0.95)])
def test_limits_out_of_range_are_an_error(slowest: float, fastest: float) -> None:
    with pytest.raises(UnusableSetting, match="out of range"):
        FitOptions(slowest, fastest)
