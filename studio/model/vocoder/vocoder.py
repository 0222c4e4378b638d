"""The plain PyTorch vocoders: networks, their noise and their streams behind the promise of ``stages.py``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import torch

from studio.model.config import Precision, VocoderConfig, VocoderKind
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.causal_stream import CausalStream
from studio.model.vocoder.centred_stream import CentredStream
from studio.model.vocoder.network import CausalHiFT, CentredHiFT, HiFT
from studio.model.vocoder.noise import NormalNoise, UniformTable
from studio.model.weights import fill, fold_weight_norm, read_tensors, without_weights

_F0 = "f0_predictor."


class HiFTVocoder(ABC):
    """A network in float32 and what its utterances share. Streams leave it unchanged, in any number of threads."""

    def __init__(self, network: HiFT) -> None:
        self.network = network
        self.sample_rate = network.config.sample_rate
        self.samples_per_frame = network.samples_per_frame

    @abstractmethod
    def noise(self, seed: int) -> SourceNoise: ...

    @abstractmethod
    def open_stream(self, noise: SourceNoise) -> VocoderStream: ...

    @abstractmethod
    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor: ...


class CentredVocoder(HiFTVocoder):
    """CosyVoice2's."""

    network: CentredHiFT

    def __init__(self, network: CentredHiFT) -> None:
        super().__init__(network)

    def noise(self, seed: int) -> SourceNoise:
        return NormalNoise(seed, self.network.config.num_harmonics + 1)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CentredStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """One run of the network. No frames, no samples."""
        if mel.shape[-1] == 0:
            return mel.new_empty(0)
        with torch.inference_mode():
            mel = mel[None].to(self.network.conv_pre.weight)
            columns = noise.columns(0, mel.shape[-1] * self.samples_per_frame)
            sound: torch.Tensor = self.network(mel, columns)[0]
            return sound[0]


class CausalVocoder(HiFTVocoder):
    """CosyVoice3's."""

    network: CausalHiFT
    # Blocks of this many frames stay in the processor's cache, and memory does not grow with the utterance.
    _BLOCK_FRAMES: ClassVar[int] = 100

    def __init__(self, network: CausalHiFT) -> None:
        super().__init__(network)
        self._noise = UniformTable(network.config)

    def noise(self, seed: int) -> SourceNoise:  # noqa: ARG002 - this generation's noise is a constant
        return self._noise

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """A stream that has everything at once: a whole run and a stream are equal. No frames, no samples."""
        stream = self.open_stream(noise)
        blocks = torch.split(mel, self._BLOCK_FRAMES, dim=-1)
        sounds = [stream.synthesize(block, is_last=False) for block in blocks[:-1]]
        return torch.cat([*sounds, stream.synthesize(blocks[-1], is_last=True)])


def load_vocoder(path: Path, config: VocoderConfig, precision: Precision, device: str) -> HiFTVocoder:
    """The vocoder of a ``hift.pt``.

    Always float32, whatever ``precision`` the other stages have: half precision overflows where a
    Snake's frequency is tiny. CosyVoice3's pitch predictor is float64 (specification G3).
    Raises ``MissingModelFile``, ``DamagedModelFile`` and ``WrongTensors``.
    """
    del precision
    tensors = read_tensors(path)
    if config.kind is VocoderKind.CENTRED:
        with without_weights():
            centred = CentredHiFT(config)
        fill(centred, fold_weight_norm(tensors), file_name=path.name)
        return CentredVocoder(centred.to(device))
    with without_weights():
        causal = CausalHiFT(config)
    fill(causal, fold_weight_norm(tensors), file_name=path.name)
    # The pitch predictor's normalisation, too, is computed in float64.
    of_f0 = {name.removeprefix(_F0): tensor for name, tensor in tensors.items() if name.startswith(_F0)}
    fill(causal.f0_predictor, fold_weight_norm(of_f0, dtype=torch.float64), file_name=path.name, dtype=torch.float64)
    causal.to(device)
    causal.merge_taps()
    return CausalVocoder(causal)
