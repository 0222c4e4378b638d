"""PyTorch implementations of ``stages.Vocoder``, their streams, and their loading from ``hift.pt``.

CosyVoice3's network is causal. Every frame passes through it once, and the result equals one run over the whole
utterance, for any division into chunks. A sample is final once no later frame can change it: after four more frames
and four samples. (The official program waits for eight frames; the samples are the same.)

CosyVoice2's network is not causal, so the end of a chunk becomes final only after about 14 more frames. As in the
official program (specification H2), the last eight frames of a chunk are held back and computed again with the next
chunk. Three changes bring the result closer to a single run (J2: 12, 13):

- Pitch, phase and noise continue across chunks. The source equals that of a whole run, except in the last frames
  of a chunk, whose pitch is not final and which are computed again.
- A chunk is decoded with some past frames, so that it differs from a whole run only at its end.
- The weights of the cross-fade add up to one.

CosyVoice-300M's network has the same layers, but a frame is half as long. Holding back 20 frames, as the official
program does, covers everything that a sample depends on. So its stream equals a single run, without a fade.

Decision (CosyVoice2): eight past frames before the overlap, and a fade over two frames at its start. Reason: samples
depend on at most these past frames and the overlap (13 frames of mel, 14.25 of source), so the new version is more
accurate from the start of the overlap, and the fade only smooths the transition. Alternative: no past frames and a fade
over all eight frames, which saves an eighth of the work in chunks of 50 frames but mixes in the old end where it is
least accurate (measured: 30 dB further from a whole run).

In half precision, only the convolutions in residual blocks are 16-bit. They are most of the work and tolerate rounding.
Everything between them stays float32, especially Snakes, in which half precision overflows for a tiny frequency. So
do the layers at both ends, which process mel, spectrum and samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar, Protocol

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.config import Precision, VocoderConfig, VocoderKind
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.layers import History, ResidualBlock, as_image_weight, convolve_as_image
from studio.model.vocoder.network import LOOK_RIGHT_FRAMES as F0_LOOK_RIGHT_FRAMES
from studio.model.vocoder.network import (
    CausalF0Predictor,
    CausalHiFT,
    F0Predictor,
    HarmonicSource,
    HiFT,
    NonCausalHiFT,
    NormalNoise,
    UniformTable,
    cumulative_phase,
    shifted,
)
from studio.model.weights import fold_weight_norm, load_weights, meta_init, read_tensors

F0_PAST_FRAMES = 5
_F0 = "f0_predictor."
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


@dataclass(frozen=True, slots=True)
class _Window:
    """Sizes in frames: ``overlap`` is held back, ``past`` decoded again before it, ``fade`` cross-faded at its start."""

    overlap: int
    past: int
    fade: int


_WINDOWS = {
    VocoderKind.NON_CAUSAL: _Window(overlap=8, past=8, fade=2),
    # A sample depends on 14 frames to each side, of which the last ones depend on five more for their pitch.
    VocoderKind.SAMPLE_PHASE: _Window(overlap=20, past=14, fade=0),
}


class _Network(Protocol):
    """Interface of ``HiFT`` that both streams use. An engine may have another decoder."""

    config: VocoderConfig
    samples_per_frame: int
    m_source: HarmonicSource
    conv_pre: nn.Conv1d

    def phase(self, sums: torch.Tensor, before: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor: ...


class CausalNetwork(_Network, Protocol):
    """Interface of ``CausalHiFT`` that a stream uses."""

    f0_predictor: CausalF0Predictor

    def open_history(self) -> History: ...

    def decode_chunk(self, mel: torch.Tensor, source: torch.Tensor, history: History) -> torch.Tensor: ...


class NonCausalNetwork(_Network, Protocol):
    """Interface of ``NonCausalHiFT`` that a stream uses."""

    f0_predictor: F0Predictor

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor: ...


class CausalStream:
    """State of one utterance: the past that each layer still needs, and the phase."""

    def __init__(self, network: CausalNetwork, noise: SourceNoise) -> None:
        self._network = network
        self._noise = noise
        self._history = network.open_history()
        self._phase_sums: torch.Tensor | None = None
        self._num_source_samples = 0
        self._waiting_mel: torch.Tensor | None = None
        # A first chunk with fewer frames waits for the next one, since it would not return samples.
        self._min_first_frames = 1 + max(network.config.look_right_frames, F0_LOOK_RIGHT_FRAMES + 1)

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """Return the samples (n,) that are final after the next frames ``mel`` (bins, frames)."""
        with torch.inference_mode():
            weight = self._network.conv_pre.weight
            mel = mel[None].to(weight)
            if self._waiting_mel is not None:
                mel = torch.cat((self._waiting_mel, mel), dim=-1)
                self._waiting_mel = None
            num_frames = mel.shape[-1]
            has_begun = self._num_source_samples > 0
            if not has_begun and not is_last and num_frames < self._min_first_frames:
                self._waiting_mel = mel
                return weight.new_empty(0)
            if num_frames == 0 and not (has_begun and is_last):
                return weight.new_empty(0)
            self._history.begin_chunk(is_last=is_last)
            return self._network.decode_chunk(mel, self._make_source(mel), self._history)[0]

    def _make_source(self, mel: torch.Tensor) -> torch.Tensor:
        network, start = self._network, self._num_source_samples
        f0 = network.f0_predictor.continue_from(mel, self._history)
        before = self._phase_sums
        sums = cumulative_phase(f0, network.config, before=before)
        self._phase_sums = sums[:, :, -1]
        self._num_source_samples += f0.shape[-1] * network.samples_per_frame
        noise = self._noise.columns(start, self._num_source_samples)
        source: torch.Tensor = network.m_source(f0, network.phase(sums, before, mel.dtype), noise)
        return source


class NonCausalStream:
    """State of one utterance: recent mel frames, the phase, and the samples held back."""

    def __init__(self, network: NonCausalNetwork, noise: SourceNoise) -> None:
        self._network = network
        self._noise = noise
        self._window = _WINDOWS[network.config.kind]
        self._mel = network.conv_pre.weight.new_empty(1, network.config.mel_bins, 0)
        self._mel_start = 0  # index of its first frame in the utterance
        self._num_decoded = 0  # frames processed by the network
        self._num_emitted = 0  # frames whose samples have been returned
        self._phase_before: torch.Tensor | None = None  # sums at the frame before the next window
        self._held_back = network.conv_pre.weight.new_empty(0)

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """Return the samples (n,) that are final after the next frames ``mel`` (bins, frames)."""
        with torch.inference_mode():
            self._mel = torch.cat((self._mel, mel[None].to(self._mel)), dim=-1)
            num_frames = self._mel_start + self._mel.shape[-1]
            if num_frames - self._num_decoded <= (0 if is_last else self._window.overlap):
                # Too few new frames. At the end, the held-back samples are final without a fade.
                return self._held_back if is_last else self._held_back[:0]
            window_start = self._window_start()
            samples, sums = self._decode(window_start, num_frames)
            end = num_frames if is_last else num_frames - self._window.overlap
            num_final = (end - self._num_emitted) * self._network.samples_per_frame
            self._held_back, self._num_decoded, self._num_emitted = samples[num_final:], num_frames, end
            self._drop_past(window_start, sums)
            return samples[:num_final]

    def _window_start(self) -> int:
        return max(0, self._num_emitted - self._window.past)

    def _decode(self, start: int, num_frames: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode frames ``start`` to ``num_frames``.

        Return the samples from the first one not yet returned, and the phase sums of the frames.
        """
        rate = self._network.samples_per_frame
        noise = self._noise.columns(start * rate, num_frames * rate)
        samples, sums = self._compute(self._mel, start - self._mel_start, noise)
        samples = samples[(self._num_emitted - start) * rate :]
        return _fade_over(self._held_back[: self._window.fade * rate], samples), sums

    def _compute(self, mel: torch.Tensor, offset: int, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return samples and phase sums of ``mel`` (1, bins, frames) from frame ``offset`` on."""
        network = self._network
        f0 = network.f0_predictor(mel)[:, offset:]
        sums = cumulative_phase(f0, network.config, before=self._phase_before)
        phase = network.phase(sums, self._phase_before, f0.dtype)
        source = network.m_source(f0, shifted(phase, self._noise.initial_phases()), noise)
        return network.decode(mel[:, :, offset:], source)[0], sums

    def _drop_past(self, window_start: int, sums: torch.Tensor) -> None:
        """Drop all but the next window's phase and its mel, including past frames of the pitch predictor."""
        next_start = self._window_start()
        if next_start > window_start:
            self._phase_before = sums[:, :, next_start - 1 - window_start]
        mel_start = max(0, next_start - F0_PAST_FRAMES)
        self._mel = self._mel[:, :, mel_start - self._mel_start :].clone()
        self._mel_start = mel_start


def _fade_over(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Cross-fade from ``old`` to ``new`` with the halves of a Hamming window, normalised to a sum of one."""
    num_samples = old.shape[-1]
    if num_samples == 0:
        return new
    window = torch.hamming_window(2 * num_samples, periodic=False, dtype=new.dtype, device=new.device)
    rising, falling = window[:num_samples], window[num_samples:]
    faded = torch.lerp(old, new[:num_samples], rising / (rising + falling))
    return torch.cat((faded, new[num_samples:]))


class _Vocoder:
    """Base of the vocoders. Streams do not modify it and may run in any number of threads."""

    def __init__(self, network: NonCausalNetwork | CausalNetwork) -> None:
        """``network`` is a ``HiFT`` or an engine's replacement for it."""
        self.network = network
        self.sample_rate = network.config.sample_rate
        self.samples_per_frame = network.samples_per_frame


class NonCausalVocoder(_Vocoder):
    """Vocoder of CosyVoice-300M and CosyVoice2."""

    network: NonCausalNetwork

    def noise(self, seed: int) -> SourceNoise:
        config = self.network.config
        has_phases = config.kind is VocoderKind.SAMPLE_PHASE
        return NormalNoise(seed, config.num_harmonics + 1, has_phases=has_phases)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return NonCausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """See ``stages.Vocoder``. Without frames, the result is empty."""
        if mel.shape[-1] == 0:
            return mel.new_empty(0)
        network = self.network
        with torch.inference_mode():
            mel = mel[None].to(network.conv_pre.weight)
            columns = noise.columns(0, mel.shape[-1] * self.samples_per_frame)
            f0 = network.f0_predictor(mel)
            phase = network.phase(cumulative_phase(f0, network.config), None, mel.dtype)
            source = network.m_source(f0, shifted(phase, noise.initial_phases()), columns)
            return network.decode(mel, source)[0]


class CausalVocoder(_Vocoder):
    """Vocoder of CosyVoice3."""

    network: CausalNetwork
    # Blocks of this size fit in the CPU cache, and memory does not grow with the utterance.
    _BLOCK_FRAMES: ClassVar[int] = 100

    def __init__(self, network: CausalNetwork) -> None:
        super().__init__(network)
        self._noise = UniformTable(network.config)

    def noise(self, seed: int) -> SourceNoise:  # noqa: ARG002 - the noise of this generation is constant
        return self._noise

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """See ``stages.Vocoder``. A stream computes it, which equals a whole run. Without frames, the result is empty."""
        stream = self.open_stream(noise)
        blocks = torch.split(mel, self._BLOCK_FRAMES, dim=-1)
        samples = [stream.synthesize(block, is_last=False) for block in blocks[:-1]]
        return torch.cat([*samples, stream.synthesize(blocks[-1], is_last=True)])


HiFTVocoder = NonCausalVocoder | CausalVocoder


def load_vocoder(path: Path, config: VocoderConfig, precision: Precision, device: str) -> HiFTVocoder:
    """Load the vocoder from a ``hift.pt``.

    A 16-bit ``precision`` applies only to convolutions in residual blocks. CosyVoice3's pitch predictor
    is float64 (specification G3). Raise ``MissingModelFile``, ``DamagedModelFile`` and ``WrongTensors``.
    """
    tensors = read_tensors(path)
    is_causal = config.kind is VocoderKind.CAUSAL
    network = meta_init(lambda: CausalHiFT(config) if is_causal else NonCausalHiFT(config))
    load_weights(network, fold_weight_norm(tensors, file_name=path.name), file_name=path.name)
    if is_causal:
        # The pitch predictor's weight normalisation is also folded in float64.
        f0_tensors = {name.removeprefix(_F0): tensor for name, tensor in tensors.items() if name.startswith(_F0)}
        folded_f0 = fold_weight_norm(f0_tensors, file_name=path.name, dtype=torch.float64)
        load_weights(network.f0_predictor, folded_f0, file_name=path.name, dtype=torch.float64)
    network.to(device)
    if precision in _HALF_TYPES:
        _to_half(network, _HALF_TYPES[precision])
    network.precompute()
    if isinstance(network, CausalHiFT):
        return CausalVocoder(network)
    return NonCausalVocoder(network)


class HalfConvolution(nn.Module):
    """A copy of ``plain`` in ``dtype``, with float32 input and output. On a processor, see ``convolve_as_image``."""

    def __init__(self, plain: nn.Conv1d, dtype: torch.dtype) -> None:
        super().__init__()
        assert plain.bias is not None
        self._is_image = plain.weight.device.type == "cpu"
        weight = as_image_weight(plain.weight, dtype) if self._is_image else plain.weight.to(dtype)
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.bias = nn.Parameter(plain.bias.to(dtype), requires_grad=False)
        self._dilation = plain.dilation

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        if self._is_image:
            return convolve_as_image(columns, self.weight, self.bias, self._dilation)
        half = columns.to(self.weight.dtype)
        return F.conv1d(half, self.weight, self.bias, dilation=self._dilation).to(columns.dtype)


def _to_half(network: HiFT, dtype: torch.dtype) -> None:
    """Replace the convolutions in residual blocks, for inference. ``network`` is already on its device."""
    for block in chain(network.resblocks, network.source_resblocks):
        assert isinstance(block, ResidualBlock)
        for convolutions in (block.convs1, block.convs2):
            for index, plain in enumerate(convolutions):
                assert isinstance(plain, nn.Conv1d)
                convolutions[index] = HalfConvolution(plain, dtype)
