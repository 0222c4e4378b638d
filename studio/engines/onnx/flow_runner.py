"""Run the flow's two graphs: from tokens and caches to mel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from studio.engines.onnx.flow_caches import GraphCaches
from studio.engines.onnx.flow_shapes import CachePort, FlowShapes, bias_name, clocks
from studio.engines.onnx.graph import Graph
from studio.model.flow.model import check_length, noise_table
from studio.model.stages import FlowPrompt


@dataclass(frozen=True, slots=True)
class GraphVoice:
    """A prompt on the graphs' device: ``mel`` (2P, mel_bins), ``embedding`` (size,)."""

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

    def fork(self) -> RunCaches:
        return RunCaches(self.encoder.fork(), tuple(step.fork() for step in self.steps), self.num_tokens)


class FlowRunner:
    """Stateless runner of the graphs. ``blocks_at_once``: how many blocks of the grid one call may contain."""

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

        The caches must have enough capacity. ``fine``: one block per call.
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
