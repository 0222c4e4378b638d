"""Forecast of what an export does to the files of its folder: make, replace or keep them. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from studio.export.checks import Finding, FindingKind
from studio.export.plan import ExportPlan
from studio.export.target_folder import Journal
from studio.messages import message

_MAX_NAMES = 5


class FileChange(Enum):
    NEW = "new"
    REPLACED = "replaced"
    KEPT = "kept"  # up to date


@dataclass(frozen=True, slots=True)
class ExportForecast:
    """The files of a plan in order, with what happens to each.

    Attributes:
        orphans: Files of earlier exports of the script that the plan does not contain, for example those of removed
            lines. They are kept.
    """

    changes: tuple[tuple[PurePosixPath, FileChange], ...] = ()
    orphans: tuple[PurePosixPath, ...] = ()

    def count(self, change: FileChange) -> int:
        return sum(each is change for _, each in self.changes)


def orphan_findings(found: ExportForecast) -> tuple[Finding, ...]:
    """Return a note about the orphans, if there are any."""
    if not found.orphans:
        return ()
    names = [str(file) for file in found.orphans[:_MAX_NAMES]]
    more = ["…"] if len(found.orphans) > _MAX_NAMES else []
    sentence = message(
        "Files of earlier exports that this one does not contain are kept: {names} ({count}).",
        names=[*names, *more],
        count=len(found.orphans),
    )
    return (Finding(FindingKind.UNUSED, sentence),)


def forecast(plan: ExportPlan, *, journals: Path | None = None) -> ExportForecast:
    """Compare ``plan`` with the journal of its folder. Reads files, so call it on a background thread.

    Orphans are found only if the plan contains all lines of the script.
    """
    journal = Journal(plan.folder, journals=journals)
    journal.read()
    recipes = {file: plan.line_recipe(item) for file, item in zip(plan.line_files, plan.items, strict=False)}
    recipes |= {each.file: plan.chapter_recipe(each) for each in plan.chapters if each.file is not None}
    recipes |= {file: plan.script_recipe(file) for file in plan.script_files}

    def change_of(file: PurePosixPath) -> FileChange:
        if journal.current_record(file, recipes[file]) is not None:
            return FileChange.KEPT
        return FileChange.REPLACED if (plan.folder / file).exists() else FileChange.NEW

    origin, planned = plan.settings.origin, set(plan.files)
    orphans = () if origin.part else tuple(file for file in journal.files_of(origin) if file not in planned)
    return ExportForecast(tuple((file, change_of(file)) for file in plan.files), orphans)
