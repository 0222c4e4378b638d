"""Recording of the language model's attention to the text that it speaks.

Decision: a recorder copies the queries of its heads (one small copy per head and token) and multiplies them with the cached
keys at the end of the sentence. Reason: the step stays as fast as without a recorder, and its operations are the same, so
no sample changes. Alternative: attention as a result of each step, which needs a product and a softmax per token.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch

from studio.model.stages import AttentionHead, AttentionMap, SpeechTokenRequest


class AttentionRecorder:
    """Records the attention of ``heads`` to the text while the speech of ``request`` is generated."""

    def __init__(self, heads: Sequence[AttentionHead], request: SpeechTokenRequest) -> None:
        text_start = 1 + len(request.prompt_text_tokens)  # after the start mark
        self._text = slice(text_start, text_start + len(request.text_tokens))
        # The first row generates the first speech token.
        self._first_row = self._text.stop + len(request.prompt_speech_tokens)
        self._queries: dict[AttentionHead, list[torch.Tensor]] = {head: [] for head in heads}
        self._heads_of_layer: dict[int, list[int]] = {}
        for head in heads:
            self._heads_of_layer.setdefault(head.layer, []).append(head.head)

    @property
    def layers(self) -> Collection[int]:
        """The layers whose queries are recorded."""
        return self._heads_of_layer.keys()

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
    def weights(self, layers: Sequence[torch.Tensor], num_query_heads: int) -> AttentionMap | None:
        """Return the mean attention of the heads, or None if nothing was generated. See ``maps``."""
        maps = self.maps(layers, num_query_heads)
        weights: AttentionMap | None = maps.mean(dim=0).numpy(force=True) if maps.shape[1] else None
        return weights

    def maps(self, layers: Sequence[torch.Tensor], num_query_heads: int) -> torch.Tensor:
        """Return the attention of each head to the text, (heads, rows, text tokens).

        ``layers`` are the filled keys and values of ``KVCache``, (2 x kv_heads, positions, head_size) each.
        """
        num_kv, num_positions = layers[0].shape[0] // 2, layers[0].shape[1]
        group = num_query_heads // num_kv
        maps = []
        for head, parts in self._queries.items():
            if not parts:
                return torch.zeros(0, 0, 0)
            queries = torch.cat(parts)
            keys = layers[head.layer][head.head // group]
            scores = queries @ keys.T / math.sqrt(queries.shape[1])
            positions = torch.arange(num_positions, device=scores.device)
            rows = self._first_row + torch.arange(len(queries), device=scores.device)
            visible = positions <= rows[:, None]
            maps.append(scores.masked_fill(~visible, float("-inf")).softmax(dim=1)[:, self._text])
        return torch.stack(maps) if maps else torch.zeros(0, 0, 0)
