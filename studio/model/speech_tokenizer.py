"""Sound to speech tokens, through the model folder's own network (specification D1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studio.errors import ClipTooLong
from studio.model.onnx_file import Port, open_onnx, require_ports
from studio.model.stages import FloatArray

_MEL_BINS = 128
_FRAMES_PER_SECOND = 100
LONGEST_SECONDS = 30.0
_INTEGER_TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64}


class SpeechTokenizer:
    """Turns Whisper log-mels into speech tokens; may be shared by threads."""

    def __init__(self, path: Path, *, num_threads: int | None = None, cuda_index: int | None = None) -> None:
        """See ``open_onnx``; raises what that raises."""
        self._session = open_onnx(path, num_threads, cuda_index=cuda_index)
        integers = tuple(_INTEGER_TYPES)
        inputs = (Port(("tensor(float)",), (1, _MEL_BINS, None)), Port(integers, (1,)))
        require_ports(path, self._session, inputs, Port(integers))
        features, length = self._session.get_inputs()
        self._features_name, self._length_name = features.name, length.name
        self._length_type = _INTEGER_TYPES[length.type]

    def tokenize(self, log_mel: FloatArray) -> tuple[int, ...]:
        """The speech tokens of ``log_mel`` (128, T): ceil(T / 4) of them, 25 a second.

        Raises ``ClipTooLong`` beyond 30 s: the network was not made for more, the caller cuts.
        """
        num_frames = log_mel.shape[1]
        if num_frames > LONGEST_SECONDS * _FRAMES_PER_SECOND:
            raise ClipTooLong(
                "The recording lasts {seconds:.1f} s; the model listens to at most {longest:.0f} s at once.",
                remedy="Cut the recording into shorter ones.",
                seconds=num_frames / _FRAMES_PER_SECOND,
                longest=LONGEST_SECONDS,
            )
        inputs = {
            self._features_name: log_mel[None].astype(np.float32, copy=False),
            self._length_name: np.array([num_frames], dtype=self._length_type),
        }
        tokens = np.asarray(self._session.run(None, inputs)[0])
        # Rank and integer type differ between the released files.
        return tuple(int(token) for token in tokens.reshape(-1))
