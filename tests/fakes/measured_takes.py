"""A script whose takes have measures, some of them with a planted drift."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import numpy as np

from studio.project.lines import Line
from studio.project.script import Script
from studio.project.takes import Take, TakeParameters
from studio.take_checks.records import TakeCheck, TakeMeasures, Verdict

USUAL = TakeMeasures(1.0, -18.0, 8000.0, 0.9, 160.0, 4.0, 0.2)


def measures(random: np.random.Generator, *, pitch_hz: float = 160.0, drifts: bool = False) -> TakeMeasures:
    """Return measures around the usual ones; a drift is 1.15 times the pace and 2 semitones higher."""
    pace = float(np.exp(random.normal(0.0, 0.05))) / (1.15 if drifts else 1.0)
    pitch = pitch_hz * 2.0 ** ((random.normal(0.0, 0.2) + (2.0 if drifts else 0.0)) / 12.0)
    level, similarity = random.normal(-18.0, 0.5), random.normal(0.9, 0.02)
    return TakeMeasures(pace, level, 8000.0, min(1.0, similarity), float(pitch), 4.0 + random.normal(0.0, 0.5), 0.2)


def take_of(line: Line, found: TakeMeasures | None, *, voice: str = "Anna", verdict: Verdict = Verdict.GOOD) -> Take:
    """Return a take whose check has these measures, or that was not checked."""
    return Take(
        f"take-{line.id}",
        line.id,
        1,
        datetime(2026, 1, 1, tzinfo=UTC),
        2.0,
        24_000,
        TakeParameters(line.text, 1, "", "zero-shot", voice, "", "model", ""),
        check=None if found is None else TakeCheck(verdict, measures=found),
    )


def script_of(takes: Sequence[TakeMeasures | None], *, voices: Sequence[str] = ("Anna",)) -> Script:
    """Return a script of one line for each of ``takes``, whose voices alternate."""
    lines, of_line = [], {}
    for number, found in enumerate(takes):
        voice = voices[number % len(voices)]
        line = Line(f"line{number}", f"Line number {number}.", voice, chosen_take=f"take-line{number}")
        lines.append(line)
        of_line[line.id] = (take_of(line, found, voice=voice),)
    return Script(lines=tuple(lines), takes=of_line)


def drifting_script(num_lines: int, drifting: Collection[int]) -> Script:
    random = np.random.default_rng(4)
    return script_of([measures(random, drifts=number in drifting) for number in range(num_lines)])
