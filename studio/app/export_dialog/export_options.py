"""Options of an export: the settings and lines from the form and the project. Contains no widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from studio import settings as declared
from studio.audio.encoding import encoding_named
from studio.export.mastering import LoudnessTarget
from studio.export.names import sanitize_filename
from studio.export.plan import ExportPlan, ExportSettings, columns_of
from studio.export.project_lines import fresh_take, item_of_line, origin_of_project
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Journal, Origin
from studio.project.project import Project
from studio.setting_kinds import Setting

_MAX_PREVIEWED = 200

# Settings shown in the form and stored when an export starts.
REMEMBERED: tuple[Setting[Any], ...] = (
    declared.EXPORT_FOLDER,
    declared.EXPORT_FILES,
    declared.EXPORT_PATTERN,
    declared.EXPORT_ENCODING,
    declared.EXPORT_SAMPLE_RATE,
    declared.EXPORT_HAS_ONE_PAUSE,
    declared.EXPORT_PAUSE_SECONDS,
    declared.EXPORT_MATCHES_LOUDNESS,
    declared.EXPORT_LUFS,
    declared.EXPORT_TRUE_PEAK,
    declared.EXPORT_IS_TRIMMED,
    declared.EXPORT_SUBTITLES,
    declared.EXPORT_HAS_MANIFEST,
)


def export_settings(
    values: Mapping[Setting[Any], Any],
    *,
    joined_name: str,
    project_name: str,
    provenance: Provenance,
    origin: Origin,
    replaces_files: bool,
) -> ExportSettings:
    """Return the settings of an export with the ``values`` of the form. Raise ``UnusableSetting``."""
    files = values[declared.EXPORT_FILES]
    subtitles = {
        "none": [],
        "srt": [SubtitleFormat.SRT],
        "vtt": [SubtitleFormat.VTT],
        "both": [SubtitleFormat.SRT, SubtitleFormat.VTT],
    }
    return ExportSettings(
        encoding=encoding_named(values[declared.EXPORT_ENCODING]),
        sample_rate=values[declared.EXPORT_SAMPLE_RATE],
        has_line_files=files != "joined",
        joined_name=None if files == "lines" else joined_name,
        pattern=values[declared.EXPORT_PATTERN],
        pause_seconds=values[declared.EXPORT_PAUSE_SECONDS] if values[declared.EXPORT_HAS_ONE_PAUSE] else None,
        loudness=LoudnessTarget(values[declared.EXPORT_LUFS], values[declared.EXPORT_TRUE_PEAK])
        if values[declared.EXPORT_MATCHES_LOUDNESS]
        else None,
        is_trimmed=values[declared.EXPORT_IS_TRIMMED],
        subtitles=frozenset(subtitles[values[declared.EXPORT_SUBTITLES]]),
        has_manifest=values[declared.EXPORT_HAS_MANIFEST],
        project=joined_name or project_name,
        provenance=provenance,
        replaces_files=replaces_files,
        origin=origin,
    )


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line that can be exported, because it has text."""

    id: str
    item: ExportItem
    is_fresh: bool  # whether its chosen take is complete and matches the current text and voice


def lines_of_script(project: Project) -> tuple[ExportLine, ...]:
    """Return the non-empty lines in order. This is too slow for every keystroke."""
    return tuple(
        ExportLine(line.id, item_of_line(line, index, line.id, take), take is not None)
        for index, line in enumerate(project.lines, 1)
        if line.text.strip()
        for take in [fresh_take(project, line.id)]
    )


@dataclass(frozen=True, slots=True)
class PreviewedNames:
    """File names that an export creates."""

    line_files: tuple[PurePosixPath, ...]  # of the first lines
    num_more: int  # number of lines after these
    script_files: tuple[PurePosixPath, ...]  # created once per export

    @property
    def num_files(self) -> int:
        return len(self.line_files) + self.num_more + len(self.script_files)


def preview_names(items: Sequence[ExportItem], settings: ExportSettings, folder: Path) -> PreviewedNames:
    """Return the file names of the first lines. Raise ``UnusableSetting`` and ``NothingToSpeak``.

    A name depends only on the lines before it and on the largest line number, so the other lines are left out.
    """
    shown = [*items[:_MAX_PREVIEWED], *items[_MAX_PREVIEWED:][-1:]]
    plan = ExportPlan.make(shown, folder, settings, columns=columns_of(items))
    line_files = plan.line_files[:_MAX_PREVIEWED]
    num_more = len(items) - len(line_files) if plan.line_files else 0
    return PreviewedNames(line_files, num_more, plan.files[len(plan.line_files) :])


def default_folder(project: Project, remembered: str, name: str) -> Path:
    """Return the folder of the last export, or a folder beside the project file.

    An unsaved script does not get a folder into which another script was exported, but one named after ``name`` and
    the time when the script was created.
    """
    if project.path is not None:
        return Path(remembered) if remembered else project.path.parent / f"{project.path.stem} sound"
    origin = origin_of_project(project)
    if remembered and not Journal(Path(remembered)).is_used_by_others(origin):
        return Path(remembered)
    documents = Path.home() / "Documents"
    parent = Path(remembered) if remembered else (documents if documents.is_dir() else Path.home()) / "Timbre"
    created = project.begun.astimezone()
    folder = parent / sanitize_filename(f"{name} {created:%Y-%m-%d %H.%M.%S}")
    is_taken = Journal(folder).is_used_by_others(origin)
    return folder.with_name(f"{folder.name} {project.draft_path.stem[-8:]}") if is_taken else folder
