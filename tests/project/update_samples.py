"""A project with the lines of a file, and updates of it, for the tests of updates."""

from __future__ import annotations

from pathlib import Path

from studio.project.casting import LibraryNames, cast_lines
from studio.project.changes import CompositeChange, EditDetails, InsertLines
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, read_file
from studio.project.importing.sources import options_of
from studio.project.project import Project
from studio.project.updating import LineUpdate, ScriptUpdate, UpdateKind, find_source, plan_update, read_update

VOICES = LibraryNames(["Ada", "Angus"])
PLAIN = ImportOptions()
GROUP = "Removed lines"


def import_file(project: Project, path: Path, options: ImportOptions = PLAIN) -> None:
    """Import ``path`` as the window does."""
    imported = read_update(path, read_file(path), None, options)
    lines = cast_lines(imported.lines, project.script.details.cast, VOICES)
    details = merged_details(project.script.details, imported)
    project.apply(CompositeChange((InsertLines(len(project.lines), lines), EditDetails(details))))


def plan(project: Project, path: Path) -> ScriptUpdate:
    """Return the update of ``project`` to the present content of ``path``."""
    file, source = read_file(path), find_source(project.script, path)
    options = PLAIN if source is None else options_of(source, file)
    return plan_update(project.script, read_update(path, file, source, options), VOICES)


def counts(update: ScriptUpdate) -> tuple[int, ...]:
    """Return the numbers of new, changed, moved, removed and unchanged lines."""
    return tuple(update.counts[kind] for kind in UpdateKind)


def updates_of(update: ScriptUpdate, kind: UpdateKind) -> list[LineUpdate]:
    return [each for each in update.lines if each.kind is kind]


def texts(project: Project) -> list[str]:
    return [line.text for line in project.lines]
