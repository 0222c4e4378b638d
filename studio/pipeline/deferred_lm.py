"""A speech language model that is loaded on first use; voice conversion does not use it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

from studio.model.config import SamplingOptions
from studio.model.stages import SpeechLM, SpeechTokenRequest, TokenSampler


class DeferredSpeechLM:
    """A ``SpeechLM`` opened by ``open_speech_lm`` on first use. Until then ``engine`` is "not loaded"."""

    def __init__(self, open_speech_lm: Callable[[], SpeechLM], sampling: SamplingOptions) -> None:
        self.sampling = sampling
        self.engine = "not loaded"
        self.max_concurrent_lines = 1
        self._open = open_speech_lm
        self._lock = threading.Lock()
        self._opened: SpeechLM | None = None

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        return self._speech_lm().generate(request, sampler)

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        return self._speech_lm().generate_from_pieces(request, text_tokens, sampler)

    def _speech_lm(self) -> SpeechLM:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
                self.sampling, self.engine = self._opened.sampling, self._opened.engine
                self.max_concurrent_lines = self._opened.max_concurrent_lines
            return self._opened
