"""An export of 60 lines from the window that was killed is completed with one click after the next start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import soundfile
from export_window_child import CHARACTERS, NUM_LINES

from studio.app.export_dialog.export_task import ExportState
from studio.project.drafts import recoverable_drafts
from studio.project.project import Project

CHILD = Path(__file__).with_name("export_window_child.py")
NUM_SPOKEN_BEFORE = 20


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kills with a signal")
def test_a_killed_export_is_completed_after_the_next_start(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    for _ in range(NUM_SPOKEN_BEFORE):
        assert child.stdout.readline(), "the child ended by itself"
    child.kill()
    child.wait()
    child.stdout.close()

    (draft,) = recoverable_drafts(tmp_path / "drafts")
    project = Project.recover(draft)
    num_kept = sum(take.is_complete for takes in project.script.takes.values() for take in takes)
    assert NUM_SPOKEN_BEFORE - 1 <= num_kept < NUM_LINES
    bench = make_bench(project=project)
    bench.open_window()
    spoken: list[str] = []
    bench.session.queue.job_finished.connect(lambda job: spoken.append(job.line_id))
    bench.until(lambda: "interrupted" in bench.window.notices.words)
    assert f"{num_kept} of {NUM_LINES} lines spoken" in bench.window.notices.words
    bench.window.notices._offer.click()
    task = bench.session.parts.exports.current
    assert task is not None
    bench.until(lambda: not task.state.is_running, 300)

    assert task.state is ExportState.DONE, (task.error, task.failures)
    assert len(spoken) == len(set(spoken)) == NUM_LINES - num_kept, "what was spoken before is not spoken again"
    files = sorted((tmp_path / "target").rglob("*.wav"))
    assert len(files) == NUM_LINES
    assert {file.parent.name for file in files} == set(CHARACTERS)
    assert all(soundfile.info(file).frames > 0 for file in files)
    bench.until(lambda: not list((tmp_path / "exports").iterdir()))
