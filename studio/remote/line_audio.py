"""Audio of one request that may be requested again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from studio.pipeline.request import AudioChunk


class SpeechDiffers(Exception):
    """A repeated request is not spoken as before, because the engine of the server has changed."""


class LineAudio:
    """Removes from a repeated request what has been received before."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._position = 0

    @property
    def is_empty(self) -> bool:
        return not self._received

    def restart(self) -> None:
        """The next chunk is the first one of another attempt."""
        self._position = 0

    def unheard(self, chunk: AudioChunk) -> AudioChunk | None:
        """Return the new part of ``chunk``, or None if all of it has been received.

        Raise ``SpeechDiffers`` if this attempt speaks differently from the earlier one.
        """
        content = chunk.samples.astype(np.float32, copy=False).tobytes()
        start, end = self._position, self._position + len(content)
        num_known = max(0, min(end, len(self._received)) - start)
        if self._received[start : start + num_known] != content[:num_known]:
            raise SpeechDiffers
        self._position = end
        if num_known == len(content):
            return None
        self._received += content[num_known:]
        return replace(chunk, samples=chunk.samples[num_known // 4 :])
