"""The vocoder's promise (``stages.Vocoder``) kept with a graph for its decoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import torch

from studio.engines.onnx.graph import Graph
from studio.engines.onnx.vocoder_shapes import VocoderShapes
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.causal_stream import CausalStream
from studio.model.vocoder.centred_stream import CentredStream
from studio.model.vocoder.history import History
from studio.model.vocoder.network import CausalHiFT, CentredHiFT, HiFT, sound_of
from studio.model.vocoder.noise import NormalNoise, UniformTable
from studio.model.vocoder.source import glide, phase_sums, radians, staircase
from studio.model.vocoder.spectrum import analyse

# As in the plain vocoder: what a call holds of an utterance that is there as a whole.
_BLOCK_FRAMES = 100

_Network = TypeVar("_Network", "CentredDecoder", "CausalDecoder")


class _Decoder:
    """The layers before the decoder, taken from the plain network, whose decoder is then let go."""

    def __init__(self, plain: HiFT, graph: Graph, shapes: VocoderShapes) -> None:
        self.config = plain.config
        self.samples_per_frame = plain.samples_per_frame
        self.m_source = plain.m_source.to(graph.device)
        self.conv_pre = plain.conv_pre.to(graph.device)
        self.device = graph.device
        self._graph = graph
        self._shapes = shapes

    def _analyse(self, source: torch.Tensor, history: History) -> torch.Tensor:
        return analyse(source, self.config.stft_size, self.config.stft_hop, history)

    def _sound(self, spectrum: torch.Tensor, history: History) -> torch.Tensor:
        return sound_of(spectrum, self.config, history)


class CentredDecoder(_Decoder):
    """CosyVoice2's, as ``CentredStream`` wants it."""

    def __init__(self, plain: CentredHiFT, graph: Graph, shapes: VocoderShapes) -> None:
        super().__init__(plain, graph, shapes)
        self.f0_predictor = plain.f0_predictor.to(graph.device)

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return glide(radians(sums, self.samples_per_frame, dtype), self.samples_per_frame)

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        history = History.of_whole()
        spectrum = self._analyse(source, history).contiguous()
        made = torch.empty_like(spectrum)
        self._graph.run({"mel": mel.contiguous(), "spectrum": spectrum}, {"made": made})
        return self._sound(made, history)


class GraphHistory(History):
    """The past of the layers outside of the graph, and of those in it."""

    def __init__(self, shapes: VocoderShapes, device: torch.device) -> None:
        super().__init__()
        self.tails = {
            port.name: torch.zeros(1, port.channels, port.first_columns, device=device) for port in shapes.tails
        }


class CausalDecoder(_Decoder):
    """CosyVoice3's, as ``CausalStream`` wants it."""

    def __init__(self, plain: CausalHiFT, graph: Graph, shapes: VocoderShapes) -> None:
        super().__init__(plain, graph, shapes)
        self.f0_predictor = plain.f0_predictor.to(graph.device)

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return staircase(radians(sums, self.samples_per_frame, dtype), self.samples_per_frame)

    def open_history(self) -> History:
        return GraphHistory(self._shapes, self.device)

    def decode_chunk(self, mel: torch.Tensor, source: torch.Tensor, history: History) -> torch.Tensor:
        """See ``CausalHiFT.decode_chunk``."""
        assert isinstance(history, GraphHistory), "a history belongs to the decoder that opened it"
        look_right, is_first = self.config.look_right_frames, history.is_first
        if history.is_last:
            mel = torch.nn.functional.pad(mel, (0, look_right))
        window = history.extend(mel, extent=look_right + 1).contiguous()
        num_columns = (window.shape[-1] - look_right) * self._shapes.columns_per_frame + int(is_first)
        spectrum = history.hold_back(self._analyse(source, history), num_columns).contiguous()
        made = torch.empty_like(spectrum)
        new_tails = {
            port.name: torch.empty(1, port.channels, port.columns, device=self.device) for port in self._shapes.tails
        }
        outputs = {port.new_name: new_tails[port.name] for port in self._shapes.tails}
        self._graph.run({"mel": window, "spectrum": spectrum} | history.tails, {"made": made} | outputs)
        history.tails = new_tails
        return self._sound(made, history)


class GraphVocoder(ABC, Generic[_Network]):
    """What both generations share. Streams leave it unchanged, in any number of threads."""

    def __init__(self, network: _Network, engine: str) -> None:
        self.network: _Network = network
        self.engine = engine
        self.sample_rate = network.config.sample_rate
        self.samples_per_frame = network.samples_per_frame

    @abstractmethod
    def noise(self, seed: int) -> SourceNoise: ...

    @abstractmethod
    def open_stream(self, noise: SourceNoise) -> VocoderStream: ...

    @abstractmethod
    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor: ...


class CentredGraphVocoder(GraphVocoder[CentredDecoder]):
    """CosyVoice2's."""

    def noise(self, seed: int) -> SourceNoise:
        return NormalNoise(seed, self.network.config.num_harmonics + 1)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CentredStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """One run of the graph. No frames, no samples."""
        if mel.shape[-1] == 0:
            return mel.new_empty(0)
        network = self.network
        with torch.inference_mode():
            mel = mel[None].to(network.conv_pre.weight)
            columns = noise.columns(0, mel.shape[-1] * self.samples_per_frame)
            f0 = network.f0_predictor(mel)
            source = network.m_source(f0, network.phase(phase_sums(f0, network.config), mel.dtype), columns)
            return network.decode(mel, source)[0]


class CausalGraphVocoder(GraphVocoder[CausalDecoder]):
    """CosyVoice3's."""

    def __init__(self, network: CausalDecoder, engine: str) -> None:
        super().__init__(network, engine)
        self._noise = UniformTable(network.config)

    def noise(self, seed: int) -> SourceNoise:  # noqa: ARG002 - this generation's noise is a constant
        return self._noise

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """A stream that has everything at once. No frames, no samples."""
        stream = self.open_stream(noise)
        blocks = torch.split(mel, _BLOCK_FRAMES, dim=-1)
        sounds = [stream.synthesize(block, is_last=False) for block in blocks[:-1]]
        return torch.cat([*sounds, stream.synthesize(blocks[-1], is_last=True)])


def graph_vocoder(
    plain: HiFT, graph: Graph, shapes: VocoderShapes
) -> GraphVocoder[CentredDecoder] | GraphVocoder[CausalDecoder]:
    """The vocoder whose decoder is ``graph``; of ``plain`` the first layers are used, and moved."""
    if isinstance(plain, CentredHiFT):
        return CentredGraphVocoder(CentredDecoder(plain, graph, shapes), graph.engine)
    assert isinstance(plain, CausalHiFT)
    return CausalGraphVocoder(CausalDecoder(plain, graph, shapes), graph.engine)
