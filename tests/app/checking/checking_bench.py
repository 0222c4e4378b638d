"""A window with a script whose takes a fake checks."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import noise_models
from fake_checks import FakeChecks
from window_bench import Bench

from studio.project.changes import InsertLines, RemoveLines
from studio.project.lines import Line
from studio.project.takes import Take

TEXTS = ("one two three", "four five six", "seven eight nine")


@cache
def speaking_model() -> Path:
    """Return a model folder whose name does not say that it makes noise."""
    folder = Path(tempfile.mkdtemp(prefix="timbre-model-")) / "speaking"
    shutil.copytree(noise_models.V3, folder)
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    return folder


def open_script(
    make_bench: Callable[..., Bench], checks: FakeChecks | None = None, texts: Sequence[str] = TEXTS, **options: object
) -> Bench:
    """Show a window with a line for each text. The lines have seeds."""
    bench = make_bench(checks=checks or FakeChecks(), model=speaking_model(), **options)
    bench.add_voice()
    bench.open_window()
    add_lines(bench, texts)
    return bench


def add_lines(bench: Bench, texts: Sequence[str]) -> None:
    editor = bench.session.editor
    blank = tuple(line.id for line in editor.script.lines)
    lines = tuple(Line(f"line{number}", text, voice="Anna", seed=number) for number, text in enumerate(texts))
    editor.apply(InsertLines(0, lines))
    editor.apply(RemoveLines(blank))
    assert bench.window is not None
    bench.window.script.view.go_to("line0")


def speak_all(bench: Bench) -> None:
    """Speak all lines, and wait until all takes are checked and no further take follows."""
    bench.trigger("speak.stale")
    wait_until_checked(bench)


def wait_until_checked(bench: Bench) -> None:
    queue, checker = bench.session.queue, bench.session.parts.checker
    bench.until(lambda: queue.jobs and all(job.state.is_over for job in queue.jobs) and not checker.num_waiting)
    bench.live(0.02)
    assert not any(bench.session.parts.retries.is_open(job.batch) for job in queue.jobs)


def takes(bench: Bench, line: int = 0) -> tuple[Take, ...]:
    return bench.session.editor.project.takes_of(f"line{line}")


def chosen(bench: Bench, line: int = 0) -> Take:
    take = bench.session.editor.project.chosen_take(f"line{line}")
    assert take is not None
    return take
