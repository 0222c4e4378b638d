"""Computations before the first line, so that the line has no first-time costs.

On a GPU, the first use of a computation loads its kernels, plans its convolutions, or records it as a graph: together
more than the time to the first audio of a later line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechLM, SpeechTokenRequest, Vocoder
from studio.pipeline.pacing import ChunkSchedule

_PROMPT_TOKENS = 50
_SPEECH_TOKENS = 60  # a first chunk and a shorter last one
_MEL_BINS = 80
_EMBEDDING_SIZE = 192


@runtime_checkable
class RecordingStage(Protocol):
    """A stage that records computations at their first use."""

    def recordings(self) -> Iterator[Callable[[], None]]:
        """Yield short tasks that record what lines may use, the most usual first."""
        ...


def warm_ups(speech_lm: SpeechLM | None, flow: FlowDecoder, vocoder: Vocoder) -> Iterator[Callable[[], None]]:
    """Yield tasks that use the stages as lines do. Between two of them, a line may run."""
    tokens = [0] * _SPEECH_TOKENS
    if speech_lm is not None:
        yield partial(_generate, speech_lm)
    yield partial(_decode, flow, vocoder, tokens)
    stages: tuple[object, ...] = (speech_lm, flow, vocoder)
    for stage in stages:
        if isinstance(stage, RecordingStage):
            yield from stage.recordings()


def _generate(speech_lm: SpeechLM) -> None:
    request = SpeechTokenRequest(
        text_tokens=(1, 2, 3, 4),
        prompt_text_tokens=(1, 2, 3, 4),
        prompt_speech_tokens=(0,) * _PROMPT_TOKENS,
        min_tokens=_SPEECH_TOKENS,
        max_tokens=_SPEECH_TOKENS,
        speaker=(0.0,) * _EMBEDDING_SIZE,
    )
    for _ in speech_lm.generate(request, RepetitionAwareSampler(speech_lm.sampling, seed=0)):
        pass


def _decode(flow: FlowDecoder, vocoder: Vocoder, tokens: list[int]) -> None:
    prompt = FlowPrompt(
        (0,) * _PROMPT_TOKENS,
        np.zeros((flow.frames_of_tokens(_PROMPT_TOKENS), _MEL_BINS), np.float32),
        np.zeros(_EMBEDDING_SIZE, np.float32),
    )
    flow_stream = flow.open_stream(flow.prepare_prompt(prompt))
    vocoder_stream = vocoder.open_stream(vocoder.noise(0))
    samples = torch.zeros(0)
    schedule = ChunkSchedule.of(flow, _PROMPT_TOKENS)
    try:
        for start, end in schedule.remaining_chunks(0, len(tokens), flow.lookahead_tokens):
            is_last = end == len(tokens)
            following = [] if is_last else tokens[end : end + flow.lookahead_tokens]
            samples = vocoder_stream.synthesize(flow_stream.decode(tokens[start:end], following), is_last=is_last)
    finally:
        flow_stream.close()
    samples.cpu()  # waits for the GPU
