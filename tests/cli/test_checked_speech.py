"""`--check` of `timbre say` and `timbre export`: retries, results in JSON, warnings, and the manifest."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fake_checks import FakeChecks, bad_check
from sound_card import SoundCard
from terminal import Terminal

from studio.pipeline.request import Mode, SynthesisReport, SynthesisRequest
from studio.project.changes import AddTake, InsertLines, SetTakeChecks
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.settings import CHECK_STRICTNESS, TAKE_RETRIES
from studio.settings_store import Settings
from studio.take_checks.policy import retry_seed
from studio.take_checks.records import ProblemKind, TakeCheck, Verdict
from studio.take_checks.requests import Strictness

pytestmark = pytest.mark.timeout(120)
TEXT = "one two three"


def use(timbre: Terminal, checks: FakeChecks) -> FakeChecks:
    timbre.change(open_checks=checks)
    return checks


def seeds(timbre: Terminal) -> list[int]:
    return [request.seed for request in timbre.opened[-1].requests if isinstance(request, SynthesisRequest)]


def say(timbre: Terminal, clip: Path, *options: str):  # type: ignore[no-untyped-def]
    return timbre("say", TEXT, "--voice", clip, "-o", "out.wav", "--model", "quiet", "--json", "--seed", "5", *options)


def test_nothing_is_checked_without_the_option(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({TEXT: 9}))
    assert say(timbre, clip).json["check"] is None
    assert checks.requests == []


def test_a_bad_take_is_spoken_again(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({TEXT: 1}))
    ran = say(timbre, clip, "--check")
    assert ran.status == 0
    assert seeds(timbre) == [5, retry_seed(5, 1)]
    assert ran.json["check"]["verdict"] == "good"
    assert ran.json["check"]["retries"] == 1
    assert ran.json["seed"] == ran.json["check"]["seed"] == retry_seed(5, 1)
    assert ran.json["warnings"] == []
    assert "check: Good after 1 retry. The check found no problems." in ran.err
    assert checks.is_closed
    request = checks.requests[0]
    assert (request.text, request.prompt_clip, request.strictness) == (TEXT, clip, Strictness.NORMAL)
    assert len(request.samples) == len(soundfile.read("out.wav")[0])
    assert request.evidence


def test_the_best_of_bad_takes_is_in_the_file(timbre: Terminal, clip: Path) -> None:
    kinds = iter((ProblemKind.CLIPPING, ProblemKind.MISSING_WORDS, ProblemKind.MISSING_WORDS))
    checks = use(timbre, FakeChecks(result=lambda request: bad_check(request, kind=next(kinds))))
    Settings().change({CHECK_STRICTNESS: "strict"})
    ran = say(timbre, clip, "--check", "--unmarked")
    assert ran.status == 0
    assert len(checks.requests) == 3
    assert checks.requests[0].strictness is Strictness.STRICT
    assert ran.json["check"]["problems"][0]["kind"] == "clipping"
    assert ran.json["seed"] == 5
    np.testing.assert_allclose(soundfile.read("out.wav")[0], checks.requests[0].samples, atol=1e-4)
    assert ran.json["warnings"][-1].startswith("doubtful-take: Bad: At 0.0 s, the sound is clipped.")


@pytest.mark.parametrize("num_retries", [1, 4])
def test_the_number_of_retries(timbre: Terminal, clip: Path, num_retries: int) -> None:
    checks = use(timbre, FakeChecks({TEXT: 99}))
    Settings().change({TAKE_RETRIES: num_retries})
    ran = say(timbre, clip, "--check")
    assert len(checks.requests) == 1 + num_retries
    assert ran.json["check"]["retries"] == num_retries


@pytest.mark.parametrize("words", ["-1", "10", "many"])
def test_a_wrong_number_of_retries_is_refused(timbre: Terminal, clip: Path, words: str) -> None:
    ran = say(timbre, clip, f"--retries={words}")
    assert ran.status == 2
    assert f"{words} is not a number from 0 to 9" in ran.err


@pytest.mark.slow
def test_a_take_that_is_played_is_not_spoken_again(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({TEXT: 9}))
    timbre.with_sound_card(SoundCard())
    ran = timbre("say", TEXT, "--voice", clip, "--play", "--model", "quiet", "--json", "--check")
    assert ran.json["check"]["verdict"] == "bad"
    assert len(checks.requests) == 1


def test_a_check_that_fails_is_a_warning(timbre: Terminal, clip: Path) -> None:
    not_checked = TakeCheck(Verdict.NOT_CHECKED, error_code="checker-died")
    use(timbre, FakeChecks(result=lambda _: not_checked))
    ran = say(timbre, clip, "--check")
    assert ran.status == 0
    assert ran.json["check"]["verdict"] == "not-checked"
    assert ran.json["check"]["error_code"] == "checker-died"
    assert ran.json["warnings"][-1] == "take-not-checked: The check was not possible (checker-died)."


def export(timbre: Terminal, clip: Path, *options: str, out: str = "out"):  # type: ignore[no-untyped-def]
    Path("script.txt").write_text("one two\n\nthree four\n\nfive six\n", "utf-8")
    return timbre(
        "export", "script.txt", "--out", out, "--voice", clip, "--model", "quiet", "--json", "--manifest", *options
    )


def test_an_export_speaks_doubtful_lines_again_and_tells_the_verdicts(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({"three four": 1, "five six": 99}))
    ran = export(timbre, clip, "--check")
    assert ran.status == 0
    found = {each["line"]: each for each in ran.json["checks"]}
    assert {line: each["verdict"] for line, each in found.items()} == {1: "good", 2: "good", 3: "bad"}
    assert {line: each["retries"] for line, each in found.items()} == {1: 0, 2: 1, 3: 2}
    assert ran.json["warnings"] == ["doubtful-take: line 3: Bad: At 0.0 s, “five” is missing."]
    assert "line 3: Bad: At 0.0 s, “five” is missing." in ran.err
    (table,) = Path("out").glob("*.csv")
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [row["verdict"] for row in rows] == ["good", "good", "bad"]
    assert rows[1]["seed"] == str(found[2]["seed"]) == str(retry_seed(0, 1))
    assert rows[2]["problems"] == "At 0.0 s, “five” is missing."
    assert len(checks.requests) == 6
    assert checks.is_closed


def test_a_repeated_export_keeps_the_checks(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({"five six": 99}))
    first = export(timbre, clip, "--check")
    num_checked = len(checks.requests)
    again = export(timbre, clip, "--check", out="again")
    assert again.json["checks"] == first.json["checks"]
    assert len(checks.requests) == num_checked, "nothing is spoken again"


def test_an_export_without_checks_tells_nothing(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks())
    ran = export(timbre, clip)
    assert ran.json["checks"] == []
    assert checks.requests == []
    (table,) = Path("out").glob("*.csv")
    assert "verdict" not in table.read_text("utf-8-sig").splitlines()[0]


@pytest.mark.slow
def test_a_script_of_200_lines_with_one_spoilt_in_ten(timbre: Terminal, clip: Path) -> None:
    texts = [f"line {number} ends" for number in range(200)]
    checks = use(timbre, FakeChecks(dict.fromkeys(texts[::10], 1)))
    Path("long.txt").write_text("\n\n".join(texts), "utf-8")
    ran = timbre("export", "long.txt", "--out", "out", "--voice", clip, "--model", "quiet", "--json", "--check")
    wrong = [each for each in ran.json["checks"] if each["verdict"] != "good"]
    assert len(ran.json["checks"]) == 200
    assert len(wrong) <= 1
    assert len(checks.requests) == 220


def say_arriving(timbre: Terminal, clip: Path, *options: str):  # type: ignore[no-untyped-def]
    """Speak TEXT from standard input."""
    reading, writing = os.pipe()
    timbre.change(text_input=reading)
    os.write(writing, TEXT.encode())
    os.close(writing)
    try:
        return timbre("say", "-", "--voice", clip, "--model", "quiet", "--json", "--seed", "5", "--check", *options)
    finally:
        os.close(reading)


def test_a_text_that_arrives_is_checked_and_spoken_again(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({TEXT: 1}))
    ran = say_arriving(timbre, clip, "-o", "out.wav")
    assert ran.status == 0, ran.err
    assert [request.text for request in checks.requests] == [TEXT, TEXT]
    assert [request.text for request in timbre.opened[-1].requests] == [TEXT, TEXT]
    assert ran.json["check"]["retries"] == 1
    assert len(checks.requests[1].samples) == len(soundfile.read("out.wav")[0])


@pytest.mark.slow
def test_a_text_that_arrives_and_is_played_is_checked_once(timbre: Terminal, clip: Path) -> None:
    checks = use(timbre, FakeChecks({TEXT: 9}))
    timbre.with_sound_card(SoundCard())
    ran = say_arriving(timbre, clip, "--play")
    assert ran.json["check"]["verdict"] == "bad"
    assert [request.text for request in checks.requests] == [TEXT]


def unchecked_project(path: Path) -> bytes:
    """A project of three lines: a take that was not checked, a take that was, and no take."""
    with Project.create(path.parent / "drafts-of-test") as project:
        project.apply(InsertLines(0, tuple(Line(text, text, "Anna") for text in ("one two", "three four", "five six"))))
        for line in project.lines[:2]:
            parameters = TakeParameters(
                line.text, 1, project.fingerprint_of(line.id), "zero-shot", "Anna", "", "a model", ""
            )
            recorder = project.begin_take(line.id, parameters, 24_000)
            recorder.append(np.full(24_000, 0.1, np.float32))
            take = recorder.finish(SynthesisReport(0.1, 1.0, 0.3, 24_000, Mode.ZERO_SHOT, 5, {}, {}))
            project.apply(AddTake(take, is_chosen=True))
        project.apply(SetTakeChecks({project.chosen_take("three four").id: TakeCheck(Verdict.GOOD)}))
        project.save(path)
    return path.read_bytes()


def export_project(timbre: Terminal, clip: Path, *options: str):  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna")
    return timbre("export", "talk.timbre", "--out", "out", "--model", "quiet", "--json", *options)


def test_takes_of_a_project_that_were_not_checked_are_checked(timbre: Terminal, clip: Path) -> None:
    before = unchecked_project(Path("talk.timbre").absolute())
    checks = use(timbre, FakeChecks({"one two": 9}))
    ran = export_project(timbre, clip, "--check", "--manifest")
    assert ran.status == 0, ran.err
    assert [request.text for request in checks.requests] == ["one two", "five six"]
    assert {each["line"]: each["verdict"] for each in ran.json["checks"]} == {1: "bad", 2: "good", 3: "good"}
    assert ran.json["warnings"] == ["doubtful-take: line 1: Bad: At 0.0 s, “one” is missing."]
    assert [request.text for request in timbre.opened[-1].requests] == ["five six"], "takes are not spoken again"
    assert Path("talk.timbre").read_bytes() == before
    (table,) = Path("out").glob("*.csv")
    assert [row["verdict"] for row in csv.DictReader(table.read_text("utf-8-sig").splitlines())] == [
        "bad",
        "good",
        "good",
    ]


@pytest.mark.parametrize("options", [[], ["--check", "--dry-run"]])
def test_takes_of_a_project_are_not_checked_otherwise(timbre: Terminal, clip: Path, options: list[str]) -> None:
    unchecked_project(Path("talk.timbre").absolute())
    checks = use(timbre, FakeChecks())
    assert export_project(timbre, clip, *options).status == 0
    assert checks.requests == []


@pytest.mark.parametrize("options", [["--pattern", "{nothing}"], ["--book", "cover=nowhere.png"]], ids=" ".join)
def test_takes_are_checked_after_the_options(timbre: Terminal, clip: Path, options: list[str]) -> None:
    unchecked_project(Path("talk.timbre").absolute())
    checks = use(timbre, FakeChecks())
    assert export_project(timbre, clip, "--check", *options).status != 0
    assert checks.requests == []
