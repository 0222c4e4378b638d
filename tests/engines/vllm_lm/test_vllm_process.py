"""The client of the vLLM process returns tokens or an error in bounded time, whatever the process does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from studio.engines.vllm_lm.engine_process import EngineProcess, environment_with_studio
from studio.engines.vllm_lm.messages import Serve
from studio.errors import EngineDied, OutOfMemory
from studio.model.config import Precision
from studio.model.options import SamplingOptions

SERVE = Serve("", Precision.FLOAT32, False, 100, 2, 1 << 20, 0.1, 10, 12)
EMBEDDINGS = np.zeros((4, 8), np.float32)
Start = Callable[..., EngineProcess]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path))
    started: list[EngineProcess] = []

    def starting(behaviour: str, *, seconds: float = 60.0, silence: float = 60.0) -> EngineProcess:
        command = [sys.executable, str(Path(__file__).with_name("fake_vllm.py")), behaviour]
        process = EngineProcess(
            command, environment_with_studio({}), start_limit_seconds=seconds, response_timeout_seconds=silence
        )
        started.append(process)
        return process

    yield starting
    for process in started:
        process.close()
        assert not psutil.pid_exists(process.pid)


def spoken(process: EngineProcess, max_tokens: int = 8) -> Iterator[int]:
    return process.generate(
        EMBEDDINGS, min_tokens=0, max_tokens=max_tokens, sampling=SamplingOptions(), points=np.zeros(max_tokens)
    )


@pytest.mark.slow
def test_consecutive_and_concurrent_lines(start: Start) -> None:
    process = start("counts")
    assert process.wait_until_ready(SERVE).version == "0.0"
    assert list(spoken(process)) == list(range(8))
    first, second = spoken(process), spoken(process, 4)
    assert [next(first), next(second), next(first)] == [0, 0, 1]
    assert [*second, *first] == [1, 2, 3, 2, 3, 4, 5, 6, 7]


@pytest.mark.slow
def test_tokens_can_be_sampled_by_the_caller(start: Start) -> None:
    process = start("asks")
    process.wait_until_ready(SERVE)
    shown: list[float] = []

    def choose(scores: np.ndarray) -> int:
        shown.append(float(scores[0]))
        return 9 - len(shown)

    line = process.generate(EMBEDDINGS, min_tokens=0, max_tokens=4, sampling=SamplingOptions(), choose=choose)
    assert list(line) == [8, 7, 6, 5]
    assert shown == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.slow
def test_sampling_error_is_raised_to_the_caller(start: Start) -> None:
    process = start("asks")
    process.wait_until_ready(SERVE)

    def choose(scores: np.ndarray) -> int:
        raise LookupError("a fault of the sampler")

    with pytest.raises(LookupError, match="a fault of the sampler"):
        list(process.generate(EMBEDDINGS, min_tokens=0, max_tokens=4, sampling=SamplingOptions(), choose=choose))
    assert process.is_alive


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        ("crashes", EngineDied, "exit status 3"),
        ("refuses", EngineDied, "no kernel for this GPU"),
        ("starves", OutOfMemory, "There is not enough memory for vLLM"),
    ],
)
def test_failed_start_is_reported(start: Start, behaviour: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        start(behaviour).wait_until_ready(SERVE)


@pytest.mark.slow
def test_process_that_never_becomes_ready_is_killed(start: Start) -> None:
    process = start("sleeps", seconds=1.0)
    with pytest.raises(EngineDied, match="did not start within 1 s and was stopped"):
        process.wait_until_ready(SERVE)
    assert not psutil.pid_exists(process.pid)


def test_missing_program_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EngineDied, match="No process can be started for vLLM"):
        EngineProcess([str(tmp_path / "python")], environment_with_studio({}))


@pytest.mark.slow
def test_death_during_a_line_is_reported_and_permanent(start: Start) -> None:
    process = start("dies")
    process.wait_until_ready(SERVE)
    line = spoken(process)
    reported = [next(line), next(line), next(line)]
    with pytest.raises(EngineDied, match="SIGKILL"):
        next(line)
    assert reported == [0, 1, 2]
    assert not process.is_alive
    with pytest.raises(EngineDied):
        next(spoken(process))


@pytest.mark.slow
def test_unresponsive_process_is_killed(start: Start) -> None:
    process = start("falls-silent", silence=1.0)
    process.wait_until_ready(SERVE)
    with pytest.raises(EngineDied, match="did not respond for 1 s and was stopped"):
        list(spoken(process))
    assert not process.is_alive


def test_rejected_line_does_not_end_the_process(start: Start) -> None:
    process = start("declines")
    process.wait_until_ready(SERVE)
    with pytest.raises(EngineDied, match="vLLM rejected the line \\(it is too long\\)"):
        list(spoken(process))
    assert process.is_alive


def test_closing_a_line_stops_it_in_the_process(start: Start) -> None:
    process = start("names-the-stopped")
    process.wait_until_ready(SERVE)
    line = spoken(process)
    assert next(line) == 0
    line.close()  # type: ignore[attr-defined]
    assert list(spoken(process)) == [0], "line 0 was stopped before line 1 was requested"


def test_close_ends_the_process(start: Start) -> None:
    process = start("counts")
    process.wait_until_ready(SERVE)
    waiting = spoken(process)
    next(waiting)
    process.close()
    assert not psutil.pid_exists(process.pid)
    assert not process.is_alive
