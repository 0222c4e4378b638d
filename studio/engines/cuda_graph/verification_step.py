"""A step of the language model that proposes, verifies and samples tokens of one line, in fixed memory.

All of it is one recorded computation. It proposes tokens, computes the states of the last token and of the proposed ones
in adjacent rows, and draws the token after each row as if the proposed tokens before it had been drawn. Drawn tokens
count up to the first one that was not proposed, so they are those that single steps draw (``model.speech_lm.speculation``).
The next step needs nothing from the host.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph.attention_kernel import StepAttention, step_attention
from studio.engines.cuda_graph.prefill import attention_in_place
from studio.engines.cuda_graph.static_step import NOT_A_NUMBER
from studio.engines.device_sampling import draw_tokens
from studio.model.options import SamplingOptions
from studio.model.speech_lm.decoder import KVCache, LayerTaps
from studio.model.speech_lm.sampling import NEVER
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest

# In place of a missing proposal. It equals no drawn token.
NO_PROPOSAL = -2


class GraphSpeculator(ABC):
    """Proposes tokens on the GPU for one line at a time.

    Attributes:
        tapped_layers: Layers of the language model whose inputs it reads.
        state: The tensors that ``propose`` and ``observe`` change.
    """

    num_proposed: int
    tapped_layers: tuple[int, ...] = ()
    state: tuple[torch.Tensor, ...] = ()

    def begin(self, request: SpeechTokenRequest) -> None:  # noqa: B027 - optional
        """Start a line."""

    def learn(self, tokens: Sequence[int]) -> None:  # noqa: B027 - optional
        """Receive the ``tokens`` that a step has drawn, preceded by the last token of the step before."""

    @abstractmethod
    def propose(self, token: torch.Tensor, position: torch.Tensor, sampler: LineSampler) -> torch.Tensor:
        """Return (num_proposed,) tokens that may follow ``token`` (1,) at ``position`` (1,). This is recorded."""

    def observe(self, states: torch.Tensor, positions: torch.Tensor) -> None:  # noqa: B027 - optional
        """Receive the inputs (rows, tapped_layers x hidden) of the tapped layers at ``positions`` (rows,).

        A later step may compute the same positions again. This is recorded.
        """


class LineSampler:
    """Sampling state of one line, in fixed memory, with the rules of ``GpuSampler``."""

    def __init__(self, options: SamplingOptions, first_end: int, capacity: int, device: torch.device) -> None:
        self._options = options
        self._first_end = first_end
        self._points = torch.zeros(capacity, dtype=torch.float64, device=device)
        # All drawn tokens, preceded by a window of missing ones.
        self._history = torch.full((options.window_tokens + capacity,), NO_PROPOSAL, device=device)
        self._window = torch.arange(options.window_tokens, device=device)
        self._rows = torch.arange(capacity, device=device)
        self._num_drawn = torch.zeros(1, dtype=torch.long, device=device)
        self._min_tokens = torch.zeros(1, dtype=torch.long, device=device)

    @property
    def state(self) -> tuple[torch.Tensor, ...]:
        """The tensors that sampling changes."""
        return self._history, self._num_drawn

    def begin(self, points: torch.Tensor, *, min_tokens: int) -> None:
        """Start a line. ``points`` (tokens,) float64 are its random numbers in 0..1."""
        self._points[: len(points)] = points.to(self._points.device)
        self._history.fill_(NO_PROPOSAL)
        self._num_drawn.zero_()
        self._min_tokens.fill_(min_tokens)

    def replace_tokens(self, tokens: Sequence[int]) -> None:
        """Replace all drawn tokens."""
        window = self._options.window_tokens
        self._history[window : window + len(tokens)] = torch.tensor(tokens, device=self._history.device)
        self._num_drawn.fill_(len(tokens))

    def guess(self, scores: torch.Tensor, index: int) -> torch.Tensor:
        """Draw the proposal (1,) number ``index`` from ``scores`` (1, ids) with the random number of the line's token."""
        token, _ = self._drawn(scores, self._num_drawn + index)
        return token

    def draw(self, logits: torch.Tensor, proposed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the token after each of the rows of ``logits`` (rows, ids), and how many (1,) of them count.

        ``proposed`` (rows - 1,) are the tokens of the rows after the first one.
        """
        window, num_rows = self._options.window_tokens, len(logits)
        places = self._num_drawn + self._rows[:num_rows]
        self._history.index_copy_(0, window + places[:-1], proposed)
        scores = logits.float().clone()
        scores[:, self._first_end :].masked_fill_((places < self._min_tokens)[:, None], NEVER)
        drawn, is_number = self._drawn(scores, places)
        num_new = 1 + (drawn[:-1] == proposed).cumprod(0).sum(0, keepdim=True)
        self._num_drawn += num_new
        return torch.where(is_number, drawn, NOT_A_NUMBER), num_new

    def _drawn(self, scores: torch.Tensor, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw the tokens at ``places`` of the history from the rows of ``scores``, and store them there."""
        window = self._options.window_tokens
        recent = self._history.index_select(0, (places[:, None] + self._window).flatten()).view(len(places), window)
        points = self._points.index_select(0, places)
        drawn, is_number = draw_tokens(scores, points, recent, self._options)
        self._history.index_copy_(0, window + places, drawn)
        return drawn, is_number


class VerificationStep:
    """A line of up to ``capacity`` positions. ``token`` (1,) is its last token, at ``position`` (1,).

    Attributes:
        result: The number of new tokens, the drawn ones, and the proposed ones.
        logits: The scores (rows, ids) of the last step.
    """

    def __init__(self, plain: TorchSpeechLM, capacity: int, speculator: GraphSpeculator) -> None:
        config, layout, speech_table = plain.decoder.config, plain.config.layout, plain.inputs.speech
        device = speech_table.device
        self.capacity = capacity
        self.num_rows = 1 + speculator.num_proposed
        self._plain = plain
        self._speculator = speculator
        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        shape = (config.num_layers, 2 * config.num_kv_heads, capacity, config.head_size)
        self._states = torch.zeros(shape, device=device)
        self._layers = self._states.unbind(0)
        self.token = torch.zeros(1, dtype=torch.long, device=device)
        self.position = torch.zeros(1, dtype=torch.long, device=device)
        self.sampler = LineSampler(plain.sampling, layout.num_speech_tokens, capacity, device)
        self.result = torch.zeros(2 * self.num_rows, dtype=torch.long, device=device)
        self.logits = torch.zeros(self.num_rows, layout.num_rows, device=device)
        self._places = torch.arange(capacity, device=device)
        self._attention = step_attention(config, plain.decoder.turns)

    @property
    def state(self) -> tuple[torch.Tensor, ...]:
        """The tensors that a step both reads and changes, without keys and values, which it writes before reading."""
        return self.token, self.position, *self.sampler.state, *self._speculator.state

    def cache(self) -> KVCache:
        """Return the line's cache, to be filled with the prompt."""
        return KVCache(self._plain.decoder.config, self._states)

    def clear(self) -> None:
        """Zero values that may not be finite, because a mask does not hide them."""
        self._states.zero_()

    def compute(self) -> None:
        """Verify one set of proposals. This is recorded."""
        decoder, speculator = self._plain.decoder, self._speculator
        proposed = speculator.propose(self.token, self.position, self.sampler)
        rows = torch.cat((self.token, proposed)).clamp(min=0)
        taps = LayerTaps(speculator.tapped_layers) if speculator.tapped_layers else None
        positions = self.position + self._places[: self.num_rows]
        if self._attention is None:
            attend = attention_in_place(decoder, self._layers, positions, self._places)
        else:
            attend = partial(self._attend, self._attention)
        embeddings = F.embedding(rows, self._plain.inputs.speech)
        hidden = decoder.norm(decoder.run_layers(embeddings, attend, taps))
        self.logits.copy_(self._plain.head(hidden))
        if taps is not None:
            speculator.observe(taps.take(), positions)
        drawn, num_new = self.sampler.draw(self.logits, proposed)
        torch.cat((num_new, drawn, proposed), out=self.result)
        self.token.copy_(drawn.index_select(0, num_new - 1))
        self.position += num_new

    def _attend(self, attention: StepAttention, layer: int, mixed: torch.Tensor) -> torch.Tensor:
        return attention(mixed, self.position, self._layers[layer][None])
