"""An export that was killed can be run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile
from export_child import TEXTS, plan
from speech_fakes import FakeSpeechSource

from studio.export.cached_source import CachedSource
from studio.export.exporter import Exporter

CHECKOUT = Path(__file__).parent.parent.parent
CHILD = Path(__file__).with_name("export_child.py")


def start_child(folder: Path, *, seconds_per_line: float, is_joined: bool) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), str(folder / "target"), str(folder / "journals"), str(seconds_per_line)]
    return subprocess.Popen(
        command + ["joined"] * is_joined,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_after(child: subprocess.Popen[str], num_reports: int) -> None:
    assert child.stdout is not None
    for _ in range(num_reports):
        assert child.stdout.readline(), "the child ended by itself"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def sounds(target: Path) -> dict[str, int]:
    """Return the number of frames of each finished file, which must be complete."""
    found = {}
    for path in target.glob("[!.]*.flac"):
        samples, _ = soundfile.read(path)
        assert len(samples) == soundfile.info(path).frames
        found[path.name] = len(samples)
    return found


@pytest.mark.skipif(os.name == "nt", reason="kills with a signal")
@pytest.mark.parametrize(
    "num_reports", [pytest.param(2, marks=pytest.mark.slow), 5, pytest.param(9, marks=pytest.mark.slow)]
)
def test_a_killed_export_resumes(tmp_path: Path, num_reports: int) -> None:
    child = start_child(tmp_path, seconds_per_line=0.05, is_joined=False)
    kill_after(child, num_reports)
    target = tmp_path / "target"
    done = sounds(target)
    assert len(done) >= num_reports - 1
    assert len(done) < len(TEXTS)
    times = {name: (target / name).stat().st_mtime_ns for name in done}

    source = FakeSpeechSource()
    result = Exporter(plan(target, is_joined=False), source, journals=tmp_path / "journals").run()

    assert len(source.spoken_texts) == len(TEXTS) - len(done)
    assert len(sounds(target)) == len(TEXTS)
    assert len(result.files) == len(TEXTS) + 3
    assert {name: (target / name).stat().st_mtime_ns for name in times} == times
    assert [path for path in target.iterdir() if path.name.startswith(".")] == []
    rate = 48_000
    assert sorted(sounds(target).values()) == sorted(round(0.1 * len(text) * rate) for text in TEXTS)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kills with a signal")
def test_a_kill_while_joining_leaves_no_incomplete_file(tmp_path: Path) -> None:
    child = start_child(tmp_path, seconds_per_line=0.02, is_joined=True)
    kill_after(child, len(TEXTS) + 5)  # all lines are spoken and some joined
    target = tmp_path / "target"
    names = [path.name for path in target.iterdir()]
    assert len(names) == 1
    assert names[0].startswith(".timbre.")
    result = Exporter(plan(target, is_joined=True), FakeSpeechSource(), journals=tmp_path / "journals").run()
    assert sorted(path.name for path in target.iterdir()) == ["story.csv", "story.flac", "story.srt", "story.vtt"]
    assert len(result.files) == 4


@pytest.mark.slow
def test_speech_for_a_joined_file_is_cached(tmp_path: Path) -> None:
    """If only a joined file is exported, the target folder contains no lines from which the export could resume."""
    first = FakeSpeechSource()
    target, journals, cache = tmp_path / "target", tmp_path / "journals", tmp_path / "cache"
    interrupted = Exporter(plan(target, is_joined=True), CachedSource(first, folder=cache), journals=journals)
    interrupted._join = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    assert len(first.spoken_texts) == len(TEXTS)
    second = FakeSpeechSource()
    Exporter(plan(target, is_joined=True), CachedSource(second, folder=cache), journals=journals).run()
    assert second.spoken_texts == []
    assert (target / "story.flac").is_file()
