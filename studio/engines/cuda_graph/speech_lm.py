"""``stages.SpeechLM`` with steps recorded as CUDA graphs and continuous batching: a line is a row of a shared step.

No separate thread takes the steps. A line that needs a token takes one step for all lines, and the others find theirs
ready. A single line therefore has no overhead, and lines are added and removed between two steps.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder
from studio.engines.cuda_graph.prefill import RecordedPrefill
from studio.engines.cuda_graph.static_step import NOT_A_NUMBER, GpuSampler, static_step
from studio.engines.library_errors import is_out_of_memory
from studio.model.speech_lm.torch_lm import CachedSpeechLM, RepetitionAwareSampler, TorchSpeechLM, nan_error
from studio.model.stages import SpeechTokenRequest, TokenSampler

# Cache sizes in positions. Attention reads the whole cache for every token, so a line gets the smallest that fits.
_CAPACITIES = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)
# Prompt, text and speech of lines up to a minute.
_USUAL_CAPACITIES = (512, 1024, 2048)
# Memory is allocated and graphs are recorded for these batch sizes only; empty rows are computed as well.
_NUM_ROWS = (1, 2, 4, 8, 16, 32)


@dataclass(eq=False)
class Line:
    """One line in the batch. If ``sampler`` is None, the GPU samples."""

    row: int
    sampler: TokenSampler | None
    min_tokens: int
    max_tokens: int
    num_started: int = 0  # tokens computed or being computed
    waiting: deque[int] = field(default_factory=deque)
    history: list[int] = field(default_factory=list)
    is_over: bool = False
    error: Exception | None = None


@dataclass(frozen=True)
class StartedStep:
    """A step of ``lines`` that the GPU may still be computing."""

    lines: tuple[Line, ...]
    tokens: torch.Tensor  # of each row, on the host, valid after ``done``
    done: torch.cuda.Event | None

    def wait(self) -> list[int]:
        if self.done is not None:
            self.done.synchronize()
        tokens: list[int] = self.tokens.tolist()
        return tokens


class ContinuousBatch:
    """Lines of up to ``capacity`` positions. Thread-safe; one thread steps at a time.

    The next step is started before the tokens of the last one are read, so that the GPU does not wait for the host. The
    tokens of a line that has ended in between are not used.
    """

    def __init__(self, plain: CachedSpeechLM[Any], capacity: int, prefill: RecordedPrefill | None = None) -> None:
        """Without ``prefill``, ``plain`` processes prompt and text."""
        self._plain = plain
        self._prefill = prefill
        self._layout = plain.config.layout
        self._capacity = capacity
        self._lock = threading.Lock()
        self._lines: dict[int, Line] = {}
        self._started: deque[StartedStep] = deque()
        self._make_memory(_NUM_ROWS[0])
        self._order = StreamOrder(self._step.token.device)

    @property
    def is_idle(self) -> bool:
        """Whether the batch contains no lines."""
        return not self._lines

    def add(self, request: SpeechTokenRequest, sampler: TokenSampler, *, min_tokens: int, max_tokens: int) -> Line:
        """Process prompt and text. While all rows are taken, step for the other lines.

        Raises torch's out-of-memory error if not even one line fits.
        """
        with self._turn():
            row = self._free_row()
            own: TokenSampler | None = sampler
            if isinstance(sampler, RepetitionAwareSampler) and sampler.options == self._plain.sampling:
                self._draw.begin(sampler.draw_points(max_tokens), min_tokens=min_tokens, row=row)
                own = None
            line = Line(row, own, min_tokens, max_tokens)
            if not self._begin(line, request):
                self._begin_plain(line, request)
            self._is_speaking[row] = 1
        return line

    def _begin(self, line: Line, request: SpeechTokenRequest) -> bool:
        """Process prompt and text in a recorded run, after which steps yield tokens. Return False if it is impossible."""
        if self._prefill is None:
            return False
        with self._prefill.states(request) as states:
            if states is None:
                return False
            cache = self._step.cache(line.row)
            cache.start_from(states)
        self._step.position[line.row] = cache.length
        self._step.token[line.row] = request.prompt_speech_tokens[-1]
        self._lines[line.row] = line
        return True

    def _begin_plain(self, line: Line, request: SpeechTokenRequest) -> None:
        """Process prompt and text and sample the first token."""
        row, cache = line.row, self._step.cache(line.row)
        # A recorded graph cannot trace attention.
        rest = self._plain.begin(replace(request, attention=None), cache)
        logits = self._plain.advance(rest, cache)
        self._step.position[row] = cache.length
        if line.sampler is None:
            self._draw.draw(logits[None], self._step.token[row : row + 1], first_row=row)
        self._lines[row] = line
        line.num_started = 1
        self._accept_token(line, int(self._step.token[row]), logits)

    def next_token(self, line: Line) -> int | None:
        """Return the next token, or None at the end of the line."""
        with self._turn():
            while not line.waiting:
                if line.error is not None:
                    raise line.error
                if line.is_over:
                    return None
                self._advance()
            return line.waiting.popleft()

    def remove(self, line: Line) -> None:
        with self._turn():
            self._finish(line)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock, torch.inference_mode(), self._order.turn():
            yield

    def record(self) -> None:
        """Record the step of a single line, unless a line is using the memory."""
        with self._turn():
            if self.is_idle:
                self._run(_NUM_ROWS[0])

    def finish(self) -> None:
        """Wait for all steps, including those of cancelled lines."""
        self._order.finish()

    def _advance(self) -> None:
        """Receive a token for every line of the step that was started first."""
        if not self._started:
            self._start_step()
        if self._can_start_another():
            self._start_step()
        step = self._started.popleft()
        tokens = step.wait()
        for line in step.lines:
            if not line.is_over:
                self._accept_token(line, tokens[line.row], self._logits[line.row])

    def _can_start_another(self) -> bool:
        """Return whether the GPU has all that the next step needs, and every line has room for its token."""
        return len(self._started) == 1 and all(
            line.sampler is None and line.num_started < line.max_tokens for line in self._lines.values()
        )

    def _start_step(self) -> None:
        lines = tuple(self._lines.values())
        num_rows = next(count for count in _NUM_ROWS if count > max(self._lines))
        self._run(num_rows)
        drawn = self._step.token[:num_rows]
        is_gpu = drawn.device.type == "cuda"
        tokens = torch.empty(num_rows, dtype=torch.long, pin_memory=is_gpu).copy_(drawn, non_blocking=True)
        done = torch.cuda.current_stream(drawn.device).record_event() if is_gpu else None
        self._started.append(StartedStep(lines, tokens, done))
        for line in lines:
            line.num_started += 1

    def _run(self, num_rows: int) -> None:
        if num_rows not in self._recorded:
            state = (self._step.token, self._step.position, *self._draw.state)
            self._recorded[num_rows] = CapturedGraph(self._step.token.device, state)
        self._recorded[num_rows].run(partial(self._compute, num_rows))

    def _compute(self, num_rows: int) -> None:
        step = self._step
        logits = step.logits(num_rows)
        self._logits[:num_rows] = logits
        step.position[:num_rows] += self._is_speaking[:num_rows]
        self._draw.draw(logits, step.token[:num_rows])

    def _accept_token(self, line: Line, drawn: int, logits: torch.Tensor) -> None:
        token = drawn
        if line.sampler is not None:
            is_early = len(line.history) < line.min_tokens
            stop_ids = slice(self._layout.num_speech_tokens, self._layout.num_rows)
            try:
                token = line.sampler(logits, line.history, forbid=stop_ids if is_early else None)
            except Exception as error:  # noqa: BLE001 - belongs to this line, not to the one that steps
                self._fail(line, error)
                return
        elif token == NOT_A_NUMBER:
            self._fail(line, nan_error())
            return
        if token < self._layout.num_speech_tokens:
            line.history.append(token)
            line.waiting.append(token)
            if line.sampler is not None:
                self._step.token[line.row] = token
        if token >= self._layout.num_speech_tokens or len(line.history) >= line.max_tokens:
            self._finish(line)

    def _fail(self, line: Line, error: Exception) -> None:
        line.error = error
        self._finish(line)
        self._step.clear(line.row)
        if self._prefill is not None:
            self._prefill.clear()

    def _finish(self, line: Line) -> None:
        """End the line and free its row."""
        line.is_over = True
        if self._lines.get(line.row) is line:
            del self._lines[line.row]
            self._is_speaking[line.row] = 0
            self._step.position[line.row] = 0

    def _free_row(self) -> int:
        while True:
            free = [row for row in range(self._step.num_rows) if row not in self._lines]
            if free:
                return free[0]
            if not self._grow():
                self._advance()

    def _grow(self) -> bool:
        """Allocate memory for more lines; return False if there is not enough."""
        larger = [count for count in _NUM_ROWS if count > self._step.num_rows]
        if not larger:
            return False
        step, draw, speaking = self._step, self._draw, self._is_speaking
        try:
            self._make_memory(larger[0])
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            return False
        self._step.copy_rows(step)
        self._draw.copy_rows(draw)
        self._is_speaking[: len(speaking)] = speaking
        return True

    def _make_memory(self, num_rows: int) -> None:
        layout = self._layout
        step = static_step(self._plain, self._capacity, num_rows)
        device = step.token.device
        draw = GpuSampler(self._plain.sampling, layout.num_speech_tokens, self._capacity, device, num_rows=num_rows)
        logits = torch.zeros(num_rows, layout.num_rows, device=device)
        is_speaking = torch.zeros(num_rows, dtype=torch.long, device=device)
        self._step, self._draw, self._logits, self._is_speaking = step, draw, logits, is_speaking
        self._recorded: dict[int, CapturedGraph] = {}


class GraphSpeechLM:
    """``SpeechLM`` on the weights of a plain one, which processes inputs for which no run is recorded.

    Concurrent lines on any threads share steps; their memory is kept for later lines.
    """

    def __init__(self, plain: CachedSpeechLM[Any]) -> None:
        self.config = plain.config
        self.sampling = plain.sampling
        self.engine = f"{plain.engine}, CUDA graph"
        self.max_concurrent_lines = _NUM_ROWS[-1] - 1  # one row stays free for the line that plays next
        self._plain = plain
        self._prefill = RecordedPrefill(plain) if isinstance(plain, TorchSpeechLM) else None
        self._batches: dict[int, ContinuousBatch] = {}
        self._lock = threading.Lock()

    def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
        """See ``CachedSpeechLM.generate``."""
        min_tokens, max_tokens, length = self._plain.lengths(request)
        return self._generate(request, sampler, min_tokens, max_tokens, length)

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

    def plain(self) -> CachedSpeechLM[Any]:
        """Return the plain model, which computes attention after a take: recorded graphs cannot do this."""
        return self._plain

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        if self._prefill is not None:
            yield from self._prefill.recordings()
        for capacity in _USUAL_CAPACITIES:
            if capacity <= self.config.max_positions:
                yield self._batch(capacity).record

    def _batch(self, length: int) -> ContinuousBatch:
        """Return the batch for lines of up to ``length`` positions."""
        most = self.config.max_positions
        capacity = min(most, next(capacity for capacity in (*_CAPACITIES, most) if capacity >= length))
        with self._lock:
            if capacity not in self._batches:
                self._batches[capacity] = self._make_batch(capacity)
            return self._batches[capacity]

    def _make_batch(self, capacity: int) -> ContinuousBatch:
        """Allocate a batch, freeing idle batches of other sizes if memory runs out."""
        try:
            return ContinuousBatch(self._plain, capacity, self._prefill)
        except RuntimeError as error:
            idle = [other for other, batch in self._batches.items() if batch.is_idle]
            if not (idle and is_out_of_memory(error)):
                raise
        for other in idle:
            self._batches.pop(other).finish()  # torch may hand its memory to another stream immediately
        return ContinuousBatch(self._plain, capacity, self._prefill)
