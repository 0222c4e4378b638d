"""Attention of the language model to the text that it speaks.

In models of this design, a few attention heads follow the text while speech tokens are generated: they attend to the
text token that is being spoken. ``choose_alignment_heads`` finds them. ``AttentionTrace`` records their attention during
generation, and ``forced_attention`` computes it afterwards from known tokens.

Decision: a trace copies the queries of its heads (one small copy per head and token) and multiplies them with the cached
keys at the end of the sentence. Reason: the step stays as fast as without a trace, and its operations are the same, so
no sample changes. Alternative: attention as a result of each step, which needs a product and a softmax per token.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from studio.model.stages import SpeechTokenRequest

if TYPE_CHECKING:
    from studio.model.speech_lm.decoder import KVCache
    from studio.model.speech_lm.torch_lm import TorchSpeechLM

AttentionMap = npt.NDArray[np.float32]  # (speech tokens, text tokens)

# A head follows the text if its attention correlates with the time and stays on the text. In studio-mini two heads have
# 0.9 and more, and all others less than 0.1.
_MIN_SCORE = 0.5
# Heads are ahead of the speech by different times, so a mean of several is blurred: with the better of studio-mini's two
# heads, 95 % of word starts are within 80 ms, and with their mean within 120 ms.
_MAX_HEADS = 1
_MIN_TEXT_TOKENS = 8


@dataclass(frozen=True, slots=True, order=True)
class AttentionHead:
    layer: int
    head: int


class AttentionTrace:
    """Attention of ``heads`` to the text during one sentence.

    Attributes:
        weights: The mean attention of the heads, or None before the sentence has ended, and if the engine that
            generated it does not record attention.
    """

    def __init__(self, heads: Sequence[AttentionHead]) -> None:
        self.heads = tuple(heads)
        self.weights: AttentionMap | None = None
        self._heads_of_layer: dict[int, list[int]] = {}
        for head in self.heads:
            self._heads_of_layer.setdefault(head.layer, []).append(head.head)
        self._queries: dict[AttentionHead, list[torch.Tensor]] = {}
        self._text = slice(0)
        self._first_row = 0

    @property
    def layers(self) -> Collection[int]:
        """The layers whose queries are recorded."""
        return self._heads_of_layer.keys()

    def begin(self, request: SpeechTokenRequest) -> None:
        """Record from the position on that generates the first speech token of ``request``."""
        text_start = 1 + len(request.prompt_text_tokens)  # after the start mark
        self._text = slice(text_start, text_start + len(request.text_tokens))
        self._first_row = self._text.stop + len(request.prompt_speech_tokens)
        self._queries = {head: [] for head in self.heads}

    def record(self, layer: int, queries: torch.Tensor, head_size: int, start: int) -> None:
        """Copy the queries (rows, heads x head_size) of ``layer``, whose first row has position ``start``."""
        heads = self._heads_of_layer.get(layer)
        if heads is None:
            return
        skipped = max(0, self._first_row - start)
        if skipped >= len(queries):
            return
        for head in heads:
            rows = queries[skipped:, head * head_size : (head + 1) * head_size]
            self._queries[AttentionHead(layer, head)].append(rows.clone())

    @torch.inference_mode()
    def finish(self, cache: KVCache, num_query_heads: int) -> None:
        """Compute ``weights`` from the recorded queries and the keys in ``cache``."""
        maps = self.maps(cache, num_query_heads)
        if len(maps) and maps.shape[1]:
            self.weights = maps.mean(dim=0).numpy(force=True)
        self._queries = {}

    def maps(self, cache: KVCache, num_query_heads: int) -> torch.Tensor:
        """Return the attention of each head to the text, (heads, rows, text tokens)."""
        num_kv = cache.layers[0].shape[0] // 2
        group = num_query_heads // num_kv
        maps = []
        for head, parts in self._queries.items():
            if not parts:
                return torch.zeros(0, 0, 0)
            queries = torch.cat(parts)
            keys = cache.layers[head.layer][head.head // group, : cache.length]
            scores = queries @ keys.T / math.sqrt(queries.shape[1])
            positions = torch.arange(cache.length, device=scores.device)
            rows = self._first_row + torch.arange(len(queries), device=scores.device)
            visible = positions <= rows[:, None]
            maps.append(scores.masked_fill(~visible, float("-inf")).softmax(dim=1)[:, self._text])
        return torch.stack(maps) if maps else torch.zeros(0, 0, 0)


def forced_attention(
    speech_lm: TorchSpeechLM, request: SpeechTokenRequest, speech_tokens: Sequence[int], heads: Sequence[AttentionHead]
) -> AttentionMap | None:
    """Return the attention of ``heads`` when ``speech_lm`` is forced to generate ``speech_tokens``."""
    trace = AttentionTrace(heads)
    cache = _forced(speech_lm, request, speech_tokens, trace)
    trace.finish(cache, speech_lm.config.backbone.num_heads)
    return trace.weights


def choose_alignment_heads(
    speech_lm: TorchSpeechLM, sentences: Sequence[tuple[SpeechTokenRequest, Sequence[int]]]
) -> tuple[AttentionHead, ...]:
    """Return the heads that follow the text in ``sentences``, pairs of a request and its speech, the best one first."""
    backbone = speech_lm.config.backbone
    heads = [AttentionHead(layer, head) for layer in range(backbone.num_layers) for head in range(backbone.num_heads)]
    usable = [(request, tokens) for request, tokens in sentences if len(request.text_tokens) >= _MIN_TEXT_TOKENS]
    if not usable:
        return ()
    scores = np.zeros(len(heads))
    for request, tokens in usable:
        trace = AttentionTrace(heads)
        cache = _forced(speech_lm, request, tokens, trace)
        maps = trace.maps(cache, backbone.num_heads).numpy(force=True)
        scores += [_following(each) for each in maps]
    scores /= len(usable)
    best = [int(index) for index in np.argsort(-scores)[:_MAX_HEADS] if scores[index] >= _MIN_SCORE]
    return tuple(heads[index] for index in best)


@torch.inference_mode()
def _forced(
    speech_lm: TorchSpeechLM, request: SpeechTokenRequest, speech_tokens: Sequence[int], trace: AttentionTrace
) -> KVCache:
    trace.begin(request)
    # The last token is not an input, since no token follows it.
    rest = torch.cat((speech_lm.inputs.embed_rest(request), speech_lm.inputs.embed_speech(tuple(speech_tokens[:-1]))))
    cache = speech_lm.open_cache(1 + len(request.prompt_text_tokens) + len(rest))
    speech_lm.begin_with_prompt_text(request.prompt_text_tokens, cache)
    cache.trace = trace
    speech_lm.decoder.advance(rest, cache)
    return cache


def _following(attention: AttentionMap) -> float:
    """Return how closely a map (speech tokens, text tokens) follows the text, up to 1."""
    mass = attention.sum(axis=1)
    position = attention @ np.arange(attention.shape[1]) / np.maximum(mass, 1e-9)
    if position.std() < 1e-6:
        return 0.0
    correlation = np.corrcoef(np.arange(len(position)), position)[0, 1]
    return float(correlation * mass.mean())
