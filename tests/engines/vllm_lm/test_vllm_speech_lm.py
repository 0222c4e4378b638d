"""The vLLM language model with a fake process, which may die."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch
from samplers import ForcedSampler, GreedySampler
from vllm_cases import OTHER_REQUEST, REQUEST, plain_lm

from studio.engines.vllm_lm.batch_sampler import BatchDraw, DrawPlan, Row
from studio.engines.vllm_lm.engine_process import EngineProcess
from studio.engines.vllm_lm.speech_lm import VllmSpeechLM
from studio.errors import EngineDied, SequenceTooLong
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM
from studio.model.stages import SpeechTokenRequest


def never(scores: np.ndarray) -> int:
    raise AssertionError("the line has its own numbers")


class PlainProcess:
    """A fake process that computes tokens with the plain decoder and dies after ``dies_after`` tokens in all."""

    def __init__(self, plain: TorchSpeechLM, dies_after: int = 10**9) -> None:
        self._plain = plain
        self._left = dies_after
        self.num_lines = 0
        self.is_alive = True
        self.is_closed = False

    def generate(
        self,
        embeddings: np.ndarray,
        *,
        min_tokens: int,
        max_tokens: int,
        sampling: SamplingOptions,
        points: np.ndarray | None = None,
        choose: Callable[[np.ndarray], int] | None = None,
    ) -> Generator[int, None, None]:
        self.num_lines += 1
        plain, layout = self._plain, self._plain.config.layout
        ask = choose or never
        batch = BatchDraw(layout.num_speech_tokens, lambda _, scores: ask(scores.numpy().copy()))
        spoken: list[int] = []
        batch.place(0, Row(DrawPlan(0, min_tokens, sampling, points), spoken))
        cache = plain.open_cache(len(embeddings) + max_tokens)
        scores = plain.advance(torch.from_numpy(embeddings), cache)
        while True:
            if self._left == 0:
                self.is_alive = False
                raise EngineDied("vLLM ended (a test).")
            self._left -= 1
            token = int(batch.choose(scores[None].clone()).argmax())
            if token >= layout.num_speech_tokens:
                return
            spoken.append(token)
            yield token
            if len(spoken) == max_tokens:
                return
            scores = plain.advance(plain.inputs.embed_speech((token,)), cache)

    def close(self) -> None:
        self.is_closed = True


def speech_lm(
    family: str, dies_after: int = 10**9, max_positions: int = 4096
) -> tuple[VllmSpeechLM, PlainProcess, list[TorchSpeechLM]]:
    """Return the model, its fake process, and the list of plain models it opens."""
    plain = plain_lm(family)
    process, opened = PlainProcess(plain, dies_after), list[TorchSpeechLM]()

    def open_plain() -> TorchSpeechLM:
        opened.append(plain)
        return plain

    made = VllmSpeechLM(
        plain.config,
        plain.inputs,
        cast("EngineProcess", process),
        max_positions=max_positions,
        max_concurrent_lines=8,
        engine="vLLM 0.0, float32",
        open_plain=open_plain,
    )
    return made, process, opened


def seeded(seed: int, lm: TorchSpeechLM) -> RepetitionAwareSampler:
    return RepetitionAwareSampler(lm.sampling, seed)


@pytest.mark.slow
def test_seeds_give_the_same_tokens_as_plain_pytorch(family: str) -> None:
    lm, process, opened = speech_lm(family)
    plain = plain_lm(family)
    for seed in range(3):
        for request in (REQUEST, OTHER_REQUEST, replace(REQUEST, min_tokens=50)):
            made = list(lm.generate(request, seeded(seed, plain)))
            assert made == list(plain.generate(request, seeded(seed, plain)))
    assert process.num_lines == 9
    assert opened == []
    assert lm.engine == "vLLM 0.0, float32"


def test_other_samplers_receive_the_scores(family: str) -> None:
    lm, _, _ = speech_lm(family)
    plain = plain_lm(family)
    for sampler in (GreedySampler(), ForcedSampler((1, 2, 3), end_id=10**6)):
        made = list(lm.generate(REQUEST, sampler))
        assert made == list(plain.generate(REQUEST, sampler))
        assert len(made) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("dies_after", [0, 1, 17])
def test_line_continues_on_pytorch_if_the_process_dies(family: str, dies_after: int) -> None:
    plain = plain_lm(family)
    lm, _, opened = speech_lm(family, dies_after)
    request = replace(REQUEST, min_tokens=40)
    bold = SamplingOptions(top_p=0.95, window_tokens=4)
    ours, theirs = (RepetitionAwareSampler(bold, seed=3) for _ in range(2))
    assert list(lm.generate(request, ours)) == list(plain.generate(request, theirs))
    assert opened == [plain]
    assert (lm.engine, lm.max_concurrent_lines) == (plain.engine, 1)


def test_other_samplers_receive_the_error_of_the_process(family: str) -> None:
    """Otherwise plain PyTorch would be verified as vLLM."""
    lm, _, opened = speech_lm(family, dies_after=5)
    with pytest.raises(EngineDied):
        list(lm.generate(replace(REQUEST, min_tokens=30), GreedySampler()))
    assert opened == []


@pytest.mark.slow
def test_long_requests_run_on_plain_pytorch(family: str) -> None:
    plain = plain_lm(family)
    lm, process, opened = speech_lm(family, max_positions=50)
    assert list(lm.generate(REQUEST, seeded(1, plain))) == list(plain.generate(REQUEST, seeded(1, plain)))
    assert process.num_lines == 0
    assert opened == [plain]


def test_too_long_request_is_rejected_before_computing() -> None:
    lm, process, _ = speech_lm("cosyvoice3")
    with pytest.raises(SequenceTooLong):
        lm.generate(SpeechTokenRequest((1,), max_tokens=10**6), GreedySampler())
    assert process.num_lines == 0


def test_process_gets_no_request_before_the_first_token() -> None:
    lm, process, _ = speech_lm("cosyvoice3")
    plain = plain_lm("cosyvoice3")
    line = lm.generate(REQUEST, seeded(1, plain))
    assert list(lm.generate(replace(REQUEST, max_tokens=0), seeded(1, plain))) == []
    assert process.num_lines == 0
    next(line)
    assert process.num_lines == 1


@pytest.mark.slow
def test_process_is_closed_with_its_last_user() -> None:
    lm, process, _ = speech_lm("cosyvoice3")
    line = lm.generate(REQUEST, GreedySampler())
    next(line)
    del lm
    gc.collect()
    assert not process.is_closed, "a line is still being generated"
    line.close()  # type: ignore[attr-defined]
    del line
    gc.collect()
    assert process.is_closed
