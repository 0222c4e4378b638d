"""The server side of the vLLM process adds and removes lines between two steps of a fake engine."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from types import ModuleType

import numpy as np
import pytest
import torch
from fake_vllm_library import FakeEngine

from studio.engines.vllm_lm.batch_sampler import BatchDraw, make_processor
from studio.engines.vllm_lm.messages import (
    Ended,
    Event,
    Generate,
    Rejected,
    SampleRequest,
    SampleResult,
    Serve,
    Stop,
    Tokens,
)
from studio.engines.vllm_lm.serving import MessageQueue, RequestRouter, params_maker
from studio.model.config import Precision
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler

NUM_IDS, FIRST_END = 40, 36
OPTIONS = SamplingOptions()
SERVE = Serve("", Precision.FLOAT32, False, 100, 3, 1 << 20, 0.1, FIRST_END, NUM_IDS)


class Wire:
    """The program's end of the connection, with a fake engine running at the other."""

    def __init__(self) -> None:
        self.near, far = multiprocessing.Pipe(duplex=True)
        self.is_abandoned = threading.Event()
        mailbox = MessageQueue(far, self.is_abandoned.set)
        self.batch = BatchDraw(FIRST_END, mailbox.ask)
        self.engine = FakeEngine(make_processor(self.batch)(None, torch.device("cpu"), False), NUM_IDS)
        self.error: BaseException | None = None
        self.has_ended = threading.Event()
        speakers = RequestRouter(mailbox, self.engine, FIRST_END, params_maker(SERVE))
        threading.Thread(target=self._run, args=(speakers,), daemon=True).start()

    def _run(self, speakers: RequestRouter) -> None:
        try:
            speakers.run(self.batch)
        except ArithmeticError as error:
            self.error = error
            self.has_ended.set()

    def speak(self, line: int, *, max_tokens: int = 30, min_tokens: int = 0, num_embeddings: int = 5) -> None:
        points = RepetitionAwareSampler(OPTIONS, seed=line).draw_points(max_tokens).numpy()
        self.near.send(
            Generate(line, np.zeros((num_embeddings, 4), np.float32), min_tokens, max_tokens, OPTIONS, points)
        )

    def plain(self, line: int, *, max_tokens: int = 30, min_tokens: int = 0) -> list[int]:
        """Return the tokens of the plain sampler for the same scores."""
        sampler, spoken = RepetitionAwareSampler(OPTIONS, seed=line), list[int]()
        while len(spoken) < max_tokens:
            forbid = slice(FIRST_END, NUM_IDS) if len(spoken) < min_tokens else None
            token = sampler(self.engine.scores_after(spoken), spoken, forbid=forbid)
            if token >= FIRST_END:
                break
            spoken.append(token)
        return spoken


def heard_until_ended(connection: Connection, count: int) -> dict[int, list[int]]:
    """Return the tokens of each line once ``count`` lines have ended."""
    lines: dict[int, list[int]] = {}
    while count:
        assert connection.poll(30), "an event is expected"
        event: Event = connection.recv()
        match event:
            case Tokens(line, tokens):
                lines.setdefault(line, []).extend(tokens)
            case Ended(line, _):
                lines.setdefault(line, [])
                count -= 1
            case other:
                raise AssertionError(other)
    return lines


@pytest.fixture
def wire(fake_library: dict[str, ModuleType]) -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.near.close()
    assert wire.is_abandoned.wait(30)


def test_more_lines_than_rows_equal_single_lines(wire: Wire) -> None:
    for line in range(7):
        wire.speak(line, min_tokens=4 * line)
    reported = heard_until_ended(wire.near, 7)
    assert reported == {line: wire.plain(line, min_tokens=4 * line) for line in range(7)}
    assert all(len(reported[line]) >= 4 * line for line in range(7))


def test_stopped_line_is_aborted(wire: Wire) -> None:
    points = np.zeros(10)
    wire.near.send(Generate(1, np.zeros((5, 4), np.float32), 10, 10, OPTIONS, None))
    assert isinstance(wire.near.recv(), SampleRequest)
    wire.near.send(Stop(1))
    wire.near.send(Generate(2, np.zeros((5, 4), np.float32), 10, 10, OPTIONS, points))
    wire.near.send(SampleResult(1, 3))  # the engine continues only now
    events: list[Event] = []
    while not events or not isinstance(events[-1], Ended):
        assert wire.near.poll(30)
        events.append(wire.near.recv())
    assert [event for event in events if not isinstance(event, Tokens) and event.line == 1] == []
    assert wire.engine.aborted == ["1"]
    assert events[-1] == Ended(2, 0)


def test_line_sampled_by_the_program(wire: Wire) -> None:
    wire.near.send(Generate(4, np.zeros((5, 4), np.float32), 0, 20, OPTIONS, None))
    shown: list[np.ndarray] = []
    spoken: list[int] = []
    while True:
        assert wire.near.poll(30)
        match wire.near.recv():
            case SampleRequest(4, scores):
                shown.append(scores)
                wire.near.send(SampleResult(4, 10 + len(shown) if len(shown) < 5 else FIRST_END))
            case Tokens(4, tokens):
                spoken += tokens
            case Ended(4):
                break
    assert spoken == [11, 12, 13, 14]
    for scores, before in zip(shown, ([], [11], [12], [13], [14]), strict=True):
        assert np.array_equal(scores, wire.engine.scores_after(before).numpy())


def test_rejected_line_is_reported_and_the_next_runs(wire: Wire) -> None:
    wire.speak(1, num_embeddings=101)
    assert wire.near.poll(30)
    assert wire.near.recv() == Rejected(1, "the prompt is longer than the model")
    wire.speak(2)
    assert heard_until_ended(wire.near, 1) == {2: wire.plain(2)}


def test_non_finite_scores_end_the_process(wire: Wire) -> None:
    wire.engine._scores.fill_(float("nan"))
    wire.speak(1)
    assert wire.has_ended.wait(30)
    assert "not finite" in str(wire.error)
    assert not wire.near.poll(), "tokens sampled from non-finite scores are not sent"
