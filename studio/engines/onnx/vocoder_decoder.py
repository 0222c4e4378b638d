"""The vocoder with its decoder replaced by a graph."""

from __future__ import annotations

import torch

from studio.engines.onnx.graph import Graph, VocoderShapes
from studio.model.vocoder.layers import History
from studio.model.vocoder.network import CausalHiFT, HiFT, NonCausalHiFT, waveform_of
from studio.model.vocoder.source import linear_upsample, nearest_upsample, radians
from studio.model.vocoder.spectrum import analyse
from studio.model.vocoder.vocoder import CausalVocoder, HiFTVocoder, NonCausalVocoder


class _Decoder:
    """The layers before the decoder, taken from the plain network; its own decoder is not kept."""

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
        return waveform_of(spectrum, self.config, history)


class CentredDecoder(_Decoder):
    """CosyVoice2's decoder with the interface of ``NonCausalStream``'s network."""

    def __init__(self, plain: NonCausalHiFT, graph: Graph, shapes: VocoderShapes) -> None:
        super().__init__(plain, graph, shapes)
        self.f0_predictor = plain.f0_predictor.to(graph.device)

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return linear_upsample(radians(sums, self.samples_per_frame, dtype), self.samples_per_frame)

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        history = History.of_whole()
        spectrum = self._analyse(source, history).contiguous()
        made = torch.empty_like(spectrum)
        self._graph.run({"mel": mel.contiguous(), "spectrum": spectrum}, {"made": made})
        return self._sound(made, history)


class GraphHistory(History):
    """History of the layers outside of the graph and inside it."""

    def __init__(self, shapes: VocoderShapes, device: torch.device) -> None:
        super().__init__()
        self.tails = {
            port.name: torch.zeros(1, port.channels, port.first_columns, device=device) for port in shapes.tails
        }


class CausalDecoder(_Decoder):
    """CosyVoice3's decoder with the interface of ``CausalStream``'s network."""

    def __init__(self, plain: CausalHiFT, graph: Graph, shapes: VocoderShapes) -> None:
        super().__init__(plain, graph, shapes)
        self.f0_predictor = plain.f0_predictor.to(graph.device)

    def phase(self, sums: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return nearest_upsample(radians(sums, self.samples_per_frame, dtype), self.samples_per_frame)

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


def graph_vocoder(plain: HiFT, graph: Graph, shapes: VocoderShapes) -> HiFTVocoder:
    """Return the vocoder with ``graph`` as its decoder; the first layers of ``plain`` are moved to its device."""
    if isinstance(plain, NonCausalHiFT):
        return NonCausalVocoder(CentredDecoder(plain, graph, shapes))
    assert isinstance(plain, CausalHiFT)
    return CausalVocoder(CausalDecoder(plain, graph, shapes))
