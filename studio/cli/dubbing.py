"""Dubbing with `timbre export`: lines fitted to their original times, and warnings about times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.cli.export_script import OpenScript, Speaking
from studio.export.exporter import ExportResult
from studio.export.fitting import FittedLine, fitted_items
from studio.export.original_times import overlaps, overruns
from studio.export.speech_source import ExportItem
from studio.pipeline.request import SynthesisRequest
from studio.project.dubbing import FitOptions, Retakes, plan_fit, stretches

# Codes of warnings in JSON.
OVERRUN, OVERLAP, RETAKE = "overrun", "overlap", "spoken-faster"


def fit_takes(script: OpenScript, options: FitOptions) -> tuple[OpenScript, dict[int, float]]:
    """Stretch the takes of a project for this export. The project file does not change.

    Also return the numbers of the lines to be spoken again in a faster style, with the lengths of their takes.
    """
    project = script.project
    if project is None:
        return script, {}
    plan = plan_fit(project.script, [line.id for number, line in script.lines if number], options)
    change = stretches(plan)
    if change is not None:
        project.apply(change)
    seconds_of_line = {fit.line.id: fit.take_seconds for fit in plan if fit.is_retaken}
    lines = tuple((number, project.line(line.id) if number else line) for number, line in script.lines)
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
