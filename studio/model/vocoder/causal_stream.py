"""Streaming of CosyVoice3's vocoder: every frame passes through the network once.

The result equals one run over the whole utterance, for any division into chunks. A sample is final once no
later frame can change it: after four more frames and four samples. (The official program waits for eight
frames; the samples are the same.)
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from studio.model.config import VocoderConfig
from studio.model.stages import SourceNoise
from studio.model.vocoder.f0 import LOOK_RIGHT_FRAMES as F0_LOOK_RIGHT_FRAMES
from studio.model.vocoder.f0 import CausalF0Predictor
from studio.model.vocoder.history import History
from studio.model.vocoder.source import HarmonicSource, cumulative_phase


class CausalNetwork(Protocol):
    """Interface of ``CausalHiFT`` used by a stream. An engine may have another decoder."""

    config: VocoderConfig
    samples_per_frame: int
    f0_predictor: CausalF0Predictor
    m_source: HarmonicSource
    conv_pre: nn.Conv1d

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor: ...

    def open_history(self) -> History: ...

    def decode_chunk(self, mel: torch.Tensor, source: torch.Tensor, history: History) -> torch.Tensor: ...


class CausalStream:
    """State of one utterance: the past that each layer still needs, and the phase."""

    def __init__(self, network: CausalNetwork, noise: SourceNoise) -> None:
        self._network = network
        self._noise = noise
        self._history = network.open_history()
        self._phase_sums: torch.Tensor | None = None
        self._num_source_samples = 0
        self._waiting_mel: torch.Tensor | None = None
        # Number of frames from which a first chunk returns samples.
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
        sums = cumulative_phase(f0, network.config, before=self._phase_sums)
        self._phase_sums = sums[:, :, -1]
        self._num_source_samples += f0.shape[-1] * network.samples_per_frame
        noise = self._noise.columns(start, self._num_source_samples)
        source: torch.Tensor = network.m_source(f0, network.phase(sums, mel.dtype), noise)
        return source
