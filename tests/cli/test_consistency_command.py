"""`timbre consistency` lists the lines of a project that sound unlike the rest, and speaks them again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_checks import FakeChecks, good_check
from measured_takes import USUAL
from terminal import Terminal

from studio.pipeline.request import Mode, SynthesisReport
from studio.project.changes import AcceptTakes, AddTake, EditDetails, InsertLines, SetTakeChecks
from studio.project.consistency import example_targets
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.take_checks.consistency import drift_problems
from studio.take_checks.records import TakeCheck, TakeMeasures, Verdict
from studio.take_checks.requests import CheckRequest

ODD = 4
HIGH = replace(USUAL, pitch_hz=160.0 * 2 ** (2 / 12))


class MeasuringChecks(FakeChecks):
    """Takes of constant sound, which ``make_project`` adds, have the measures of their level; others are as given."""

    def __init__(self, stored: dict[float, TakeMeasures], new: TakeMeasures = USUAL) -> None:
        super().__init__(result=self._measured)
        self._stored, self._new = stored, new

    def _measured(self, request: CheckRequest) -> TakeCheck:
        measures = self._stored.get(round(float(request.samples[0]), 3), self._new)
        problems = tuple(drift_problems(measures, request.targets, 1.0))
        verdict = Verdict.DOUBTFUL if problems else Verdict.GOOD
        return replace(good_check(request), verdict=verdict, problems=problems, measures=measures)


def make_project(path: Path, stored: TakeMeasures | None = None, text: str = "line number {n}") -> None:
    """Make a project of ten lines with takes of which one is too high, with these measures or its own."""
    with Project.create(path.parent / "drafts-of-test") as project:
        project.apply(InsertLines(0, tuple(Line(f"{n}", text.format(n=n), "Anna") for n in range(10))))
        for number, line in enumerate(project.lines):
            parameters = TakeParameters(
                line.text, 1, project.fingerprint_of(line.id), "zero-shot", "Anna", "", "quiet", ""
            )
            recorder = project.begin_take(line.id, parameters, 24_000)
            recorder.append(np.full(24_000, 0.001 * (number + 1), np.float32))
            take = recorder.finish(SynthesisReport(0.1, 1.0, 0.3, 24_000, Mode.ZERO_SHOT, 5, {}, {}))
            project.apply(AddTake(take))
            measures = stored or (HIGH if number == ODD else USUAL)
            project.apply(SetTakeChecks({take.id: TakeCheck(Verdict.GOOD, measures=measures)}))
        project.save(path)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.timbre"
    make_project(path)
    return path


def use(timbre: Terminal, checks: FakeChecks) -> FakeChecks:
    timbre.change(open_checks=checks)
    return checks


def takes_of_odd_line(path: Path, drafts: Path) -> tuple[int, int]:
    """Return the number of takes of the line, and the number of the chosen one."""
    with Project.open(path, drafts) as project:
        chosen = project.chosen_take(f"{ODD}")
        assert chosen is not None
        return len(project.takes_of(f"{ODD}")), chosen.number


def test_outliers_are_listed_from_stored_measures(timbre: Terminal, book: Path) -> None:
    checks = use(timbre, FakeChecks())
    before = book.read_bytes()
    ran = timbre("consistency", book)
    assert ran.status == 1, ran.err
    assert "     5  Anna: pitch high (180 Hz)  “line number 4”" in ran.out
    assert "10 lines, 1 outside their targets" in ran.out
    assert checks.requests == [], "nothing is measured again"
    assert book.read_bytes() == before


def test_json_lists_measures_and_targets(timbre: Terminal, book: Path) -> None:
    use(timbre, FakeChecks())
    values = timbre("consistency", book, "--json").json
    assert [each["line"] for each in values["lines"] if each["outside"]] == [5]
    assert values["lines"][0]["measures"] == {
        "pace": 5.0,
        "pitch": 160.0,
        "pitch-range": 4.0,
        "level": -18.0,
        "similarity": 0.9,
        "pauses": 0.2,
    }
    assert values["targets"] == [{"character": None, "voice": "Anna", "style": None, **values["lines"][0]["measures"]}]
    assert (values["outliers"], values["not_measured"]) == (1, 0)


def test_takes_without_measures_are_measured(timbre: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "old.timbre"
    make_project(path, replace(USUAL, pitch_hz=None))
    checks = use(timbre, MeasuringChecks({0.001 * (ODD + 1): HIGH}))
    values = timbre("consistency", path, "--json").json
    assert [each["line"] for each in values["lines"] if each["outside"]] == [5]
    assert [request.recognizer for request in checks.requests] == ["off"] * 10


def test_an_example_sets_the_targets(timbre: Terminal, book: Path) -> None:
    use(timbre, FakeChecks())
    values = timbre("consistency", book, "--example", "5", "--json").json
    assert values["targets"][0]["pitch"] == pytest.approx(179.6, abs=0.1)
    assert set(values["lines"][0]["outside"]) == {"pitch"}


def test_repair_speaks_outliers_again_and_saves_the_project(timbre: Terminal, clip: Path, book: Path) -> None:
    timbre.library.add(clip, "Anna")
    use(timbre, MeasuringChecks({0.001 * (ODD + 1): HIGH}))
    ran = timbre("consistency", book, "--repair", "--json", "--model", "quiet")
    assert ran.status == 0, ran.err
    assert [each["new_takes"] for each in ran.json["lines"]] == [0] * ODD + [1] + [0] * (9 - ODD)
    assert [request.text for request in timbre.opened[-1].requests] == [f"line number {ODD}"]
    assert takes_of_odd_line(book, book.parent / "drafts-of-test") == (2, 2)
    with Project.open(book, book.parent / "drafts-of-test") as project:
        assert project.script.details.targets
        assert len(project.takes_of("0")) == 1


def test_repair_speaks_at_most_twice_and_keeps_the_better_take(timbre: Terminal, clip: Path, book: Path) -> None:
    timbre.library.add(clip, "Anna")
    use(timbre, MeasuringChecks({0.001 * (ODD + 1): HIGH}, new=replace(USUAL, pitch_hz=320.0)))
    ran = timbre("consistency", book, "--repair", "--model", "quiet")
    assert ran.status == 1, ran.err
    assert "10 lines, 1 outside their targets, 2 new takes" in ran.out
    assert takes_of_odd_line(book, book.parent / "drafts-of-test") == (3, 1)


def test_lines_in_a_language_that_the_model_lacks_are_not_repeated(
    timbre: Terminal, clip: Path, tmp_path: Path
) -> None:
    timbre.library.add(clip, "Anna")
    make_project(tmp_path / "story.timbre", text="{n}番目の駅で、わたしたちは電車をおります。")
    use(timbre, MeasuringChecks({0.001 * (ODD + 1): HIGH}))
    ran = timbre("consistency", tmp_path / "story.timbre", "--repair", "--json", "--model", "studio-mini")
    assert set(ran.json["lines"][ODD]["outside"]) == {"pitch"}
    assert [each["new_takes"] for each in ran.json["lines"]] == [0] * 10


def test_accepted_takes_are_left_as_they_are(timbre: Terminal, book: Path) -> None:
    use(timbre, FakeChecks())
    with Project.open(book, book.parent / "drafts-of-test") as project:
        project.apply(AcceptTakes({project.chosen_take(f"{ODD}").id: True}))
        project.save()
    assert timbre("consistency", book).status == 0


def test_a_voice_that_is_missing_is_reported(timbre: Terminal, book: Path) -> None:
    use(timbre, MeasuringChecks({0.001 * (ODD + 1): HIGH}))
    ran = timbre("consistency", book, "--repair", "--json", "--model", "quiet")
    assert ran.status == 1
    assert ran.json["lines"][ODD]["error"] == "voice-not-found"


def test_other_files_are_refused(timbre: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Hello.", "utf-8")
    use(timbre, FakeChecks())
    assert "(unreadable-project)" in timbre("consistency", path).err


def test_export_checks_its_own_speech_against_the_targets(timbre: Terminal, clip: Path, book: Path) -> None:
    timbre.library.add(clip, "Anna")
    checks = use(timbre, MeasuringChecks({}, new=replace(USUAL, pitch_hz=320.0)))
    export = ("export", book, "--model", "quiet", "--check", "--json", "--out")
    with Project.open(book, book.parent / "drafts-of-test") as project:
        project.apply(InsertLines(10, (Line("10", "line number 10", "Anna"),)))
        project.save()
    assert timbre(*export, "before.wav").status == 0
    assert [request.targets for request in checks.requests] == [()], "the script has no targets yet"
    with Project.open(book, book.parent / "drafts-of-test") as project:
        targets = example_targets(project.script, {"1", "2"})
        project.apply(EditDetails(replace(project.script.details, targets=targets)))
        project.save()
    before = len(checks.requests)
    ran = timbre(*export, "after.wav")
    assert ran.status == 0, ran.err
    assert all(request.targets for request in checks.requests[before:])
    assert [each["line"] for each in ran.json["checks"] if each["problems"]] == [11]
