"""What the form holds, as the export room wants it; and as the settings remember it. Knows no widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio import settings as declared
from studio.audio.encoding import encoding_named
from studio.export.mastering import LoudnessTarget
from studio.export.plan import ExportPlan, ExportSettings
from studio.export.project_lines import fresh_take, lines_of_project
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem
from studio.export.subtitles import SubtitleFormat
from studio.project.project import Project
from studio.setting_kinds import Setting

Values = Mapping[Setting[Any], Any]

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
class Wishes:
    """``folder``: where to, as far as somebody has said. ``replaces_files`` is asked anew each time."""

    values: Values
    folder: Path
    joined_name: str
    replaces_files: bool = False

    def settings(self, project_name: str, provenance: Provenance) -> ExportSettings:
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
            replaces_files=self.replaces_files,
        )


def previewed(items: Iterable[ExportItem], wishes: Wishes, project_name: str, provenance: Provenance) -> ExportPlan:
    """The plan that would be carried out. Raises ``UnusableSetting`` and ``NothingToSpeak``."""
    return ExportPlan.make(tuple(items), wishes.folder, wishes.settings(project_name, provenance))


@dataclass(frozen=True, slots=True)
class ChosenLines:
    """Lines of the project that are to be exported: ``items`` all that would have a file, ``unspoken`` by their ids."""

    items: tuple[ExportItem, ...]
    unspoken: tuple[str, ...]


def chosen_lines(project: Project, line_ids: Iterable[str] | None, *, leaves_out_unspoken: bool) -> ChosenLines:
    """All lines, or those of ``line_ids``; empty ones never."""
    wanted = None if line_ids is None else set(line_ids)
    lines = lines_of_project(
        project, wanted, key_of_unspoken=None if leaves_out_unspoken else lambda line: f"unspoken:{line.id}"
    )
    unspoken = tuple(
        line.id
        for line in project.lines
        if line.text.strip() and (wanted is None or line.id in wanted) and fresh_take(project, line.id) is None
    )
    return ChosenLines(lines.items, unspoken)


def default_folder(project: Project, remembered: str) -> Path:
    """Where the person exported last, else beside the project, else among their documents."""
    if remembered:
        return Path(remembered)
    if project.path is not None:
        return project.path.parent / f"{project.path.stem} sound"
    documents = Path.home() / "Documents"
    return (documents if documents.is_dir() else Path.home()) / "Timbre"
