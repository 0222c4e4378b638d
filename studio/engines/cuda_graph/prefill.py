"""The part of a line before its first step, in recorded computations of a few sizes.

A voice's prompt and a text have any length, so the input is padded to the next size. The padding is in positions after
the input, which the line's tokens overwrite. All batches share one memory, from which a line's state is copied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder, shared_pool
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest

# Numbers of positions in one run. The largest sizes are for prompts of 15 seconds with a long text.
SIZES = (32, 64, 128, 192, 256, 384, 512, 768)
CAPACITY = 1024


class RecordedPrefill:
    """Keys and values of prompt and text, except those of the last prompt token. Thread-safe.

    The part that all sentences of a voice share remains in the memory for the next sentence.
    """

    def __init__(self, plain: TorchSpeechLM) -> None:
        decoder, self._plain = plain.decoder, plain
        device = decoder.turns.device
        self._capacity = min(CAPACITY, decoder.config.max_positions)
        with torch.inference_mode():
            self._cache = decoder.open_cache(self._capacity)
            self._cache.states.zero_()  # masked values are multiplied by zero, which keeps a NaN
            self._input = torch.zeros(SIZES[-1], decoder.config.hidden_size, device=device)
            self._start = torch.zeros((), dtype=torch.long, device=device)
            self._places = torch.arange(self._capacity, device=device)
        self._prompt_text: tuple[int, ...] | None = None
        pool = shared_pool(device)
        self._recorded = {size: CapturedGraph(device, pool=pool) for size in SIZES if size <= self._capacity}
        self._order = StreamOrder(device)
        self._lock = threading.Lock()

    @contextmanager
    def states(self, request: SpeechTokenRequest) -> Iterator[torch.Tensor | None]:
        """Provide keys and values, (layers, 2 x kv_heads, positions, head_size), for copying inside the ``with``.

        The first step computes the last prompt token. Provide None for an input without prompt speech, or one that is
        too long.
        """
        num_prompt = 1 + len(request.prompt_text_tokens)
        # including the task, without the last token
        num_others = len(request.text_tokens) + len(request.prompt_speech_tokens)
        of_prompt, of_others = self._size(num_prompt), self._size(num_others)
        fits = of_prompt is not None and of_others is not None and num_prompt + of_others <= self._capacity
        if not (fits and request.prompt_speech_tokens):
            yield None
            return
        with self._lock, torch.inference_mode(), self._order.turn():
            if self._prompt_text != request.prompt_text_tokens:
                self._prompt_text = None
                self._advance(self._plain.inputs.embed_prompt_text(request.prompt_text_tokens), 0)
                self._prompt_text = request.prompt_text_tokens
            self._advance(self._plain.inputs.embed_rest(request)[:-1], num_prompt)
            yield self._cache.states[:, :, : num_prompt + num_others]

    @torch.inference_mode()
    def clear(self) -> None:
        """Zero the memory, which may contain values that are not finite, because a mask does not hide them."""
        with self._lock, self._order.turn():
            self._cache.states.zero_()
            self._prompt_text = None

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        return (partial(self._record, size) for size in self._recorded)

    def _record(self, size: int) -> None:
        with self._lock, torch.inference_mode(), self._order.turn():
            self._prompt_text = None
            self._start.zero_()
            self._recorded[size].run(partial(self._compute, size))

    def _size(self, num_positions: int) -> int | None:
        return next((size for size in self._recorded if size >= num_positions), None)

    def _advance(self, embeddings: torch.Tensor, start: int) -> None:
        size = self._size(len(embeddings))
        assert size is not None
        self._input[: len(embeddings)] = embeddings
        self._start.fill_(start)
        self._recorded[size].run(partial(self._compute, size))

    def _compute(self, size: int) -> None:
        decoder = self._plain.decoder
        config, half = decoder.config, decoder.config.head_size // 2
        num_kv, width, num_turned = config.num_kv_heads, config.hidden_size, config.num_heads + config.num_kv_heads
        positions = self._places[:size] + self._start
        turns = decoder.turns.index_select(0, positions)
        bias = torch.where(self._places <= positions[:, None], 0.0, float("-inf"))

        def attend(layer: int, mixed: torch.Tensor) -> torch.Tensor:
            states = self._cache.layers[layer]
            pairs = mixed[:, : num_turned * config.head_size].view(size, num_turned, half, 2)
            torch.view_as_complex(pairs).mul_(turns)
            states.index_copy_(1, positions, mixed[:, width:].view(size, 2 * num_kv, config.head_size).transpose(0, 1))
            return decoder.attend(mixed[:, :width], states[:num_kv], states[num_kv:], bias)

        decoder.run_layers(self._input[:size], attend)
