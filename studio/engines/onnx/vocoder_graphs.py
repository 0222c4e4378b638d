"""The vocoder's decoder as a graph: from mel and the source's spectrum to the spectrum of the waveform.

Decision: pitch, source and the two short-time Fourier transforms stay in torch. Reason: they are a hundredth of the
work; CosyVoice3 accumulates phase in float64, which few engines support; and the transforms treat the start and end of
an utterance differently, while the graph treats all chunks the same.
"""

from __future__ import annotations

import onnx
import torch
from torch import nn

from studio.engines.onnx.graph import TailPort, VocoderShapes
from studio.engines.onnx.tracing import TracedInput, trace
from studio.model.vocoder.layers import History, causal_padding, same_padding
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT

_FRAMES = 3  # of the traced example


class CentredGraph(nn.Module):
    """CosyVoice2: a window of mel (1, bins, frames) with its source's spectrum (1, size + 2, columns)."""

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
