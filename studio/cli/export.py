"""`timbre export`: export of a whole script as audio files, subtitles and a table."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from studio import paths
from studio.cli.checks import check_policy, check_warning, line_check_values
from studio.cli.command_context import CommandContext
from studio.cli.dry_run import print_sentences, sentences_json, sentences_of_texts
from studio.cli.dubbing import fit_speech, fit_takes, retake_warnings, time_warnings, times_as_json
from studio.cli.export_options import add_export_options, book_details, chosen_settings, fit_options, resolve_output
from studio.cli.export_script import READABLE_SUFFIXES, OpenScript, Speaking, open_script, with_disclaimer
from studio.cli.options import Commands, add_command, add_language_option, engine_options, speaking_place
from studio.cli.progress import ProgressLine, duration_text, print_message
from studio.cli.signing import is_marked, signing_of
from studio.cli.speaking import (
    IMPLAUSIBLE_LENGTH,
    odd_length_text,
    run_until_cancelled,
    save_voices,
    warn_of_language,
    warn_of_noise,
)
from studio.errors import StudioError, VoiceNotFound
from studio.export.cached_source import CachedSource
from studio.export.checks import (
    Finding,
    check_names,
    check_space,
    group_errors,
    number_ranges,
    review_findings,
    silent_findings,
    sound_findings,
)
from studio.export.exporter import Exporter, ExportResult
from studio.export.fitting import FittingSource
from studio.export.forecast import ExportForecast, forecast, orphan_findings
from studio.export.line_checks import LineCheck, LineRetries
from studio.export.names import FIELDS
from studio.export.plan import ExportPlan
from studio.export.presets import PRESETS
from studio.export.progress import ExportProgress
from studio.export.project_lines import (
    ProjectLines,
    TakeSource,
    check_in_project,
    lines_to_review,
    origin_of_file,
    origin_of_project,
    seconds_in_project,
)
from studio.export.provenance import Provenance, licence_of_model
from studio.export.speech_source import ExportItem, SpeechSource
from studio.export.target_folder import Origin
from studio.export.worker_source import WorkerSource
from studio.pipeline.request import Cancelled, EngineDescription, LengthFinding, RequestControl
from studio.project.check_request import can_check, known_words
from studio.project.lines import Heading, Line
from studio.project.takes import Take
from studio.take_checks.records import TakeCheck
from studio.voices.library import VoiceLibrary
from studio.worker.client import WorkerClient
from studio.worker.normalization import SpokenSentence

_PURPOSES = "\n".join(f"  {preset.name:<11}{str(preset.title).partition(': ')[2]}" for preset in PRESETS)
EXAMPLES = f"""\
examples:
  timbre export chapter-one.txt --voice Anna --out chapter-one.mp3
  timbre export interview.timbre --for podcast --out interview
  timbre export book.epub --voice Anna --for audiobook --out book --book narrator=Anna --book cover=cover.jpg
  timbre export game.xlsx --voice Anna --for game --cast Mira=Ada --column text=Dialogue --out vo
  timbre export script.csv --voice Anna --for video --out lines --pattern "{{index}} {{voice}} {{text:30}}"
  timbre export book.docx --voice Anna --out book --split paragraph --files chapters --subtitles srt vtt
  timbre export film.srt --voice Anna --at-times --fit --out dub.wav

purposes:
{_PURPOSES}

Scripts: {", ".join(READABLE_SUFFIXES)}. A table may have the columns text, character, voice, style,
file name, speed, pause, language and note; --column names others. Lines of a project that have a take are exported from it.

--check also checks the takes of a project that were not checked, but does not speak them again or change the project.

To resume an interrupted export, run the same command again.

patterns: {"; ".join(f"{{{name}}} {help_}" for name, help_ in FIELDS.items())}.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "export",
        run,
        help_text="export a whole script to audio files",
        description="Synthesise every line of a script that has no take yet, and write audio files.",
        examples=EXAMPLES,
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="a text, table, subtitle file, document or project")
    add_export_options(parser)
    add_language_option(parser)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    resolve_output(arguments)
    folder, command_context = speaking_place(arguments, command_context)
    with open_script(arguments, command_context.open_library()) as script:
        if script.project is not None and script.project.notice is not None:
            print_message(f"timbre: {script.project.notice}")
        for notice in script.notices:
            print_message(f"timbre: {notice}")
        spoken = with_disclaimer(script) if arguments.disclaimer else script
        return run_until_cancelled(_export(arguments, command_context, spoken, folder))


async def _export(
    arguments: argparse.Namespace, command_context: CommandContext, script: OpenScript, folder: Path
) -> None:
    options = replace(engine_options(arguments, folder), runs_lines_in_processes=True)
    fitting = fit_options(arguments)
    speaking = Speaking(arguments, script, command_context.open_library(), folder, options)
    retaken: dict[int, float] = {}
    if fitting is not None:
        fitting = replace(fitting, faster_style=speaking.faster_style())
        script, retaken = fit_takes(script, fitting)
        speaking = Speaking(arguments, script, command_context.open_library(), folder, options)
    items, requests, taken, not_speakable = speaking.items()
    _print_findings(group_errors(not_speakable))
    if not_speakable and not (arguments.skip_failed and items):
        raise _summary_error(not_speakable, len(script.lines))
    settings = chosen_settings(
        arguments,
        script.name,
        origin=_origin(arguments, script),
        provenance=Provenance(
            folder.name, arguments.licence or licence_of_model(folder), signing_of(arguments), is_marked(arguments)
        ),
        book=book_details(arguments, script.book),
        style_names=speaking.style_names(),
        guide_track=script.guide_track,
    )
    if (settings.has_audiobook or settings.has_chapter_files) and not any(
        line.heading is Heading.CHAPTER for _, line in script.lines
    ):
        print_message("timbre: No chapters were found in the script, so all lines are in one.")
    ExportPlan.make(items, arguments.out, settings)  # raises for unusable options before takes are checked
    with _line_checker(arguments, command_context, script, folder) as checker:
        items, taken = await _checked_takes(items, taken, script, command_context.open_library(), checker)
    exported, fitted = fit_speech(speaking, items, requests, fitting, retaken) if fitting else (items, {})
    plan = ExportPlan.make(exported, arguments.out, settings)
    check_space(
        plan,
        seconds_of=lambda item: seconds_in_project(script.project, taken, item),
        takes_folder=paths.cache_folder(),
    )
    found = forecast(plan)
    unheard = [
        *silent_findings([number for number, _ in script.silent]),
        *sound_findings(speaking.unlearned_sounds(requests, items)),
    ]
    _print_findings(
        [*check_names(plan), *orphan_findings(found), *review_findings(lines_to_review(items, taken)), *unheard]
    )
    if arguments.dry_run:
        texts = [
            (request.text, request.language) if (request := requests.get(item.key)) is not None else (item.text, "")
            for item in items
        ]
        sentences = await asyncio.to_thread(sentences_of_texts, texts, folder)
        _print_forecast(found, plan, sentences, is_json=arguments.json)
        return
    messages, control = _Messages(), RequestControl()
    warn_of_language(
        folder.name, {f"line {each.index}": each.text for each in items if each.key in requests}, messages.line
    )
    async with WorkerClient(folder, options, start_worker=command_context.start_worker) as client:
        with _line_checker(arguments, command_context, script, folder) as checker:
            worker = WorkerSource(
                client,
                asyncio.get_running_loop(),
                requests,
                control,
                on_loaded=messages.loaded,
                on_spoken=messages.spoken,
                checker=checker,
                repairs=speaking.repairs,
                targets=speaking.targets,
            )
            check_of = _check_finder(items, taken, worker)
            source: SpeechSource = CachedSource(worker)
            if script.project:
                source = TakeSource(script.project, taken, others=source)
            fitting_source: FittingSource | None = None
            if fitting is not None:
                source = fitting_source = FittingSource(source, fitted, fitting)
            exporter = Exporter(plan, source, control=control, on_progress=messages.progress, check_of=check_of)
            result = await _run(exporter, control, messages)
            await save_voices(client, messages.line)
    line_checks = {item.index: line for item in items if (line := check_of(item)) is not None}
    warnings = [
        *_check_warnings(line_checks),
        *speaking.style_warnings(),
        *speaking.draft_warnings(taken),
        *_length_warnings(items, worker.odd_lengths),
        *(time_warnings(result) if settings.at_times else ()),
        *(retake_warnings(fitting_source.retaken) if fitting_source is not None else ()),
    ]
    messages.result(result, plan, warnings)
    if arguments.json:
        warnings += [(each.kind.value, _finding_text(each)) for each in unheard]  # printed before the export
        print(_as_json(result, plan, warnings, not_speakable, line_checks, silent=script.silent), flush=True)
    _require_success(not_speakable | {each.item.index: each.error for each in result.failures}, len(script.lines))


def _origin(arguments: argparse.Namespace, script: OpenScript) -> Origin:
    part = "" if arguments.lines is None else ",".join(str(number) for number, _ in script.lines)
    if script.project:
        return origin_of_project(script.project, part=part)
    return origin_of_file(arguments.script, part=part)


@contextlib.contextmanager
def _line_checker(
    arguments: argparse.Namespace, command_context: CommandContext, script: OpenScript, folder: Path
) -> Iterator[LineRetries | None]:
    """Open the process for checks if they are wanted."""
    policy = check_policy(arguments)
    if policy is None or arguments.dry_run:
        yield None
        return
    with contextlib.closing(command_context.open_checks()) as checks:
        yield LineRetries(checks, policy, folder, lambda text: known_words(script.dictionary, text))


async def _checked_takes(
    items: tuple[ExportItem, ...],
    taken: ProjectLines,
    script: OpenScript,
    library: VoiceLibrary,
    checker: LineRetries | None,
) -> tuple[tuple[ExportItem, ...], ProjectLines]:
    """Return the lines with checks of the takes that the project has not checked. The project does not change."""
    takes = [take for take in taken.take_of_key.values() if take.check is None and can_check(take)]
    if checker is None or script.project is None or not takes:
        return items, taken
    line = ProgressLine()
    checks: dict[str, TakeCheck] = {}
    try:
        for number, take in enumerate(takes, 1):
            line.show(f"checking take {number} of {len(takes)}")
            checks[take.id] = await checker.check_take(script.project, take, _clip_of(take, library))
    finally:
        line.clear()
    checked = taken.with_checks(checks)
    of_take = {item.index: item for item in checked.items}
    return tuple(of_take.get(item.index, item) for item in items), checked


def _clip_of(take: Take, library: VoiceLibrary) -> Path | None:
    """Return the clip of the voice of a take, or None if the voice has been removed or has another clip now."""
    try:
        voice = library.get(take.parameters.voice_name)
    except VoiceNotFound:
        return None
    return voice.clip if voice.sha256 == take.parameters.voice_sha256 else None


def _check_finder(
    items: Sequence[ExportItem], taken: ProjectLines, worker: WorkerSource
) -> Callable[[ExportItem], LineCheck | None]:
    """Return a function that returns the check of a line, even if its item was fitted."""
    originals = {item.index: item for item in items}

    def check_of(item: ExportItem) -> LineCheck | None:
        original = originals[item.index]
        return check_in_project(taken, original) or worker.check_of(original)

    return check_of


async def _run(exporter: Exporter, control: RequestControl, messages: _Messages) -> ExportResult:
    """Run the export on a thread. A cancellation waits until it has ended, so that no partial file is left."""
    work = asyncio.create_task(asyncio.to_thread(exporter.run))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        control.cancel()
        with contextlib.suppress(Cancelled, StudioError):
            await work
        messages.line.say("Finished files are kept; run the same command to resume.")
        raise
    finally:
        messages.line.clear()


def _print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print_message(f"timbre: {_finding_text(finding)}")


def _finding_text(finding: Finding) -> str:
    lines = f"lines {', '.join(number_ranges(finding.line_numbers))}: " if finding.line_numbers else ""
    return f"{lines}{finding.message}"


def _print_forecast(
    found: ExportForecast, plan: ExportPlan, sentences: Sequence[SpokenSentence], *, is_json: bool
) -> None:
    """Print each file and what an export does to it, and how sentences are spoken.

    A file is ``new``, ``replaced`` or ``kept``. Other files of the folder are ``unused``.
    """
    if is_json:
        files = [{"file": str(file), "change": change.value} for file, change in found.changes]
        values = {"folder": str(plan.folder), "files": files, "unused": [str(file) for file in found.orphans]}
        values |= sentences_json(sentences)
        print(json.dumps(values, ensure_ascii=False), flush=True)
        return
    for file, change in found.changes:
        print(f"{change.value:<9}{file}")
    for file in found.orphans:
        print(f"{'unused':<9}{file}")
    print_sentences(sentences, is_json=False)


class _Messages:
    """Progress and results on the terminal. Called from several threads."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        self._words = ""

    def progress(self, progress: ExportProgress) -> None:
        words = f"line {min(progress.num_done + 1, progress.num_lines)} of {progress.num_lines}"
        if progress.item is None:
            words = "joining the lines" if progress.remaining_seconds else "finishing"
        if progress.speed is not None:
            words += f", {progress.speed:.1f}x real time"
        if progress.lines_per_minute is not None:
            words += f", {progress.lines_per_minute:.0f} lines per minute"
        if progress.remaining_seconds is not None:
            words += f", {duration_text(progress.remaining_seconds)} left"
        self._words = words
        self.line.show(words)

    def spoken(self, audio_seconds: float) -> None:
        self.line.show(f"{self._words} ({audio_seconds:.1f} s)")

    def loaded(self, description: EngineDescription) -> None:
        warn_of_noise(description, self.line)

    def result(self, result: ExportResult, plan: ExportPlan, warnings: Sequence[tuple[str, str]]) -> None:
        for _, warning in warnings:
            self.line.say(warning)
        for failure in result.failures:
            self.line.say(f"line {failure.item.index}: {failure.error}")
        kept = len(result.files) - result.num_made
        pace = "" if result.lines_per_minute is None else f", {result.lines_per_minute:.0f} lines per minute"
        speed = f" ({result.speed:.1f}x real time{pace})" if result.speed else ""
        unchanged = f", {kept} unchanged" if kept else ""
        self.line.say(
            f"wrote {result.num_made} {'file' if result.num_made == 1 else 'files'} in {plan.folder} "
            f"in {duration_text(result.elapsed_seconds)}{speed}{unchanged}"
        )


def _require_success(failed: Mapping[int, StudioError], num_lines: int) -> None:
    if failed:
        raise _summary_error(failed, num_lines)


def _summary_error(errors: Mapping[int, StudioError], num_lines: int) -> StudioError:
    """Return an error of the same type as the first error. ``errors`` maps line numbers to errors."""
    number, first = next(iter(errors.items()))
    return type(first)(
        "{count} of {total} lines failed; line {number}: {reason}",
        remedy=first.remedy,
        count=len(errors),
        total=num_lines,
        number=number,
        reason=first.problem,
    )


def _length_warnings(
    items: Sequence[ExportItem], odd_lengths: Mapping[str, tuple[LengthFinding, ...]]
) -> list[tuple[str, str]]:
    """Return codes and sentences."""
    return [
        (IMPLAUSIBLE_LENGTH, f"line {item.index}: {odd_length_text(finding)}")
        for item in items
        for finding in odd_lengths.get(item.key, ())
    ]


def _check_warnings(line_checks: Mapping[int, LineCheck]) -> list[tuple[str, str]]:
    """Return codes and sentences."""
    found = ((number, check_warning(line.check)) for number, line in sorted(line_checks.items()))
    return [(warning[0], f"line {number}: {warning[1]}") for number, warning in found if warning is not None]


def _as_json(
    result: ExportResult,
    plan: ExportPlan,
    warnings: Sequence[tuple[str, str]],
    not_speakable: dict[int, StudioError],
    line_checks: Mapping[int, LineCheck],
    *,
    silent: Sequence[tuple[int, Line]],
) -> str:
    """Return one JSON object. Keys are never removed or renamed."""
    failed = not_speakable | {failure.item.index: failure.error for failure in result.failures}
    values = {
        "folder": str(plan.folder),
        "files": [str(path) for path in result.files],
        "num_made": result.num_made,
        "num_lines": len(plan.items),
        "audio_seconds": result.audio_seconds,
        "elapsed_seconds": result.elapsed_seconds,
        "audio_seconds_per_second": result.speed,
        "lines_per_minute": result.lines_per_minute,
        "failures": [
            {"line": number, "code": error.code, "message": str(error)} for number, error in sorted(failed.items())
        ],
        "silent": [{"line": number, "text": line.text} for number, line in silent],
        "warnings": [f"{code}: {warning}" for code, warning in warnings],
        "checks": [{"line": number, **line_check_values(line)} for number, line in sorted(line_checks.items())],
        **(times_as_json(result) if plan.settings.at_times else {}),
    }
    return json.dumps(values, ensure_ascii=False)
