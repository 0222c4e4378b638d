"""The speculators of ``model.speech_lm`` in recorded computations: a table of successors, and trained networks."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from studio.engines.cuda_graph.verification_step import NO_PROPOSAL, GraphSpeculator, LineSampler
from studio.model.speech_lm.dspark import DSparkSpeculator
from studio.model.speech_lm.successor_speculator import SuccessorSpeculator
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest


class SuccessorGraphSpeculator(GraphSpeculator):
    """The most frequent successor of each token, in a table that the host updates between two steps."""

    def __init__(self, plain: TorchSpeechLM, speculator: SuccessorSpeculator) -> None:
        self.num_proposed = speculator.num_proposed
        self._speculator = speculator
        device = plain.inputs.speech.device
        self._table = torch.full((plain.config.layout.num_rows,), NO_PROPOSAL, device=device)
        self._known: dict[int, int] = {}

    def begin(self, request: SpeechTokenRequest) -> None:
        self._speculator.open_line(request)
        self._update(request.prompt_speech_tokens)

    def learn(self, tokens: Sequence[int]) -> None:
        self._speculator.learn(tokens)
        self._update(tokens[:-1])

    def propose(self, token: torch.Tensor, position: torch.Tensor, sampler: LineSampler) -> torch.Tensor:  # noqa: ARG002
        proposed = []
        for _ in range(self.num_proposed):
            token = self._table.index_select(0, token.clamp(min=0))
            proposed.append(token)
        return torch.cat(proposed)

    def _update(self, tokens: Sequence[int]) -> None:
        """Copy the successors of ``tokens`` to the GPU if they have changed, without waiting for it."""
        successors = ((token, self._speculator.successor(token)) for token in set(tokens))
        changed = {token: after for token, after in successors if after is not None and self._known.get(token) != after}
        if changed:
            self._known |= changed
            device = self._table.device
            pairs = torch.tensor([*changed.items()], pin_memory=device.type == "cuda").to(device, non_blocking=True)
            self._table.index_copy_(0, pairs[:, 0], pairs[:, 1])


class TrainedGraphSpeculator(GraphSpeculator):
    """A trained speculator with its keys and values in memory of fixed size."""

    def __init__(self, speculator: DSparkSpeculator, capacity: int) -> None:
        config = speculator.config
        self.num_proposed = speculator.num_proposed
        self.tapped_layers = config.tapped_layers
        self._speculator = speculator
        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        shape = (2, config.num_kv_heads, capacity, config.head_size)
        self._context = [torch.zeros(shape, device=speculator.device) for _ in range(config.num_layers)]
        self._places = torch.arange(capacity + self.num_proposed, device=speculator.device)
        self._is_of_block = self._places >= capacity

    def begin(self, request: SpeechTokenRequest) -> None:  # noqa: ARG002 - ``observe`` receives the prompt
        for memory in self._context:
            memory.zero_()

    def observe(self, states: torch.Tensor, positions: torch.Tensor) -> None:
        for memory, added in zip(self._context, self._speculator.context(states, positions[:1]), strict=True):
            memory.index_copy_(2, positions, added)

    def propose(self, token: torch.Tensor, position: torch.Tensor, sampler: LineSampler) -> torch.Tensor:
        speculator = self._speculator
        token = token.clamp(0, speculator.num_speech_tokens - 1)
        is_seen = (self._places < position) | self._is_of_block
        bias = torch.where(is_seen, 0.0, float("-inf"))[None]
        proposed = []
        for index, scores in enumerate(
            speculator.scores(speculator.states(token, self._context, position, bias)).unbind()
        ):
            token = sampler.guess(speculator.scores_after(scores, token)[None], index)
            proposed.append(token)
        return torch.cat(proposed)
