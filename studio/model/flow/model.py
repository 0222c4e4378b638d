"""The flow with all utterance-independent values precomputed. Read-only, shared by all streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from studio.errors import SequenceTooLong
from studio.model.config import FlowConfig
from studio.model.flow.context import Context, FullContext
from studio.model.flow.encoder import EncoderContext
from studio.model.flow.estimator import Conditions, Modulation
from studio.model.flow.network import FlowNetwork
from studio.model.flow.solver import MAX_FRAMES, MAX_SECONDS, EulerStep, euler_steps, noise_table, solve
from studio.model.stages import FlowPrompt


@dataclass(frozen=True, slots=True)
class PromptTensors:
    """A prompt as tensors: ``tokens`` (P,) ids, ``mel`` (2P, mel_bins), ``speaker`` (mel_bins,)."""

    tokens: tuple[int, ...]
    mel: torch.Tensor = field(repr=False)
    speaker: torch.Tensor = field(repr=False)

    @property
    def num_frames(self) -> int:
        return self.mel.shape[0]


class FlowModel:
    """Takes ownership of ``network``. Its time layers are evaluated once, for the solver's times, and dropped."""

    @torch.inference_mode()
    def __init__(self, network: FlowNetwork, config: FlowConfig, num_steps: int) -> None:
        parameter = network.spk_embed_affine_layer.bias
        self.network = network
        self.config = config
        self.dtype, self.device = parameter.dtype, parameter.device
        self.grid_frames = config.chunk_tokens * config.frames_per_token
        self.steps: tuple[EulerStep, ...] = euler_steps(num_steps)
        times = torch.tensor([step.time for step in self.steps], dtype=self.dtype, device=self.device)
        of_all_times = network.estimator.modulation(times)
        self.modulations: tuple[Modulation, ...] = tuple(
            tuple(tuple(tensor[row : row + 1].clone() for tensor in part) for part in of_all_times)
            for row in range(len(self.steps))
        )
        network.estimator.drop_time_layers()
        self.noise = noise_table(config.mel_bins).to(self.device, self.dtype)

    def voice(self, prompt: FlowPrompt) -> PromptTensors:
        """Return ``prompt`` as tensors. Raise ``ValueError`` if tokens and mel do not match."""
        num_frames, mel_bins = self.config.frames_per_token * len(prompt.speech_tokens), self.config.mel_bins
        if prompt.mel.shape != (num_frames, mel_bins):
            raise ValueError(f"the prompt mel must have {num_frames} frames of {mel_bins} bins, not {prompt.mel.shape}")
        embedding = torch.as_tensor(prompt.embedding, dtype=self.dtype, device=self.device)
        return PromptTensors(
            tokens=prompt.speech_tokens,
            mel=torch.as_tensor(prompt.mel, dtype=self.dtype, device=self.device),
            speaker=self.network.speaker(embedding[None])[0],
        )

    def mean(self, tokens: Sequence[int], following: Sequence[int], context: EncoderContext) -> torch.Tensor:
        """Return the mean (frames, mel_bins) of ``tokens``. A short ``following`` marks the end of the utterance."""
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

        def velocity(step: int, x: torch.Tensor) -> torch.Tensor:
            return self.network.estimator.velocity(x, conditions, self.modulations[step], context_of_step(step))

        return solve(self.noise[start:stop], self.steps, self.config.solver.guidance_scale, velocity)

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
    if num_frames > MAX_FRAMES:
        raise SequenceTooLong(
            "Voice clip and sentence together are {seconds:.0f} seconds; the model's limit is {longest}.",
            remedy="Split the sentence.",
            seconds=MAX_SECONDS * num_frames / MAX_FRAMES,
            longest=MAX_SECONDS,
        )


def cond_uncond(condition: torch.Tensor) -> torch.Tensor:
    """Stack ``condition`` and, for the unconditional row, zeros."""
    return torch.stack([condition, torch.zeros_like(condition)])
