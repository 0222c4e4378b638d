"""Run the flow's two graphs: from tokens and caches, in buffers that the graphs write directly, to mel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import torch

from studio.engines.onnx.graph import CachePort, FlowShapes, Graph, bias_name, clocks
from studio.model.flow.model import check_length, noise_table
from studio.model.stages import FlowPrompt

# Bias that masks a frame: exp(-1e4) is zero in every type, and -1e4 fits in float16.
HIDDEN = -1e4
_BLANK_FRAMES = 1


class GraphCaches:
    """The caches of one graph at one solver step.

    A growing cache is a buffer with spare capacity. ``inputs`` is a view of its filled part, and ``outputs`` is a view
    of the frames after it, so the next call needs no copy. Each tail has two buffers, which are swapped.
    """

    def __init__(self, ports: Sequence[CachePort], cache_type: torch.dtype, device: torch.device) -> None:
        self._ports = tuple(ports)
        self._cache_type = cache_type
        self._device = device
        # Number of frames on each clock, without the blank.
        self.num_frames = {port.clock: 0 for port in ports if port.is_growing}
        self._growing = {
            port.name: torch.zeros(_BLANK_FRAMES, *port.shape, dtype=cache_type, device=device)
            for port in ports
            if port.is_growing
        }
        self._tails = {port.name: torch.zeros(port.shape, device=device) for port in ports if not port.is_growing}
        self._next_tails = {name: torch.empty_like(tail) for name, tail in self._tails.items()}

    @property
    def num_bytes(self) -> int:
        tensors = (*self._growing.values(), *self._tails.values())
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def fork(self) -> GraphCaches:
        """Return an independent copy."""
        copy = GraphCaches(self._ports, self._cache_type, self._device)
        copy.restore(self.tensors())
        return copy

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return views of the state by port name."""
        return {
            name: tensor if name in self._tails else tensor[_BLANK_FRAMES:] for name, tensor in self.inputs().items()
        }

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copy the state that ``tensors`` returned. Raises ``ValueError`` if names, shapes or types do not match."""
        frames = dict.fromkeys(self.num_frames, 0)
        for port in self._ports:
            tensor = tensors.get(port.name)
            dtype = self._cache_type if port.is_growing else torch.float32
            shape = None if tensor is None else tuple(tensor.shape[1:] if port.is_growing else tensor.shape)
            if tensor is None or shape != port.shape or tensor.dtype is not dtype:
                found = "missing" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
                raise ValueError(f"{port.name} of the stored state is {found}, not {dtype} {port.shape}")
            if port.is_growing and frames[port.clock] not in (0, len(tensor)):
                raise ValueError(f"{port.name} of the stored state has {len(tensor)} frames, unlike the other ports")
            if port.is_growing:
                frames[port.clock] = len(tensor)
        self.num_frames = frames
        for port in self._ports:
            if port.is_growing:
                blank = torch.zeros(_BLANK_FRAMES, *port.shape, dtype=self._cache_type, device=self._device)
                self._growing[port.name] = torch.cat([blank, tensors[port.name].to(self._device)])
            else:
                self._tails[port.name].copy_(tensors[port.name])

    def missing_bytes(self, more: Mapping[str, int]) -> int:
        """Return the bytes that ``make_room`` would allocate."""
        return sum(
            prod(port.shape) * self._cache_type.itemsize * (room - len(self._growing[port.name]))
            for port, room in self._wanted(more)
        )

    def make_room(self, more: Mapping[str, int]) -> None:
        """Grow the buffers, by copying, to hold ``more`` frames on each clock."""
        for port, room in self._wanted(more):
            old = self._growing[port.name]
            buffer = torch.empty(room, *port.shape, dtype=self._cache_type, device=self._device)
            buffer[: self._stop(port)] = old[: self._stop(port)]
            self._growing[port.name] = buffer

    def _wanted(self, more: Mapping[str, int]) -> list[tuple[CachePort, int]]:
        """Return the caches that are too small, and the frames they must hold."""
        return [
            (port, self._stop(port) + more[port.clock])
            for port in self._ports
            if port.is_growing and self._stop(port) + more[port.clock] > len(self._growing[port.name])
        ]

    def inputs(self) -> dict[str, torch.Tensor]:
        """Return the graph's inputs by port, valid until the next ``advance``."""
        filled = {port.name: self._growing[port.name][: self._stop(port)] for port in self._ports if port.is_growing}
        return filled | self._tails

    def outputs(self, own: Mapping[str, int]) -> dict[str, torch.Tensor]:
        """Return the outputs by port for a call with ``own`` frames on each clock; call ``make_room`` first."""
        written = {}
        for port in self._ports:
            if port.is_growing:
                start = self._stop(port)
                written[port.new_name] = self._growing[port.name][start : start + own[port.clock]]
            else:
                written[port.new_name] = self._next_tails[port.name]
        return written

    def advance(self, own: Mapping[str, int]) -> None:
        """Make the frames that the call wrote part of the cache."""
        for clock in self.num_frames:
            self.num_frames[clock] += own[clock]
        self._tails, self._next_tails = self._next_tails, self._tails

    def score_bias(self, clock: str, num_frames: int, block_frames: int | None) -> torch.Tensor:
        """Return the bias (num_frames, cached + num_frames), which masks the blank and, for each block, later blocks.

        If ``block_frames`` is None, frames attend to all others.
        """
        num_cached = _BLANK_FRAMES + self.num_frames[clock]
        bias = torch.zeros(num_frames, num_cached + num_frames, device=self._device)
        bias[:, :_BLANK_FRAMES] = HIDDEN
        if block_frames is not None and num_frames > block_frames:
            block = torch.arange(num_frames, device=self._device) // block_frames
            bias[:, num_cached:].masked_fill_(block[None, :] > block[:, None], HIDDEN)
        return bias

    def _stop(self, port: CachePort) -> int:
        return _BLANK_FRAMES + self.num_frames[port.clock]


@dataclass(frozen=True, slots=True)
class GraphVoice:
    """A prompt on the graphs' device, with ``mel`` (frames, mel_bins) and ``embedding`` (size,)."""

    tokens: tuple[int, ...]
    mel: torch.Tensor = field(repr=False)
    embedding: torch.Tensor = field(repr=False)


@dataclass
class RunCaches:
    """All caches of a run: the encoder's, and those of every solver step."""

    encoder: GraphCaches
    steps: tuple[GraphCaches, ...]
    num_tokens: int = 0

    @property
    def num_bytes(self) -> int:
        return sum(part.num_bytes for part in self.parts().values())

    def parts(self) -> dict[str, GraphCaches]:
        return {"encoder": self.encoder} | {f"step{index}": step for index, step in enumerate(self.steps)}

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return views of all caches by name."""
        return {
            f"{part_name}.{name}": tensor
            for part_name, part in self.parts().items()
            for name, tensor in part.tensors().items()
        }

    def missing_bytes(self, own: Mapping[str, int]) -> int:
        """Return the bytes that ``make_room`` would allocate."""
        return sum(part.missing_bytes(own) for part in self.parts().values())

    def make_room(self, own: Mapping[str, int]) -> None:
        """Grow the buffers to hold ``own`` more frames on each clock."""
        for part in self.parts().values():
            part.make_room(own)

    def fork(self) -> RunCaches:
        return RunCaches(self.encoder.fork(), tuple(step.fork() for step in self.steps), self.num_tokens)


class FlowRunner:
    """Stateless runner of the graphs. One call contains at most ``blocks_at_once`` blocks of the grid."""

    def __init__(self, encoder: Graph, step: Graph, shapes: FlowShapes, *, blocks_at_once: int) -> None:
        assert encoder.device == step.device
        self.shapes = shapes
        self.device = step.device
        self.engine = step.engine
        self.cache_type = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[
            shapes.cache_type
        ]
        self._encoder = encoder
        self._step = step
        self._blocks_at_once = blocks_at_once
        self._noise = noise_table(shapes.mel_bins).to(self.device)
        self._rates = torch.tensor(shapes.turn_rates, device=self.device)
        self._step_indices = torch.split(torch.arange(shapes.num_steps, device=self.device), 1)

    def voice(self, prompt: FlowPrompt) -> GraphVoice:
        """Return ``prompt`` on the graphs' device. Raises ``ValueError`` if tokens and mel do not match."""
        shape = (self.shapes.frames_per_token * len(prompt.speech_tokens), self.shapes.mel_bins)
        if prompt.mel.shape != shape:
            raise ValueError(f"expected a prompt mel of {shape[0]} frames by {shape[1]} bins, not {prompt.mel.shape}")
        mel = torch.as_tensor(prompt.mel, dtype=torch.float32, device=self.device)
        embedding = torch.as_tensor(prompt.embedding, dtype=torch.float32, device=self.device)
        return GraphVoice(prompt.speech_tokens, mel.contiguous(), embedding.contiguous())

    def empty_caches(self) -> RunCaches:
        shapes = self.shapes
        steps = (GraphCaches(shapes.step_caches, self.cache_type, self.device) for _ in range(shapes.num_steps))
        return RunCaches(GraphCaches(shapes.encoder_caches, torch.float32, self.device), tuple(steps))

    def own_frames(self, num_tokens: int) -> dict[str, int]:
        """Return how many frames ``num_tokens`` take up on each clock."""
        return {"tokens": num_tokens, "frames": self.shapes.frames_per_token * num_tokens}

    def decode_blocks(
        self, voice: GraphVoice, caches: RunCaches, tokens: Sequence[int], lookahead: Sequence[int], *, fine: bool
    ) -> list[torch.Tensor]:
        """Return the mel chunks (frames, mel_bins) of the next ``tokens``, which start on the grid.

        The caches must have enough capacity. If ``fine`` is set, each call contains one block only.
        """
        shapes = self.shapes
        stride = shapes.chunk_tokens * (1 if fine else self._blocks_at_once)
        everything = [*tokens, *lookahead]
        mels = []
        for start in range(0, len(tokens), stride):
            stop = min(start + stride, len(tokens))
            following = everything[stop : stop + shapes.lookahead_tokens]
            mels.append(self._decode(voice, caches, everything[start:stop], following, is_streaming=True, is_kept=True))
        return mels

    def decode_sequence(
        self, voice: GraphVoice, tokens: Sequence[int], lookahead: Sequence[int], *, is_streaming: bool
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of ``tokens`` from one call with the prompt, without the prompt's frames."""
        everything = (*voice.tokens, *tokens)
        check_length(self.shapes.frames_per_token * len(everything))
        mel = self._decode(voice, self.empty_caches(), everything, lookahead, is_streaming=is_streaming, is_kept=False)
        return mel[len(voice.mel) :]

    def _decode(
        self,
        voice: GraphVoice,
        caches: RunCaches,
        tokens: Sequence[int],
        following: Sequence[int],
        *,
        is_streaming: bool,
        is_kept: bool,
    ) -> torch.Tensor:
        shapes, own = self.shapes, self.own_frames(len(tokens))
        start = shapes.frames_per_token * caches.num_tokens
        stop = start + own["frames"]
        check_length(stop)
        blocks = {"tokens": shapes.chunk_tokens, "frames": shapes.chunk_tokens * shapes.frames_per_token}

        def biases(part: GraphCaches, ports: tuple[CachePort, ...]) -> dict[str, torch.Tensor]:
            return {
                bias_name(clock): part.score_bias(clock, own[clock], blocks[clock] if is_streaming else None)
                for clock in clocks(ports)
            }

        def run(
            graph: Graph, part: GraphCaches, inputs: dict[str, torch.Tensor], outputs: dict[str, torch.Tensor]
        ) -> None:
            graph.run(inputs | part.inputs(), outputs | (part.outputs(own) if is_kept else {}))
            if is_kept:
                part.advance(own)

        mean = torch.empty(own["frames"], shapes.mel_bins, device=self.device)
        speaker = torch.empty(shapes.mel_bins, device=self.device)
        encoder_inputs = self._encoder_inputs(voice, tokens, following) | biases(caches.encoder, shapes.encoder_caches)
        run(self._encoder, caches.encoder, encoder_inputs, {"mean": mean, "speaker": speaker})

        prompt_mel = torch.zeros_like(mean)
        known = voice.mel[start:stop]
        prompt_mel[: len(known)] = known
        shared = {"mean": mean, "prompt_mel": prompt_mel, "speaker": speaker}
        shared |= biases(caches.steps[0], shapes.step_caches) | self._turns(start, stop)
        x, following_x = self._noise[start:stop].clone(), torch.empty_like(mean)
        for index, part in zip(self._step_indices, caches.steps, strict=True):
            run(self._step, part, shared | {"x": x, "step": index}, {"following": following_x})
            x, following_x = following_x, x
        caches.num_tokens += len(tokens)
        return x

    def _encoder_inputs(
        self, voice: GraphVoice, tokens: Sequence[int], following: Sequence[int]
    ) -> dict[str, torch.Tensor]:
        num_absent = self.shapes.lookahead_tokens - len(following)
        ids = torch.tensor([*tokens, *following, *[0] * num_absent], dtype=torch.long)
        is_there = torch.ones(len(ids))
        is_there[len(ids) - num_absent :] = 0.0
        return {
            "tokens": ids.clamp_(min=0).to(self.device),
            "is_there": is_there.to(self.device),
            "embedding": voice.embedding,
        }

    def _turns(self, start: int, stop: int) -> dict[str, torch.Tensor]:
        """Return cosine and sine of the frames' positions, if the estimator uses them."""
        if not self.shapes.turn_rates:
            return {}
        angles = torch.arange(start, stop, device=self.device)[:, None].float() * self._rates
        return {"turns": torch.stack([angles.cos(), angles.sin()])}
