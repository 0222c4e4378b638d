"""Speech source that uses the worker. It requests lines in advance, as some engines synthesise several at once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import OutOfMemory, StudioError, WorkerDied
from studio.export.line_checks import LineCheck, LineRetries, StoredChecks, UtteredLine
from studio.export.speech_source import ExportItem
from studio.pipeline.request import (
    AudioChunk,
    Cancelled,
    EngineDescription,
    LengthFinding,
    RequestControl,
    SynthesisRequest,
)
from studio.project.take_repair import WordRepairPlan
from studio.provenance.statement import SpokenLine, hash_tokens
from studio.take_checks.records import VoiceTarget
from studio.worker.client import WorkerClient
from studio.worker.request_handle import Callbacks

_log = logging.getLogger(__name__)

# At least the batch size of any engine; the worker may lower it. A cluster may take more.
_LINES_AHEAD = 32


@dataclass(frozen=True, slots=True)
class _Synthesis:
    task: asyncio.Task[Waveform]
    in_batch: bool


class WorkerSource:
    """A ``SpeechSource`` to be used on a background thread. The client runs on ``loop``.

    ``requests`` maps the keys of lines to requests. ``on_loaded`` and ``on_spoken`` may be called on any thread;
    ``on_spoken`` receives the seconds of the current line so far. ``odd_lengths`` maps keys to the sentences whose
    speech is too short or too long for the text.

    ``repairs`` maps keys to takes of which only some words are spoken again.

    With a ``checker``, each line is checked, and spoken again if it has problems; the best take is used. ``targets``
    maps keys to the targets of the script.

    If the worker ends or runs out of memory, another line of the batch may be the cause. Each line is then spoken again
    alone, so that only the one at fault fails.
    """

    def __init__(
        self,
        client: WorkerClient,
        loop: asyncio.AbstractEventLoop,
        requests: Mapping[str, SynthesisRequest],
        control: RequestControl,
        *,
        on_loaded: Callable[[EngineDescription], None] = lambda _: None,
        on_spoken: Callable[[float], None] = lambda _: None,
        checker: LineRetries | None = None,
        repairs: Mapping[str, WordRepairPlan] = MappingProxyType({}),
        targets: Mapping[str, tuple[VoiceTarget, ...]] = MappingProxyType({}),
    ) -> None:
        self._client = client
        self._loop = loop
        self._requests = requests
        self._control = control
        self._on_loaded = on_loaded
        self._on_spoken = on_spoken
        self._checker = checker
        self._repairs = repairs
        self._targets = targets
        self._stored_checks = StoredChecks()
        self._is_loaded = False
        self._lines_ahead = _LINES_AHEAD
        self._load_failure: StudioError | None = None
        self._expected: list[str] = []
        self._waiting_for: concurrent.futures.Future[Waveform] | None = None
        # The requested lines and the key of the current line. Used on the loop only.
        self._requested: dict[str, _Synthesis] = {}
        self.odd_lengths: dict[str, tuple[LengthFinding, ...]] = {}
        self._tokens: dict[str, str] = {}  # hashes of the speech tokens of the lines
        self._current: str | None = None
        control.when_cancelled(self._cancel)

    def needs_speaking(self, item: ExportItem) -> bool:
        return item.key in self._requests

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._expected = list(dict.fromkeys(item.key for item in items))

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        self._control.raise_if_cancelled()
        waiting_for = asyncio.run_coroutine_threadsafe(self._waveform_of(item.key), self._loop)
        self._waiting_for = waiting_for
        if self._control.is_cancelled:  # cancelled before _waiting_for was set
            self._cancel()
        try:
            return waiting_for.result()
        except concurrent.futures.CancelledError:
            raise Cancelled from None

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        tokens = self._tokens.get(item.key, "")
        return None if item.spoken is None else replace(item.spoken, tokens_sha256=tokens)

    # On the loop.

    async def _waveform_of(self, key: str) -> Waveform:
        await self._load()
        self._current = key
        self._request([key, *self._keys_after(key)])
        synthesis = self._requested[key]
        try:
            return await synthesis.task
        except (WorkerDied, OutOfMemory):
            if not synthesis.in_batch:
                raise
        finally:
            del self._requested[key]
        if self._requested:
            await asyncio.wait([other.task for other in self._requested.values()])
        return await self._speak(key, in_batch=False)

    def _keys_after(self, key: str) -> list[str]:
        """Return the next keys after ``key``."""
        if key not in self._expected:
            return []
        del self._expected[: self._expected.index(key) + 1]
        return self._expected[: self._lines_ahead]

    def _request(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in self._requested:
                in_batch = len(keys) > 1
                task = self._loop.create_task(self._speak(key, in_batch=in_batch))
                task.add_done_callback(_retrieve_exception)
                self._requested[key] = _Synthesis(task, in_batch)

    def check_of(self, item: ExportItem) -> LineCheck | None:
        """Return the check of a line that was spoken, in this or an earlier export."""
        return None if self._checker is None else self._stored_checks.get(item.key)

    async def _speak(self, key: str, *, in_batch: bool) -> Waveform:
        if self._checker is None:
            return self._done(key, await self._speak_once(key, self._requests[key], in_batch=in_batch))

        async def speak(seed: int) -> UtteredLine:
            request = self._requests[key]
            if seed != request.seed:
                request = replace(request, seed=seed, known_tokens=())
            return await self._speak_once(key, request, in_batch=in_batch)

        best, line = await self._checker.speak(self._requests[key].seed, speak, self._targets.get(key, ()))
        self._stored_checks.put(key, line)
        return self._done(key, best)

    def _done(self, key: str, line: UtteredLine) -> Waveform:
        self._tokens[key] = hash_tokens(line.report.evidence)
        return line.waveform

    async def _speak_once(self, key: str, request: SynthesisRequest, *, in_batch: bool) -> UtteredLine:
        chunks: list[Samples] = []
        num_samples = 0

        def append(chunk: AudioChunk) -> None:
            nonlocal num_samples
            chunks.append(chunk.samples)
            num_samples += len(chunk.samples)
            if key == self._current:
                self._on_spoken(num_samples / chunk.sample_rate)

        async with self._client.synthesize(request, hooks=Callbacks(on_audio=append), in_batch=in_batch) as running:
            report = await running.finished()
        if report is None:
            raise Cancelled
        if report.odd_lengths and self._checker is None:
            self.odd_lengths[key] = report.odd_lengths
        samples = np.concatenate([np.zeros(0, np.float32), *chunks])
        if key in self._repairs and request.known_tokens:
            repaired, joined = await asyncio.to_thread(self._repairs[key].join, samples, report)
            return UtteredLine(request, Waveform(repaired.samples, report.sample_rate), joined)
        return UtteredLine(request, Waveform(samples, report.sample_rate), report)

    async def _load(self) -> None:
        """Load the model once. After a failure, raise the same error for each line."""
        if self._load_failure is not None:
            raise self._load_failure
        try:
            description = await self._load_twice()
        except StudioError as error:
            self._load_failure = error
            raise
        self._lines_ahead = max(_LINES_AHEAD, description.max_concurrent_lines)
        if not self._is_loaded:
            self._is_loaded = True
            self._on_loaded(description)

    async def _load_twice(self) -> EngineDescription:
        """Load the model; start another worker if this one ends while it loads."""
        try:
            return await self._client.load()
        except WorkerDied as error:
            _log.warning("the worker ended while it loaded the model and is started again: %s", error)
            return await self._client.load()

    # From any thread.

    def _cancel(self) -> None:
        if self._waiting_for is not None:
            self._waiting_for.cancel()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._cancel_requests)

    def _cancel_requests(self) -> None:
        for synthesis in self._requested.values():
            synthesis.task.cancel()


def _retrieve_exception(task: asyncio.Task[Waveform]) -> None:
    """Prevent asyncio from logging a failure that is raised later, or that is no longer of interest."""
    if not task.cancelled():
        task.exception()
