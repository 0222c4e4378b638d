"""`timbre update`: the plan, the updated project, and the export after it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from book_samples import entry, epub, toc

from studio.project.changes import AddTake, CompositeChange, EditDetails, InsertLines
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.lines import LineState
from studio.project.project import Project
from studio.project.takes import TakeParameters
from studio.project.updating import read_update

RATE = 24_000
ROWS = [f"VO_{number},Anna,This is line number {number}." for number in range(1, 6)]


def write_table(rows: list[str], name: str = "game.csv") -> None:
    Path(name).write_text("\n".join(["ID,Character,Dialogue", *rows]))


def make_project(path: Path, table: Path) -> None:
    """Write a project with the lines of ``table``, each with a take."""
    with Project.create(path.parent / "drafts-of-test") as project:
        imported = read_update(table, read_file(table), None, ImportOptions())
        project.apply(
            CompositeChange(
                (InsertLines(0, imported.lines), EditDetails(merged_details(project.script.details, imported)))
            )
        )
        for line in project.lines:
            parameters = TakeParameters(
                text=line.text, seed=1, line_fingerprint=project.fingerprint_of(line.id), mode="zero-shot", voice_name="",
                voice_sha256="", model_name="quiet", model_key="",
            )  # fmt: skip
            recorder = project.begin_take(line.id, parameters, RATE)
            recorder.append(np.zeros(2_400, np.float32))
            project.apply(AddTake(recorder.finish()))
        project.save(path)


def write_book(path: Path, paragraphs: list[str]) -> None:
    body = "<h1>The harbour</h1>" + "".join(f"<p>{words}</p>" for words in paragraphs)
    path.write_bytes(epub({"one.xhtml": body}, contents=toc(entry("one.xhtml", "The harbour"))))


@pytest.fixture
def game(timbre, clip: Path) -> None:  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna", "What is said.")
    write_table(ROWS)
    make_project(Path("game.timbre").absolute(), Path("game.csv"))
    write_table([*ROWS[:2], "VO_9,Anna,A new line.", ROWS[2].replace("number 3", "three"), ROWS[4]])


def texts() -> list[str]:
    with Project.open(Path("game.timbre"), Path("drafts-of-test")) as project:
        return [line.text for line in project.lines]


@pytest.mark.usefixtures("game")
def test_the_plan_is_printed_before_the_project_changes(timbre) -> None:  # type: ignore[no-untyped-def]
    before = Path("game.timbre").read_bytes()
    ran = timbre("update", "game.timbre", "game.csv", "--dry-run")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines() == [
        "new      VO_9: A new line.",
        "changed  VO_3: This is line number 3. → This is line three.",
        "removed  VO_4: This is line number 4.",
        "1 new, 1 changed, 0 moved, 1 removed, 3 unchanged",
    ]
    assert Path("game.timbre").read_bytes() == before
    plan = timbre("update", "game.timbre", "--dry-run", "--json").json
    assert plan["counts"] == {"new": 1, "changed": 1, "moved": 0, "removed": 1, "unchanged": 3}
    assert not plan["is_saved"]
    assert plan["lines"][1] == {
        "kind": "changed",
        "key": "VO_3",
        "before": "This is line number 3.",
        "after": "This is line three.",
        "fields": ["text"],
        "is_locked": False,
    }


@pytest.mark.usefixtures("game")
def test_an_export_after_an_update_speaks_only_what_changed(timbre) -> None:  # type: ignore[no-untyped-def]
    assert timbre("update", "game.timbre").status == 0
    assert texts()[2:] == [
        "A new line.",
        "This is line three.",
        "This is line number 5.",
        "Removed from game.csv",
        "This is line number 4.",
    ]
    ran = timbre("export", "game.timbre", "--out", "vo", "--model", "quiet", "--voice", "Anna", "--pattern", "{index}")
    assert ran.status == 0, ran.err
    assert [request.text for model in timbre.opened for request in model.requests] == [
        "A new line.",
        "This is line three.",
    ]
    assert len(list(Path("vo").glob("*.wav"))) == 5
    assert timbre("update", "game.timbre").out == "0 new, 0 changed, 0 moved, 0 removed, 5 unchanged\n"


@pytest.mark.usefixtures("game")
def test_removed_lines_are_deleted_if_asked(timbre) -> None:  # type: ignore[no-untyped-def]
    assert timbre("update", "game.timbre", "--delete-removed").status == 0
    assert texts()[-1] == "This is line number 5."


@pytest.mark.usefixtures("game")
def test_other_columns_can_be_chosen(timbre) -> None:  # type: ignore[no-untyped-def]
    Path("game.csv").write_text("ID,Character,Dialogue,Line\n" + "".join(f"{row},Words {row[3]}.\n" for row in ROWS))
    ran = timbre("update", "game.timbre", "game.csv", "--column", "text=Line")
    assert ran.status == 0, ran.err
    assert texts() == [f"Words {number}." for number in range(1, 6)]


@pytest.mark.usefixtures("game")
def test_a_project_without_one_known_file_needs_its_name(timbre) -> None:  # type: ignore[no-untyped-def]
    with Project.create(Path("drafts-of-test")) as project:
        project.save(Path("other.timbre").absolute())
    ran = timbre("update", "other.timbre")
    assert ran.status != 0
    assert "other.timbre was imported from 0 known files. Name the file: timbre update PROJECT FILE." in ran.err


def test_a_project_is_updated_from_a_changed_book(timbre, clip: Path) -> None:  # type: ignore[no-untyped-def]
    timbre.library.add(clip, "Anna", "What is said.")
    paragraphs = ["The water was calm that morning.", "A bell rang twice.", "Nobody came."]
    write_book(Path("book.epub"), paragraphs)
    make_project(Path("game.timbre").absolute(), Path("book.epub"))
    write_book(Path("book.epub"), [paragraphs[0], "A bell rang three times.", paragraphs[2], "Rain fell on the roof."])
    ran = timbre("update", "game.timbre")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines() == [
        "changed  A bell rang twice. → A bell rang three times.",
        "new      Rain fell on the roof.",
        "1 new, 1 changed, 0 moved, 0 removed, 3 unchanged",
    ]
    with Project.open(Path("game.timbre"), Path("drafts-of-test")) as project:
        states = {line.text: project.state_of(line.id) for line in project.lines}
    assert states == {
        "The harbour": LineState.READY,
        paragraphs[0]: LineState.READY,
        "A bell rang three times.": LineState.OUTDATED,
        "Nobody came.": LineState.READY,
        "Rain fell on the roof.": LineState.DRAFT,
    }
