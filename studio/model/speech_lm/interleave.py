"""Generation of speech tokens while text arrives (specification E7).

In the trained order, blocks of 5 text tokens and 15 speech tokens alternate. The end of the text is followed by its
remaining tokens, the task mark, and the rest of the speech. Defects of the official program are corrected:

- (a) The last token of a block is input only once.
- (b) A prompt of whole blocks is followed by text.
- (c) Prompt speech that remains at the end of the text follows the task mark, as in a whole request.
- (d) Generation waits for the first five text tokens.

- (e) The length limits follow from the number of text tokens received.
- (f) While text arrives, the end is forbidden.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

import torch

from studio.model.config import SpeechTokenLayout
from studio.model.speech_lm.decoder import check_length
from studio.model.speech_lm.network import InputEmbeddings
from studio.model.speech_lm.torch_lm import (
    MIN_SPEECH_PER_TEXT_TOKEN,
    TorchSpeechLM,
    prefix_length,
    speech_token_limits,
)
from studio.model.stages import SpeechTokenRequest, TokenSampler

# Initial cache, enough for half a minute of speech and its text.
_CAPACITY = 1024


class TokenKind(Enum):
    """Embedding table of an input token."""

    TEXT = "text"
    TASK = "task"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Segment:
    """Input tokens of one kind. The task mark is a segment without tokens."""

    kind: TokenKind
    tokens: tuple[int, ...] = ()


class InterleavedScheduler:
    """Input order of one utterance, as ids.

    ``speech_left`` is the number of speech tokens to generate before more text is needed, or 0 while waiting for text.
    """

    def __init__(
        self, *, text_per_block: int, speech_per_block: int, prompt_text: Iterable[int], prompt_speech: Iterable[int]
    ) -> None:
        self._text_per_block = text_per_block
        self._speech_per_block = speech_per_block
        self._text = deque(prompt_text)
        self._prompt_speech = deque(prompt_speech)
        self.speech_left = 0

    def receive(self, text_token: int) -> list[Segment]:
        """Add a text token and return the segments to input now."""
        self._text.append(text_token)
        segments = []
        while self.speech_left == 0 and len(self._text) >= self._text_per_block:
            segments.append(Segment(TokenKind.TEXT, _take(self._text, self._text_per_block)))
            spoken = _take(self._prompt_speech, self._speech_per_block)
            if spoken:
                segments.append(Segment(TokenKind.SPEECH, spoken))
            self.speech_left = self._speech_per_block - len(spoken)
        return segments

    def count_speech_token(self) -> None:
        """Count a generated speech token."""
        self.speech_left -= 1

    def end_block(self) -> None:
        """End the block early, when the model requests text."""
        self.speech_left = 0

    def finish(self) -> list[Segment]:
        """Return the remaining segments after the end of the text."""
        rest = [Segment(TokenKind.TEXT, _take(self._text, len(self._text))), Segment(TokenKind.TASK)]
        return [*rest, Segment(TokenKind.SPEECH, _take(self._prompt_speech, len(self._prompt_speech)))]


def _take(queue: deque[int], count: int) -> tuple[int, ...]:
    taken = tuple(islice(queue, count))
    for _ in taken:
        queue.popleft()
    return taken


def generate_from_pieces(
    speech_lm: TorchSpeechLM,
    request: SpeechTokenRequest,
    text_tokens: Iterable[int],
    sampler: TokenSampler,
    *,
    num_instruction_tokens: int = 0,
    min_per_text_token: int = MIN_SPEECH_PER_TEXT_TOKEN,
) -> Iterator[int]:
    """Yield speech tokens while ``text_tokens``, which may block, arrive. ``request.text_tokens`` is empty.

    ``num_instruction_tokens`` is the number of tokens at the start of the prompt text that precede all other input. In
    CosyVoice3, they end with ``<|endofprompt|>``. CosyVoice2 has none.

    Raise ``SequenceTooLong``, during iteration if the sequence exceeds the limit of the model.
    """
    assert not request.text_tokens
    check_length(prefix_length(request), speech_lm.config.backbone)
    return _generate(
        speech_lm, request, text_tokens, sampler, num_instruction_tokens, min_per_text_token=min_per_text_token
    )


def _generate(
    speech_lm: TorchSpeechLM,
    request: SpeechTokenRequest,
    text_tokens: Iterable[int],
    sampler: TokenSampler,
    num_instruction_tokens: int,
    *,
    min_per_text_token: int,
) -> Iterator[int]:
    config, layout, inputs = speech_lm.config, speech_lm.config.layout, speech_lm.inputs
    order = InterleavedScheduler(
        text_per_block=config.interleave_text_tokens,
        speech_per_block=config.interleave_speech_tokens,
        prompt_text=request.prompt_text_tokens[num_instruction_tokens:],
        prompt_speech=request.prompt_speech_tokens,
    )
    cache = speech_lm.open_cache(min(prefix_length(request) + _CAPACITY, config.backbone.max_positions))
    pending = [inputs.embed_prompt_text(request.prompt_text_tokens[:num_instruction_tokens])]
    history: list[int] = []  # including fill marks, as in training
    num_text_tokens = num_generated = 0

    for text_token in text_tokens:
        num_text_tokens += 1
        pending += [_embedded(segment, inputs) for segment in order.receive(text_token)]
        while order.speech_left:
            logits = _without_stops_but_fill(speech_lm.advance(torch.cat(pending), cache), layout)
            pending = []
            token = sampler(logits, history, forbid=None)
            history.append(token)
            if token == layout.fill_id:
                order.end_block()
                break
            order.count_speech_token()
            if not order.speech_left:
                assert layout.fill_id is not None
                history.append(layout.fill_id)
            num_generated += 1
            yield token
            pending = [inputs.embed_speech((token,))]

    min_tokens, max_tokens = speech_token_limits(request, num_text_tokens)
    if request.min_tokens is None:
        min_tokens = min(min_per_text_token * num_text_tokens, max_tokens)
    pending += [_embedded(segment, inputs) for segment in order.finish()]
    yield from speech_lm.generate_to_end(
        torch.cat(pending),
        cache,
        sampler,
        history,
        min_tokens=min_tokens - num_generated,
        max_tokens=max_tokens - num_generated,
    )


def _without_stops_but_fill(logits: torch.Tensor, layout: SpeechTokenLayout) -> torch.Tensor:
    """Return ``logits`` that forbid the end while text arrives, but allow the fill mark, which requests more text."""
    assert layout.fill_id is not None
    permitted = logits.clone()
    permitted[layout.num_speech_tokens :] = float("-inf")
    permitted[layout.fill_id] = logits[layout.fill_id]
    return permitted


def _embedded(segment: Segment, inputs: InputEmbeddings) -> torch.Tensor:
    match segment.kind:
        case TokenKind.TEXT:
            return inputs.embed_text(segment.tokens)
        case TokenKind.SPEECH:
            return inputs.embed_speech(segment.tokens)
        case TokenKind.TASK:
            return inputs.task
