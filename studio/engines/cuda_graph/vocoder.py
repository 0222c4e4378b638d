"""``stages.Vocoder`` of CosyVoice3 with chunks recorded as CUDA graphs.

A chunk of a given number of frames is always the same computation, except at both ends of an utterance. The first chunk
has its own recordings. The last one is padded with zeros, as the network pads it anyway, to one of a few sizes; so
cuDNN, which plans every convolution for each new size, has planned it before. Inputs of the recording mark where the
speech ends: beyond that point the source is the reflection of the speech, and the spectrum is zero.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder, shared_pool
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.layers import History, last_block_gain
from studio.model.vocoder.network import LOOK_RIGHT_FRAMES as F0_LOOK_RIGHT_FRAMES
from studio.model.vocoder.network import CausalHiFT, cumulative_phase, synthesize_waveform
from studio.model.vocoder.vocoder import CausalStream, CausalVocoder

# Sizes of last chunks in frames, padding included. Chunks of one, two and four seconds also occur earlier.
SIZES = (50, 100, 150, 200, 250)
# First chunks of streams: 7 to 31 tokens, so that prompt and chunk end on the grid of 25 tokens (``ChunkSchedule``).
_FIRST_SIZES = range(14, 63, 2)
# Frames of the end of an utterance that are computed at once.
_MAX_FRAMES = 200
# The sample of a position in a chunk that is not the last one.
_NO_END = 1 << 40


class FixedHistory(History):
    """Past columns in memory of fixed size, which the first chunk allocates."""

    def begin(self, *, is_first: bool) -> None:
        self.is_first = is_first
        self._next_layer = 0

    def state(self) -> tuple[torch.Tensor, ...]:
        return tuple(self._tails)

    def _keep(self, tail: torch.Tensor) -> None:
        if self._next_layer < len(self._tails):
            self._tails[self._next_layer].copy_(tail)
            self._next_layer += 1
        else:
            super()._keep(tail)


@dataclass(frozen=True)
class ChunkRun:
    """Inputs and output of one recorded size. Numbers of samples and columns count from the start of the chunk."""

    is_first: bool
    mel: torch.Tensor  # (1, mel_bins, frames)
    noise: torch.Tensor  # (samples of the source, harmonics)
    samples: torch.Tensor  # (n,)
    gains: torch.Tensor  # (n,) of the samples
    end_of_source: torch.Tensor  # () number of samples before the reflection
    end_of_spectrum: torch.Tensor  # () number of columns before the zeros
    source_places: torch.Tensor  # 0, 1, 2, …
    columns: torch.Tensor  # 0, 1, 2, …
    recorded: CapturedGraph


class VocoderMemory:
    """State of one utterance in fixed memory, and the recorded runs that read and change it."""

    def __init__(self, network: CausalHiFT) -> None:
        self.network = network
        self._device = network.conv_pre.weight.device
        self._history = FixedHistory()
        harmonics = network.config.num_harmonics + 1
        self._phase_sums = torch.zeros(1, harmonics, dtype=torch.float64, device=self._device)
        self._runs: dict[tuple[bool, int], ChunkRun] = {}
        self._pool = shared_pool(self._device)
        self.order = StreamOrder(self._device)

    def find_run(self, num_frames: int, *, is_first: bool) -> ChunkRun:
        """Return the run of a size. To be recorded, a later run needs the state of a first run."""
        key = is_first, num_frames
        if key not in self._runs:
            self._runs[key] = self._make_run(num_frames, is_first=is_first)
        return self._runs[key]

    def compute(self, run: ChunkRun) -> None:
        run.recorded.run(partial(self._compute, run))

    @torch.inference_mode()
    def record(self, size: int, *, is_first: bool) -> None:
        """Record a chunk of ``size`` frames. A first chunk must be recorded before others."""
        with self.order.turn():
            self.compute(self.find_run(size, is_first=is_first))

    def _make_run(self, num_frames: int, *, is_first: bool) -> ChunkRun:
        network, weight = self.network, self.network.conv_pre.weight
        config, rate = network.config, network.samples_per_frame
        num_source = rate * (num_frames - (F0_LOOK_RIGHT_FRAMES if is_first else 0))
        num_columns = rate // config.stft_hop * (num_frames - (config.look_right_frames if is_first else 0))
        num_samples = config.stft_hop * (num_columns - 1 if is_first else num_columns)
        num_columns += int(is_first)

        def counted(length: int) -> torch.Tensor:
            return torch.arange(length, device=self._device)

        return ChunkRun(
            is_first,
            mel=weight.new_zeros(1, config.mel_bins, num_frames),
            noise=torch.zeros(num_source, config.num_harmonics + 1, device=self._device),
            samples=weight.new_zeros(num_samples),
            gains=weight.new_ones(num_samples),
            end_of_source=torch.full((), _NO_END, device=self._device),
            end_of_spectrum=torch.full((), _NO_END, device=self._device),
            source_places=counted(num_source),
            columns=counted(num_columns),
            recorded=CapturedGraph(
                self._device, () if is_first else (*self._history.state(), self._phase_sums), pool=self._pool
            ),
        )

    def _compute(self, run: ChunkRun) -> None:
        network, config, history = self.network, self.network.config, self._history
        history.begin(is_first=run.is_first)
        before = None if run.is_first else self._phase_sums
        f0 = network.f0_predictor.continue_from(run.mel, history)
        sums = cumulative_phase(f0, config, before=before)
        source = network.m_source(f0, network.phase(sums, before, run.mel.dtype), run.noise)
        self._phase_sums.copy_(sums[:, :, -1])
        places = torch.minimum(run.source_places, 2 * run.end_of_source - 2 - run.source_places).clamp_(min=0)
        spectrum = network.spectrum_of_chunk(run.mel, source.index_select(1, places), history)
        spectrum = spectrum * (run.columns < run.end_of_spectrum)
        samples = synthesize_waveform(spectrum, config, history)[0] * run.gains
        run.samples.copy_(samples.clamp_(-config.audio_limit, config.audio_limit))


class RecordedStream:
    """``CausalStream`` on the runs of a memory that no other stream uses meanwhile."""

    def __init__(self, vocoder: GraphedVocoder, memory: VocoderMemory, noise: SourceNoise) -> None:
        self._vocoder = vocoder
        self._memory: VocoderMemory | None = memory
        self._noise = noise
        config = memory.network.config
        self._margin = config.look_right_frames + 1
        self._min_first_frames = 1 + max(config.look_right_frames, F0_LOOK_RIGHT_FRAMES + 1)
        self._waiting_mel = memory.network.conv_pre.weight.new_empty(config.mel_bins, 0)
        self._num_frames = self._num_source = self._num_columns = self._num_emitted = 0

    def __del__(self) -> None:
        self._release()

    @torch.inference_mode()
    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        """See ``CausalStream``."""
        assert self._memory is not None, "nothing follows the last chunk"
        mel = torch.cat((self._waiting_mel, mel.to(self._waiting_mel)), dim=-1)
        self._waiting_mel = mel[:, :0]
        num_frames, has_begun = mel.shape[-1], self._num_source > 0
        if not has_begun and not is_last and num_frames < self._min_first_frames:
            self._waiting_mel = mel
            return mel.new_empty(0)
        if num_frames == 0 and not (has_begun and is_last):
            return mel.new_empty(0)
        with self._memory.order.turn():
            if not is_last:
                return self._run(self._memory, mel, num_frames, None)
            *wholes, rest = torch.split(mel, _MAX_FRAMES, dim=-1) if num_frames else (mel,)
            parts = [self._run(self._memory, whole, _MAX_FRAMES, None) for whole in wholes]
            size = next(size for size in SIZES if size >= rest.shape[-1] + self._margin)
            parts.append(self._run(self._memory, rest, size, self._num_frames + rest.shape[-1]))
        self._release()
        return torch.cat(parts)

    def _run(self, memory: VocoderMemory, mel: torch.Tensor, size: int, end: int | None) -> torch.Tensor:
        """Return the samples of a chunk, padded to ``size`` frames. The utterance has ``end`` frames, if known."""
        run = memory.find_run(size, is_first=self._num_source == 0)
        config, rate = memory.network.config, memory.network.samples_per_frame
        run.mel.zero_()[0, :, : mel.shape[-1]] = mel
        num_source = len(run.noise)
        run.noise.copy_(self._noise.columns(self._num_source, self._num_source + num_source), non_blocking=True)
        run.gains.fill_(1.0)
        num_samples = len(run.samples)
        end_of_source = end_of_spectrum = _NO_END
        if end is not None:
            end_of_source = end * rate - self._num_source
            end_of_spectrum = end * rate // config.stft_hop + 1 - self._num_columns
            num_samples = end * rate - self._num_emitted
            gain = last_block_gain(config.stft_size, run.gains.dtype, run.gains.device)
            run.gains[num_samples - config.stft_hop : num_samples] = gain
        run.end_of_source.fill_(end_of_source)
        run.end_of_spectrum.fill_(end_of_spectrum)
        memory.compute(run)
        self._num_frames += mel.shape[-1]
        self._num_source += num_source
        self._num_columns += len(run.columns)
        self._num_emitted += num_samples
        return run.samples[:num_samples].clone()

    def _release(self) -> None:
        memory, self._memory = self._memory, None
        if memory is not None:
            self._vocoder.give_back(memory)


class GraphedVocoder(CausalVocoder):
    """``Vocoder`` whose streams replay a recorded run per chunk, one at a time. Other streams run without graphs."""

    network: CausalHiFT

    def __init__(self, network: CausalHiFT) -> None:
        super().__init__(network)
        self._idle: list[VocoderMemory] = [VocoderMemory(network)]
        # Re-entrant: garbage collection may return the memory while this thread takes it.
        self._lock = threading.RLock()

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        with self._lock:
            memory = self._idle.pop() if self._idle else None
        return CausalStream(self.network, noise) if memory is None else RecordedStream(self, memory, noise)

    def give_back(self, memory: VocoderMemory) -> None:
        with self._lock:
            self._idle.append(memory)

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        kinds = [(size, is_first) for is_first in (True, False) for size in SIZES]
        kinds += [(size, True) for size in _FIRST_SIZES]
        return (partial(self._record, size, is_first=is_first) for size, is_first in kinds)

    def _record(self, size: int, *, is_first: bool) -> None:
        """Record chunks of ``size`` frames, unless a stream is using the memory."""
        with self._lock:
            memory = self._idle.pop() if self._idle else None
        if memory is not None:
            try:
                memory.record(size, is_first=is_first)
            finally:
                self.give_back(memory)
