"""Noise of the source signal by absolute sample index (specification G4, G8).

The noise of a sample does not depend on how an utterance is divided into chunks.
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
    """Normal noise of one utterance in CosyVoice2, determined by a seed.

    Decision: a counter-based generator with one counter per block. Reason: each block can be drawn
    independently, so nothing is stored. Alternative: one long sequence in memory.
    """

    def __init__(self, seed: int, num_columns: int) -> None:
        self._seed = seed & (2**64 - 1)
        self._num_columns = num_columns

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return normal noise (stop - start, columns) float32."""
        first_block, last_block = start // _BLOCK_SAMPLES, max(start, stop - 1) // _BLOCK_SAMPLES
        blocks = np.concatenate([self._block(index) for index in range(first_block, last_block + 1)])
        offset = first_block * _BLOCK_SAMPLES
        return torch.from_numpy(blocks[start - offset : stop - offset])

    def _block(self, index: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        generator = np.random.Generator(np.random.Philox(key=self._seed, counter=[0, 0, 0, index]))
        return generator.standard_normal((_BLOCK_SAMPLES, self._num_columns), dtype=np.float32)


class UniformTable:
    """The constant table of uniform noise of a CosyVoice3 model, drawn as far as needed.

    The official constructor draws 300 s of it (259 MB), after building flow and pitch predictor with the same
    generator. This draws the same numbers in the same order, and continues after the end of that table. All
    utterances of a model share it. Thread-safe.
    """

    def __init__(self, config: VocoderConfig) -> None:
        self._config = config
        self._num_columns = config.num_harmonics + 1
        self._blocks: list[torch.Tensor] = []
        self._generator: torch.Generator | None = None
        self._lock = threading.Lock()

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return uniform noise (stop - start, columns) float32 in 0..1."""
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


def _generator_before_table(config: VocoderConfig) -> torch.Generator:
    """Return a generator in the state in which the official constructor draws its table (G8).

    The flow's noise reseeds it. Flow and pitch predictor then draw initial weights, whose shapes determine
    how far it advances.
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
