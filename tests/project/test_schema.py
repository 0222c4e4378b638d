"""Untrusted project files: only known tables are read, and no code in them is run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from project_samples import insert, speak

from studio.errors import ProjectChangedElsewhere, UnreadableProject
from studio.project.project import Project


def altered(path: Path, script: str) -> None:
    """Run SQL on a saved file, as another program would."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


_COLUMNS = (
    "id, rank, text, voice, preset, instruct, speed, seed, sampling, pause_after_seconds, is_locked, chosen_take,"
    " file_name"
)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "ALTER TABLE lines RENAME TO old; CREATE VIEW lines AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
            " SELECT i + 1 FROM n) SELECT 'x' || i AS id, i AS rank, 'text' AS text FROM n;",
            "unexpected view lines",
        ),
        ("CREATE TRIGGER emptying AFTER INSERT ON lines BEGIN DELETE FROM lines; END", "unexpected trigger emptying"),
        ("CREATE INDEX slow ON lines (length(zeroblob(rank)))", "unexpected index slow"),
        (f"CREATE TABLE copy AS SELECT {_COLUMNS} FROM lines; DROP TABLE lines; ALTER TABLE copy RENAME TO lines", "table lines"),
        ("ALTER TABLE lines ADD COLUMN big BLOB AS (zeroblob(1000000000))", "table lines"),
    ],
)  # fmt: skip
def test_a_file_with_code_is_an_error(project: Project, drafts: Path, tmp_path: Path, script: str, words: str) -> None:
    insert(project, "Hello.")
    path = tmp_path / "a.timbre"
    project.save(path)
    altered(path, script)
    with pytest.raises(UnreadableProject, match=rf"a\.timbre is damaged: {words}"):
        Project.open(path, drafts)
    assert {found.stem for found in drafts.glob("*.draft")} == {project.draft_path.stem}
    with pytest.raises(ProjectChangedElsewhere):  # saving over it does not read the view either
        project.save()


def test_a_draft_with_code_is_an_error(project: Project, drafts: Path) -> None:
    insert(project, "Hello.")
    project.close(keeps_draft=True)
    altered(project.draft_path, "CREATE TRIGGER emptying AFTER INSERT ON lines BEGIN DELETE FROM lines; END")
    with pytest.raises(UnreadableProject, match="unexpected trigger emptying"):
        Project.recover(project.draft_path)


@pytest.mark.parametrize(
    "script",
    ["ANALYZE", "CREATE TABLE counted (n INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7)", "VACUUM"],
)
def test_a_file_with_statistics_or_other_tables_can_be_saved(
    project: Project, drafts: Path, tmp_path: Path, script: str
) -> None:
    (line_id,) = insert(project, "Hello.")
    speak(project, line_id)
    path = tmp_path / "a.timbre"
    project.save(path)
    altered(path, script)
    with Project.open(path, drafts) as opened:
        insert(opened, "And more.")
        opened.save()
    with Project.open(path, drafts) as again:
        assert [line.text for line in again.lines] == ["Hello.", "And more."]
