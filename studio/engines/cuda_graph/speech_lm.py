"""The speech language model's promise (``stages.SpeechLM``) kept by recorded steps."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch

from studio.engines.cuda_graph.device_sampling import DeviceDraw
from studio.engines.cuda_graph.static_step import StaticStep
from studio.model.config import SamplingOptions
from studio.model.speech_lm.cache import check_length
from studio.model.speech_lm.sampling import RepetitionAwareSampler
from studio.model.speech_lm.torch_lm import TorchSpeechLM, prefix_length, speech_token_limits
from studio.model.stages import SpeechTokenRequest, TokenSampler

# Room for a sentence, in positions. Attention reads all of it for every token, so most sentences get little.
_CAPACITIES = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)


class GraphSpeechLM:
    """``SpeechLM`` over the weights of a plain one, which reads the prompt and speaks where text still arrives.

    Each line that speaks at the same time has memory and a graph of its own, kept for the next line.
    """

    def __init__(self, plain: TorchSpeechLM) -> None:
        self.config = plain.config
        self.sampling: SamplingOptions = plain.sampling
        self.inputs = plain.inputs
        self.engine = f"{plain.engine}, CUDA graph"
        self._plain = plain
        self._idle: defaultdict[int, list[tuple[StaticStep, DeviceDraw]]] = defaultdict(list)
        self._lock = threading.Lock()

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``TorchSpeechLM.generate``."""
        min_tokens, max_tokens = speech_token_limits(request, len(request.text_tokens))
        length = prefix_length(request) + max_tokens
        check_length(length, self.config.backbone)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """See ``TorchSpeechLM``: text arrives slower than it is spoken."""
        return self._plain.generate_from_pieces(request, text_tokens, sampler)

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        with self._borrowed(length) as (step, device_draw):
            step.cache.begin()
            self._plain.begin_with_prompt_text(request.prompt_text_tokens, step.cache)
            logits = self._plain.advance(self.inputs.embed_rest(request), step.cache)
            step.position.fill_(step.cache.length)
            if isinstance(sampler, RepetitionAwareSampler) and sampler.options == self.sampling:
                yield from self._draw_there(
                    step, device_draw, logits, sampler, min_tokens=min_tokens, max_tokens=max_tokens
                )
            else:
                yield from self._draw_here(step, logits, sampler, min_tokens, max_tokens)

    def _draw_there(
        self,
        step: StaticStep,
        device_draw: DeviceDraw,
        logits: torch.Tensor,
        sampler: RepetitionAwareSampler,
        *,
        min_tokens: int,
        max_tokens: int,
    ) -> Iterator[int]:
        """The card draws; the only thing waited for is the token itself."""
        num_speech_tokens = self.config.layout.num_speech_tokens
        device_draw.begin(sampler.draw_points(max_tokens), min_tokens=min_tokens, first_forbidden=num_speech_tokens)
        for index in range(max_tokens):
            device_draw.draw(logits, step.token)
            token = int(step.token)
            if token >= num_speech_tokens:
                return
            yield token
            if index + 1 < max_tokens:
                step.run()
                logits = step.logits

    def _draw_here(
        self, step: StaticStep, logits: torch.Tensor, sampler: TokenSampler, min_tokens: int, max_tokens: int
    ) -> Iterator[int]:
        """Any sampler, on the processor."""
        layout = self.config.layout
        stop_ids = slice(layout.num_speech_tokens, layout.num_rows)
        history: list[int] = []
        while True:
            token = sampler(logits, history, forbid=stop_ids if len(history) < min_tokens else None)
            if token >= layout.num_speech_tokens:
                return
            history.append(token)
            yield token
            if len(history) >= max_tokens:
                return
            step.token.fill_(token)
            step.run()
            logits = step.logits

    @contextmanager
    def _borrowed(self, length: int) -> Iterator[tuple[StaticStep, DeviceDraw]]:
        """Memory for ``length`` positions that no other line uses."""
        most = self.config.backbone.max_positions
        capacity = min(most, next(capacity for capacity in (*_CAPACITIES, most) if capacity >= length))
        with self._lock:
            idle = self._idle[capacity]
            slot = idle.pop() if idle else None
        slot = slot or self._make_slot(capacity)
        try:
            yield slot
        finally:
            with self._lock:
                self._idle[capacity].append(slot)

    def _make_slot(self, capacity: int) -> tuple[StaticStep, DeviceDraw]:
        step = StaticStep(self._plain.decoder, self._plain.head, self.inputs.speech, capacity)
        if self.inputs.speech.is_cuda:
            step.record()
        return step, DeviceDraw(self.sampling, self.config.layout.num_rows, capacity, self.inputs.speech.device)
