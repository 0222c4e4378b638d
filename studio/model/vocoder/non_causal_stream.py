"""CosyVoice2's vocoder, chunk by chunk: windows that overlap, and a cross-fade.

The network sees both sides, so the end of a chunk is not final before some 14 frames have followed.
As in the official program (specification H2) the last eight frames of a chunk are held back, and made
again with the next chunk. Two of its defects are repaired (J2: 12, 13), and seams are closer to one run:

- pitch, phase and noise continue from chunk to chunk: the source is that of a whole run, except in
  the last frames of a chunk, whose pitch is not final either (they are made again with the next);
- a chunk is decoded with some of the past in front, so that it differs from a whole run only at its end;
- the halves of the fade add up to one.

Decided: eight frames of past before the overlap, and a fade over two frames at its start. Because sound
reaches back no further than past and overlap together (13 frames of mel, 14.25 of source), so the new
version is the better one from the start of the overlap on, and the fade only hides the change. Instead
of: no past and a fade over all eight frames, which saves an eighth of the work in chunks of 50 frames
and mixes in the old end where it is worst (measured: 30 dB further from a whole run).
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from studio.model.config import VocoderConfig
from studio.model.stages import SourceNoise
from studio.model.vocoder.f0 import F0Predictor
from studio.model.vocoder.source import HarmonicSource, cumulative_phase

_OVERLAP_FRAMES = 8
_PAST_FRAMES = 8
_FADE_FRAMES = 2
_F0_PAST_FRAMES = 5


class NonCausalNetwork(Protocol):
    """What a stream wants of ``NonCausalHiFT``; an engine may have another decoder."""

    config: VocoderConfig
    samples_per_frame: int
    f0_predictor: F0Predictor
    m_source: HarmonicSource
    conv_pre: nn.Conv1d

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor: ...

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor: ...


class NonCausalStream:
    """The state of one utterance: recent mel frames, the running phase, and the sound held back."""

    def __init__(self, network: NonCausalNetwork, noise: SourceNoise) -> None:
        self._network = network
        self._noise = noise
        self._mel = network.conv_pre.weight.new_empty(1, network.config.mel_bins, 0)
        self._mel_start = 0  # index of its first frame in the utterance
        self._num_made = 0  # frames that have passed the network
        self._num_emitted = 0  # frames whose sound has been given away
        self._phase_before: torch.Tensor | None = None  # sums at the frame before the next window
        self._held_back = network.conv_pre.weight.new_empty(0)

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """Samples (n,) that are final now; ``mel`` (bins, frames) follows the frames given before."""
        with torch.inference_mode():
            self._mel = torch.cat((self._mel, mel[None].to(self._mel)), dim=-1)
            num_frames = self._mel_start + self._mel.shape[-1]
            if num_frames - self._num_made <= (0 if is_last else _OVERLAP_FRAMES):
                # Too little that is new. What was held back has no later version to fade into.
                return self._held_back if is_last else self._held_back[:0]
            window_start = self._window_start()
            sound, sums = self._make_sound(window_start, num_frames)
            end = num_frames if is_last else num_frames - _OVERLAP_FRAMES
            num_final = (end - self._num_emitted) * self._network.samples_per_frame
            self._held_back, self._num_made, self._num_emitted = sound[num_final:], num_frames, end
            self._forget(window_start, sums)
            return sound[:num_final]

    def _window_start(self) -> int:
        return max(0, self._num_emitted - _PAST_FRAMES)

    def _make_sound(self, start: int, num_frames: int) -> tuple[torch.Tensor, torch.Tensor]:
        """From the first sample not yet emitted to the end of frame ``num_frames``, decoded from frame ``start`` on.

        The second tensor are the phase sums of those frames.
        """
        network, rate = self._network, self._network.samples_per_frame
        f0 = network.f0_predictor(self._mel)[:, start - self._mel_start :]
        sums = cumulative_phase(f0, network.config, before=self._phase_before)
        noise = self._noise.columns(start * rate, num_frames * rate)
        source = network.m_source(f0, network.phase(sums, f0.dtype), noise)
        sound = network.decode(self._mel[:, :, start - self._mel_start :], source)[0]
        sound = sound[(self._num_emitted - start) * rate :]
        return _fade_over(self._held_back[: _FADE_FRAMES * rate], sound), sums

    def _forget(self, window_start: int, sums: torch.Tensor) -> None:
        """Keeps what the next window needs: its mel, with what the pitch predictor sees before it, and its phase."""
        next_start = self._window_start()
        if next_start > window_start:
            self._phase_before = sums[:, :, next_start - 1 - window_start]
        mel_start = max(0, next_start - _F0_PAST_FRAMES)
        self._mel = self._mel[:, :, mel_start - self._mel_start :].clone()
        self._mel_start = mel_start


def _fade_over(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """``new`` with its first samples faded in over ``old``: halves of a Hamming window, brought to the sum of one."""
    num_samples = old.shape[-1]
    if num_samples == 0:
        return new
    window = torch.hamming_window(2 * num_samples, periodic=False, dtype=new.dtype, device=new.device)
    rising, falling = window[:num_samples], window[num_samples:]
    faded = torch.lerp(old, new[:num_samples], rising / (rising + falling))
    return torch.cat((faded, new[num_samples:]))
