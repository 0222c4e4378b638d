"""Lines and takes for the tests of an open project."""

from __future__ import annotations

import numpy as np
from script_material import RATE, parameters, sound

from studio.project.changes import AddTake, InsertLines
from studio.project.lines import Line
from studio.project.project import Project
from studio.project.takes import Take


def insert(project: Project, *texts: str) -> list[str]:
    lines = tuple(Line(id=f"line{len(project.lines) + number}", text=text) for number, text in enumerate(texts))
    project.apply(InsertLines(len(project.lines), lines))
    return [line.id for line in lines]


def speak(project: Project, line_id: str, seconds: float = 0.5, seed: int = 0) -> Take:
    recorder = project.begin_take(
        line_id, parameters(project.fingerprint_of(line_id), voice_name=project.line(line_id).voice or ""), RATE
    )
    samples = sound(seconds, seed)
    for block in np.array_split(samples, 4):
        recorder.append(block)
    take = recorder.finish()
    project.apply(AddTake(take))
    return take
