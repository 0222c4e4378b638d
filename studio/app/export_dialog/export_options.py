"""Options of an export: the settings and lines from the form and the project. Contains no widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from studio import settings as declared
from studio.audio.m4b import require_m4b
from studio.errors import StudioError, VoiceNotFound
from studio.export.book import BookDetails, lines_with_chapters
from studio.export.checks import (
    Finding,
    FindingKind,
    LineToCheck,
    check_lines,
    check_names,
    check_space,
    silent_findings,
    silent_rows,
    sound_findings,
)
from studio.export.disclaimer import disclaimer
from studio.export.exporter import check_target
from studio.export.forecast import ExportForecast, forecast, orphan_findings
from studio.export.names import sanitize_filename
from studio.export.plan import ExportPlan, ExportSettings, columns_of
from studio.export.presets import export_settings
from studio.export.project_lines import ProjectLines, fresh_take, item_of_line, key_of_take, origin_of_project
from studio.export.provenance import Provenance
from studio.export.speech_source import ExportItem
from studio.export.standard_mastering import read_room_tone
from studio.export.target_folder import Journal
from studio.messages import message
from studio.project.dictionary import PronunciationDictionary
from studio.project.dubbing import has_slots, overrun_seconds
from studio.project.lines import Heading, Line, LineState, LineStyle, Slot
from studio.project.project import Project
from studio.project.takes import Take, edits_of
from studio.setting_kinds import Setting
from studio.text.language import language_of_script

_MAX_PREVIEWED = 200


@dataclass(frozen=True, slots=True)
class FormChoices:
    """What the user chose in the form.

    Attributes:
        values: The values of the settings in ``EXPORT_OPTIONS``.
        part: The numbers of the chosen lines, or empty for all lines.
    """

    values: Mapping[Setting[Any], Any]
    joined_name: str
    part: str = ""
    replaces_files: bool = False


def make_export_settings(
    project: Project, choices: FormChoices, *, provenance: Provenance, style_names: Mapping[str, str]
) -> ExportSettings:
    """Return the settings of an export of ``project``. Raise ``UnusableSetting``."""
    return export_settings(
        choices.values,
        joined_name=choices.joined_name,
        project_name=project.name,
        provenance=provenance,
        origin=origin_of_project(project, part=choices.part),
        replaces_files=choices.replaces_files,
        book=BookDetails.of(project.script.details),
        has_times=has_slots(project.script),
        guide_track=project.script.details.guide_track,
        style_names=style_names,
    )


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line of the script at the start of the export.

    Attributes:
        take: Its chosen take if an export can use it, else None.
    """

    line: Line
    item: ExportItem
    take: Take | None

    @property
    def id(self) -> str:
        return self.line.id

    @property
    def is_fresh(self) -> bool:
        return self.take is not None

    def overruns(self, speech: Sequence[Slot]) -> bool:
        """Whether the take is too long for the slot of the line in the video, whose speech is at the times of ``speech``."""
        take = self.take
        seconds = None if take is None else edits_of(take, self.line).seconds(take.audio_seconds)
        return overrun_seconds(self.line.slot, seconds, speech) > 0

    def with_take(self, take: Take) -> ExportLine:
        key = key_of_take(take, edits_of(take, self.line))
        item = item_of_line(self.line, self.item.index, key, take, chapter=self.item.chapter)
        return ExportLine(self.line, item, take)


def lines_of_script(project: Project) -> tuple[ExportLine, ...]:
    """Return the lines that are spoken and not empty, in order. Too slow to be called on every keystroke."""
    found: list[ExportLine] = []
    for index, (line, chapter) in enumerate(lines_with_chapters(project.lines), 1):
        if line.text.strip() and line.is_spoken:
            unspoken = ExportLine(line, item_of_line(line, index, line.id, chapter=chapter), None)
            take = fresh_take(project, line.id)
            found.append(unspoken.with_take(take) if take is not None else unspoken)
    return tuple(found)


def with_disclaimer(lines: Sequence[ExportLine], settings: ExportSettings, choices: FormChoices) -> list[ExportLine]:
    """Return ``lines`` after an audible disclaimer as line 0, if the user chose it and the lines have no times."""
    if not lines or settings.at_times or not choices.values[declared.EXPORT_HAS_DISCLAIMER]:
        return list(lines)
    first = lines[0]
    line = disclaimer(first.line, language_of_script(each.line.text for each in lines))
    return [ExportLine(line, item_of_line(line, 0, line.id, chapter=first.item.chapter), None), *lines]


def takes_to_export(lines: Iterable[ExportLine]) -> ProjectLines:
    """Return the takes of ``lines`` with their current edits."""
    spoken = [(each.item, each.take, each.line) for each in lines if each.take is not None]
    return ProjectLines(
        tuple(item for item, _, _ in spoken),
        {item.key: take for item, take, _ in spoken},
        {item.key: edits_of(take, line) for item, take, line in spoken},
    )


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """All input of an export. Later edits of the script do not affect it.

    Attributes:
        replaceable: The files of other scripts that the user allowed to replace.
        choices: What the user chose, or None if the export cannot be repeated from that.
    """

    project: Project
    lines: tuple[ExportLine, ...]
    dictionary: PronunciationDictionary
    folder: Path
    settings: ExportSettings
    replaceable: frozenset[PurePosixPath] = frozenset()
    choices: FormChoices | None = None

    @property
    def name(self) -> str:
        """The name of the script, for messages."""
        return self.settings.project or self.folder.name

    @property
    def silent_numbers(self) -> tuple[int, ...]:
        """The numbers of the sounds and stage directions for which a file may be expected, in an export of all lines."""
        if self.choices is not None and self.choices.part:
            return ()
        return tuple(number for number, _ in silent_rows(enumerate(self.project.lines, 1)))

    def plan(self, *, replaces_files: bool = False) -> ExportPlan:
        """Raise ``UnusableSetting`` and ``NothingToSpeak``."""
        settings = replace(self.settings, replaces_files=self.settings.replaces_files or replaces_files)
        return ExportPlan.make([line.item for line in self.lines], self.folder, settings)


@dataclass(frozen=True, slots=True)
class ExportCheck:
    """Findings before an export.

    Attributes:
        foreign: The files of other scripts and programs that would be replaced.
        forecast: What happens to each file.
    """

    findings: tuple[Finding, ...] = ()
    foreign: tuple[PurePosixPath, ...] = ()
    forecast: ExportForecast = ExportForecast()

    @property
    def failing_numbers(self) -> frozenset[int]:
        """The numbers of the lines that cannot be exported."""
        return frozenset(number for each in self.findings if each.is_blocking for number in each.line_numbers)

    @property
    def is_impossible(self) -> bool:
        """Whether no file can be exported, for example because the disk is full."""
        return any(each.is_blocking and not each.line_numbers for each in self.findings)


@dataclass(frozen=True, slots=True)
class KnownVoicesAndStyles:
    """Access to voices, styles and languages. All functions are called on a background thread.

    Attributes:
        find_voice: Raises ``StudioError`` for an unknown voice.
        unlearned_language: Returns the code of the language of a text if the model has not learned it.
        unlearned_sounds: Returns the tags of sounds in a text that the model has not learned.
    """

    find_voice: Callable[[str], object] = lambda _: None
    has_style: Callable[[LineStyle], bool] = lambda _: True
    unlearned_language: Callable[[str], str | None] = lambda _: None
    unlearned_sounds: Callable[[str], Sequence[str]] = lambda _: ()


def check_export(order: ExportOrder, known: KnownVoicesAndStyles, *, skips_failing: bool = False) -> ExportCheck:
    """Check everything that can be known before the export. Reads files, so call it on a background thread.

    With ``skips_failing``, lines that would fail are found, but their files are not.
    """

    def find(name: str | None) -> None:
        if name is None:
            raise VoiceNotFound("These lines have no voice.", remedy="Choose a voice for them.")
        known.find_voice(name)

    project = order.project
    lines = [
        LineToCheck(
            each.item.index,
            each.line,
            must_speak=not each.is_fresh,
            is_outdated=each.line.is_locked
            and project.has_line(each.id)
            and project.state_of(each.id) is LineState.OUTDATED,
            needs_review=each.take is not None and each.take.needs_review,
            is_draft=each.take is not None and each.take.is_draft,
        )
        for each in order.lines
    ]
    findings = list(check_lines(lines, find_voice=find, has_style=known.has_style))
    foreign_speech = [each.number for each in lines if each.must_speak and known.unlearned_language(each.line.text)]
    if foreign_speech:
        sentence = message("The model has not learned this language; its speech is unintelligible.")
        findings.append(Finding(FindingKind.LANGUAGE, sentence, tuple(foreign_speech)))
    findings += sound_findings(
        {each.number: known.unlearned_sounds(each.line.text) for each in lines if each.must_speak}
    )
    findings += silent_findings(order.silent_numbers)
    speech = project.script.speech_slots
    overrunning = [each.item.index for each in order.lines if order.settings.at_times and each.overruns(speech)]
    if overrunning:
        sentence = message("Too long for the slot in the video. Speak > Fit all to slots… shortens takes.")
        findings.append(Finding(FindingKind.OVERRUN, sentence, tuple(overrunning)))
    needs_chapters = order.settings.has_audiobook or order.settings.has_chapter_files
    if needs_chapters and not any(line.heading is Heading.CHAPTER for line in project.lines):
        sentence = message("The script has no chapters, so all lines are in one.")
        findings.append(Finding(FindingKind.CHAPTERS, sentence))
    foreign: tuple[PurePosixPath, ...] = ()
    found = ExportForecast()
    skipped = ExportCheck(tuple(findings)).failing_numbers if skips_failing else frozenset()
    try:
        plan = replace(order, lines=tuple(each for each in order.lines if each.item.index not in skipped)).plan()
        if plan.settings.has_audiobook:
            require_m4b(plan.settings.book.cover)
        if plan.settings.subtitles and plan.whole_file is None and not plan.settings.at_times:
            sentence = message("The times of the subtitles are those in one file of all lines, which is not exported.")
            findings.append(Finding(FindingKind.SUBTITLES, sentence))
        if plan.settings.room_tone is not None:
            read_room_tone(plan.settings.room_tone, plan.settings.sample_rate)
        found = forecast(plan)
        findings += [*check_names(plan), *orphan_findings(found)]
        foreign = check_target(plan)
        length_of = {each.item.key: each.take.audio_seconds for each in order.lines if each.take is not None}
        check_space(plan, seconds_of=lambda item: length_of.get(item.key), takes_folder=project.draft_path)
    except StudioError as error:
        findings.insert(0, Finding(FindingKind.FOLDER, error.message, error=error))
    return ExportCheck(tuple(findings), foreign, found)


@dataclass(frozen=True, slots=True)
class PreviewedNames:
    """File names that an export creates."""

    line_files: tuple[PurePosixPath, ...]  # files of the first lines
    num_more: int  # number of remaining lines
    script_files: tuple[PurePosixPath, ...]  # created once per export

    @property
    def num_files(self) -> int:
        return len(self.line_files) + self.num_more + len(self.script_files)


def preview_names(items: Sequence[ExportItem], settings: ExportSettings, folder: Path) -> PreviewedNames:
    """Return the file names of the first lines. Raise ``UnusableSetting`` and ``NothingToSpeak``.

    A name depends only on the lines before it and on the largest line number, so the other lines are left out.
    """
    shown = items if settings.is_by_chapter else [*items[:_MAX_PREVIEWED], *items[_MAX_PREVIEWED:][-1:]]
    plan = ExportPlan.make(shown, folder, settings, columns=columns_of(items))
    line_files = plan.line_files[:_MAX_PREVIEWED]
    num_more = len(items) - len(line_files) if plan.line_files else 0
    return PreviewedNames(line_files, num_more, plan.files[len(plan.line_files) :])


def folder_of_script(project: Project, folders: tuple[str, ...]) -> Path | None:
    """Return the folder into which the script was exported last. ``folders`` is the value of ``EXPORT_FOLDERS``."""
    known = dict(entry.split("\t", 1) for entry in folders if "\t" in entry)
    found = (known[name] for name in origin_of_project(project).scripts if name in known)
    return next((Path(folder) for folder in found), None)


def with_folder(project: Project, folders: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return ``folders`` with ``folder`` for the script."""
    names = origin_of_project(project).scripts
    others = [entry for entry in folders if entry.partition("\t")[0] not in names]
    return (*others, f"{names[0]}\t{folder}")[-declared.EXPORT_FOLDERS.most :]


def default_folder(project: Project, remembered: str, name: str, folders: tuple[str, ...] = ()) -> Path:
    """Return the folder of the script's last export, else ``remembered``, or a folder beside the project file.

    The folder is never one into which another script was exported. For an unsaved script it is named after ``name`` and
    the time when the script was created.
    """
    own = folder_of_script(project, folders)
    if own is not None:
        return own
    if project.path is not None:
        is_free = bool(remembered) and not Journal(Path(remembered)).is_used_by_others(origin_of_project(project))
        return Path(remembered) if is_free else project.path.parent / f"{project.path.stem} sound"
    origin = origin_of_project(project)
    if remembered and not Journal(Path(remembered)).is_used_by_others(origin):
        return Path(remembered)
    documents = Path.home() / "Documents"
    parent = Path(remembered) if remembered else (documents if documents.is_dir() else Path.home()) / "Timbre"
    created = project.begun.astimezone()
    folder = parent / sanitize_filename(f"{name} {created:%Y-%m-%d %H.%M.%S}")
    is_taken = Journal(folder).is_used_by_others(origin)
    return folder.with_name(f"{folder.name} {project.draft_path.stem[-8:]}") if is_taken else folder
