"""Options of `timbre export` for dubbing: original times, a file per character, and fitting to slots."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.audio.encoding import ENCODINGS, encoding_named
from studio.cli.export_script import OpenScript, Speaking
from studio.export.exporter import ExportResult
from studio.export.fitting import FittedLine, fitted_items
from studio.export.joined_files import FilePer
from studio.export.original_times import overlaps, overruns
from studio.export.plan import ExportSettings
from studio.export.speech_source import ExportItem
from studio.pipeline.request import SynthesisRequest
from studio.project.dubbing import DEFAULT_FASTEST, DEFAULT_SLOWEST, FitOptions, Retakes, plan_fit, stretches

# Codes of warnings in JSON.
OVERRUN, OVERLAP, RETAKE = "overrun", "overlap", "spoken-faster"


def add_dubbing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dubbing", "for subtitles, and projects whose lines have times")
    group.add_argument(
        "--at-times",
        action="store_true",
        help="write one file in which every line begins at its original time (with --joined: also one per line)",
    )
    group.add_argument(
        "--per",
        choices=[each.value for each in FilePer],
        default=FilePer.SCRIPT.value,
        help="with --at-times: one file for the script (default), or one for each character or language",
    )
    group.add_argument(
        "--fit", action="store_true", help="shorten lines that are longer than their times, and list what remains"
    )
    group.add_argument(
        "--fit-retake",
        type=Retakes,
        default=Retakes.BEYOND_LIMITS,
        metavar="|".join(each.value for each in Retakes),
        help="with --fit: which overlong lines without a style are first spoken again in a faster style of the model "
        f"(default {Retakes.BEYOND_LIMITS.value}: where changing the speed is not enough)",
    )
    group.add_argument(
        "--fit-limits",
        nargs=2,
        type=float,
        default=(DEFAULT_SLOWEST, DEFAULT_FASTEST),
        metavar=("MIN", "MAX"),
        help=f"with --fit: limits of the change of speed (default {DEFAULT_SLOWEST} {DEFAULT_FASTEST})",
    )
    group.add_argument("--fit-short", action="store_true", help="with --fit: also slow down lines that are shorter")


def resolve_output(arguments: argparse.Namespace) -> None:
    """Use ``--out dub.wav`` as name and format of the joined file of an export at original times."""
    if not arguments.at_times:
        return
    arguments.joined_only = not arguments.joined
    suffix = arguments.out.suffix.lower()
    if suffix in {encoding.suffix for encoding in ENCODINGS.values()} and not arguments.out.is_dir():
        if arguments.format is None or arguments.format.suffix != suffix:
            arguments.format = encoding_named(suffix)
        arguments.name = arguments.name or arguments.out.stem
        arguments.out = arguments.out.parent


def fit_options(arguments: argparse.Namespace) -> FitOptions | None:
    """Return the limits of ``--fit``, or None without it. Raise ``UnusableSetting``."""
    slowest, fastest = arguments.fit_limits
    if not arguments.fit:
        return None
    return FitOptions(slowest, fastest, lengthens=arguments.fit_short, retakes=arguments.fit_retake)


def fit_takes(script: OpenScript, options: FitOptions) -> tuple[OpenScript, dict[int, float]]:
    """Stretch the takes of a project for this export. The project file does not change.

    Also return the numbers of the lines to be spoken again in a faster style, with the lengths of their takes.
    """
    project = script.project
    if project is None:
        return script, {}
    plan = plan_fit(project.script, [line.id for _, line in script.lines], options)
    change = stretches(plan)
    if change is not None:
        project.apply(change)
    seconds_of_line = {fit.line.id: fit.take_seconds for fit in plan if fit.is_retaken}
    lines = tuple((number, project.line(line.id)) for number, line in script.lines)
    retaken = {number: seconds_of_line[line.id] for number, line in lines if line.id in seconds_of_line}
    return replace(script, lines=lines), retaken


def fit_speech(
    speaking: Speaking,
    items: Sequence[ExportItem],
    requests: dict[str, SynthesisRequest],
    options: FitOptions,
    retaken: Mapping[int, float],
) -> tuple[tuple[ExportItem, ...], dict[str, FittedLine]]:
    """Return ``items`` with the keys of their fitted audio, and how each is fitted. ``retaken`` is from ``fit_takes``.

    Requests for the faster style are added to ``requests``.
    """
    spoken = set(requests)
    seconds_of_takes = {item.key: retaken[item.index] for item in items if item.index in retaken}
    faster: dict[str, ExportItem] = {}
    if options.faster_style is not None and options.retakes is not Retakes.NEVER:
        may_retake = [item for item in items if item.key in spoken or item.key in seconds_of_takes]
        faster, of_faster = speaking.faster(may_retake, options.faster_style)
        requests.update(of_faster)
    seconds_of_takes = {key: seconds for key, seconds in seconds_of_takes.items() if key in faster}
    return fitted_items(items, spoken, options, faster=faster, seconds_of_takes=seconds_of_takes)


def with_times(settings: ExportSettings, arguments: argparse.Namespace) -> ExportSettings:
    return replace(settings, at_times=arguments.at_times, joined_per=FilePer(arguments.per))


def time_warnings(result: ExportResult) -> list[tuple[str, str]]:
    """Return the lines that are too long for their times, as codes and sentences."""
    found = [
        (OVERRUN, f"line {overrun.item.index}: {overrun.seconds:.2f} s longer than its time")
        for overrun in overruns(result.timings)
    ]
    return [
        *found,
        *(
            (OVERLAP, f"line {each.item.index} overlaps line {each.next_item.index} by {each.seconds:.2f} s")
            for each in overlaps(result.timings)
        ),
    ]


def retake_warnings(retaken: Collection[int]) -> list[tuple[str, str]]:
    """Return a code and a sentence about the lines, by number, that were spoken again in a faster style."""
    if not retaken:
        return []
    lines = "1 line was" if len(retaken) == 1 else f"{len(retaken)} lines were"
    return [(RETAKE, f"{lines} spoken again faster: {', '.join(map(str, sorted(retaken)))}")]


def times_as_json(result: ExportResult) -> dict[str, Sequence[Any]]:
    return {
        "timings": [
            {
                "line": timing.item.index,
                "start_samples": timing.start_samples,
                "num_samples": timing.num_samples,
                "sample_rate": timing.sample_rate,
            }
            for timing in result.timings
        ],
        "overruns": [{"line": each.item.index, "seconds": each.seconds} for each in overruns(result.timings)],
        "overlaps": [
            {"line": each.item.index, "next_line": each.next_item.index, "seconds": each.seconds}
            for each in overlaps(result.timings)
        ],
    }
