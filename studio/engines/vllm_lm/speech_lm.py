"""``stages.SpeechLM`` on vLLM, with plain PyTorch where vLLM cannot run a line."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt
import torch

from studio.engines.vllm_lm.batch_sampler import DrawPlan, Row, draw_rows
from studio.engines.vllm_lm.engine_process import EngineProcess
from studio.errors import EngineDied, OutOfMemory
from studio.model.config import SpeechLMConfig
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM
from studio.model.speech_lm.decoder import check_length
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.speech_lm.torch_lm import prefix_length, speech_token_limits
from studio.model.stages import SpeechTokenRequest, TokenSampler

_log = logging.getLogger(__name__)


class VllmSpeechLM:
    """``SpeechLM`` whose concurrent lines share vLLM's passes over the weights.

    Tokens of ``RepetitionAwareSampler`` are sampled in the vLLM process with its options and random numbers, so a seed
    gives the same line as elsewhere, up to rounding (batches and cached prompts round differently). If vLLM exits,
    plain PyTorch continues the line and runs all later ones. Other samplers, which verify an engine, run in
    this process on vLLM's scores, and its failures are raised.

    Lines longer than ``max_positions`` run on plain PyTorch, which is loaded when first needed.
    """

    def __init__(
        self,
        config: SpeechLMConfig,
        inputs: InputEmbeddings,
        process: EngineProcess,
        *,
        max_positions: int,
        max_concurrent_lines: int,
        engine: str,
        open_plain: Callable[[], TorchSpeechLM],
    ) -> None:
        self.config = config
        self.sampling: SamplingOptions = config.sampling
        self.inputs = inputs
        self.engine = engine
        self.max_concurrent_lines = max_concurrent_lines
        self._process = process
        self._max_positions = max_positions
        self._open_plain = open_plain
        self._plain: TorchSpeechLM | None = None
        self._lock = threading.Lock()
        # Stages have no ``close``: the process ends with this object.
        weakref.finalize(self, process.close)

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``TorchSpeechLM.generate``."""
        min_tokens, max_tokens = speech_token_limits(request, len(request.text_tokens))
        length = prefix_length(request) + max_tokens
        check_length(length, self.config.backbone)
        if length > self._max_positions:
            return self._opened_plain().generate(request, sampler)
        request = replace(request, min_tokens=min_tokens, max_tokens=max_tokens)
        if isinstance(sampler, RepetitionAwareSampler):
            return self._sample_remotely(request, sampler, min_tokens, max_tokens)
        return self._sample_locally(request, sampler, min_tokens, max_tokens)

    def _sample_remotely(
        self, request: SpeechTokenRequest, sampler: RepetitionAwareSampler, min_tokens: int, max_tokens: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        plan = DrawPlan(0, min_tokens, sampler.options, sampler.draw_points(max_tokens).numpy())
        generated: list[int] = []
        try:
            embedded = self._embedded(request)
            with closing(
                self._process.generate(
                    embedded,
                    min_tokens=min_tokens,
                    max_tokens=max_tokens,
                    sampling=plan.sampling,
                    points=plan.points,
                )
            ) as tokens:
                for token in tokens:
                    generated.append(token)
                    yield token
        except (EngineDied, OutOfMemory) as error:
            _log.warning("PyTorch continues after %d tokens: %s", len(generated), error)
        else:
            return
        plain = self._opened_plain()
        if not self._process.is_alive:
            self.engine, self.max_concurrent_lines = plain.engine, plain.max_concurrent_lines
        whole = plain.generate(request, _ContinuingSampler(generated, plan, self.config.layout.num_speech_tokens))
        yield from islice(whole, len(generated), None)

    def _sample_locally(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int
    ) -> Iterator[int]:
        """Generate with any sampler, which runs in this process."""
        if max_tokens == 0:
            return
        stop_ids = slice(self.config.layout.num_speech_tokens, self.config.layout.num_rows)
        history: list[int] = []

        def choose(scores: npt.NDArray[np.float32]) -> int:
            forbid = stop_ids if len(history) < min_tokens else None
            token = sampler(torch.from_numpy(scores), history, forbid=forbid)
            history.append(token)
            return min(token, stop_ids.start)  # all ids from the first end on end the line

        yield from self._process.generate(
            self._embedded(request),
            min_tokens=min_tokens,
            max_tokens=max_tokens,
            sampling=self.sampling,
            choose=choose,
        )

    def _embedded(self, request: SpeechTokenRequest) -> npt.NDArray[np.float32]:
        embeddings: npt.NDArray[np.float32] = self.inputs.embed_request(request).numpy()
        return embeddings

    def plain(self) -> TorchSpeechLM:
        """Return the plain PyTorch model, which computes attention after a take; vLLM does not provide it."""
        return self._opened_plain()

    def _opened_plain(self) -> TorchSpeechLM:
        with self._lock:
            self._plain = self._plain or self._open_plain()
            return self._plain


class _ContinuingSampler:
    """A sampler that replays the tokens generated so far, then continues with the line's own random numbers."""

    def __init__(self, generated: Sequence[int], plan: DrawPlan, first_end: int) -> None:
        self._generated = generated
        self._plan = plan
        self._first_end = first_end

    def __call__(
        self,
        logits: torch.Tensor,
        history: Sequence[int],
        *,
        forbid: slice | None,  # noqa: ARG002 - the plan contains it
    ) -> int:
        if len(history) < len(self._generated):
            return self._generated[len(history)]
        row = Row(self._plan, list(history))
        token, _ = draw_rows(logits.cpu()[None], [row], self._plan.sampling, self._first_end)
        return int(token)
