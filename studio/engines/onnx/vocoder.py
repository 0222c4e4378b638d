"""The vocoder with its decoder as a graph: from mel and the source's spectrum to the spectrum of the waveform.

Decision: pitch, source and the two short-time Fourier transforms stay in torch. Reason: they are a hundredth of the
work; CosyVoice3 accumulates phase in float64, which few engines support; and the transforms treat the start and end of
an utterance differently, while the graph treats all chunks the same.
"""

from __future__ import annotations

import onnx
import torch
from torch import nn

from studio.engines.onnx.graph import Graph, TailPort, VocoderShapes
from studio.engines.onnx.tracing import TracedInput, trace
from studio.model.vocoder.layers import History, analyse, causal_padding, same_padding
from studio.model.vocoder.network import CausalHiFT, HiFT, NonCausalHiFT, source_phase, synthesize_waveform
from studio.model.vocoder.vocoder import CausalVocoder, HiFTVocoder, NonCausalVocoder

_FRAMES = 3  # length of the traced example


class CentredGraph(nn.Module):
    """Vocoder graph of CosyVoice-300M and CosyVoice2. Its inputs are a mel (1, bins, frames) and the spectrum of its source
    (1, size + 2, columns).
    """

    def __init__(self, network: NonCausalHiFT) -> None:
        super().__init__()
        self._network = network

    def forward(self, mel: torch.Tensor, spectrum: torch.Tensor) -> torch.Tensor:
        network = self._network
        x = network.conv_pre(same_padding(mel, network.conv_pre.kernel_size[0]))
        return network.run_stages(x, spectrum, same_padding, History.of_whole())


class CausalGraph(nn.Module):
    """CosyVoice3: mel with the look-ahead of ``conv_pre``, the spectrum, and each layer's tail."""

    def __init__(self, network: CausalHiFT, columns_per_frame: int) -> None:
        super().__init__()
        self._network = network
        self._columns_per_frame = columns_per_frame

    def forward(self, mel: torch.Tensor, spectrum: torch.Tensor, *tails: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = self._network.conv_pre(mel)
        # The first chunk of an utterance has one additional column.
        num_leading = spectrum.shape[2] - self._columns_per_frame * x.shape[2]
        history = TracedHistory(tails, num_leading)
        made = self._network.run_stages(x, spectrum, causal_padding(history), history)
        return made, *history.new_tails


class TracedHistory(History):
    """A chunk in the middle of an utterance: tails are inputs, and the new tails are collected."""

    def __init__(self, tails: tuple[torch.Tensor, ...], num_leading: int) -> None:
        super().__init__()
        self.is_first = False
        self._given = iter(tails)
        self._num_leading = num_leading
        self.new_tails: list[torch.Tensor] = []

    def extend(self, columns: torch.Tensor, *, extent: int, stride: int = 1, before: int = 0) -> torch.Tensor:  # noqa: ARG002 - the given tail holds them
        if extent == stride:
            return columns
        joined = torch.cat((next(self._given), columns), dim=-1)
        self.new_tails.append(joined[..., stride - extent :])
        return joined

    def reflect_start(self, columns: torch.Tensor) -> torch.Tensor:
        return torch.cat((columns[:, :, 1 : 1 + self._num_leading], columns), dim=-1)


class _MeasuringHistory(History):
    """Records the tails at the start of an utterance."""

    def __init__(self) -> None:
        super().__init__()
        self.tails: list[TailPort] = []
        self.begin_chunk(is_last=True)

    def extend(self, columns: torch.Tensor, *, extent: int, stride: int = 1, before: int = 0) -> torch.Tensor:
        if extent != stride:
            self.tails.append(TailPort(f"tail.{len(self.tails)}", columns.shape[1], before, extent - stride))
        return super().extend(columns, extent=extent, stride=stride, before=before)


def vocoder_shapes(network: CausalHiFT | NonCausalHiFT, key: str) -> VocoderShapes:
    """Return the description of the graph."""
    config = network.config
    columns_per_frame = network.samples_per_frame // config.stft_hop
    tails: tuple[TailPort, ...] = ()
    if isinstance(network, CausalHiFT):
        history, width = _MeasuringHistory(), config.stft_size + 2
        with torch.inference_mode():
            x = torch.zeros(1, config.base_channels, _FRAMES)
            spectrum = torch.zeros(1, width, columns_per_frame * _FRAMES + 1)
            network.run_stages(x, spectrum, causal_padding(history), history)
        tails = tuple(history.tails)
    return VocoderShapes(key, columns_per_frame, tails)


def vocoder_graph(network: CausalHiFT | NonCausalHiFT, shapes: VocoderShapes) -> onnx.ModelProto:
    """Trace the decoder: inputs ``mel``, ``spectrum`` and the tails, outputs ``made`` and the new tails."""
    config, width = network.config, network.config.stft_size + 2
    num_columns = shapes.columns_per_frame * _FRAMES + 1
    spectrum = TracedInput(torch.zeros(1, width, num_columns), {2: "columns"})
    outputs = {"made": {2: "columns"}} | {port.new_name: {} for port in shapes.tails}
    if isinstance(network, NonCausalHiFT):
        mel = TracedInput(torch.zeros(1, config.mel_bins, _FRAMES), {2: "frames"})
        return trace(CentredGraph(network), {"mel": mel, "spectrum": spectrum}, outputs)
    mel = TracedInput(torch.zeros(1, config.mel_bins, _FRAMES + config.look_right_frames), {2: "frames_and_look_right"})
    tails = {
        port.name: TracedInput(
            torch.zeros(1, port.channels, port.first_columns),
            {2: f"{port.name}_columns"} if port.first_columns != port.columns else {},
        )
        for port in shapes.tails
    }
    graph = CausalGraph(network, shapes.columns_per_frame)
    return trace(graph, {"mel": mel, "spectrum": spectrum} | tails, outputs)


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

    def phase(self, sums: torch.Tensor, before: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
        kind, rate = self.config.kind, self.samples_per_frame
        return source_phase(sums, before, dtype, kind=kind, samples_per_frame=rate)

    def _analyse(self, source: torch.Tensor, history: History) -> torch.Tensor:
        return analyse(source, self.config.stft_size, self.config.stft_hop, history)

    def _sound(self, spectrum: torch.Tensor, history: History) -> torch.Tensor:
        return synthesize_waveform(spectrum, self.config, history)


class CentredDecoder(_Decoder):
    """Decoder of CosyVoice-300M and CosyVoice2 with the interface of ``NonCausalStream``'s network."""

    def __init__(self, plain: NonCausalHiFT, graph: Graph, shapes: VocoderShapes) -> None:
        super().__init__(plain, graph, shapes)
        self.f0_predictor = plain.f0_predictor.to(graph.device)

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
