"""Options of `timbre export` for dubbing: original times, a file per character, and fitting to slots."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from studio.audio.encoding import ENCODINGS, encoding_named
from studio.cli.export_script import OpenScript
from studio.export.exporter import ExportResult
from studio.export.original_times import overlaps, overruns
from studio.export.plan import ExportSettings
from studio.project.dubbing import DEFAULT_FASTEST, DEFAULT_SLOWEST, FitOptions, plan_fit, stretches

# Codes of warnings in JSON.
OVERRUN, OVERLAP = "overrun", "overlap"


def add_dubbing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("dubbing", "for subtitles, and projects whose lines have times")
    group.add_argument(
        "--at-times",
        action="store_true",
        help="write one file in which every line begins at its original time (with --joined: also one per line)",
    )
    group.add_argument("--per", choices=("character",), help="with --at-times: one file for each character")
    group.add_argument("--fit", action="store_true", help="speed up lines that are longer than their times")
    group.add_argument(
        "--fit-limits",
        nargs=2,
        type=float,
        default=(DEFAULT_SLOWEST, DEFAULT_FASTEST),
        metavar=("SLOWEST", "FASTEST"),
        help=f"with --fit: limits of the change of speed (default {DEFAULT_SLOWEST} {DEFAULT_FASTEST})",
    )
    group.add_argument("--fit-short", action="store_true", help="with --fit: also slow down lines that are shorter")


def resolve_output(arguments: argparse.Namespace) -> None:
    """Let ``--out dub.wav`` name the joined file of an export at original times, with its format."""
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
    return FitOptions(slowest, fastest, lengthens=arguments.fit_short) if arguments.fit else None


def fit_takes(script: OpenScript, options: FitOptions) -> OpenScript:
    """Stretch the takes of a project for this export. The project file does not change."""
    project = script.project
    if project is None:
        return script
    change = stretches(plan_fit(project.script, [line.id for _, line in script.lines], options))
    if change is not None:
        project.apply(change)
    return replace(script, lines=tuple((number, project.line(line.id)) for number, line in script.lines))


def with_times(settings: ExportSettings, arguments: argparse.Namespace) -> ExportSettings:
    return replace(settings, at_times=arguments.at_times, per_character=arguments.per == "character")


def time_warnings(result: ExportResult) -> list[tuple[str, str]]:
    """Return the lines that are too long for their times, as codes and sentences."""
    found = [
        (OVERRUN, f"line {overrun.item.index}: {overrun.seconds:.2f} s longer than its time")
        for overrun in overruns(result.timings)
    ]
    return [
        *found,
        *(
            (OVERLAP, f"line {each.item.index} is still heard for {each.seconds:.2f} s of line {each.next_item.index}")
            for each in overlaps(result.timings)
        ),
    ]


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
