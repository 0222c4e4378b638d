"""CAM++ speaker encoder from the model folder (specification D4)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.model.onnx_file import Port, open_onnx, require_inputs, run_network, wrong_network
from studio.model.stages import FloatArray

_MEL_BINS = 80
_EMBEDDING_SIZE = 192


class SpeakerEncoder:
    """Computes speaker embeddings from filter banks. Thread-safe."""

    def __init__(self, path: Path, *, num_threads: int | None = None, cuda_index: int | None = None) -> None:
        """Open the network at ``path``. Raises as ``open_onnx`` does."""
        self._path = path
        self._session = open_onnx(path, num_threads, cuda_index=cuda_index)
        require_inputs(path, self._session, (Port(("tensor(float)",), (1, None, _MEL_BINS)),))

    def embed(self, fbank: FloatArray) -> FloatArray:
        """Return the speaker embedding (192,), not normalised, of a mean-free Kaldi filter bank (T, 80).

        Raise ``DamagedModelFile`` if the output has another size.
        """
        embedding = run_network(self._path, self._session, fbank[None].astype(np.float32, copy=False))
        if len(embedding) != _EMBEDDING_SIZE:
            raise wrong_network(self._path)
        return np.asarray(embedding, np.float32)
