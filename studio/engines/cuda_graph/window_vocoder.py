"""``stages.Vocoder`` of CosyVoice2 with chunks recorded as CUDA graphs.

This network is not causal: a chunk is computed with the frames around it, as if it were a whole utterance. It is padded to
one of a few sizes. The columns of the padding are set to zero before each convolution, which therefore computes the same
as at the end of an utterance. State between chunks is in the stream, so all streams share the recordings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder, shared_pool
from studio.engines.cuda_graph.vocoder import GraphedVocoder
from studio.model.config import VocoderKind
from studio.model.stages import SourceNoise, Vocoder, VocoderStream
from studio.model.vocoder.layers import History, analyse, last_block_gain, same_padding
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT, cumulative_phase, synthesize_waveform
from studio.model.vocoder.vocoder import F0_PAST_FRAMES, HiFTVocoder, NonCausalStream, NonCausalVocoder

# Frames of a chunk with the frames around it: chunks of one, two and four seconds have 71, 121 and 221.
SIZES = (32, 48, 72, 96, 128, 176, 224)


class PaddedHistory(History):
    """History of a whole utterance of ``num_frames`` () frames that is padded to ``size`` frames."""

    def __init__(self, num_frames: torch.Tensor, size: int) -> None:
        super().__init__()
        self._num_frames = num_frames
        self._size = size
        self._masks: dict[int, torch.Tensor] = {}
        self.begin_chunk(is_last=True)

    def cut(self, columns: torch.Tensor) -> torch.Tensor:
        """Return ``columns`` with zeros in the padding."""
        length = columns.shape[-1]
        if length not in self._masks:
            per_frame, more = divmod(length, self._size)
            places = torch.arange(length, device=columns.device)
            self._masks[length] = places < self._num_frames * per_frame + more
        return columns * self._masks[length]

    def surround(self, columns: torch.Tensor, extent: int) -> torch.Tensor:
        return same_padding(self.cut(columns), extent)


@dataclass(frozen=True)
class WindowRun:
    """Inputs and outputs of one recorded size. The first ``offset`` frames are used for the pitch only."""

    offset: int
    mel: torch.Tensor  # (1, mel_bins, frames)
    noise: torch.Tensor  # (samples, harmonics)
    before: torch.Tensor | None  # (1, harmonics) phase sums at the frame before the window
    num_frames: torch.Tensor  # () of ``mel`` without the padding
    gains: torch.Tensor  # (samples,)
    samples: torch.Tensor  # (samples,)
    sums: torch.Tensor  # (1, harmonics, frames - offset) phase sums
    recorded: CapturedGraph


class WindowMemory:
    """The recorded sizes. Thread-safe."""

    def __init__(self, network: NonCausalHiFT) -> None:
        self._network = network
        self._device = network.conv_pre.weight.device
        self._runs: dict[tuple[int, int], WindowRun] = {}
        self._pool = shared_pool(self._device)
        self._order = StreamOrder(self._device)
        self._lock = threading.Lock()

    @torch.inference_mode()
    def compute(
        self, mel: torch.Tensor, offset: int, before: torch.Tensor | None, noise: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return samples and phase sums of ``mel`` from frame ``offset`` on, or None if no size fits."""
        num_frames = mel.shape[-1]
        # The last samples of the padding have the gain of an utterance's end, so there is at least one frame of it.
        size = next((size for size in SIZES if size > num_frames), None)
        if size is None or (offset, before is None) not in {(0, True), (F0_PAST_FRAMES, False)}:
            return None
        config = self._network.config
        with self._lock, self._order.turn():
            run = self.find_run(size, offset)
            run.mel.zero_()[..., :num_frames] = mel
            run.noise[: len(noise)].copy_(noise, non_blocking=True)
            if run.before is not None and before is not None:
                run.before.copy_(before)
            run.num_frames.fill_(num_frames)
            num_samples = len(noise)
            run.gains.fill_(1.0)
            gain = last_block_gain(config.stft_size, run.gains.dtype, run.gains.device)
            run.gains[num_samples - config.stft_hop : num_samples] = gain
            run.recorded.run(partial(self.compute_run, run))
            return run.samples[:num_samples].clone(), run.sums[:, :, : num_frames - offset].clone()

    @torch.inference_mode()
    def record(self, size: int, offset: int) -> None:
        with self._lock, self._order.turn():
            run = self.find_run(size, offset)
            run.num_frames.fill_(size)
            run.recorded.run(partial(self.compute_run, run))

    def find_run(self, size: int, offset: int) -> WindowRun:
        key = size, offset
        if key not in self._runs:
            self._runs[key] = self._make_run(size, offset)
        return self._runs[key]

    def _make_run(self, size: int, offset: int) -> WindowRun:
        network, weight = self._network, self._network.conv_pre.weight
        harmonics, num_samples = network.config.num_harmonics + 1, (size - offset) * network.samples_per_frame

        def sums(*shape: int) -> torch.Tensor:
            return torch.zeros(1, harmonics, *shape, dtype=torch.float64, device=self._device)

        return WindowRun(
            offset,
            mel=weight.new_zeros(1, network.config.mel_bins, size),
            noise=torch.zeros(num_samples, harmonics, device=self._device),
            before=sums() if offset else None,
            num_frames=torch.full((), size, device=self._device),
            gains=weight.new_ones(num_samples),
            samples=weight.new_zeros(num_samples),
            sums=sums(size - offset),
            recorded=CapturedGraph(self._device, pool=self._pool),
        )

    def compute_run(self, run: WindowRun) -> None:
        network, config, rate = self._network, self._network.config, self._network.samples_per_frame
        num_frames, size = run.num_frames - run.offset, run.mel.shape[-1] - run.offset
        whole = PaddedHistory(run.num_frames, run.mel.shape[-1])
        f0 = network.f0_predictor.padded_by(whole.surround, run.mel)[:, run.offset :]
        sums = cumulative_phase(f0, config, before=run.before)
        run.sums.copy_(sums)
        # The phase is interpolated between frames, and constant at the end.
        frames = torch.arange(size, device=self._device)
        held = sums.index_select(2, torch.minimum(frames, num_frames - 1))
        source = network.m_source(f0, network.phase(held, run.before, f0.dtype), run.noise)
        places = torch.arange(size * rate, device=self._device)
        source = source.index_select(1, torch.minimum(places, 2 * (num_frames * rate - 1) - places).clamp_(min=0))
        history = PaddedHistory(num_frames, size)
        spectrum = history.cut(analyse(source, config.stft_size, config.stft_hop, history))
        x = network.conv_pre(history.surround(run.mel[:, :, run.offset :], network.conv_pre.kernel_size[0]))
        x = history.cut(network.run_stages(x, spectrum, history.surround, history))
        samples = synthesize_waveform(x, config, history)[0] * run.gains
        run.samples.copy_(samples.clamp_(-config.audio_limit, config.audio_limit))


class RecordedWindowStream(NonCausalStream):
    """A stream that replays recorded runs where a size fits."""

    def __init__(self, network: NonCausalHiFT, memory: WindowMemory, noise: SourceNoise) -> None:
        super().__init__(network, noise)
        self._memory = memory

    def _compute(self, mel: torch.Tensor, offset: int, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self._memory.compute(mel, offset, self._phase_before, noise) or super()._compute(mel, offset, noise)


class GraphedWindowVocoder(NonCausalVocoder):
    """``Vocoder`` whose streams replay a recorded run per chunk."""

    network: NonCausalHiFT

    def __init__(self, network: NonCausalHiFT) -> None:
        assert network.config.kind is VocoderKind.NON_CAUSAL, "other kinds have initial phases and no fade"
        super().__init__(network)
        self.memory = WindowMemory(network)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return RecordedWindowStream(self.network, self.memory, noise)

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        return (partial(self.memory.record, size, offset) for offset in (0, F0_PAST_FRAMES) for size in SIZES)


def graphed(vocoder: Vocoder) -> GraphedVocoder | GraphedWindowVocoder:
    """Return ``vocoder`` of CosyVoice2 or CosyVoice3 with recorded chunks."""
    assert isinstance(vocoder, HiFTVocoder)
    network = vocoder.network
    if isinstance(network, CausalHiFT):
        return GraphedVocoder(network)
    assert isinstance(network, NonCausalHiFT)
    return GraphedWindowVocoder(network)
