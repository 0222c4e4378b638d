"""The random part of the source signal, found by the absolute index of a sample (specification G4, G8).

However an utterance is cut into chunks, each sample meets the same numbers.
"""

from __future__ import annotations

import threading

import numpy as np
import torch

from studio.model.config import VocoderConfig

_BLOCK_SAMPLES = 4800
_UNIFORM_BLOCK_SAMPLES = 24_000
_FLOW_NOISE_FRAMES = 15_000


class NormalNoise:
    """CosyVoice2: normal noise of one utterance, repeatable by its seed.

    Decided: a counter-based generator, one counter a block. Because any block can be drawn again
    without those before it, so nothing is stored. Instead of: one long sequence kept in memory.
    """

    def __init__(self, seed: int, num_columns: int) -> None:
        self._seed = seed & (2**64 - 1)
        self._num_columns = num_columns

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """(stop - start, columns) float32"""
        first_block, last_block = start // _BLOCK_SAMPLES, max(start, stop - 1) // _BLOCK_SAMPLES
        blocks = np.concatenate([self._block(index) for index in range(first_block, last_block + 1)])
        offset = first_block * _BLOCK_SAMPLES
        return torch.from_numpy(blocks[start - offset : stop - offset])

    def _block(self, index: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        generator = np.random.Generator(np.random.Philox(key=self._seed, counter=[0, 0, 0, index]))
        return generator.standard_normal((_BLOCK_SAMPLES, self._num_columns), dtype=np.float32)


class UniformTable:
    """CosyVoice3: the one table of uniform noise that belongs to a model, drawn as far as it is needed.

    The official constructor draws 300 s of it (259 MB) from the generator in the state that building
    flow and pitch predictor left behind; this draws the same numbers in the same order and goes on
    where that table ends. Shared by all utterances of a model and by their threads; never forgotten.
    """

    def __init__(self, config: VocoderConfig) -> None:
        self._config = config
        self._num_columns = config.num_harmonics + 1
        self._blocks: list[torch.Tensor] = []
        self._generator: torch.Generator | None = None
        self._lock = threading.Lock()

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """(stop - start, columns) float32 in 0..1"""
        first_block = start // _UNIFORM_BLOCK_SAMPLES
        last_block = max(start, stop - 1) // _UNIFORM_BLOCK_SAMPLES
        self._draw_up_to(last_block)
        offset = first_block * _UNIFORM_BLOCK_SAMPLES
        blocks = self._blocks[first_block : last_block + 1]
        return torch.cat(blocks)[start - offset : stop - offset]

    def _draw_up_to(self, last_block: int) -> None:
        with self._lock:
            if self._generator is None:
                self._generator = _generator_before_table(self._config)
            while len(self._blocks) <= last_block:
                self._blocks.append(_uniform(self._generator, _UNIFORM_BLOCK_SAMPLES, self._num_columns))


class TableNoise:
    """Noise given as a table (samples, columns), repeated when ``wraps``: for comparison with recorded runs."""

    def __init__(self, table: torch.Tensor, *, wraps: bool) -> None:
        self._table = table
        self._wraps = wraps

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """(stop - start, columns)"""
        if self._wraps:
            return self._table[torch.arange(start, stop) % len(self._table)]
        assert stop <= len(self._table), "the table is shorter than the utterance"
        return self._table[start:stop]


def _generator_before_table(config: VocoderConfig) -> torch.Generator:
    """A generator in the state in which the official constructor comes to draw its table (G8).

    The flow's noise reseeds it; flow and pitch predictor then draw their initial weights, whose
    shapes decide how far it has moved.
    """
    generator = torch.Generator("cpu").manual_seed(0)
    flow, width = config.preceding_flow, config.f0_channels
    torch.randn(1, flow.mel_bins, _FLOW_NOISE_FRAMES, generator=generator, device="cpu")
    torch.randn(flow.num_speech_tokens, flow.input_size, generator=generator, device="cpu")
    shapes = [(flow.mel_bins, flow.speaker_embedding_size), (flow.mel_bins,)]
    shapes += [(width, config.mel_bins, 4), (width,)]
    shapes += [(width, width, 3), (width,)] * 4
    shapes += [(1, width), (1,)]
    shapes += [(1, config.num_harmonics + 1)]  # initial phases, which have no effect
    for shape in shapes:
        _uniform(generator, *shape)
    return generator


def _uniform(generator: torch.Generator, *shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device="cpu")
