"""Invalid values in project files are replaced with defaults, and text is kept."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from project_samples import RATE, parameters, sound

from studio.errors import UnreadableProject
from studio.project.changes import AddTake, EditDictionary, InsertLines
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary
from studio.project.drafts import recoverable_drafts
from studio.project.lines import DEFAULT_PAUSE_SECONDS, Line, LineStyle
from studio.project.project import Project
from studio.project.records import line_from, line_row
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict, WordTime

TEXT = "What the user wrote."
CHECKED = TakeCheck(
    Verdict.BAD,
    (Problem(ProblemKind.MISSING_WORDS, 0.2, 0.4, "the", 0.9, 5, 8),),
    similarity=0.8,
    word_error_rate=0.25,
    words=(WordTime("What", 0.1, 0.2, 0, 4),),
)


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    return tmp_path / "drafts"


@pytest.fixture
def saved(drafts: Path, tmp_path: Path) -> Path:
    """A file with one line, one take of two seconds and one dictionary entry."""
    path = tmp_path / "a.timbre"
    with Project.create(drafts) as project:
        project.apply(InsertLines(0, (Line(id="line", text=TEXT, voice="Ann", seed=7),)))
        recorder = project.begin_take("line", parameters(project.fingerprint_of("line")), RATE)
        recorder.append(sound(2.0))
        project.apply(AddTake(replace(recorder.finish(), check=CHECKED)))
        entry = DictionaryEntry("Ghent", "gent")
        project.apply(EditDictionary(PronunciationDictionary((entry,))))
        project.save(path)
    return path


def _change(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.fixture
def open_projects() -> Iterator[list[Project]]:
    opened: list[Project] = []
    yield opened
    for project in opened:
        project.close(keeps_draft=False)


CHECK = "UPDATE takes SET check_result = json_set(check_result, '$.{}', {})"
RECIPE = "UPDATE takes SET recipe = json_set(recipe, '$.{}', {})"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("UPDATE lines SET speed = 17", "lines.speed"),
        ("UPDATE lines SET speed = -9e999", "lines.speed"),
        ("UPDATE lines SET seed = -1", "lines.seed"),
        ("UPDATE lines SET pause_after_seconds = 9e999", "lines.pause_after_seconds"),
        ("UPDATE lines SET preset = 'a', instruct = 'Slowly.'", "lines.preset"),
        ("UPDATE lines SET sampling = 'x'", "lines.sampling"),
        ("UPDATE lines SET sampling = '[1]'", "lines.sampling"),
        ('UPDATE lines SET sampling = \'{"top_k": "x"}\'', "lines.sampling.top_k"),
        ("UPDATE lines SET sampling = '{\"top_k\": 100000000000000000000}'", "lines.sampling.top_k"),
        ("UPDATE lines SET sampling = '{\"top_p\": -1}'", "lines.sampling.top_p"),
        ("UPDATE lines SET chosen_take = 'none'", "lines.chosen_take"),
        ("UPDATE takes SET audio_seconds = 9e999", "takes.audio_seconds"),
        ("UPDATE takes SET audio_seconds = 1e300", "takes.audio_seconds"),
        ("UPDATE takes SET audio_seconds = -5", "takes.audio_seconds"),
        ("UPDATE takes SET number = -1", "takes.number"),
        ("UPDATE takes SET created = 'yesterday'", "takes.created"),
        ("UPDATE takes SET created = '0001-01-01T00:00:00+14:00'", "takes.created"),
        ("UPDATE takes SET created = '9999-12-31T23:59:59-12:00'", "takes.created"),
        ("UPDATE takes SET first_audio_seconds = 9e999", "takes.first_audio_seconds"),
        ("UPDATE takes SET real_time_factor = -9e999", "takes.real_time_factor"),
        ("UPDATE takes SET num_underruns = -1", "takes.num_underruns"),
        ("UPDATE takes SET recipe = '17'", "takes.recipe"),
        (f"UPDATE takes SET recipe = '{100_000 * '['}'", "takes.recipe"),
        (RECIPE.format("text", "json('{}')"), "takes.recipe.text"),
        (RECIPE.format("seed", "'x'"), "takes.recipe.seed"),
        (RECIPE.format("speed", "1e300"), "takes.recipe.speed"),
        (RECIPE.format("style", "3"), "takes.recipe.style"),
        (RECIPE.format("sampling", "'x'"), "takes.recipe.sampling"),
        (RECIPE.format("engine", "json('[1]')"), "takes.recipe.engine"),
        (RECIPE.format("versions", "json('{\"torch\": 2}')"), "takes.recipe.versions.torch"),
        ("UPDATE takes SET check_result = 'x'", "takes.check_result"),
        (CHECK.format("verdict", "'fine'"), "takes.check_result.verdict"),
        (CHECK.format("problems", "3"), "takes.check_result.problems"),
        (CHECK.format("problems[0]", "3"), "takes.check_result.problems"),
        (CHECK.format("problems[0].kind", "'odd'"), "takes.check_result.problems.kind"),
        (CHECK.format("problems[0].to_seconds", "-1"), "takes.check_result.problems.to_seconds"),
        (CHECK.format("words[0].from_seconds", "'x'"), "takes.check_result.words.from_seconds"),
        (CHECK.format("similarity", "7"), "takes.check_result.similarity"),
        (CHECK.format("is_accepted", "'x'"), "takes.check_result.is_accepted"),
        ('UPDATE project SET details = \'{"checks": {"mode": "x"}}\'', "project.details.checks.mode"),
        ('UPDATE project SET details = \'{"checks": {"num_retries": 99}}\'', "project.details.checks.num_retries"),
        ('UPDATE project SET details = \'{"quality": "x"}\'', "project.details.quality"),
        ('UPDATE lines SET details = \'{"quality": "x"}\'', "lines.details.quality"),
        (RECIPE.format("quality", "'x'"), "takes.recipe.quality"),
        (RECIPE.format("quality_distortion_db", -1), "takes.recipe.quality_distortion_db"),
        ("UPDATE dictionary SET alias = NULL", "dictionary.written"),
        ("UPDATE dictionary SET pronunciation = 'no phones'", "dictionary.pronunciation"),
    ],
)
def test_an_invalid_value_becomes_a_default_with_a_notice(
    saved: Path, drafts: Path, open_projects: list[Project], statement: str, name: str
) -> None:
    _change(saved, statement)
    project = Project.open(saved, drafts)
    open_projects.append(project)
    assert name in str(project.notice)
    line = project.line("line")
    (take,) = project.takes_of("line")
    assert (line.text, line.voice) == (TEXT, "Ann")
    assert line.speed == 1.0
    assert line.pause_after_seconds == DEFAULT_PAUSE_SECONDS
    assert take.audio_seconds == 2.0, "the sound tells it"
    assert take.created.tzinfo is UTC
    project.state_of("line")
    if "instruct" in statement:
        assert line.style == LineStyle(instruct="Slowly.")
    project.save(saved)
    again = Project.open(saved, drafts)
    open_projects.append(again)
    assert again.notice is None, "saving writes what was read"
    assert again.script == project.script


def test_values_of_the_wrong_type_keep_their_text() -> None:
    row = line_row(Line(id="line", voice="Ann"), rank=0)
    row |= {"text": TEXT.encode() + b"\xff", "voice": 12, "speed": "fast", "is_locked": "no", "file_name": None}
    replaced: list[str] = []
    line = line_from(row, replaced)
    assert line.text == f"{TEXT}\ufffd"
    assert (line.voice, line.speed, line.is_locked, line.file_name) == ("12", 1.0, False, None)
    assert replaced == ["lines.text", "lines.voice", "lines.speed", "lines.is_locked"]


@pytest.mark.parametrize(
    "statement", ["UPDATE takes SET sample_rate = 0", "UPDATE lines SET id = ''", "DELETE FROM project"]
)
def test_invalid_required_values_are_errors(saved: Path, drafts: Path, statement: str) -> None:
    _change(saved, statement)
    with pytest.raises(UnreadableProject, match=r"a.timbre is damaged"):
        Project.open(saved, drafts)


def test_a_valid_file_has_no_notice(saved: Path, drafts: Path, open_projects: list[Project]) -> None:
    project = Project.open(saved, drafts)
    open_projects.append(project)
    assert project.notice is None
    assert replace(project.line("line"), chosen_take=None).seed == 7


def test_an_invalid_recording_does_not_stop_recovery(drafts: Path) -> None:
    died = Project.create(drafts)
    died.apply(InsertLines(0, (Line(id="line", text=TEXT),)))
    recorder = died.begin_take("line", parameters(died.fingerprint_of("line")), RATE)
    recorder.append(sound(1.0))
    died.close(keeps_draft=True)
    (draft,) = drafts.glob("*.draft")
    _change(draft, "UPDATE recordings SET sample_rate = 0")
    recoverable_drafts(drafts)
