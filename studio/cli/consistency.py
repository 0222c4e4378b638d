"""`timbre consistency`: lines of a project that sound unlike the rest, which can be spoken again."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from studio import paths
from studio.catalog.language_check import unlearned_language
from studio.catalog.model_styles import styles_of_model
from studio.cli.command_context import CommandContext
from studio.cli.export_options import line_numbers
from studio.cli.options import Commands, add_command, add_engine_options, add_model_option, engine_options, model_folder
from studio.cli.progress import ProgressLine, print_message
from studio.cli.speaking import run_until_cancelled
from studio.errors import ModelNotFound, StudioError
from studio.export.line_checks import LineRetries
from studio.pipeline.request import VoiceReference
from studio.project.changes import AddTake, ChooseTake, EditDetails, SetTakeChecks
from studio.project.consistency import Consistency, MeasuredLine, analyse, example_targets
from studio.project.details import VoiceRole
from studio.project.dictionary import load_global_dictionary
from studio.project.fingerprint import map_voice_keys, voice_key
from studio.project.project import Project
from studio.project.requests import language_tag, reading_rules, synthesis_request, take_parameters
from studio.project.takes import Take
from studio.settings_store import Settings
from studio.take_checks.consistency import comparable, shown
from studio.take_checks.policy import DEFAULT_RETRIES, CheckMode, CheckPolicy, find_best, retry_seed
from studio.take_checks.recognizers.choice import AUTO, OFF
from studio.take_checks.records import Measure, TakeMeasures, VoiceTarget
from studio.voices.library import VoiceLibrary
from studio.voices.permission import require_permission
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks

EXAMPLES = """\
examples:
  timbre consistency book.timbre
  timbre consistency book.timbre --json
  timbre consistency book.timbre --example 3-20 --repair

Pace (syllables a second), pitch, pitch range, level, similarity to the voice and pauses of each take are compared with the
targets of the script, or with its best takes, and with the neighbouring lines. --repair stores the targets, speaks lines
outside them again, at most twice, and saves the project.

The exit status is 0 if all lines are within their targets, otherwise 1.
"""
_UNITS = {
    Measure.PACE: ("syllables/s", 2),
    Measure.PITCH: ("Hz", 0),
    Measure.PITCH_RANGE: ("semitones", 1),
    Measure.LEVEL: ("dBFS", 1),
    Measure.SIMILARITY: ("", 2),
    Measure.PAUSES: ("s", 2),
}
_MAX_TEXT = 40


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "consistency",
        run,
        help_text="find lines of a project that sound unlike the rest",
        description="Compare the takes of a project, and find lines whose pace, pitch or level differ from the rest.",
        examples=EXAMPLES,
    )
    parser.add_argument("project", type=Path, metavar="PROJECT", help="a project (.timbre)")
    parser.add_argument(
        "--example", type=line_numbers, metavar="LINES", help="lines that sound right, such as 3-20, as targets"
    )
    parser.add_argument("--repair", action="store_true", help="speak lines outside their targets again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_model_option(parser, default="the model of each take")
    add_engine_options(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    library = command_context.open_library()
    dictionary = load_global_dictionary()
    drafts = paths.data_folder() / "drafts"
    with Project.open(arguments.project, drafts, global_dictionary=dictionary) as project:
        project.voice_keys = map_voice_keys(library.voices())
        repairs = _Repairs()
        run_until_cancelled(_compare(project, library, arguments, command_context, repairs))
        found = analyse(project.script)
    if arguments.json:
        print(json.dumps(_values(found, repairs), ensure_ascii=False), flush=True)
    else:
        _print(found, repairs)
    return 1 if found.drifting else 0


@dataclass(slots=True)
class _Repairs:
    """Lines that were spoken again.

    Attributes:
        num_takes: Number of new takes by number of the line.
        errors: Errors of lines that could not be spoken, by number.
    """

    num_takes: dict[int, int] = field(default_factory=dict)
    errors: dict[int, StudioError] = field(default_factory=dict)


async def _compare(
    project: Project,
    library: VoiceLibrary,
    arguments: argparse.Namespace,
    command_context: CommandContext,
    repairs: _Repairs,
) -> None:
    """Measure the takes that are not measured, and speak lines outside their targets again with ``--repair``."""
    async with AsyncExitStack() as stack:
        speaker = _Speaker(project, library, arguments, command_context, stack)
        await speaker.measure(analyse(project.script).unmeasured)
        if arguments.example is not None:
            lines = {line.id for number, line in enumerate(project.lines, 1) if number in arguments.example}
            _set_targets(project, {**analyse(project.script).targets, **example_targets(project.script, lines)})
        if not arguments.repair:
            return
        found = analyse(project.script)
        _set_targets(project, found.targets)
        try:
            for position, drifting in enumerate(found.drifting, 1):
                speaker.progress.show(f"line {drifting.number}, {position} of {len(found.drifting)}")
                try:
                    repairs.num_takes[drifting.number] = await speaker.speak_again(drifting)
                except StudioError as error:
                    repairs.errors[drifting.number] = error
        finally:
            speaker.progress.clear()
            project.save()


def _set_targets(project: Project, targets: Mapping[VoiceRole, VoiceTarget]) -> None:
    project.apply(EditDetails(replace(project.script.details, targets=targets)))


class _Speaker:
    """Checks takes, and speaks lines again. Models stay loaded until ``stack`` ends."""

    def __init__(
        self,
        project: Project,
        library: VoiceLibrary,
        arguments: argparse.Namespace,
        command_context: CommandContext,
        stack: AsyncExitStack,
    ) -> None:
        self._project = project
        self._library = library
        self._arguments = arguments
        self._context = command_context
        self._stack = stack
        self._checks = command_context.open_checks()
        stack.callback(self._checks.close)
        self._clients: dict[Path, WorkerClient] = {}
        self._reading = reading_rules(Settings())
        self.progress = ProgressLine()

    async def measure(self, takes: tuple[Take, ...]) -> None:
        """Check takes that have no check, and add the measures to the checks of the others."""
        for position, take in enumerate(takes, 1):
            self.progress.show(f"measuring take {position} of {len(takes)}")
            await self._check(take, OFF if take.check is not None else AUTO)
        self.progress.clear()

    async def speak_again(self, drifting: MeasuredLine) -> int:
        """Speak a line until a take is within its targets, at most twice, and choose the best take.

        Return the number of new takes, which is 0 if the model has not learned the language of the line. Raise
        ``StudioError``.
        """
        project, first = self._project, drifting.take
        line = project.line(first.line_id)
        if line.is_locked or not project.is_current(first):
            return 0
        if unlearned_language(model_folder(self._arguments.model or first.parameters.model_name).name, line.text):
            return 0
        takes = [await self._check(first, AUTO)]
        earlier = sum(take.retry_of == first.id for take in project.takes_of(line.id))
        policy = CheckPolicy(CheckMode.RETRY, DEFAULT_RETRIES)
        while (check := takes[-1].check) is not None and policy.wants_retry(check, len(takes) - 1):
            take = await self._spoken(first, retry_seed(first.seed, earlier + len(takes)))
            takes.append(await self._check(take, AUTO))
        best = takes[find_best([take.check for take in takes])]
        if best.id != line.chosen_take:
            project.apply(ChooseTake(line.id, best.id))
        return len(takes) - 1

    async def _spoken(self, first: Take, seed: int) -> Take:
        project = self._project
        line = project.line(first.line_id)
        voice = self._library.get(line.voice or first.parameters.voice_name)
        require_permission(voice)
        folder = model_folder(self._arguments.model or first.parameters.model_name)
        client = await self._client(folder)
        engine = await client.load(on_progress=self.progress.stage)
        request = synthesis_request(
            line,
            project.dictionary_in_force,
            voice=VoiceReference(voice.clip, voice.transcript, voice.name),
            generation=engine.generation,
            seed=seed,
            is_played=False,
            styles=None if line.style.is_plain else styles_of_model(engine.generation, folder),
            quality=project.script.details.quality,
            language=language_tag(line, project.script.language, self._reading),
        )
        parameters = take_parameters(
            line,
            project.dictionary_in_force,
            request,
            voice_sha256=voice.sha256,
            voice_key=voice_key(voice),
            engine=engine,
        )
        recorder = project.begin_take(line.id, parameters, engine.sample_rate)
        try:
            hooks = Callbacks(on_audio=lambda chunk: recorder.append(chunk.samples))
            async with client.synthesize(request, hooks=hooks) as running:
                report = await running.finished()
        except BaseException:
            recorder.discard()
            raise
        take = replace(await asyncio.to_thread(recorder.finish, report), retry_of=first.id)
        project.apply(AddTake(take, is_chosen=False))
        return take

    async def _check(self, take: Take, recognizer: str) -> Take:
        """Check a take and store the result. Without a recogniser, only the measures of an earlier check change."""
        try:
            folder, clip = model_folder(self._arguments.model or take.parameters.model_name), self._clip(take)
        except ModelNotFound:  # the similarity by another encoder would not be comparable
            folder, clip = model_folder(None), None
        policy = CheckPolicy(CheckMode.MARK, recognizer=recognizer)
        check = await LineRetries(self._checks, policy, folder).check_take(self._project, take, clip)
        if recognizer == OFF and take.check is not None:
            check = replace(take.check, measures=check.measures)
        self._project.apply(SetTakeChecks({take.id: check}))
        return self._project.take(take.id)

    def _clip(self, take: Take) -> Path | None:
        """Return the clip with which a take was spoken, or None if the library has no such voice."""
        voices = (voice for voice in self._library.voices() if voice.sha256 == take.parameters.voice_sha256)
        return next((voice.clip for voice in voices), None)

    async def _client(self, folder: Path) -> WorkerClient:
        if folder not in self._clients:
            self._clients[folder] = await self._stack.enter_async_context(
                WorkerClient(folder, engine_options(self._arguments, folder), start_worker=self._context.start_worker)
            )
        return self._clients[folder]


def _values(found: Consistency, repairs: _Repairs) -> dict[str, Any]:
    """Return the values of the JSON output. Keys are never removed or renamed."""
    return {
        "lines": [
            {
                "line": each.number,
                "character": each.line.character or None,
                "voice": each.role.voice,
                "style": each.role.style.preset or each.role.style.instruct or None,
                "take": each.take.number,
                "measures": _measures(each.measures),
                "outside": {measure.value: round(deviation, 2) for measure, deviation in each.drifts.items()},
                "new_takes": repairs.num_takes.get(each.number, 0),
                "error": repairs.errors[each.number].code if each.number in repairs.errors else None,
            }
            for each in found.lines
        ],
        "targets": [
            {
                "character": role.character or None,
                "voice": role.voice,
                "style": role.style.preset or role.style.instruct or None,
                **{measure.value: _rounded(shown(span.centre, measure), measure) for measure, span in target.items()},
            }
            for role, target in found.targets.items()
        ],
        "outliers": len(found.drifting),
        "not_measured": len(found.unmeasured),
        "headings": found.num_headings,
    }


def _measures(measures: TakeMeasures) -> dict[str, float | None]:
    values = {measure: comparable(measures, measure) for measure in Measure}
    return {
        measure.value: None if value is None else _rounded(shown(value, measure), measure)
        for measure, value in values.items()
    }


def _rounded(value: float, measure: Measure) -> float:
    return round(value, max(1, _UNITS[measure][1]))


def _print(found: Consistency, repairs: _Repairs) -> None:
    for each in found.drifting:
        words = ", ".join(_outside(each, measure) for measure in each.drifts)
        text = " ".join(each.line.text.split())
        shortened = text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
        print(f"{each.number:>6}  {each.role.voice}: {words}  “{shortened}”")
    for number, error in repairs.errors.items():
        print_message(f"timbre: line {number}: {error} ({error.code})", is_error=True)
    spoken = f", {sum(repairs.num_takes.values())} new takes" if repairs.num_takes else ""
    headings = f", without {found.num_headings} headings" if found.num_headings else ""
    print(f"{len(found.lines)} lines{headings}, {len(found.drifting)} outside their targets{spoken}", flush=True)


def _outside(line: MeasuredLine, measure: Measure) -> str:
    value = comparable(line.measures, measure)
    assert value is not None, "a measure outside its target has a value"
    unit, digits = _UNITS[measure]
    direction = "high" if line.drifts[measure] > 0 else "low"
    return f"{measure.value} {direction} ({shown(value, measure):.{digits}f} {unit}".rstrip() + ")"
