"""Sound to the embedding that says whose voice it is: CAM++, through the model folder's own file (specification D4)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.model.onnx_file import Port, open_onnx, require_ports
from studio.model.stages import FloatArray

_MEL_BINS = 80
_EMBEDDING_SIZE = 192


class SpeakerEncoder:
    """Turns filter banks into speaker embeddings; may be shared by threads."""

    def __init__(self, path: Path, *, num_threads: int | None = None, cuda_index: int | None = None) -> None:
        """See ``open_onnx``; raises what that raises."""
        self._session = open_onnx(path, num_threads, cuda_index=cuda_index)
        of_floats = ("tensor(float)",)
        inputs = (Port(of_floats, (1, None, _MEL_BINS)),)
        require_ports(path, self._session, inputs, Port(of_floats, (1, _EMBEDDING_SIZE)))
        self._input_name = self._session.get_inputs()[0].name

    def embed(self, fbank: FloatArray) -> FloatArray:
        """The speaker embedding (192,), not normalised, of a mean-free Kaldi filter bank (T, 80)."""
        output = self._session.run(None, {self._input_name: fbank[None].astype(np.float32, copy=False)})[0]
        return np.asarray(output, dtype=np.float32).reshape(-1)
