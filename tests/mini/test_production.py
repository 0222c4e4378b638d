"""All steps of the bundled voice run in the order of their needs, and an interrupted production continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from training import production
from training.production import ProductionOptions, command, produce, steps


@pytest.fixture
def options(tmp_path: Path) -> ProductionOptions:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(3):
        (corpus / f"shard-{number:05d}.json").touch()
    return ProductionOptions(
        tmp_path / "teacher", corpus, tmp_path / "work", tmp_path / "model", 100.0, 0.1, 2, 0, "cpu"
    )


@dataclass
class Runs:
    """Starts steps that take two polls; one of them may fail."""

    failing: str = ""
    started: list[list[str]] = field(default_factory=list)
    most_at_once: int = 0
    running: int = 0
    terminated: int = 0

    def start(self, step: Sequence[str]) -> _Run:
        self.started.append(list(step))
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        return _Run(self, int(bool(self.failing) and self.failing in step))


@dataclass
class _Run:
    runs: Runs
    status: int
    polls: int = 0

    def poll(self) -> int | None:
        self.polls += 1
        if self.polls < 2:
            return None
        self.runs.running -= 1
        return self.status

    def terminate(self) -> None:
        self.runs.terminated += 1


def test_every_step_follows_what_it_needs(options: ProductionOptions) -> None:
    runs = Runs()
    assert produce(options, runs.start, lambda _: None) == 0
    assert runs.most_at_once == 2
    order: list[str] = []
    for words in runs.started:  # the model folder is written twice, by the same command
        same = (step.name for step in steps(options) if command(step, options) == words)
        order.append(next(name for name in same if name not in order))
    assert sorted(order) == sorted(step.name for step in steps(options))
    for step in steps(options):
        assert all(order.index(name) < order.index(step.name) for name in step.after)
    names = {step.name for step in steps(options)}
    assert all(set(step.after) <= names for step in steps(options))


def test_minutes_are_shared_out(options: ProductionOptions) -> None:
    assert sum(step.share for step in steps(options)) == pytest.approx(1.0, abs=0.02)
    learn = command(next(step for step in steps(options) if step.name == "judge_recognizer"), options)
    assert learn[learn.index("--minutes") + 1] == "2.00"
    assert learn[learn.index("--seed") + 1] == "7"


def test_a_failure_stops_the_others_and_the_same_command_continues(options: ProductionOptions) -> None:
    runs = Runs(failing="corpus")
    assert produce(options, runs.start, lambda _: None) == 1
    assert runs.terminated == 1
    done = len(list(options.work.glob("*.done")))
    again = Runs()
    assert produce(options, again.start, lambda _: None) == 0
    assert len(again.started) == len(steps(options)) - done


def test_more_minutes_continue_trainings_and_what_follows_them(options: ProductionOptions) -> None:
    assert produce(options, Runs().start, lambda _: None) == 0
    nothing, longer = Runs(), Runs()
    assert produce(options, nothing.start, lambda _: None) == 0
    assert nothing.started == []
    assert produce(replace(options, minutes=200.0), longer.start, lambda _: None) == 0
    started = {name for words in longer.started for name in words}
    assert {"vocoder", "flow", "ship", "takes"} <= started
    assert not {"corpus", "words", "tokens", "token_reader"} & started


def test_a_corpus_that_is_too_small_is_a_sentence(
    options: ProductionOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in options.corpus.iterdir():
        path.unlink()
    assert produce(options, Runs().start, lambda _: None) == 1
    assert "more speech" in capsys.readouterr().err


def test_steps_allocate_with_jemalloc_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("ctypes.util.find_library", {"jemalloc": "libjemalloc.so.2"}.get)
    environment = production._environment()
    assert environment["LD_PRELOAD"] == "libjemalloc.so.2"
    assert "oversize_threshold:0" in environment["MALLOC_CONF"], "large tensors are kept, too"
    monkeypatch.setenv("LD_PRELOAD", "own.so")
    assert production._environment()["LD_PRELOAD"] == "own.so", "the user's own choice"
    monkeypatch.delenv("LD_PRELOAD")
    monkeypatch.setattr("ctypes.util.find_library", lambda _: None)
    assert "LD_PRELOAD" not in production._environment()
