"""The plain PyTorch vocoders: networks, their noise and their streams behind the promise of ``stages.py``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, TypeVar

import torch

from studio.model.config import Precision, VocoderConfig, VocoderKind
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.causal_stream import CausalNetwork, CausalStream
from studio.model.vocoder.half import to_half
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT
from studio.model.vocoder.noise import NormalNoise, UniformTable
from studio.model.vocoder.non_causal_stream import NonCausalNetwork, NonCausalStream
from studio.model.vocoder.source import cumulative_phase
from studio.model.weights import fold_weight_norm, load_weights, meta_init, read_tensors

_F0 = "f0_predictor."
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}
_Network = TypeVar("_Network", CausalHiFT, NonCausalHiFT)


class HiFTVocoder(ABC):
    """A network and what its utterances share. Streams leave it unchanged, in any number of threads.

    ``network`` is a ``HiFT``, or what an engine puts in its place.
    """

    def __init__(self, network: NonCausalNetwork | CausalNetwork) -> None:
        self.network = network
        self.sample_rate = network.config.sample_rate
        self.samples_per_frame = network.samples_per_frame

    @abstractmethod
    def noise(self, seed: int) -> SourceNoise: ...

    @abstractmethod
    def open_stream(self, noise: SourceNoise) -> VocoderStream: ...

    @abstractmethod
    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor: ...


class NonCausalVocoder(HiFTVocoder):
    """CosyVoice2's."""

    network: NonCausalNetwork

    def __init__(self, network: NonCausalNetwork) -> None:
        super().__init__(network)

    def noise(self, seed: int) -> SourceNoise:
        return NormalNoise(seed, self.network.config.num_harmonics + 1)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return NonCausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """One run of the network. No frames, no samples."""
        if mel.shape[-1] == 0:
            return mel.new_empty(0)
        network = self.network
        with torch.inference_mode():
            mel = mel[None].to(network.conv_pre.weight)
            columns = noise.columns(0, mel.shape[-1] * self.samples_per_frame)
            f0 = network.f0_predictor(mel)
            source = network.m_source(f0, network.phase(cumulative_phase(f0, network.config), mel.dtype), columns)
            return network.decode(mel, source)[0]


class CausalVocoder(HiFTVocoder):
    """CosyVoice3's."""

    network: CausalNetwork
    # Blocks of this many frames stay in the processor's cache, and memory does not grow with the utterance.
    _BLOCK_FRAMES: ClassVar[int] = 100

    def __init__(self, network: CausalNetwork) -> None:
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

    16 bits of ``precision`` are for the products of the residual blocks alone (``half``). CosyVoice3's pitch
    predictor is float64 (specification G3). Raises ``MissingModelFile``, ``DamagedModelFile`` and ``WrongTensors``.
    """
    tensors = read_tensors(path)
    if config.kind is VocoderKind.NON_CAUSAL:
        centred = meta_init(lambda: NonCausalHiFT(config))
        load_weights(centred, fold_weight_norm(tensors, file_name=path.name), file_name=path.name)
        return NonCausalVocoder(_in_place(centred, precision, device))
    causal = meta_init(lambda: CausalHiFT(config))
    load_weights(causal, fold_weight_norm(tensors, file_name=path.name), file_name=path.name)
    # The pitch predictor's normalisation, too, is computed in float64.
    of_f0 = {name.removeprefix(_F0): tensor for name, tensor in tensors.items() if name.startswith(_F0)}
    folded_f0 = fold_weight_norm(of_f0, file_name=path.name, dtype=torch.float64)
    load_weights(causal.f0_predictor, folded_f0, file_name=path.name, dtype=torch.float64)
    _in_place(causal, precision, device)
    causal.merge_taps()
    return CausalVocoder(causal)


def _in_place(network: _Network, precision: Precision, device: str) -> _Network:
    network.to(device)
    if precision in _HALF_TYPES:
        to_half(network, _HALF_TYPES[precision])
    return network
