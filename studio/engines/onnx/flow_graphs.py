"""The flow as two graphs: the encoder, and one Euler step of the solver.

Both take caches and return their updates, so one file serves streams (a block with cached frames) and whole utterances
(everything at once with empty caches). Constants are part of the graphs: the modulation and size of all steps, and the
guidance scale.

Every cache of keys or values is (frames, rows x heads, head_size) with time first, so that a call can write its update
directly behind the part it reads, without concatenation.

Decision: the first frame of every such cache is a blank that a bias masks. Reason: engines differ, and some fail, on
dimensions of size zero. Alternative: a second graph for the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain

import onnx
import torch
from torch import nn

from studio.engines.onnx.graph import CachePort, FlowShapes, bias_name, clocks
from studio.engines.onnx.tracing import TracedInput, trace
from studio.model.flow.caches import CacheLayout, FlowLayouts
from studio.model.flow.dit import DiT, override_rotary
from studio.model.flow.layers import CausalConvolution, Conditions, Context, Modulation, SelfAttention
from studio.model.flow.model import FlowModel, cond_uncond
from studio.model.flow.network import ConformerFlow, EncoderContext

# Cached and new frames of the traced example: they differ, so that mixed-up dimensions are detected.
_PAST, _OWN = 5, 7


def cache_ports(layout: CacheLayout, clock: str) -> Iterator[CachePort]:
    """Yield the cache ports of one part: keys and values of each attention layer, then the convolution tails."""
    for index, attention in enumerate(layout.attentions):
        shape = (layout.num_rows * attention.num_heads, attention.head_size)
        yield CachePort(f"{clock}.keys.{index}", clock, shape, is_growing=True)
        yield CachePort(f"{clock}.values.{index}", clock, shape, is_growing=True)
    for index, convolution in enumerate(layout.convolutions):
        tail = (layout.num_rows, convolution.past_frames, convolution.in_channels)
        yield CachePort(f"{clock}.tail.{index}", clock, tail, is_growing=False)


class TracedContext(Context):
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


class EncoderGraph(nn.Module):
    """Tokens to the mean of their frames, and the voice's embedding to the solver's speaker condition."""

    def __init__(self, model: FlowModel, ports: Sequence[CachePort]) -> None:
        super().__init__()
        self._network = model.network
        self._look_ahead_tokens = model.config.lookahead_tokens
        self._names = [
            "tokens",
            "is_there",
            "embedding",
            *map(bias_name, clocks(ports)),
            *(port.name for port in ports),
        ]
        self._ports = ports

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = dict(zip(self._names, tensors, strict=True))
        network, is_there = self._network, given["is_there"][None, :, None]
        no_bias = is_there.new_zeros(())
        contexts = EncoderContext(
            *(TracedContext(clock, given, given.get(bias_name(clock), no_bias)) for clock in ("tokens", "frames"))
        )
        embedded = network.embed(given["tokens"][None])
        if isinstance(network, ConformerFlow):
            # Positions beyond the end must be zero after the first layer.
            encoded = network.encoder.encode(
                network.encoder.embed(embedded) * is_there, self._look_ahead_tokens, contexts
            )
            mean = network.encoder_proj(encoded)
        else:
            mean = network.mean(embedded * is_there, self._look_ahead_tokens, contexts)
        updates = contexts.tokens.updates | contexts.frames.updates  # type: ignore[attr-defined]
        speaker = network.speaker(given["embedding"][None])
        return mean[0], speaker[0], *(updates[port.new_name] for port in self._ports)


class StepGraph(nn.Module):
    """One Euler step with classifier-free guidance; the conditional and unconditional rows form one batch."""

    _modulations: torch.Tensor
    _sizes: torch.Tensor

    def __init__(self, model: FlowModel, ports: Sequence[CachePort]) -> None:
        super().__init__()
        self._estimator = model.network.estimator
        self._guidance_scale = model.config.solver.guidance_scale
        self._ports = ports
        self._parts = [[tensor.shape[-1] for tensor in part] for part in model.modulations[0]]
        self._has_turns = isinstance(self._estimator, DiT)
        turns = ["turns"] if self._has_turns else []
        self._names = ["x", "mean", "prompt_mel", "speaker", "step", *turns]
        self._names += [*map(bias_name, clocks(ports)), *(port.name for port in ports)]
        rows = [torch.cat([tensor.flatten() for tensor in chain(*of_step)]) for of_step in model.modulations]
        self.register_buffer("_modulations", torch.stack(rows))
        self.register_buffer("_sizes", torch.tensor([step.size for step in model.steps], dtype=model.dtype))

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = dict(zip(self._names, tensors, strict=True))
        turns = override_rotary(given["turns"]) if self._has_turns else nullcontext()
        context = TracedContext("frames", given, given[bias_name("frames")])
        x, step = given["x"], given["step"]
        conditions = Conditions(*(cond_uncond(given[name]) for name in ("mean", "prompt_mel", "speaker")))
        with turns:
            velocity = self._estimator.velocity(x.expand(2, -1, -1), conditions, self._modulation(step), context)
        conditional, unconditional = velocity.unbind(0)
        guided = (1 + self._guidance_scale) * conditional - self._guidance_scale * unconditional
        following = x + self._sizes.index_select(0, step) * guided
        return following, *(context.updates[port.new_name] for port in self._ports)

    def _modulation(self, step: torch.Tensor) -> Modulation:
        """Look up the modulation of a step and split it by layer."""
        row = self._modulations.index_select(0, step)[:, None]
        tensors = iter(torch.split(row, list(chain(*self._parts)), dim=2))
        return tuple(tuple(next(tensors) for _ in part) for part in self._parts)


def flow_shapes(model: FlowModel, key: str) -> FlowShapes:
    """Return the description of the graphs of ``model``."""
    layouts, estimator = FlowLayouts.of(model), model.network.estimator
    encoder_caches = (*cache_ports(layouts.tokens, "tokens"), *cache_ports(layouts.frames, "frames"))
    return FlowShapes(
        mel_bins=model.config.mel_bins,
        frames_per_token=model.config.frames_per_token,
        chunk_tokens=model.config.chunk_tokens,
        lookahead_tokens=model.config.lookahead_tokens,
        embedding_size=model.config.speaker_embedding_size,
        num_steps=len(model.steps),
        turn_rates=tuple(estimator.rotary_embed.inv_freq.tolist()) if isinstance(estimator, DiT) else (),
        encoder_caches=encoder_caches,
        step_caches=tuple(cache_ports(layouts.estimator, "frames")),
        cache_type="float32",
        key=key,
    )


def encoder_graph(model: FlowModel, shapes: FlowShapes) -> onnx.ModelProto:
    """Trace ``EncoderGraph`` with ports named as in ``FlowShapes``."""
    num_tokens = _OWN + shapes.lookahead_tokens
    inputs = {
        "tokens": TracedInput(torch.zeros(num_tokens, dtype=torch.long), {0: "tokens_and_look_ahead"}),
        "is_there": TracedInput(torch.ones(num_tokens), {0: "tokens_and_look_ahead"}),
        "embedding": TracedInput(torch.ones(shapes.embedding_size), {}),
    }
    inputs |= _cache_inputs(shapes.encoder_caches, shapes.frames_per_token)
    outputs = {"mean": {0: "frames"}, "speaker": {}} | _cache_outputs(shapes.encoder_caches)
    return trace(EncoderGraph(model, shapes.encoder_caches), inputs, outputs)


def step_graph(model: FlowModel, shapes: FlowShapes) -> onnx.ModelProto:
    """Trace ``StepGraph`` with ports named as in ``FlowShapes``."""
    frames = TracedInput(torch.ones(_OWN, shapes.mel_bins), {0: "frames"})
    inputs = {
        "x": frames,
        "mean": frames,
        "prompt_mel": frames,
        "speaker": TracedInput(torch.ones(shapes.mel_bins), {}),
        "step": TracedInput(torch.zeros(1, dtype=torch.long), {}),
    }
    if shapes.turn_rates:
        inputs["turns"] = TracedInput(torch.ones(2, _OWN, len(shapes.turn_rates)), {1: "frames"})
    inputs |= _cache_inputs(shapes.step_caches, 1)
    outputs = {"following": {0: "frames"}} | _cache_outputs(shapes.step_caches)
    return trace(StepGraph(model, shapes.step_caches), inputs, outputs)


def _cache_inputs(ports: Sequence[CachePort], frames_per_token: int) -> dict[str, TracedInput]:
    own = {"tokens": _OWN, "frames": _OWN * frames_per_token}
    biases = {
        bias_name(clock): TracedInput(torch.zeros(own[clock], _PAST + own[clock]), {0: clock, 1: f"{clock}_seen"})
        for clock in clocks(ports)
    }
    caches = {
        port.name: TracedInput(torch.zeros(_PAST, *port.shape), {0: f"{port.clock}_past"})
        if port.is_growing
        else TracedInput(torch.zeros(port.shape), {})
        for port in ports
    }
    return biases | caches


def _cache_outputs(ports: Sequence[CachePort]) -> dict[str, dict[int, str]]:
    return {port.new_name: {0: port.clock} if port.is_growing else {} for port in ports}
