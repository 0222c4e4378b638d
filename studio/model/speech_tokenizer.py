"""Speech tokenizer from the model folder (specification D1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.errors import ClipTooLong
from studio.model.onnx_file import Port, open_onnx, require_inputs, run_network, wrong_network
from studio.model.stages import FloatArray

_MEL_BINS = 128
_FRAMES_PER_SECOND = 100
LONGEST_SECONDS = 30.0
_INTEGER_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}


class SpeechTokenizer:
    """Computes speech tokens from Whisper log-mels. Thread-safe."""

    def __init__(self, path: Path, *, num_threads: int | None = None, cuda_index: int | None = None) -> None:
        """Open the network at ``path``. Raises as ``open_onnx`` does."""
        self._path = path
        self._session = open_onnx(path, num_threads, cuda_index=cuda_index)
        features = Port(("tensor(float)",), (1, _MEL_BINS, None))
        require_inputs(path, self._session, (features, Port(tuple(_INTEGER_TYPES), (1,))))
        self._length_type = _INTEGER_TYPES[self._session.get_inputs()[1].type]

    def tokenize(self, log_mel: FloatArray) -> tuple[int, ...]:
        """Return the speech tokens of ``log_mel`` (128, T): ceil(T / 4) of them, 25 per second.

        Raise ``ClipTooLong`` beyond 30 s, the limit of the network, and ``DamagedModelFile`` if the
        output is not a list of tokens.
        """
        num_frames = log_mel.shape[1]
        if num_frames > LONGEST_SECONDS * _FRAMES_PER_SECOND:
            raise ClipTooLong(
                "The recording lasts {seconds:.1f} s; the model reads at most {longest:.0f} s at a time.",
                remedy="Split the recording into shorter parts.",
                seconds=num_frames / _FRAMES_PER_SECOND,
                longest=LONGEST_SECONDS,
            )
        features = log_mel[None].astype(np.float32, copy=False)
        length = np.array([num_frames], dtype=self._length_type)
        # Rank and number type differ between the released files and their conversions.
        tokens = run_network(self._path, self._session, features, length)
        ids = tokens.astype(np.int64)
        if not 0 < len(ids) <= num_frames or ids.min() < 0 or not np.array_equal(ids, tokens):
            raise wrong_network(self._path)
        return tuple(ids.tolist())
