"""The flow's context while a graph is traced: caches are inputs, their updates are outputs.

Every cache of keys or values is (frames, rows x heads, head_size) with time first, so that a call can write its update
directly behind the part it reads, without concatenation.

Decision: the first frame of every such cache is a blank that a bias masks. Reason: engines differ, and some fail, on
dimensions of size zero. Alternative: a second graph for the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from studio.engines.onnx.flow_shapes import CachePort
from studio.model.flow.caches import CacheLayout
from studio.model.flow.layers import CausalConvolution, SelfAttention


def cache_ports(layout: CacheLayout, clock: str) -> Iterator[CachePort]:
    """Yield the cache ports of one part: keys and values of each attention layer, then the convolution tails."""
    for index, attention in enumerate(layout.attentions):
        shape = (layout.num_rows * attention.num_heads, attention.head_size)
        yield CachePort(f"{clock}.keys.{index}", clock, shape, is_growing=True)
        yield CachePort(f"{clock}.values.{index}", clock, shape, is_growing=True)
    for index, convolution in enumerate(layout.convolutions):
        tail = (layout.num_rows, convolution.past_frames, convolution.in_channels)
        yield CachePort(f"{clock}.tail.{index}", clock, tail, is_growing=False)


class TracedContext:
    """The caches of one part, read from ``inputs``; the network's run fills ``updates``.

    ``score_bias`` (frames, cached + frames) masks attention.
    """

    def __init__(self, clock: str, inputs: Mapping[str, torch.Tensor], score_bias: torch.Tensor) -> None:
        self._clock = clock
        self._inputs = inputs
        self._score_bias = score_bias
        self.updates: dict[str, torch.Tensor] = {}

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        name = f"{self._clock}.tail.{convolution.layer}"
        extended = torch.cat([self._inputs[name], x], dim=1)
        self.updates[f"new_{name}"] = extended[:, -convolution.past_frames :]
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        """Attend to cached and new frames; only the scores are concatenated, not keys and values."""
        names = [f"{self._clock}.{kind}.{attention.layer}" for kind in ("keys", "values")]
        cached_keys, cached_values = (self._inputs[name] for name in names)
        num_cached = cached_keys.shape[0]
        # Positions are an input or relative (see ``override_rotary``), so they count from the start of the cache.
        keys, values = (part.flatten(0, 1) for part in attention.keys_values(normed, num_cached))
        for name, own in zip(names, (keys, values), strict=True):
            self.updates[f"new_{name}"] = own.transpose(0, 1)
        queries = attention.queries(normed, num_cached)
        bias = attention.score_bias(queries, num_cached, num_cached + normed.shape[1])
        scaled = (queries * attention.head_size**-0.5).flatten(0, 1)
        scores = torch.cat(
            [torch.bmm(scaled, cached_keys.permute(1, 2, 0)), torch.bmm(scaled, keys.transpose(1, 2))], dim=2
        )
        if bias is not None:
            scores = scores + bias.flatten(0, 1)
        weights = torch.softmax(scores + self._score_bias, dim=-1)
        attended = torch.bmm(weights[:, :, :num_cached], cached_values.transpose(0, 1)) + torch.bmm(
            weights[:, :, num_cached:], values
        )
        return torch.unflatten(attended, 0, (normed.shape[0], attention.num_heads))
