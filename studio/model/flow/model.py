"""The flow model: the network, precomputed values that do not depend on the utterance, and the solver.

The solver integrates noise to a mel spectrogram, with Euler steps and classifier-free guidance (specification F2).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, Self, TypeVar

import torch

from studio.errors import SequenceTooLong
from studio.model.config import FlowConfig, SolverConfig
from studio.model.flow.layers import Conditions, Context, FullContext, Modulation, VelocityEstimator
from studio.model.flow.network import EncoderContext, FlowNetwork, FlowParts
from studio.model.stages import FlowPrompt


@dataclass(frozen=True, slots=True)
class PromptTensors:
    """A prompt of P speech tokens as tensors."""

    tokens: tuple[int, ...]
    mel: torch.Tensor = field(repr=False)  # (2P, mel_bins)
    speaker: torch.Tensor = field(repr=False)  # (mel_bins,)

    @property
    def num_frames(self) -> int:
        return self.mel.shape[0]


NetworkT = TypeVar("NetworkT", bound=FlowParts)


class AnyFlowModel(Generic[NetworkT]):
    """The flow of one model. It is read-only and shared by all streams.

    It takes ownership of ``network``, whose time layers are evaluated once, for the solver's times, and dropped.
    """

    @torch.inference_mode()
    def __init__(
        self,
        network: NetworkT,
        config: FlowConfig,
        num_steps: int | None = None,
        *,
        tables: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        """Without ``num_steps``, the model has the released solver, and can return others (``with_steps``).

        If ``tables`` from ``time_tables`` are given, ``network`` needs no time layers.
        """
        parameter = next(network.parameters())
        self.network = network
        self.config = config
        self.dtype, self.device = parameter.dtype, parameter.device
        self._solvers = solvers(network.estimator, config.solver, num_steps, parameter, tables)
        self.steps, self.modulations = next(iter(self._solvers.values()))

    def with_steps(self, num_steps: int) -> Self | None:
        """Return this model with a solver of fewer steps, or None if it does not have it."""
        solver = self._solvers.get(num_steps) if num_steps < self.config.solver.num_steps else None
        if solver is None:
            return None
        model = copy.copy(self)
        model.steps, model.modulations = solver
        return model

    def voice(self, prompt: FlowPrompt) -> PromptTensors:
        """Return ``prompt`` as tensors."""
        embedding = torch.as_tensor(prompt.embedding, dtype=self.dtype, device=self.device)
        return PromptTensors(
            tokens=prompt.speech_tokens,
            mel=torch.as_tensor(prompt.mel, dtype=self.dtype, device=self.device),
            speaker=self.network.speaker(embedding[None])[0],
        )


class FlowModel(AnyFlowModel[FlowNetwork]):
    """The causal flow of CosyVoice2 and CosyVoice3."""

    @torch.inference_mode()
    def __init__(
        self,
        network: FlowNetwork,
        config: FlowConfig,
        num_steps: int | None = None,
        *,
        tables: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        """See ``AnyFlowModel``."""
        super().__init__(network, config, num_steps, tables=tables)
        self.grid_frames = config.chunk_tokens * config.frames_per_token
        self.noise = noise_table(config.mel_bins).to(self.device, self.dtype)

    def voice(self, prompt: FlowPrompt) -> PromptTensors:
        """Return ``prompt`` as tensors. Raise ``ValueError`` if tokens and mel do not match."""
        num_frames, mel_bins = self.config.frames_per_token * len(prompt.speech_tokens), self.config.mel_bins
        if prompt.mel.shape != (num_frames, mel_bins):
            raise ValueError(f"the prompt mel must have {num_frames} frames of {mel_bins} bins, not {prompt.mel.shape}")
        return super().voice(prompt)

    def mean(self, tokens: Sequence[int], following: Sequence[int], context: EncoderContext) -> torch.Tensor:
        """Return the mean (frames, mel_bins) of ``tokens``.

        ``following`` is the look-ahead, which is shorter at the end of the utterance.
        """
        ids = torch.tensor([[*tokens, *following]], dtype=torch.long, device=self.device)
        return self.network.mean(self.network.embed(ids), len(following), context)[0]

    def solve(
        self, voice: PromptTensors, mean: torch.Tensor, start: int, context_of_step: Callable[[int], Context]
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of the frames from ``start`` on, given their ``mean``."""
        stop = start + mean.shape[0]
        check_length(stop)
        prompt_mel = torch.zeros_like(mean)
        known = voice.mel[start:stop]
        prompt_mel[: known.shape[0]] = known
        conditions = Conditions(*(cond_uncond(part) for part in (mean, prompt_mel, voice.speaker)))

        x = self.noise[start:stop]
        for index, (step, modulation) in enumerate(zip(self.steps, self.modulations, strict=True)):
            rows = x.expand(2, -1, -1)
            velocity = self.network.estimator.velocity(rows, conditions, modulation, context_of_step(index))
            x = step.advance(x, velocity, self.config.solver.guidance_scale)
        return x

    def decode_sequence(
        self, voice: PromptTensors, tokens: Sequence[int], following: Sequence[int], *, is_streaming: bool
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of ``tokens`` after the prompt, computed in one run.

        ``is_streaming`` masks later chunks from earlier ones, as in a stream (specification F8).
        """
        check_length(self.config.frames_per_token * (len(voice.tokens) + len(tokens)))
        whole = FullContext(self.grid_frames if is_streaming else None)
        of_tokens = FullContext(self.config.chunk_tokens if is_streaming else None)
        mean = self.mean((*voice.tokens, *tokens), following, EncoderContext(of_tokens, whole))
        return self.solve(voice, mean, 0, lambda _: whole)[voice.num_frames :]


def check_length(num_frames: int) -> None:
    require_frames(num_frames, MAX_FRAMES / MAX_SECONDS)


def require_frames(num_frames: int, frame_rate: float) -> None:
    """Raise ``SequenceTooLong`` for more than ``MAX_SECONDS`` of mel frames."""
    seconds = num_frames / frame_rate
    if seconds > MAX_SECONDS:
        raise SequenceTooLong(
            "Voice clip and sentence together are {seconds:.0f} seconds; the model's limit is {longest}.",
            remedy="Split the sentence.",
            seconds=seconds,
            longest=MAX_SECONDS,
        )


def cond_uncond(condition: torch.Tensor) -> torch.Tensor:
    """Return a conditional row, ``condition``, and an unconditional row of zeros."""
    return torch.stack([condition, torch.zeros_like(condition)])


# The official solver has noise for 300 s, prompt included.
MAX_SECONDS = 300
MAX_FRAMES = 15_000


@dataclass(frozen=True, slots=True)
class EulerStep:
    time: float
    size: float

    def advance(self, x: torch.Tensor, velocity: torch.Tensor, guidance_scale: float) -> torch.Tensor:
        """Return ``x`` (frames, mel_bins) after the step.

        ``velocity`` (2, frames, mel_bins) has a conditional and an unconditional row.
        """
        conditional, unconditional = velocity.unbind(0)
        return x + self.size * ((1 + guidance_scale) * conditional - guidance_scale * unconditional)


@lru_cache
def euler_steps(num_steps: int) -> tuple[EulerStep, ...]:
    """Return the steps of the cosine grid, which are smallest at the start.

    Times are accumulated in float32 as in training: they enter sinusoids of up to a thousand radians, where
    the difference to a float64 grid would matter.
    """
    grid = 1 - torch.cos(torch.linspace(0, 1, num_steps + 1, dtype=torch.float32) * 0.5 * math.pi)
    time, steps = grid[0], []
    for following in grid[1:]:
        size = following - time
        steps.append(EulerStep(float(time), float(size)))
        time = time + size
    return tuple(steps)


# Steps, each with the modulation of its time.
Solver = tuple[tuple[EulerStep, ...], tuple[Modulation, ...]]


def solvers(
    estimator: VelocityEstimator,
    config: SolverConfig,
    num_steps: int | None,
    like: torch.Tensor,
    tables: Mapping[str, torch.Tensor] | None = None,
) -> dict[int, Solver]:
    """Return the solvers by number of steps: the released one and the reduced ones, or only one of ``num_steps``.

    The layers of ``estimator`` that compute modulations are dropped.
    """
    counts = config.counts if num_steps is None else (num_steps,)
    if tables is None:
        tables = time_tables(estimator, counts, like)
    estimator.drop_time_layers()
    return {count: (euler_steps(count), _modulations(tables, count)) for count in counts}


@lru_cache
def noise_table(mel_bins: int) -> torch.Tensor:
    """Return the initial noise of every utterance (frames, mel_bins) float32, by absolute frame.

    The official constructor draws these values. A draw of a different length begins with other values.
    """
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, mel_bins, MAX_FRAMES, generator=generator)[0].t().contiguous()


def time_tables(estimator: VelocityEstimator, counts: Iterable[int], like: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the tensors of the modulations of all steps, (steps, 1, size), for solvers with ``counts`` of steps.

    A name consists of the number of steps, the index of a part, and the index of a tensor in this part.
    """
    tables: dict[str, torch.Tensor] = {}
    for count in counts:
        times = torch.tensor([step.time for step in euler_steps(count)], dtype=like.dtype, device=like.device)
        for part, tensors in enumerate(estimator.modulation(times)):
            tables |= {f"{count}.{part}.{index}": tensor for index, tensor in enumerate(tensors)}
    return tables


def _modulations(tables: Mapping[str, torch.Tensor], count: int) -> tuple[Modulation, ...]:
    """Return the modulation of each of ``count`` steps."""
    parts: list[list[torch.Tensor]] = []
    while f"{count}.{len(parts)}.0" in tables:
        part: list[torch.Tensor] = []
        while (name := f"{count}.{len(parts)}.{len(part)}") in tables:
            part.append(tables[name])
        parts.append(part)
    return tuple(
        tuple(tuple(tensor[row : row + 1].clone() for tensor in part) for part in parts) for row in range(count)
    )
