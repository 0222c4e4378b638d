"""Speculative decoding: several proposed tokens are verified in one step of the language model.

A speculator guesses the next tokens of a line. One step computes the states of all of them, which costs little more than
one token where reading the weights or starting operations limits the speed. The sampler of the line then draws each
token from the scores of the model, with the random number of that position, as it does without proposals. A proposed
token counts only if it is the drawn one; the first other one ends the step.

All steps have the same number of rows, and attention and head compute row by row. Then the products of a row do not
depend on the other rows, so the tokens of a seed do not depend on the proposals. In bfloat16 they are bit by bit those
without speculation; in float32, oneDNN adds up the products of one row in another order than those of several.

Decision: proposals must equal the drawn token. Reason: it is exact for repetition-aware sampling, and a seed keeps its
take. Alternative: rejection sampling, which accepts more of a speculator's distribution but draws other tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch

from studio.model.stages import SpeechTokenRequest, TokenSampler

if TYPE_CHECKING:
    from studio.model.speech_lm.cached_lm import CachedSpeechLM


class LineSpeculator(ABC):
    """Proposes the tokens of one line."""

    @abstractmethod
    def propose(self, history: Sequence[int], sampler: TokenSampler) -> Sequence[int]:
        """Return up to ``num_proposed`` speech tokens that may follow ``history``, the new tokens of the line so far."""


class Speculator(Protocol):
    """Belongs to a model. Thread-safe."""

    num_proposed: int  # tokens in a step

    def open_line(self, request: SpeechTokenRequest, cache: Any) -> LineSpeculator:
        """``cache`` is that of the line, still empty."""
        ...


def verified_tokens(
    lm: CachedSpeechLM[Any],
    line: LineSpeculator,
    embeddings: torch.Tensor,
    cache: Any,
    sampler: TokenSampler,
    *,
    request: SpeechTokenRequest,
    num_proposed: int,
    min_tokens: int,
    max_tokens: int,
) -> Iterator[int]:
    """Yield the tokens that the model yields for ``embeddings`` (positions, hidden), the rest of the input.

    ``cache`` has room for ``num_proposed`` more positions than without speculation.
    """
    first_stop, num_rows = lm.config.layout.num_speech_tokens, lm.config.layout.num_rows
    history: list[int] = []
    proposed: Sequence[int] = ()
    states = lm.hidden_states(embeddings, cache)[-1:]
    while True:
        index = num_accepted = 0
        try:
            for index in range(1 + len(proposed)):
                is_early = len(history) < min_tokens
                scores = lm.score(states[index : index + 1])
                token = sampler(scores, history, forbid=slice(first_stop, num_rows) if is_early else None)
                if token >= first_stop:
                    return
                history.append(token)
                is_confirmed = index < len(proposed) and proposed[index] == token
                num_accepted += is_confirmed
                yield token
                if len(history) == max_tokens:
                    return
                if not is_confirmed:
                    break
        finally:
            if len(states) > 1:  # not after the prompt
                cache.cut(cache.length - len(states) + 1 + index)
                if request.speculation is not None:
                    request.speculation.add(len(proposed), num_accepted)
        proposed = line.propose(history, sampler)
        filling = [0] * (num_proposed - len(proposed))
        states = lm.states_of_rows(lm.embed_speech((token, *proposed, *filling)), cache)
