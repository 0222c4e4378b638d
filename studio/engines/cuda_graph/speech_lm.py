"""``stages.SpeechLM`` with steps recorded as CUDA graphs."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from studio.engines.cuda_graph.continuous_batch import MOST_IN_BATCH, ContinuousBatch
from studio.engines.library_errors import is_out_of_memory
from studio.model.config import SamplingOptions
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest, TokenSampler

# Cache sizes in positions. Attention reads the whole cache for every token, so a line gets the smallest that fits.
_CAPACITIES = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)


class GraphSpeechLM:
    """``SpeechLM`` on the weights of a plain one, which processes prompts.

    Concurrent lines on any threads share steps; their memory is kept for later lines.
    """

    def __init__(self, plain: TorchSpeechLM) -> None:
        self.config = plain.config
        self.sampling: SamplingOptions = plain.sampling
        self.engine = f"{plain.engine}, CUDA graph"
        self.max_concurrent_lines = MOST_IN_BATCH
        self._plain = plain
        self._batches: dict[int, ContinuousBatch] = {}
        self._lock = threading.Lock()

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``TorchSpeechLM.generate``."""
        min_tokens, max_tokens, length = self._plain.lengths(request)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

    def generate_from_pieces(
        self, request: SpeechTokenRequest, text_tokens: Iterable[int], sampler: TokenSampler
    ) -> Iterator[int]:
        """See ``TorchSpeechLM``: the plain model runs text that arrives in pieces."""
        return self._plain.generate_from_pieces(request, text_tokens, sampler)

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        batch = self._batch(length)
        line = batch.add(request, sampler, min_tokens=min_tokens, max_tokens=max_tokens)
        try:
            while (token := batch.next_token(line)) is not None:
                yield token
        finally:
            batch.remove(line)

    def _batch(self, length: int) -> ContinuousBatch:
        """Return the batch for lines of up to ``length`` positions."""
        most = self.config.backbone.max_positions
        capacity = min(most, next(capacity for capacity in (*_CAPACITIES, most) if capacity >= length))
        with self._lock:
            if capacity not in self._batches:
                self._batches[capacity] = self._make_batch(capacity)
            return self._batches[capacity]

    def _make_batch(self, capacity: int) -> ContinuousBatch:
        """Allocate a batch, freeing idle batches of other sizes if memory runs out."""
        try:
            return ContinuousBatch(self._plain, capacity)
        except RuntimeError as error:
            idle = [other for other, batch in self._batches.items() if batch.is_idle]
            if not (idle and is_out_of_memory(error)):
                raise
        for other in idle:
            del self._batches[other]
        return ContinuousBatch(self._plain, capacity)
