"""PyTorch ``FlowDecoder`` of CosyVoice-300M, whose flow is not causal (specification F4, H1).

Decision: whole sentences are the default, and streaming works as in the official program: independent calls on
overlapping chunks, cross-faded. Reason: every frame depends on the whole utterance, so no division into chunks gives
the same mel. Alternative: to run the growing sentence again for each chunk, which costs more and is not exact either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import torch

from studio.model.config import FlowConfig, Precision
from studio.model.device_kind import DeviceKind
from studio.model.flow.decoder import as_mel
from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.model import AnyFlowModel, PromptTensors, cond_uncond, require_frames
from studio.model.flow.non_causal_network import EDGE_TOKENS, NonCausalFlow, build_non_causal_network
from studio.model.flow.packing import pack
from studio.model.flow.stored import StoredFlow, digest_samples, open_stored, releasing_pages
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState
from studio.model.weights import load_weights, meta_init, read_tensors

# The official schedule (specification H1): 100 tokens are new in each chunk, 20 overlap with the next one.
_HOP_TOKENS = 100
_STATE_VERSION = 1

# Draws the initial noise (frames, mel_bins) of one call.
NoiseDraw = Callable[[int], torch.Tensor]


@dataclass(frozen=True)
class NonCausalPromptState:
    """A voice prompt as tensors. There is nothing to cache, because every value depends on what follows the prompt."""

    voice: PromptTensors
    num_bytes: int = 0

    def tensors(self) -> Mapping[str, torch.Tensor]:
        return {}


@dataclass(frozen=True)
class CallResult:
    """The mel of one call (frames, mel_bins), and the noise and mean that it started from, which include the prompt."""

    mel: torch.Tensor = field(repr=False)
    noise: torch.Tensor = field(repr=False)
    mean: torch.Tensor = field(repr=False)


class NonCausalFlowModel(AnyFlowModel[NonCausalFlow]):
    """The flow of CosyVoice-300M."""

    @torch.inference_mode()
    def __init__(
        self,
        network: NonCausalFlow,
        config: FlowConfig,
        num_steps: int | None = None,
        *,
        stored: StoredFlow | None = None,
    ) -> None:
        """See ``AnyFlowModel``."""
        assert config.length_regulator is not None
        self.weights_digest = digest_samples(network.state_dict()) if stored is None else stored.weights_digest
        super().__init__(network, config, num_steps, tables=None if stored is None else stored.tables)
        self.overlap_frames = config.frames_of_tokens(EDGE_TOKENS)
        self._frame_rate = config.length_regulator.sample_rate / config.length_regulator.hop_samples

    def voice(self, prompt: FlowPrompt) -> PromptTensors:
        """Return ``prompt`` as tensors. Raise ``ValueError`` if the mel has the wrong shape."""
        has_both = bool(prompt.speech_tokens) == bool(len(prompt.mel))
        if prompt.mel.ndim != 2 or prompt.mel.shape[1] != self.config.mel_bins or not has_both:
            raise ValueError(f"the prompt mel {prompt.mel.shape} does not belong to {len(prompt.speech_tokens)} tokens")
        return super().voice(prompt)

    def draw_noise(self, num_prompt_frames: int = 0, first_frame: int = 0) -> NoiseDraw:
        """Return a function that draws the noise of one call: for the prompt, then for the speech from ``first_frame`` on.

        A frame has the same noise in all utterances, as in later generations, so that takes can be repeated, and in all
        chunks, so that a stream differs less from the whole sentence.
        """

        def draw(num_frames: int) -> torch.Tensor:
            generator = torch.Generator().manual_seed(0)
            noise = torch.randn(first_frame + num_frames, self.config.mel_bins, generator=generator)
            if first_frame:
                noise = torch.cat((noise[:num_prompt_frames], noise[num_prompt_frames + first_frame :]))
            return noise.to(self.device, self.dtype)

        return draw

    @torch.inference_mode()
    def decode(
        self, voice: PromptTensors, tokens: Sequence[int], draw: NoiseDraw, before: CallResult | None = None
    ) -> CallResult:
        """Return the mel of ``tokens`` after the prompt.

        After a call ``before``, the prompt and the first frames of the chunk get the noise and mean that the prompt and
        the last frames had in that call (specification F2). Raise ``SequenceTooLong``.
        """
        num_frames = self.config.frames_of_tokens(len(tokens))
        start = voice.num_frames
        require_frames(start + num_frames, self._frame_rate)
        ids = torch.tensor([[*voice.tokens, *tokens]], dtype=torch.long, device=self.device)
        mean = self.network.mean(ids, len(voice.tokens), start)[0]
        noise = draw(start + num_frames)
        if before is not None:
            mean, noise = (
                torch.cat((old[:start], old[-self.overlap_frames :], new[start + self.overlap_frames :]))
                for old, new in ((before.mean, mean), (before.noise, noise))
            )
        prompt_mel = torch.zeros_like(mean)
        prompt_mel[:start] = voice.mel
        mel = self.integrate(noise, Conditions(mean, prompt_mel, voice.speaker))
        return CallResult(mel[start:], noise, mean)

    def integrate(self, noise: torch.Tensor, given: Conditions) -> torch.Tensor:
        """Return the mel (frames, mel_bins) that the solver reaches from ``noise``.

        The tensors of ``given`` have no row dimension.
        """
        conditions, context, x = Conditions(*(cond_uncond(part) for part in given)), FullContext(), noise
        for step, modulation in zip(self.steps, self.modulations, strict=True):
            velocity = self.network.estimator.velocity(x.expand(2, -1, -1), conditions, modulation, context)
            x = step.advance(x, velocity, self.config.solver.guidance_scale)
        return x


def load_non_causal_network(path: Path, config: FlowConfig) -> NonCausalFlow:
    """Return the plain network on the CPU, with the weights in ``path`` mapped.

    Raise the errors of ``CachedFlowDecoder.load``.
    """
    network = meta_init(lambda: build_non_causal_network(config))
    load_weights(network, read_tensors(path), file_name=path.name)
    return network


class OverlappingStream:
    """Approximate ``FlowStream``: chunks are decoded separately, and cross-faded where they overlap (H1).

    The weights of the fade add up to one, unlike the official ones (J2, row 12).
    """

    def __init__(self, model: NonCausalFlowModel, voice: PromptTensors) -> None:
        self._model = model
        self._voice = voice
        self._num_tokens = 0
        self._before: CallResult | None = None
        self._is_open = True

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowStream``. Chunks may end anywhere. Raise ``SequenceTooLong``."""
        assert self._is_open, "the stream has ended"
        if lookahead and len(lookahead) != EDGE_TOKENS:
            raise ValueError(f"lookahead must have {EDGE_TOKENS} tokens, not {len(lookahead)}")
        self._is_open = False  # until the call completes: an interrupted stream cannot continue
        model, before, overlap = self._model, self._before, self._model.overlap_frames
        draw = model.draw_noise(self._voice.num_frames, model.config.frames_of_tokens(self._num_tokens))
        result = model.decode(self._voice, (*tokens, *lookahead), draw, before)
        mel = result.mel
        if before is not None:
            mel = torch.cat((faded(before.mel[-overlap:], mel[:overlap]), mel[overlap:]))
        self._before = result
        self._num_tokens += len(tokens)
        self._is_open = bool(lookahead)
        return as_mel(mel[: len(mel) - overlap] if lookahead else mel)

    def close(self) -> None:
        self._is_open = False
        self._before = None


def faded(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Fade from ``old`` to ``new`` (frames, bins) with the halves of a Hamming window, normalised to a sum of one."""
    window = torch.hamming_window(2 * len(old), periodic=False, dtype=torch.float64).to(old)
    rising, falling = window[: len(old), None], window[len(old) :, None]
    return torch.lerp(old, new, rising / (rising + falling))


class NonCausalFlowDecoder:
    """PyTorch ``FlowDecoder`` of CosyVoice-300M. Calls may run in several threads at once."""

    streams_exactly = False
    chunk_tokens = _HOP_TOKENS
    lookahead_tokens = EDGE_TOKENS

    def __init__(self, model: NonCausalFlowModel, precision: Precision) -> None:
        self.precision = precision
        self._model = model
        self.max_concurrent_lines = DeviceKind(model.device.type).traits.max_concurrent_lines

    @classmethod
    def of_network(
        cls,
        network: NonCausalFlow,
        config: FlowConfig,
        *,
        precision: Precision = Precision.FLOAT32,
        num_steps: int | None = None,
        after_layer: Callable[[], None] = lambda: None,
        stored: StoredFlow | None = None,
    ) -> Self:
        """Return the decoder of ``network``, of which it takes ownership.

        ``network`` and ``stored`` may be what ``open_stored`` returns.
        """
        model = NonCausalFlowModel(network, config, num_steps, stored=stored)
        if stored is None or not stored.has_layers:
            pack(network, precision, after_layer=after_layer)
        return cls(model, precision)

    @classmethod
    def load(
        cls, path: Path, config: FlowConfig, precision: Precision, device: str, *, num_steps: int | None = None
    ) -> Self:
        """Load the flow in ``path`` (``flow.pt``) on ``device``. See ``CachedFlowDecoder.load``."""

        def load() -> NonCausalFlow:
            return load_non_causal_network(path, config)

        after_layer = releasing_pages(path)
        if device != "cpu" or num_steps is not None:
            network = load().to(device)
            return cls.of_network(network, config, precision=precision, num_steps=num_steps, after_layer=after_layer)
        network, stored = open_stored(path, config, lambda: build_non_causal_network(config), load, precision)
        return cls.of_network(network, config, precision=precision, after_layer=after_layer, stored=stored)

    def frames_of_tokens(self, num_tokens: int) -> int:
        return self._model.config.frames_of_tokens(num_tokens)

    @torch.inference_mode()
    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Raise ``ValueError`` for a mel of the wrong shape."""
        if progress is not None:
            progress(1.0)
        return NonCausalPromptState(self._model.voice(prompt))

    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """See ``stages.FlowDecoder``. A state without caches is never stored."""
        if tensors:
            raise ValueError("this model has no prompt state to restore")
        return self.prepare_prompt(prompt)

    def with_steps(self, num_steps: int) -> FlowDecoder | None:
        """See ``stages.FlowDecoder``."""
        model = self._model.with_steps(num_steps)
        return None if model is None else NonCausalFlowDecoder(model, self.precision)

    def prompt_key(self) -> str:
        """See ``stages.FlowDecoder``."""
        parts = (_STATE_VERSION, self._model.weights_digest, self._model.config, self.precision.value)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def open_stream(self, state: FlowPromptState) -> OverlappingStream:
        """See ``stages.FlowDecoder``. The mel of the stream is approximate."""
        assert isinstance(state, NonCausalPromptState), "a prompt state belongs to the decoder that made it"
        return OverlappingStream(self._model, state.voice)

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowDecoder``. Raise ``SequenceTooLong``."""
        with torch.inference_mode():
            voice = self._model.voice(prompt)
        return as_mel(self._model.decode(voice, tokens, self._model.draw_noise()).mel)
