"""Generated sentences: tokens that the flow does not receive, and evidence for the checks of takes; see
``request.SentenceEvidence``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import AttentionTrace, SpeechLM, SpeechTokenRequest
from studio.pipeline.alignment import AlignmentReader
from studio.pipeline.request import SentenceEvidence
from studio.text.tokenizer import TextTokenizer

_MAX_SILENT_RUN = 5  # silent or breath tokens


@dataclass(frozen=True, slots=True)
class Generation:
    """The generation of one sentence: its input, and what is known of its output.

    Attributes:
        spoken: The spoken text with the white space that the model received.
        tokens: All generated tokens, including silent ones that are removed before the flow. It grows.
        limit: The number of tokens that ends the sentence.
    """

    spoken: str
    request: SpeechTokenRequest
    sampler: RepetitionAwareSampler
    trace: AttentionTrace | None
    tokens: list[int]
    limit: int


@dataclass(frozen=True, slots=True)
class UtteredSentence:
    """A generated sentence and its place in the audio of the request."""

    generation: Generation
    from_seconds: float
    to_seconds: float


@dataclass
class EvidenceReader:
    """Reads the evidence of the sentences of one request, once all audio has been sent."""

    alignment: AlignmentReader | None
    speech_lm: SpeechLM
    tokenizer: TextTokenizer
    silent_tokens: Collection[int]
    token_seconds: float
    sentences: list[UtteredSentence] = field(default_factory=list)

    def read(self) -> tuple[SentenceEvidence, ...]:
        return tuple(self._evidence(sentence) for sentence in self.sentences)

    def _evidence(self, sentence: UtteredSentence) -> SentenceEvidence:
        generation = sentence.generation
        tokens, request = generation.tokens, generation.request
        kept = kept_by_silence_filter(tokens, self.silent_tokens)
        attention = (
            self.alignment.attention(self.speech_lm, request, tokens, generation.trace) if self.alignment else None
        )
        position: tuple[float, ...] = ()
        coverage: tuple[float, ...] = ()
        if attention is not None and attention.size:
            mass = np.maximum(attention.sum(axis=1), 1e-9)
            expected = attention @ np.arange(attention.shape[1]) / mass
            position = tuple(round(float(value), 2) for value in expected[kept])
            coverage = tuple(round(float(value), 3) for value in attention.max(axis=0))
        return SentenceEvidence(
            spoken_text=generation.spoken.strip(),
            from_seconds=sentence.from_seconds,
            to_seconds=sentence.to_seconds,
            speech_tokens=tuple(tokens[index] for index in kept),
            text_pieces=_stripped(self.tokenizer.pieces(generation.spoken, request.text_tokens)),
            stopped_by_limit=len(tokens) >= generation.limit,
            num_second_draws=generation.sampler.num_second_draws,
            text_position=position,
            text_coverage=coverage,
            token_seconds=self.token_seconds,
        )


def _stripped(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``pieces`` without white space at both ends of the joined text."""
    if not pieces:
        return ()
    first, *rest = pieces
    pieces = (first.lstrip(), *rest)
    *start, last = pieces
    return (*start, last.rstrip())


def kept_by_silence_filter(tokens: Sequence[int], silent_tokens: Collection[int]) -> list[int]:
    """Return the indices of the ``tokens`` that ``filter_silent_tokens`` keeps."""
    kept = []
    run = 0
    for index, token in enumerate(tokens):
        run = run + 1 if token in silent_tokens else 0
        if run <= _MAX_SILENT_RUN:
            kept.append(index)
    return kept


def filter_silent_tokens(
    tokens: Iterable[int], silent_tokens: Collection[int], *, limit: int = _MAX_SILENT_RUN
) -> Iterator[int]:
    """Yield ``tokens`` with each run of silent or breath tokens shortened to ``limit``.

    The removed tokens still count in the history and the length limits of the speech language model.
    """
    run = 0
    for token in tokens:
        run = run + 1 if token in silent_tokens else 0
        if run <= limit:
            yield token
