"""``stages.SpeechLM`` with recorded steps that verify proposed tokens while a single line is spoken.

Several lines at once share steps of one token each, which is faster, so a line that others join continues there.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder
from studio.engines.cuda_graph.prefill import RecordedPrefill
from studio.engines.cuda_graph.speech_lm import (
    CAPACITIES,
    USUAL_CAPACITIES,
    BegunLine,
    GraphSpeechLM,
    HostCopy,
    points_of,
)
from studio.engines.cuda_graph.static_step import NOT_A_NUMBER
from studio.engines.cuda_graph.verification_step import GraphSpeculator, VerificationStep
from studio.engines.library_errors import is_out_of_memory
from studio.model.speech_lm.decoder import LayerTaps
from studio.model.speech_lm.sampling import nan_error
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest, TokenSampler


class LineVerifier:
    """The recorded step of one capacity, for one line at a time."""

    def __init__(
        self,
        plain: TorchSpeechLM,
        capacity: int,
        speculator: GraphSpeculator,
        prefill: RecordedPrefill | None,
        order: StreamOrder,
    ) -> None:
        """``order`` is shared by all verifiers of a speculator."""
        with torch.inference_mode():
            self.step = VerificationStep(plain, capacity, speculator)
        self.plain = plain
        self.speculator = speculator
        self._prefill = prefill
        self._order = order
        self._recorded = CapturedGraph(self.step.token.device, self.step.state)

    def begin(self, request: SpeechTokenRequest, points: torch.Tensor | None, min_tokens: int) -> int:
        """Process prompt and text, and return their number of positions, without the last token of the prompt."""
        with self._turn():
            step, speculator = self.step, self.speculator
            speculator.begin(request)
            step.sampler.begin(torch.zeros(0) if points is None else points, min_tokens=min_tokens)
            cache = step.cache()
            taps = cache.taps = LayerTaps(speculator.tapped_layers) if speculator.tapped_layers else None
            with self._prefill_states(request) as states:
                if states is not None:
                    cache.start_from(states)
            if states is None:
                # A recorded graph cannot trace attention.
                rest = self.plain.begin(replace(request, attention=None), cache)
                self.plain.hidden_states(rest[:-1], cache)
            if taps is not None:
                speculator.observe(taps.take(), torch.arange(cache.length, device=step.token.device))
            step.position.fill_(cache.length)
            step.token.fill_(request.prompt_speech_tokens[-1])
        return cache.length

    def start(self) -> HostCopy:
        """Start a step and return its result, as in ``VerificationStep``."""
        with self._turn():
            self._recorded.run(self.step.compute)
            return HostCopy(self.step.result)

    def replace_tokens(self, history: list[int], position: int) -> None:
        """Replace the drawn tokens by ``history``, drawn by the host, whose last token is at ``position``."""
        with self._turn():
            self.step.sampler.replace_tokens(history)
            self.step.token.fill_(history[-1])
            self.step.position.fill_(position)

    def states(self, num_positions: int) -> torch.Tensor:
        """Return a copy of keys and values, as those of ``KVCache``."""
        with self._turn():
            return self.step.cache().states[:, :, :num_positions].clone()

    def clear(self) -> None:
        """Remove values that are not finite."""
        with self._turn():
            self.step.clear()
            if self._prefill is not None:
                self._prefill.clear()

    def record(self) -> None:
        """Record the step. No line may be using the memory."""
        with self._turn():
            self.step.position.zero_()
            self.step.sampler.begin(torch.zeros(0), min_tokens=0)
            self._recorded.run(self.step.compute)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with torch.inference_mode(), self._order.turn():
            yield

    @contextmanager
    def _prefill_states(self, request: SpeechTokenRequest) -> Iterator[torch.Tensor | None]:
        # Recorded runs do not provide the inputs of layers.
        if self._prefill is None or self.speculator.tapped_layers:
            yield None
            return
        with self._prefill.states(request) as states:
            yield states


class VerifiedLine:
    """A line whose tokens ``verifier`` computes."""

    def __init__(
        self,
        verifier: LineVerifier,
        request: SpeechTokenRequest,
        sampler: TokenSampler,
        *,
        min_tokens: int,
        max_tokens: int,
    ) -> None:
        self.is_over = False
        self._verifier = verifier
        self._request = request
        self._sampler = sampler
        self._min_tokens = min_tokens
        self._max_tokens = max_tokens
        self._layout = verifier.plain.config.layout
        self._last = request.prompt_speech_tokens[-1]
        self._history: list[int] = []
        self._started: deque[HostCopy] = deque()
        self._points = points_of(sampler, verifier.plain, max_tokens)  # None: the host draws
        self._prefix_length = verifier.begin(request, self._points, min_tokens)

    def tokens(self, is_joined: Callable[[], bool]) -> Iterator[int]:
        """Yield tokens until the line is over or joined by others.

        The next step is started before the last one is read, as in ``ContinuousBatch``.
        """
        while not self.is_over:
            may_start = not is_joined()
            if not self._started:
                if not may_start:
                    return
                self._started.append(self._verifier.start())
            if may_start and self._points is not None and len(self._history) + len(self._started) < self._max_tokens:
                self._started.append(self._verifier.start())
            yield from self._receive(self._started.popleft().wait())

    def begun(self) -> BegunLine:
        """Return the line in the form in which it continues elsewhere."""
        states = self._verifier.states(self._prefix_length + len(self._history))
        return BegunLine(self._history, self._last, states, self._points)

    def _receive(self, result: list[int]) -> list[int]:
        """Append the new tokens of a step to the history, and return them."""
        num_rows = self._verifier.step.num_rows
        drawn, proposed = result[1 : 1 + num_rows], result[1 + num_rows :]
        new = drawn[: result[0]] if self._points is not None else self._drawn_by_host(proposed)
        if self._request.speculation is not None:
            self._request.speculation.add(sum(token >= 0 for token in proposed), len(new) - 1)
        if NOT_A_NUMBER in new:
            self.is_over = True
            self._verifier.clear()
            raise nan_error()
        spoken = [token for token in new if token < self._layout.num_speech_tokens]  # only the last one may be an end
        del spoken[self._max_tokens - len(self._history) :]
        self._history += spoken
        self.is_over = len(spoken) < len(new) or len(self._history) == self._max_tokens
        self._verifier.speculator.learn([self._last, *spoken])
        self._last = self._history[-1] if self._history else self._last
        if self._points is None and not self.is_over:
            self._verifier.replace_tokens(self._history, self._prefix_length + len(self._history))
        return spoken

    def _drawn_by_host(self, proposed: list[int]) -> list[int]:
        """Draw with the line's own sampler, up to the first token that was not proposed."""
        history, stop_ids = [*self._history], slice(self._layout.num_speech_tokens, self._layout.num_rows)
        for row, logits in enumerate(self._verifier.step.logits):
            is_early = len(history) < self._min_tokens
            history.append(self._sampler(logits, history, forbid=stop_ids if is_early else None))
            if row == len(proposed) or history[-1] != proposed[row] or len(history) == self._max_tokens:
                break
        return history[len(self._history) :]


class SpeculativeGraphSpeechLM(GraphSpeechLM):
    """``GraphSpeechLM`` that verifies proposed tokens while it runs a single line."""

    def __init__(
        self, plain: TorchSpeechLM, make_speculator: Callable[[int], GraphSpeculator], num_proposed: int
    ) -> None:
        """``make_speculator`` receives the number of positions of a line."""
        super().__init__(plain)
        self.engine += ", speculative"
        self._torch_lm = plain
        self._make_speculator = make_speculator
        self._num_rows = 1 + num_proposed
        self._verifiers: dict[int, LineVerifier] = {}
        self._order = StreamOrder(plain.inputs.speech.device)
        self._speaking = threading.Lock()  # held while a verifier is in use

    def _generate(
        self, request: SpeechTokenRequest, sampler: TokenSampler, min_tokens: int, max_tokens: int, length: int
    ) -> Iterator[int]:
        if max_tokens == 0:
            return
        begun = None
        if request.prompt_speech_tokens and not self._has_other_lines() and self._speaking.acquire(blocking=False):
            try:
                # A line ends in the last row of a step, after which another one may have been started.
                verifier = self._verifier(length + 2 * self._num_rows)
                if verifier is not None:
                    line = VerifiedLine(verifier, request, sampler, min_tokens=min_tokens, max_tokens=max_tokens)
                    yield from line.tokens(self._has_other_lines)
                    if line.is_over:
                        return
                    begun = line.begun()
            finally:
                self._speaking.release()
        yield from self._generate_in_batch(request, sampler, min_tokens, max_tokens, length, begun=begun)

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        for capacity in USUAL_CAPACITIES:
            yield partial(self._record, capacity)
        yield from super().recordings()

    def _has_other_lines(self) -> bool:
        """Return whether other lines share steps of one token."""
        return not all(batch.is_idle for batch in list(self._batches.values()))

    def _record(self, capacity: int) -> None:
        if self._speaking.acquire(blocking=False):
            try:
                verifier = self._verifier(capacity)
                if verifier is not None:
                    verifier.record()
            finally:
                self._speaking.release()

    def _verifier(self, length: int) -> LineVerifier | None:
        """Return a verifier for lines of ``length`` positions, or None if there is not enough memory."""
        if length > self.config.max_positions:
            return None
        capacity = next((size for size in CAPACITIES if length <= size <= self.config.max_positions), length)
        if capacity not in self._verifiers:
            try:
                self._verifiers[capacity] = LineVerifier(
                    self._torch_lm, capacity, self._make_speculator(capacity), self._prefill, self._order
                )
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                return None
        return self._verifiers[capacity]
