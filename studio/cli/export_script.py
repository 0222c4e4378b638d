"""The lines of a document or project to export, and their synthesis requests."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from studio import paths
from studio.catalog.model_styles import styles_of_model
from studio.cli.checks import check_policy
from studio.cli.corrections import corrected_attribution
from studio.cli.options import chosen_quality, keeps_leading_silence, voice_reference
from studio.cli.speaking import unlearned_sounds
from studio.errors import NothingToSpeak, StudioError, UnusableSetting
from studio.export.book import BookDetails, lines_with_chapters
from studio.export.cached_source import request_cache_key
from studio.export.checks import silent_rows
from studio.export.disclaimer import LINE_ID as DISCLAIMER
from studio.export.disclaimer import disclaimer
from studio.export.line_checks import policy_key
from studio.export.project_lines import ProjectLines, fresh_take, item_of_line, lines_of_project
from studio.export.speech_source import ExportItem, ScriptChapter
from studio.messages import Message, did_you_mean
from studio.model.generations import detect_generation
from studio.model.options import Quality
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference
from studio.project.casting import LibraryNames, cast_lines
from studio.project.consistency import targets_of_line
from studio.project.details import CastMember, VoiceRole
from studio.project.dictionary import PronunciationDictionary, load_global_dictionary
from studio.project.dubbing import faster_style
from studio.project.fingerprint import map_voice_keys
from studio.project.full_cast import Dialogue, suggested_cast
from studio.project.importing.blocks import ImportedScript
from studio.project.importing.columns import Field
from studio.project.importing.script_file import SCRIPT_SUFFIXES, ImportOptions, ScriptFile, read_file
from studio.project.importing.tables import ColumnMapping, Table, choose_mapping
from studio.project.lines import Line, LineStyle
from studio.project.project import Project
from studio.project.requests import (
    final_request,
    has_reading,
    language_tag,
    reading_rules,
    request_text,
    synthesis_request,
)
from studio.project.take_repair import WordRepairPlan, has_only_other_words, plan_repair
from studio.project.takes import Take
from studio.provenance.statement import spoken_line
from studio.settings_store import Settings
from studio.take_checks.records import VoiceTarget
from studio.text.language import language_of_script
from studio.text.styles import Styles, names_of_styles
from studio.voices.library import VoiceLibrary
from studio.voices.permission import consent_missing
from studio.voices.voice import name_key

PROJECT_SUFFIX = ".timbre"
# Prefix of the warnings about styles in the JSON output.
MISSING_STYLE = "missing-style"
# Prefix of the warning about takes that were spoken as drafts.
DRAFT = "draft"
_MAX_NUMBERS = 10
READABLE_SUFFIXES = (*SCRIPT_SUFFIXES, PROJECT_SUFFIX)


@dataclass(frozen=True, slots=True)
class OpenScript:
    """A script to export."""

    name: str
    folder: Path
    lines: tuple[tuple[int, Line], ...]  # the lines to export, which have text and are spoken, with their numbers
    dictionary: PronunciationDictionary
    chapters: dict[int, ScriptChapter]  # names of all lines, by number
    book: BookDetails
    project: Project | None = None  # None for a document
    notices: tuple[Message, ...] = ()  # what was left out or guessed in a document
    silent: tuple[tuple[int, Line], ...] = ()  # sounds and stage directions, with their numbers: see ``silent_rows``

    @property
    def guide_track(self) -> str | None:
        """The path of the video or audio that a dub follows."""
        return None if self.project is None else self.project.script.details.guide_track

    @property
    def quality(self) -> Quality:
        """The quality of lines that have none of their own."""
        return Quality.EXACT if self.project is None else self.project.script.details.quality


def with_disclaimer(script: OpenScript) -> OpenScript:
    """Return ``script`` with an audible disclaimer as line 0."""
    number, first = script.lines[0]
    line = disclaimer(first, language_of_script(line.text for _, line in script.lines))
    return replace(script, lines=((0, line), *script.lines), chapters={**script.chapters, 0: script.chapters[number]})


def _import(arguments: argparse.Namespace, library: VoiceLibrary) -> ImportedScript:
    """Import a script with its cast. Raise ``UnreadableScript`` and ``UnusableSetting``."""
    file = read_file(arguments.script, arguments.encoding)
    imported = file.script(import_options(arguments, file, ImportOptions()))
    cast = {name_key(name): CastMember(voice) for name, voice in arguments.cast}
    voices = LibraryNames([*(voice for _, voice in arguments.cast), *(voice.name for voice in library.voices())])
    lines = imported.lines
    if arguments.full_cast:
        suggested = LibraryNames(voice.name for voice in library.voices() if voice.generation is None)  # for any model
        dialogue = Dialogue(lines)
        attribution = corrected_attribution(dialogue, arguments.corrections)
        lines = dialogue.divide(attribution, whole_paragraphs=arguments.whole_paragraphs).lines
        cast = suggested_cast(lines, attribution, cast, suggested.without(arguments.voice))
    elif arguments.corrections or arguments.whole_paragraphs:
        raise UnusableSetting(
            "--corrections and --whole-paragraphs are for novels with --full-cast.", remedy="Add --full-cast."
        )
    return replace(imported, lines=cast_lines(lines, cast, voices))


def import_options(arguments: argparse.Namespace, file: ScriptFile, options: ImportOptions) -> ImportOptions:
    """Return ``options`` with those of the command line. Raise ``UnusableSetting``."""
    wanted = tuple(name for field, name in arguments.column if field is None)
    unknown = next((name for name in wanted if name not in file.tables), None)
    if unknown is not None:
        raise UnusableSetting(
            "{file} has no sheet “{sheet}”.",
            remedy="Choose one of {known}.",
            file=file.name,
            sheet=unknown,
            known=list(file.tables) or "",
        )
    options = replace(
        options,
        breaks=arguments.split or options.breaks,
        speaks_notes=arguments.sound_cues == "speak" if arguments.sound_cues else options.speaks_notes,
        sheets=wanted or options.sheets,
    )
    columns = [(field, name) for field, name in arguments.column if field is not None]
    table = file.table(options)
    if columns and table is not None:
        options = replace(options, mapping=_mapping(table, columns, options.mapping))
    return options


def _mapping(table: Table, columns: Sequence[tuple[Field, str]], known: ColumnMapping | None) -> dict[Field, int]:
    """Return the ``known`` or recognised mapping with the names of ``columns``; an empty name removes a field."""
    places = {name.casefold(): at for at, name in enumerate(table.columns)}
    mapping = dict(choose_mapping(table) if known is None else known)
    for field, name in columns:
        mapping.pop(field, None)
        if not name:
            continue
        if name.casefold() not in places:
            near = difflib.get_close_matches(name, table.columns, n=1)
            raise UnusableSetting(
                "The table has no column “{column}”.{did_you_mean}",
                remedy="Choose one of {known}.",
                column=name,
                did_you_mean=did_you_mean(near),
                known=", ".join(table.columns),
            )
        mapping = {other: at for other, at in mapping.items() if at != places[name.casefold()]}
        mapping[field] = places[name.casefold()]
    return mapping


@contextlib.contextmanager
def open_script(arguments: argparse.Namespace, library: VoiceLibrary) -> Iterator[OpenScript]:
    """Open a document or project with the lines of ``--lines``.

    Raise ``UnreadableScript``, ``UnreadableProject``, ``NothingToSpeak``, ``UnusableSetting``.
    """
    path, wanted = arguments.script, arguments.lines
    dictionary = load_global_dictionary()
    if path.suffix.lower() != PROJECT_SUFFIX:
        imported = _import(arguments, library)
        lines, chapters = _numbered(imported.lines, wanted), _chapters(imported.lines)
        book = BookDetails(imported.title, imported.author, cover=imported.cover)
        silent = _silent(imported.lines, wanted)
        yield OpenScript(
            path.stem, path.parent, lines, dictionary, chapters, book, notices=imported.notices, silent=silent
        )
        return
    if arguments.cast or arguments.column or arguments.full_cast or arguments.corrections or arguments.whole_paragraphs:
        raise UnusableSetting(
            "--cast, --full-cast and --column are for texts and tables, not for projects.",
            remedy="Choose the voices in the project: Edit > Cast…",
        )
    with Project.open(path, paths.data_folder() / "drafts", global_dictionary=dictionary) as project:
        project.voice_keys = map_voice_keys(library.voices())
        lines, chapters = _numbered(project.lines, wanted), _chapters(project.lines)
        name, book = project.name or path.stem, BookDetails.of(project.script.details)
        silent = _silent(project.lines, wanted)
        yield OpenScript(name, path.parent, lines, project.dictionary_in_force, chapters, book, project, silent=silent)


def _chapters(lines: Iterable[Line]) -> dict[int, ScriptChapter]:
    return {number: chapter for number, (_, chapter) in enumerate(lines_with_chapters(lines), 1)}


def _numbered(lines: tuple[Line, ...], wanted: frozenset[int] | None) -> tuple[tuple[int, Line], ...]:
    chosen = tuple(
        (number, line)
        for number, line in enumerate(lines, 1)
        if line.text.strip() and line.is_spoken and (wanted is None or number in wanted)
    )
    if not chosen:
        raise NothingToSpeak("There are no lines to export.", remedy="Choose other lines, or another script.")
    return chosen


def _silent(lines: tuple[Line, ...], wanted: frozenset[int] | None) -> tuple[tuple[int, Line], ...]:
    return tuple(row for row in silent_rows(enumerate(lines, 1)) if wanted is None or row[0] in wanted)


class Speaking:
    """Builds the requests of the lines without a take. Voices and styles are looked up before synthesis starts.

    A line with a style that the model does not have is spoken without it. Raise ``UnknownPreset`` if the style given as
    an option is unknown.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        script: OpenScript,
        library: VoiceLibrary,
        folder: Path,
        options: EngineOptions,
    ) -> None:
        self._arguments = arguments
        self._script = script
        self._library = library
        self._folder = folder
        self._options = options
        self._keeps_leading_silence = keeps_leading_silence(arguments)
        self._reading = reading_rules(Settings())
        self._policy = check_policy(arguments)
        self._voices: dict[str | None, VoiceReference] = {}
        self.repairs: dict[str, WordRepairPlan] = {}  # of --changed-words, by key; complete after ``items``
        self.targets: dict[str, tuple[VoiceTarget, ...]] = {}  # of lines that are checked, like ``repairs``
        self._without_style: list[int] = []  # numbers of the lines whose style the model does not have
        if arguments.preset:
            self._styles.preset(arguments.preset)

    def items(self) -> tuple[tuple[ExportItem, ...], dict[str, SynthesisRequest], ProjectLines, dict[int, StudioError]]:
        """Return the lines, the requests of the lines to synthesise by key, and the takes of the other lines.

        The last value maps numbers of lines that cannot be spoken to errors, such as an unknown voice.
        """
        failed: dict[int, StudioError] = {}
        requests: dict[str, SynthesisRequest] = {}
        items: list[ExportItem] = []
        taken = self._taken()
        of_take = {item.index: item for item in taken.items}
        for number, line in self._script.lines:
            if number in of_take:
                items.append(of_take[number])
                continue
            try:
                repair = self._repair(line)
                request = self._request(line, number) if repair is None else self._repair_request(line, repair)
                targets = self._targets_of(line, request)
                key = request_cache_key(request, self._folder, self._options)
                if self._policy is not None:
                    key += policy_key(self._policy, targets)
            except StudioError as error:
                failed[number] = error
                continue
            if repair is not None:
                self.repairs[key] = repair
            requests[key] = request
            self.targets[key] = targets
            item = item_of_line(line, number, key, chapter=self._script.chapters[number])
            style = request.instruct or request.preset or ""
            items.append(
                replace(item, voice=request.voice.name, style=style, seed=request.seed, spoken=spoken_line(request))
            )
        return tuple(items), requests, taken, failed

    def _targets_of(self, line: Line, request: SynthesisRequest) -> tuple[VoiceTarget, ...]:
        """Return the targets of the project for the speech of a line."""
        script = None if self._script.project is None else self._script.project.script
        if script is None or line.id not in script.index_of:  # a disclaimer is not part of the script
            return ()
        style = LineStyle(preset=request.preset, instruct=request.instruct)
        return targets_of_line(script, line, VoiceRole(name_key(line.character or ""), request.voice.name, style))

    def style_names(self) -> dict[str, str]:
        """Return the names of style presets by family."""
        return names_of_styles(self._known_styles)

    def unlearned_sounds(
        self, requests: Mapping[str, SynthesisRequest], items: Iterable[ExportItem]
    ) -> dict[int, tuple[str, ...]]:
        """Return the tags of sounds in the lines to speak that the model has not learned, by line number."""
        texts = {item.index: requests[item.key].text for item in items if item.key in requests}
        return {number: sounds for number, text in texts.items() if (sounds := unlearned_sounds(self._folder, text))}

    def faster_style(self) -> str | None:
        """Return the model's style preset for faster speech, or None if it has none."""
        styles = self._known_styles
        return None if styles is None else faster_style([preset.family for preset in styles.presets])

    def faster(
        self, items: Iterable[ExportItem], style: str
    ) -> tuple[dict[str, ExportItem], dict[str, SynthesisRequest]]:
        """Return the lines with times in the faster ``style`` by the keys of ``items``, and their requests by new keys.

        Locked lines and lines with a style are left out.
        """
        lines = dict(self._script.lines)
        faster: dict[str, ExportItem] = {}
        requests: dict[str, SynthesisRequest] = {}
        has_style = bool(self._arguments.preset or self._arguments.instruct)
        for item in items:
            line = lines[item.index]
            if line.slot is None or line.is_locked or has_style or not line.style.is_plain:
                continue
            try:
                request = self._request(replace(line, style=LineStyle(preset=style)), item.index)
                key = request_cache_key(request, self._folder, self._options)
            except StudioError:  # the line is only stretched
                continue
            requests[key] = request
            faster[item.key] = replace(item, key=key, style=style, spoken=spoken_line(request))
        return faster, requests

    def style_warnings(self) -> list[tuple[str, str]]:
        """Return the code and text of a warning about lines that are spoken without their style.

        Call after ``items``.
        """
        numbers, model = self._without_style, self._folder.name
        if not numbers:
            return []
        lines = "1 line is" if len(numbers) == 1 else f"{len(numbers)} lines are"
        return [(MISSING_STYLE, f"{lines} spoken without style, because {model} does not support it: {_few(numbers)}")]

    def _taken(self) -> ProjectLines:
        project = self._script.project
        if project is None:
            return ProjectLines((), {})
        fresh = [
            line.id
            for number, line in self._script.lines
            if number and fresh_take(project, line.id) and self._draft_to_finish(line) is None
        ]
        return lines_of_project(project, fresh)

    def _draft_to_finish(self, line: Line) -> Take | None:
        """Return the take of ``line`` if it is a draft of this model, and --quality exact asks for the final one."""
        project = self._script.project
        if project is None or line.id == DISCLAIMER or chosen_quality(self._arguments) is not Quality.EXACT:
            return None
        take = fresh_take(project, line.id)
        if take is None or not take.can_be_final or take.parameters.model_name != self._folder.name:
            return None
        return take if has_reading(project.evidence_of(take.id)) else None

    def _final_request(self, draft: Take) -> SynthesisRequest:
        assert self._script.project is not None
        request = final_request(
            draft,
            self._script.project.evidence_of(draft.id),
            voice=self._voice(draft.parameters.voice_name),
            keeps_leading_silence=self._keeps_leading_silence,
        )
        return replace(request, is_streaming=not self._arguments.whole)

    def _repair(self, line: Line) -> WordRepairPlan | None:
        """Return how to speak only the changed words of ``line``; None if the whole line has to be spoken."""
        project = self._script.project
        take = project.chosen_take(line.id) if project is not None and line.id != DISCLAIMER else None
        if project is None or take is None or not self._arguments.changed_words:
            return None
        evidence = project.evidence_of(take.id)
        is_of_model = take.parameters.model_name == self._folder.name and has_reading(evidence)
        if not (take.is_complete and is_of_model and has_only_other_words(project, take)):
            return None
        if take.is_recording and not self._library.get(take.parameters.voice_name).consent:
            raise consent_missing(take.parameters.voice_name)
        text = request_text(line, self._script.dictionary, self._generation_of_dictionary)
        try:
            return plan_repair(take, project.recording_of(take.id), evidence, new_text=text)
        except UnusableSetting:
            return None

    def _repair_request(self, line: Line, repair: WordRepairPlan) -> SynthesisRequest:
        seed = repair.take.seed if line.seed is None else line.seed
        request = repair.request(self._voice(repair.take.parameters.voice_name), seed)
        return replace(request, is_streaming=not self._arguments.whole)

    def draft_warnings(self, taken: ProjectLines) -> list[tuple[str, str]]:
        """Return the code and text of a warning about takes that are exported as drafts."""
        numbers = [item.index for item in taken.items if taken.take_of_key[item.key].is_draft]
        if not numbers:
            return []
        lines = "1 line is a draft" if len(numbers) == 1 else f"{len(numbers)} lines are drafts"
        return [(DRAFT, f"{lines}: {_few(numbers)}. --quality exact speaks them again, with the same reading.")]

    def _request(self, line: Line, number: int) -> SynthesisRequest:
        arguments = self._arguments
        if (draft := self._draft_to_finish(line)) is not None:
            return self._final_request(draft)
        line = replace(
            line,
            speed=arguments.speed if line.speed == 1.0 else line.speed,
            language=line.language or arguments.language or "",
        )
        if line.style.is_plain:
            line = replace(line, style=LineStyle(preset=arguments.preset, instruct=arguments.instruct))
        request = synthesis_request(
            line,
            self._script.dictionary,
            voice=self._voice(line.voice),
            generation=self._generation_of_dictionary,
            seed=arguments.seed if line.seed is None else line.seed,
            keeps_leading_silence=self._keeps_leading_silence,
            styles=None if line.style.is_plain else self._known_styles,
            quality=self._script.quality,
            language=language_tag(line, self._language, self._reading),
        )
        if not (line.style.is_plain or request.preset or request.instruct):
            self._without_style.append(number)
        quality = chosen_quality(arguments) or request.quality
        return replace(request, is_streaming=not arguments.whole, is_played=False, quality=quality)

    @cached_property
    def _language(self) -> str:
        return language_of_script(line.text for _, line in self._script.lines)

    @property
    def _known_styles(self) -> Styles | None:
        """The styles of the model, or None if they cannot be read, which is reported when the model is loaded."""
        try:
            return self._styles
        except StudioError:
            return None

    @cached_property
    def _styles(self) -> Styles:
        return styles_of_model(self._generation, self._folder) if self._generation else Styles((), ())

    @property
    def _generation(self) -> str:
        """The generation of the model; empty for a server of another program, which does not describe it."""
        return detect_generation(self._folder)[0].name if self._folder.is_dir() else ""

    @property
    def _generation_of_dictionary(self) -> str:
        return self._generation if self._script.dictionary.entries else ""

    def _voice(self, name: str | None) -> VoiceReference:
        choice = name or self._arguments.voice
        if name and not os.path.isfile(name) and os.path.isfile(self._script.folder / name):
            choice = str(self._script.folder / name)
        if choice not in self._voices:
            transcript = None if name else self._arguments.transcript
            self._voices[choice] = voice_reference(choice, transcript, self._library, self._folder)
        return self._voices[choice]


def _few(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:_MAX_NUMBERS])) + (", …" if len(numbers) > _MAX_NUMBERS else "")
