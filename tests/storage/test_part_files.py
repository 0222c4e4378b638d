"""Unfinished files of a process that has ended are removed at the next write into their folder, others stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from studio.audio.files import AudioWriter
from studio.project.project import Project
from studio.storage.part_files import part_name, sweep_parts

_LEAVE_PART = "import sys, pathlib; from studio.storage.part_files import part_name; pathlib.Path(sys.argv[1], part_name('a')).touch()"


@pytest.fixture
def left_over(tmp_path: Path) -> Path:
    """Of a process that died; with others that must stay."""
    subprocess.run([sys.executable, "-c", _LEAVE_PART, str(tmp_path)], check=True, cwd=Path(__file__).parents[2])
    (path,) = tmp_path.iterdir()
    (tmp_path / part_name("mine")).touch()
    (tmp_path / ".of.another.program.part").touch()
    (tmp_path / path.name.replace(path.name.split(".")[2][:6], "000000")).touch()  # of another computer
    return path


def test_only_what_no_process_writes_any_more_is_removed(left_over: Path) -> None:
    before = set(left_over.parent.iterdir())
    sweep_parts(left_over.parent)
    assert before - set(left_over.parent.iterdir()) == {left_over}


def test_saving_another_project_removes_it(left_over: Path) -> None:
    with Project.create(left_over.parent / "drafts") as project:
        project.save(left_over.parent / "b.timbre")
    assert not left_over.exists()


def test_writing_sound_removes_it(left_over: Path) -> None:
    writer = AudioWriter(left_over.parent / "a.wav", 24_000)
    writer.discard()
    assert not left_over.exists()
