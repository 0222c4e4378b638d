"""Which take of a line an export uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.export.project_lines import fresh_take
from studio.pipeline.request import LengthVerdict
from studio.project.changes import AddTake, InsertLines
from studio.project.lines import Line, LineState
from studio.project.project import Project
from studio.project.takes import TakeParameters


def test_a_take_of_unusual_length_is_exported_unchanged(tmp_path: Path) -> None:
    with Project.create(tmp_path) as project:
        project.apply(InsertLines(0, (Line(id="a", text="Hello."),)))
        print_of_line = project.fingerprint_of("a")
        parameters = TakeParameters(
            "Hello.", 1, print_of_line, "zero-shot", "", "", "model", "", odd_length=LengthVerdict.TOO_LONG
        )
        recorder = project.begin_take("a", parameters, 24_000)
        recorder.append(np.ones(100, np.float32))
        take = recorder.finish()
        project.apply(AddTake(take))
        assert project.state_of("a") is LineState.CHECK
        assert fresh_take(project, "a") == take
