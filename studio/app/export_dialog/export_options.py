"""What the form holds, as the export room wants it; and as the settings remember it. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from studio import settings as declared
from studio.audio.encoding import encoding_named
from studio.export.journal import Journal, Origin
from studio.export.mastering import LoudnessTarget
from studio.export.names import sanitize_filename
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.project_lines import fresh_take, item_of_line, origin_of_project
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem
from studio.export.subtitles import SubtitleFormat
from studio.project.project import Project
from studio.setting_kinds import Setting

Values = Mapping[Setting[Any], Any]
_MOST_SHOWN = 200

# What the form shows and the settings remember.
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


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """``folder``: where to, as far as somebody has said. ``replaces_files`` is asked anew each time."""

    values: Values
    folder: Path
    joined_name: str
    replaces_files: bool = False

    def settings(
        self, project_name: str, provenance: Provenance, origin: Origin, *, replaces_files: bool = False
    ) -> ExportSettings:
        """Raises ``UnusableSetting``."""
        values = self.values
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
            joined_name=None if files == "lines" else self.joined_name,
            pattern=values[declared.EXPORT_PATTERN],
            pause_seconds=values[declared.EXPORT_PAUSE_SECONDS] if values[declared.EXPORT_HAS_ONE_PAUSE] else None,
            loudness=LoudnessTarget(values[declared.EXPORT_LUFS], values[declared.EXPORT_TRUE_PEAK])
            if values[declared.EXPORT_MATCHES_LOUDNESS]
            else None,
            is_trimmed=values[declared.EXPORT_IS_TRIMMED],
            subtitles=frozenset(subtitles[values[declared.EXPORT_SUBTITLES]]),
            has_manifest=values[declared.EXPORT_HAS_MANIFEST],
            project=self.joined_name or project_name,
            provenance=provenance,
            replaces_files=replaces_files or self.replaces_files,
            origin=origin,
        )


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line that says something. Fresh: it has been spoken to its end, and said the same then."""

    id: str
    item: ExportItem
    is_fresh: bool


def lines_of_script(project: Project) -> tuple[ExportLine, ...]:
    """In order. Quick, but not for every keystroke."""
    return tuple(
        ExportLine(line.id, item_of_line(line, index, line.id, take), take is not None)
        for index, line in enumerate(project.lines, 1)
        if line.text.strip()
        for take in [fresh_take(project, line.id)]
    )


@dataclass(frozen=True, slots=True)
class PreviewedNames:
    """The first lines' names; ``num_more`` lines follow; the files there is one of."""

    line_files: tuple[PurePosixPath, ...]
    num_more: int
    script_files: tuple[PurePosixPath, ...]

    @property
    def num_files(self) -> int:
        return len(self.line_files) + self.num_more + len(self.script_files)


def preview_names(items: Sequence[ExportItem], settings: ExportSettings, folder: Path) -> PreviewedNames:
    """Raises ``UnusableSetting`` and ``NothingToSpeak``. A name depends only on those before it, and on the last number."""
    shown = [*items[:_MOST_SHOWN], *items[_MOST_SHOWN:][-1:]]
    plan = ExportPlan.make(shown, folder, settings)
    line_files = plan.line_files[:_MOST_SHOWN]
    num_more = len(items) - len(line_files) if plan.line_files else 0
    return PreviewedNames(line_files, num_more, plan.files[len(plan.line_files) :])


def default_folder(project: Project, remembered: str, name: str) -> Path:
    """Where the user exported last, else beside the project. A script without a file never gets a folder that another
    script was exported into: it has one of its own, called ``name`` and the time it was begun."""
    if project.path is not None:
        return Path(remembered) if remembered else project.path.parent / f"{project.path.stem} sound"
    origin = origin_of_project(project)
    if remembered and not Journal(Path(remembered)).is_used_by_others(origin):
        return Path(remembered)
    documents = Path.home() / "Documents"
    parent = Path(remembered) if remembered else (documents if documents.is_dir() else Path.home()) / "Timbre"
    begun = project.begun.astimezone()
    folder = parent / sanitize_filename(f"{name} {begun:%Y-%m-%d %H.%M.%S}")
    is_taken = Journal(folder).is_used_by_others(origin)
    return folder.with_name(f"{folder.name} {project.draft_path.stem[-8:]}") if is_taken else folder
