"""The lines of a script that sound unlike the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_takes import USUAL, drifting_script, measures, script_of, take_of

from studio.pipeline.request import Mode
from studio.project import consistency
from studio.project.changes import AcceptTakes, EditDetails, EditLines, SetTakeChecks
from studio.project.consistency import analyse, best_targets, example_targets, targets_of_take
from studio.project.details import VoiceRole
from studio.project.lines import Heading
from studio.project.script import Script
from studio.take_checks.records import Measure, Problem, ProblemKind, TakeCheck, Verdict

PLANTED = range(5, 300, 10)


def with_targets(script: Script) -> Script:
    changed, _ = EditDetails(replace(script.details, targets=best_targets(script))).apply(script)
    return changed


def test_planted_drift_is_found_among_300_lines() -> None:
    found = analyse(drifting_script(300, PLANTED))
    numbers = {each.number - 1 for each in found.drifting}
    assert set(PLANTED) <= numbers
    assert len(numbers - set(PLANTED)) <= 8, "at most 3 % of the other lines"
    assert {Measure.PITCH} <= set(found.drifting[0].drifts)


def test_each_voice_has_its_own_target() -> None:
    random = np.random.default_rng(1)
    takes = [measures(random, pitch_hz=(110.0, 210.0)[number % 2]) for number in range(60)]
    found = analyse(script_of(takes, voices=("Max", "Anna")))
    assert len(found.drifting) <= 2
    assert {role.voice for role in found.targets} == {"Max", "Anna"}


def test_character_and_style_separate_the_targets() -> None:
    script = drifting_script(20, ())
    changed, _ = EditLines({"line3": {"character": " the  KING "}}).apply(script)
    assert VoiceRole("the king", "Anna") in analyse(changed).targets


def test_a_slow_drift_within_the_target_is_found_by_the_neighbours() -> None:
    takes = [replace(USUAL, level_dbfs=-18.0 + number % 2 * 5.0) for number in range(60)]
    takes[:30] = [replace(USUAL, level_dbfs=-18.0)] * 30
    takes[30:] = [replace(USUAL, level_dbfs=-12.0)] * 30
    takes[15] = replace(USUAL, level_dbfs=-12.5)
    found = analyse(script_of(takes))
    assert 16 in {each.number for each in found.drifting}
    assert found.lines[15].drifts[Measure.LEVEL] > 1.0


def test_accepted_takes_are_not_outliers() -> None:
    script = drifting_script(60, (7,))
    assert [each.number for each in analyse(script).drifting] == [8]
    changed, _ = AcceptTakes({"take-line7": True}).apply(script)
    assert analyse(changed).drifting == ()


def test_titles_which_are_read_slower_are_left_out() -> None:
    takes = [USUAL] * 20
    takes[5] = replace(USUAL, pace=2 * USUAL.pace)
    script = script_of(takes)
    assert [each.number for each in analyse(script).drifting] == [6]
    changed, _ = EditLines({"line5": {"heading": Heading.CHAPTER}}).apply(script)
    found = analyse(changed)
    assert (found.drifting, len(found.lines), found.num_headings) == ((), 19, 1)
    assert targets_of_take(with_targets(changed), changed.take("take-line5")) == ()


def test_takes_without_measures_are_listed() -> None:
    takes = [USUAL, None, replace(USUAL, pitch_hz=None), USUAL]
    script = script_of(takes)
    silent = TakeCheck(Verdict.BAD, (Problem(ProblemKind.LONG_SILENCE, 0.0, 1.0),))
    script, _ = SetTakeChecks({"take-line3": silent}).apply(script)
    found = analyse(script)
    assert [take.line_id for take in found.unmeasured] == ["line1", "line2"]
    assert [each.number for each in found.lines] == [1]


def test_recordings_and_notes_are_left_out() -> None:
    script = script_of([USUAL] * 3)
    (converted,) = script.takes_of("line0")
    converted = replace(converted, parameters=replace(converted.parameters, mode=Mode.CONVERSION.value))
    script = script.with_takes({"line0": (converted,)})
    script, _ = EditLines({"line1": {"is_spoken": False}}).apply(script)
    assert [each.number for each in analyse(script).lines] == [3]


def test_targets_come_from_the_takes_without_problems() -> None:
    script = drifting_script(12, ())
    takes = {
        line.id: (take_of(line, replace(USUAL, pitch_hz=300.0), verdict=Verdict.BAD),) for line in script.lines[:3]
    }
    script = script.with_takes(takes)
    target = best_targets(script)[VoiceRole("", "Anna")]
    assert 2 ** (target[Measure.PITCH].centre / 12) == pytest.approx(160.0, rel=0.02)
    only_bad = script_of([USUAL]).with_takes({"line0": takes["line0"]})
    assert Measure.PITCH in best_targets(only_bad)[VoiceRole("", "Anna")], "otherwise from all takes"


def test_targets_by_example_concern_the_roles_of_these_lines() -> None:
    random = np.random.default_rng(1)
    script = script_of([measures(random) for _ in range(40)], voices=("Max", "Anna"))
    example = script.with_takes({"line0": (take_of(script.lines[0], replace(USUAL, pitch_hz=180.0), voice="Max"),)})
    found = example_targets(example, {"line0"})
    assert list(found) == [VoiceRole("", "Max")]
    assert 2 ** (found[VoiceRole("", "Max")][Measure.PITCH].centre / 12) == pytest.approx(180.0, rel=0.001)


def test_a_script_without_targets_is_not_checked_for_consistency() -> None:
    script = drifting_script(20, (7,))
    (take,) = script.takes_of("line7")
    assert targets_of_take(script, take) == ()
    of_script, of_neighbours = targets_of_take(with_targets(script), take)
    assert of_neighbours[Measure.LEVEL].tolerance > of_script[Measure.LEVEL].tolerance
    assert targets_of_take(with_targets(script_of([USUAL] * 3)), script_of([USUAL] * 3).takes_of("line0")[0])[1:] == ()


def test_stored_targets_replace_those_of_the_best_takes() -> None:
    script = with_targets(drifting_script(40, ()))
    (role,) = script.details.targets
    faster = replace(script.details, targets={role: best_targets(drifting_script(40, range(40)))[role]})
    script, _ = EditDetails(faster).apply(script)
    assert len(analyse(script).drifting) == 40


def test_3000_takes_are_compared_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []
    drifts = consistency.drifts
    monkeypatch.setattr(consistency, "drifts", lambda *given: compared.append(given) or drifts(*given))
    found = analyse(drifting_script(3000, range(0, 3000, 10)))
    assert len(found.lines) == len(compared) == 3000
    assert len(found.drifting) >= 300
