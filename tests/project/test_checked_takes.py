"""Checks of takes in the project: storage, acceptance, crash and old files."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from full_records import FULL_CHECK, full
from project_samples import RATE, insert, parameters, sound, speak

from studio.pipeline.request import LengthVerdict, Mode, SentenceEvidence, SynthesisReport
from studio.project import database
from studio.project.changes import AcceptTakes, AddTake, EditDetails, EditTakes, RemoveTakes, SetTakeChecks
from studio.project.lines import LineState
from studio.project.project import Project
from studio.project.takes import Take
from studio.storage import sqlite
from studio.take_checks.policy import CheckMode, ProjectCheckPolicy
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict, WordTime
from studio.take_checks.requests import Strictness

GOOD = TakeCheck(Verdict.GOOD, similarity=0.9, words=(WordTime("Hello", 0.1, 0.4, 0, 5),))
BAD = TakeCheck(Verdict.BAD, (Problem(ProblemKind.MISSING_WORDS, 0.2, 0.4, "Hello", 0.9, 0, 5),))
EVIDENCE = (
    full(
        SentenceEvidence(
            "Hello.",
            0.1,
            0.5,
            (1, 2, 3),
            ("Hel", "lo."),
            stopped_by_limit=True,
            num_second_draws=2,
            text_position=(0.1, 0.9),
            text_coverage=(1.0, 0.4),
            token_seconds=0.04,
        )
    ),
)


def record(project: Project, line_id: str, evidence: tuple[SentenceEvidence, ...] = EVIDENCE) -> Take:
    recorder = project.begin_take(line_id, parameters(project.fingerprint_of(line_id), voice_name=""), RATE)
    recorder.append(sound(0.5))
    report = SynthesisReport(0.1, 0.5, 0.2, RATE, Mode.ZERO_SHOT, 3, {}, {}, evidence=evidence)
    take = recorder.finish(report)
    project.apply(AddTake(take))
    return take


def test_checks_and_evidence_are_in_the_saved_file(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    project.apply(SetTakeChecks({take.id: FULL_CHECK}))
    project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        assert opened.take(take.id).check == FULL_CHECK
        assert opened.evidence_of(take.id) == EVIDENCE
        assert not opened.is_modified
        assert opened.notice is None


def test_evidence_without_the_length_of_a_token_gets_it_from_the_sentence(
    project: Project, drafts: Path, tmp_path: Path
) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    project.save(tmp_path / "a.timbre")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.timbre")) as connection, connection:
        connection.execute("UPDATE evidence SET sentences = json_remove(sentences, '$[0].token_seconds')")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        (sentence,) = opened.evidence_of(take.id)
        assert sentence.token_seconds == pytest.approx(0.4 / 3)


def test_a_saved_file_has_no_evidence_of_removed_takes(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    kept, removed = record(project, line_id), record(project, line_id)
    project.apply(RemoveTakes((removed.id,)))
    project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        assert opened.evidence_of(kept.id) == EVIDENCE
        assert opened.evidence_of(removed.id) == ()


def test_damaged_evidence_is_no_evidence(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    project.save(tmp_path / "a.timbre")
    for damage in ("'x'", "'[3]'", "json_set(sentences, '$[0].speech_tokens', 'x')", "'{}'"):
        with contextlib.closing(sqlite3.connect(tmp_path / "a.timbre")) as connection:
            connection.execute(f"UPDATE evidence SET sentences = {damage}")
            connection.commit()
        with Project.open(tmp_path / "a.timbre", drafts) as opened:
            assert opened.evidence_of(take.id) == ()


def test_accepting_a_take_is_a_change_with_an_inverse(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    project.apply(SetTakeChecks({take.id: BAD}))
    assert project.state_of(line_id) is LineState.CHECK
    inverse = project.apply(AcceptTakes({take.id: True}))
    assert project.state_of(line_id) is LineState.READY
    project.apply(SetTakeChecks({take.id: BAD}))  # checked again, for example with another strictness
    assert project.state_of(line_id) is LineState.READY
    project.apply(inverse)
    assert project.state_of(line_id) is LineState.CHECK


def test_a_kept_take_and_a_locked_line_need_no_review(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    project.apply(SetTakeChecks({take.id: BAD}))
    project.apply(EditTakes({take.id: {"is_kept": True}}))
    assert project.state_of(line_id) is LineState.READY


def test_the_check_decides_about_an_odd_length(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    odd = replace(take, parameters=replace(take.parameters, odd_length=LengthVerdict.TOO_LONG))
    assert odd.needs_review
    assert not replace(odd, check=GOOD).needs_review
    assert replace(odd, check=TakeCheck(Verdict.NOT_CHECKED, error_code="recognizer-died")).needs_review


def test_the_result_for_a_removed_take_is_ignored(project: Project) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    inverse = project.apply(RemoveTakes((take.id,)))
    project.apply(SetTakeChecks({take.id: BAD}))
    project.apply(inverse)
    assert project.take(take.id).check is None


def test_takes_that_a_crash_left_unchecked_are_found(project: Project, drafts: Path) -> None:
    first, second, third = insert(project, "One.", "Two.", "Three.")
    checked, unchecked = record(project, first), record(project, second)
    without_evidence = speak(project, third)
    project.apply(SetTakeChecks({checked.id: GOOD}))
    unfinished = project.begin_take(third, parameters(project.fingerprint_of(third)), RATE)
    unfinished.append(sound(0.3))
    project.close(keeps_draft=True)
    with Project.recover(project.draft_path) as recovered:
        assert recovered.take(checked.id).check == GOOD
        assert [take.id for take in recovered.takes_to_check()] == [unchecked.id]
        assert recovered.take(without_evidence.id).check is None


def test_a_file_from_before_checks_opens_unchanged(project: Project, drafts: Path, tmp_path: Path) -> None:
    (line_id,) = insert(project, "Hello.")
    take = speak(project, line_id)
    project.save(tmp_path / "new.timbre")
    old = tmp_path / "old.timbre"
    with (
        contextlib.closing(sqlite.connect(old)) as made,
        contextlib.closing(sqlite.connect(tmp_path / "new.timbre")) as new,
    ):
        made.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        sqlite.migrate(made, database._MIGRATIONS[:2])
        for table in ("project", "lines", "takes", "sounds"):
            made.execute(f"DELETE FROM {table}")
            names = [row["name"] for row in made.execute(f"PRAGMA table_info({table})")]
            rows = new.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            made.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", [tuple(row) for row in rows]
            )
    with Project.open(old, drafts) as opened:
        assert opened.take(take.id) == project.take(take.id)
        assert not opened.is_modified
        assert opened.notice is None
        assert opened.takes_to_check() == []
        opened.save()
    with Project.open(old, drafts) as again:
        assert again.script == project.script


def test_the_choices_of_a_project_are_saved(project: Project, drafts: Path, tmp_path: Path) -> None:
    chosen = ProjectCheckPolicy(CheckMode.MARK, 4, Strictness.STRICT, "off")
    project.apply(EditDetails(replace(project.script.details, checks=chosen)))
    project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        assert opened.script.details.checks == chosen


@pytest.mark.slow
@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_is_stored(project: Project, drafts: Path, tmp_path: Path, verdict: Verdict) -> None:
    (line_id,) = insert(project, "Hello.")
    take = record(project, line_id)
    check = TakeCheck(verdict, similarity=-0.25, word_error_rate=1.5, recognizer="embedded-en", error_code="x")
    project.apply(SetTakeChecks({take.id: check}))
    project.save(tmp_path / "a.timbre")
    with Project.open(tmp_path / "a.timbre", drafts) as opened:
        assert opened.take(take.id).check == check
