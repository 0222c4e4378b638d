"""Access to the process that checks takes. Imports neither torch nor ONNX Runtime.

Requests wait in a queue and are processed in order, on a thread of the parent. The process starts with the first
request, ends after ``idle_release_seconds`` without one, and is started again after it was killed or has crashed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

from studio.errors import CheckerDied, CheckerHung, StudioError, from_record
from studio.take_checks.process import CheckFailed, Reply, TakeCheckProcess
from studio.take_checks.records import Embeddings, TakeCheck, Transcript, Verdict
from studio.take_checks.requests import CheckRequest, EmbeddingRequest, TranscriptRequest

_log = logging.getLogger(__name__)

# At low priority beside a synthesis, a check has a small share of the processor.
_TIMEOUT_SECONDS = 300.0
_TIMEOUT_SECONDS_PER_SECOND = 20.0
_POLL_SECONDS = 0.5
_IDLE_RELEASE_SECONDS = 300.0
# Shorter checks are faster than loading a recogniser again.
_KILLED_WHEN_CANCELLED_SECONDS = 60.0

Request = CheckRequest | EmbeddingRequest | TranscriptRequest
Result = TypeVar("Result", TakeCheck, Embeddings, Transcript)


class TakeCheckService:
    """Queue of checks. All methods may be called from any thread and return at once.

    A future never ends with an exception: what prevents a check is reported as ``NOT_CHECKED`` with an ``error_code``.
    Its callbacks run on the thread of the queue. ``Future.cancel`` works until the result has arrived.
    """

    def __init__(
        self,
        start_process: Callable[[], TakeCheckProcess] = TakeCheckProcess,
        *,
        idle_release_seconds: float = _IDLE_RELEASE_SECONDS,
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        self._start_process = start_process
        self._idle_release_seconds = idle_release_seconds
        self._timeout_seconds = timeout_seconds
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._process: TakeCheckProcess | None = None  # used on the thread only, except to kill it
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(self, request: CheckRequest) -> Future[TakeCheck]:
        """Queue a check."""
        future: Future[TakeCheck] = Future()
        self._put(lambda: self._settle(future, lambda: self._check(request, future)), future)
        return future

    def transcribe(self, request: TranscriptRequest) -> Future[Transcript]:
        """Queue the recognition of a recording."""
        future: Future[Transcript] = Future()
        self._put(lambda: self._settle(future, lambda: self._transcribe(request, future)), future)
        return future

    def embed(self, request: EmbeddingRequest) -> Future[Embeddings]:
        """Queue the computation of speaker embeddings."""
        future: Future[Embeddings] = Future()
        self._put(lambda: self._settle(future, lambda: self._embed(request, future)), future)
        return future

    def close(self) -> None:
        """Cancel all requests and end the process. Returns at once."""
        with self._lock:
            self._is_closed = True
            self._queue.put(None)
            process = self._process
        if process is not None:
            process.kill()

    def join(self, timeout_seconds: float | None = None) -> None:
        """Wait for the end of the thread after ``close``."""
        if self._thread is not None:
            self._thread.join(timeout_seconds)

    @property
    def pid(self) -> int | None:
        """Process id, or None while there is no process."""
        process = self._process
        return process.pid if process else None

    def _put(self, work: Callable[[], None], future: Future[Result]) -> None:
        with self._lock:
            if self._is_closed:
                future.cancel()
                return
            self._queue.put(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="take-checks", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                work = self._queue.get(timeout=self._idle_release_seconds if self._process else None)
            except Empty:
                self._end_process()
                continue
            if work is None:
                break
            work()
        self._end_process()

    def _settle(self, future: Future[Result], work: Callable[[], Result]) -> None:
        """Set the result of ``future``, unless it is cancelled or the client is closed before or during ``work``."""
        result: Result | None = None
        failure: Exception | None = None
        if not future.cancelled() and not self._is_closed:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - the end of a thread: later requests must not wait forever
                _log.exception("the check failed")
                failure = error
        if self._is_closed:
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        if result is not None:
            future.set_result(result)
        else:
            future.set_exception(failure)

    def _check(self, request: CheckRequest, future: Future[TakeCheck]) -> TakeCheck:
        """Return the result of a check. If its process dies, check again in another one, without a recogniser."""
        try:
            return self._replied(request, future, TakeCheck)
        except StudioError as error:
            code = error.code
        if request.recognizer == "off" or future.cancelled():
            return TakeCheck(Verdict.NOT_CHECKED, error_code=code)
        try:
            rest = self._replied(replace(request, recognizer="off"), future, TakeCheck)
        except StudioError:
            return TakeCheck(Verdict.NOT_CHECKED, error_code=code)
        return rest.without_recognition(code)

    def _transcribe(self, request: TranscriptRequest, future: Future[Transcript]) -> Transcript:
        try:
            return self._replied(request, future, Transcript)
        except StudioError as error:
            return Transcript("", error_code=error.code)

    def _embed(self, request: EmbeddingRequest, future: Future[Embeddings]) -> Embeddings:
        try:
            return self._replied(request, future, Embeddings)
        except StudioError as error:
            return Embeddings(error_code=error.code)

    def _replied(self, request: Request, future: Future[Result], expected: type[Result]) -> Result:
        """Send ``request`` and wait for its reply. Raise ``CheckerDied``, ``CheckerHung``, or the reported error."""
        process = self._running_process()
        try:
            process.send(request)
            reply = self._reply(process, request, future)
        except (EOFError, OSError) as error:
            self._process = None
            raise CheckerDied(
                "The process that checks takes ended unexpectedly ({how}).",
                remedy="Check the take again. The log describes the cause: {log}",
                how=process.wait_exit(),
                log=process.log_path,
            ) from error
        if isinstance(reply, CheckFailed):
            raise from_record(reply.error)
        assert isinstance(reply, expected), f"{type(request).__name__} was answered by {type(reply).__name__}"
        return reply

    def _reply(self, process: TakeCheckProcess, request: Request, future: Future[Result]) -> Reply:
        seconds = len(request.samples) / request.sample_rate
        is_long = seconds > _KILLED_WHEN_CANCELLED_SECONDS
        deadline = monotonic() + self._timeout_seconds + _TIMEOUT_SECONDS_PER_SECOND * seconds
        while not process.has_message(_POLL_SECONDS):
            if is_long and future.cancelled():
                process.kill()
            if monotonic() > deadline:
                self._end_process()
                raise CheckerHung(
                    "The process that checks takes did not respond and was stopped.",
                    remedy="Check the take again. The log describes the cause: {log}",
                    log=process.log_path,
                )
        return process.receive()

    def _running_process(self) -> TakeCheckProcess:
        """Return the process, started if necessary. Raise ``CheckerDied`` if it cannot be started."""
        if self._process is not None:
            return self._process
        process = self._start_process()
        try:
            process.start()
        except OSError as error:
            raise CheckerDied(
                "The process that checks takes could not be started ({reason}).",
                remedy="Close other programs and try again.",
                reason=error,
            ) from error
        with self._lock:
            self._process = process
            if self._is_closed:
                process.kill()
        return process

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait_exit()
