"""The worker's side of the protocol: one thread reads commands, another works on one request at a time.

Requests wait in a queue, from which interactive ones are taken first. Lines of a batch run concurrently, each on its own thread, if that is faster. The model is opened by a function, so that
tests can serve a fake one.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from studio.engines.library_errors import is_device_lost, is_out_of_memory
from studio.engines.overview import EngineStatus
from studio.errors import IncompleteInstallation, InternalError, OutOfMemory, StudioError, WorkerBusy
from studio.pipeline.request import Cancelled, EngineOptions, RequestControl, SynthesisReport
from studio.system.installation import repair_hint
from studio.text.arriving import ArrivingText
from studio.worker import protocol
from studio.worker.protocol import Command, Event

if TYPE_CHECKING:  # imported when the first model is opened, so that the client learns why it fails
    from studio.pipeline.synthesizer import Chunks
    from studio.worker.model_host import ModelHost
from dataclasses import dataclass, field
from queue import SimpleQueue

_log = logging.getLogger(__name__)


class Server:
    """Serves one client over ``connection`` until it sends ``Shutdown`` or disconnects.

    ``when_abandoned`` is called on the reading thread when the client disconnects. ``collect_garbage`` is called after a
    model was closed or a request failed, to free its memory. In the process of a window it must do nothing, because
    widgets must not be destroyed on another thread.
    """

    def __init__(
        self,
        connection: Connection,
        open_model: Callable[[Path, EngineOptions, RequestControl], ModelHost],
        *,
        when_abandoned: Callable[[], None] | None = None,
        collect_garbage: Callable[[], object] = gc.collect,
    ) -> None:
        self._connection = connection
        self._open_model = open_model
        self._when_abandoned = when_abandoned
        self._collect_garbage = collect_garbage
        self._model: ModelHost | None = None
        self._closing = threading.Lock()  # held while a thread that is not the main one uses the model
        self._waiting = JobQueue(self._max_concurrent_lines)
        self._line_threads = WorkerThreadPool()
        self._jobs: dict[int, Job] = {}
        self._engine_watcher: int | None = None
        self._send_lock = threading.Lock()  # several threads send

    def serve(self) -> None:
        reader = threading.Thread(target=self._read_commands, name="commands", daemon=True)
        reader.start()
        try:
            while (found := self._waiting.next()) is not None:
                job, runs_concurrently = found
                if runs_concurrently:
                    self._line_threads.begin(partial(self._run_safely, partial(self._work_on, job)), self._waiting.done)
                else:
                    self._work_on(job)
        except BaseException:
            # The process ends with this error. Close the connection first: running lines must not be reported as
            # cancelled.
            with self._send_lock:
                self._connection.close()
            self._cancel_all()
            raise
        finally:
            self._line_threads.end()
            self._close_model()
            self._connection.close()

    # The reading thread.

    def _read_commands(self) -> None:
        try:
            while not isinstance(command := self._connection.recv(), protocol.Shutdown):
                self._take(command)
        except (EOFError, OSError):
            if self._when_abandoned:
                self._when_abandoned()
        except Exception:  # noqa: BLE001 - after an unreadable command nothing that follows can be trusted
            _log.exception("commands cannot be read")
        finally:
            self._cancel_all()
            self._waiting.end()

    def _take(self, command: Command) -> None:
        match command:
            case protocol.Cancel(request_id):
                self._cancel(request_id)
            case protocol.StopEarly(request_id):
                if job := self._jobs.get(request_id):
                    job.control.stop_early()
            case protocol.AddText(request_id, fragment):
                if (job := self._jobs.get(request_id)) is not None and job.text is not None:
                    job.text.add(fragment)
            case protocol.NormalizeText(request_id):
                self._answer_concurrently(request_id, partial(_normalize, command))
            case protocol.WatchEngines(request_id):
                self._engine_watcher = request_id
                self._watch_engines()
            case protocol.EngineCommand(request_id):
                self._answer_concurrently(request_id, partial(self._manage_engines, command))
            case protocol.Shutdown():
                pass  # ends the reading loop
            case _:
                self._queue(command)

    def _queue(self, command: protocol.QueuedCommand) -> None:
        job = Job(command, self._control(command.request_id))
        if isinstance(command, protocol.Synthesize) and command.text_arrives:
            job.text = ArrivingText()
        self._jobs[command.request_id] = job
        self._waiting.put(job)

    def _control(self, request_id: int) -> RequestControl:
        def progress(stage: str, share: float) -> None:
            self._send(protocol.Progress(request_id, stage, share))

        def estimate(seconds: float) -> None:
            passed = time.perf_counter() - self._jobs[request_id].started
            self._send(protocol.PlaybackStartEstimate(request_id, seconds, max(0.0, seconds - passed)))

        return RequestControl(on_progress=progress, on_estimate=estimate)

    def _cancel(self, request_id: int) -> None:
        job = self._jobs.get(request_id)
        if job is None:
            return
        job.control.cancel()
        if job.try_claim():
            del self._jobs[request_id]
            self._send(protocol.Cancelled(request_id))

    def _cancel_all(self) -> None:
        for job in list(self._jobs.values()):
            job.control.cancel()

    def _answer_concurrently(self, request_id: int, work: Callable[[], Event]) -> None:
        """Answer a short command on a new thread, while requests run."""
        answer = partial(self._run_safely, lambda: self._send(self._outcome(request_id, work)))
        threading.Thread(target=answer, name="answer", daemon=True).start()

    # Engines.

    def _watch_engines(self) -> None:
        """Send engine status from now on. A separate thread is used because the first status probes every candidate."""
        model, watcher = self._model, self._engine_watcher
        if watcher is None or model is None:
            return

        def send(status: EngineStatus) -> None:
            if self._model is model:
                self._send(protocol.EngineStatusChanged(watcher, status))

        threading.Thread(target=model.watch_engines, args=(send,), name="engine-status", daemon=True).start()

    def _manage_engines(self, command: protocol.EngineCommand) -> Event:
        with self._closing:
            freed_bytes = self._loaded().manage_engines(command.action, command.keys)
        return protocol.EnginesManaged(command.request_id, freed_bytes)

    # Requests, on the main thread or on a thread of a batch.

    def _max_concurrent_lines(self) -> int:
        return 1 if self._model is None else self._model.description.max_concurrent_lines

    def _run_safely(self, work: Callable[[], None]) -> None:
        """Run ``work`` on this thread. ``serve`` raises its errors on the main thread."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the end of a thread
            self._waiting.fail(error)

    def _work_on(self, job: Job) -> None:
        if not job.try_claim():
            return
        job.started = time.perf_counter()
        event = self._outcome(job.command.request_id, partial(self._do, job))
        del self._jobs[job.command.request_id]
        self._send(event)
        if isinstance(event, protocol.Ready):
            self._watch_engines()

    def _outcome(self, request_id: int, work: Callable[[], Event]) -> Event:
        """Return the event that ``work`` returns, or one that describes its error."""
        try:
            return work()
        except Cancelled:
            return protocol.Cancelled(request_id)
        except StudioError as error:
            _log.info("request %d failed: %s", request_id, error)
            return protocol.Failed(request_id, error.to_record())
        except Exception as error:  # process boundary: every error is reported to the client
            _log.exception("request %d failed", request_id)
            if is_device_lost(error):
                raise  # end the process: later requests would fail here but succeed in a new process
            failed = protocol.Failed(request_id, _explained(error).to_record())
        self._collect_garbage()  # after the block, because the traceback refers to the tensors of the request
        return failed

    def _do(self, job: Job) -> Event:
        control = job.control
        control.raise_if_cancelled()
        match job.command:
            case protocol.Load(request_id, folder, options):
                self._close_model()
                self._model = self._open_model(folder, options, control)
                return protocol.Ready(request_id, self._model.description)
            case protocol.PrepareVoice(request_id, voice):
                return protocol.VoiceReady(request_id, self._loaded().prepare_voice(voice, control=control))
            case protocol.Synthesize(request_id, request, in_batch):
                chunks = self._loaded().stream(
                    request,
                    control=control,
                    in_batch=in_batch and self._max_concurrent_lines() > 1,
                    text=job.text,
                )
                report = self._send_chunks(request_id, chunks, control)
            case protocol.Convert(request_id, conversion):
                chunks = self._loaded().convert(conversion, control=control)
                report = self._send_chunks(request_id, chunks, control)
            case protocol.ReadRecording(request_id, request, source):
                report = self._loaded().read_recording(request, source, control=control)
            case protocol.FinishWrites(request_id):
                if self._model is not None:
                    self._model.finish_writes(control)
                return protocol.WritesFinished(request_id)
            case protocol.ImportStoredVoices(request_id, path, model_folder, destination):
                # Imported here because it loads torch, which the reading thread must not wait for.
                from studio.worker.stored_voices import convert_spk2info  # noqa: PLC0415

                voices, refused = convert_spk2info(path, model_folder, destination)
                return protocol.StoredVoicesWritten(request_id, voices, refused)
        return protocol.Finished(request_id, report)

    def _send_chunks(self, request_id: int, chunks: Chunks, control: RequestControl) -> SynthesisReport:
        try:
            while True:
                try:
                    chunk = next(chunks)
                except StopIteration as end:
                    report: SynthesisReport = end.value
                    break
                control.raise_if_cancelled()
                self._send(protocol.AudioReady(request_id, chunk))
        finally:
            chunks.close()
        control.raise_if_cancelled()
        return report

    def _loaded(self) -> ModelHost:
        if self._model is None:
            raise WorkerBusy("No model is loaded.", remedy="Load a model first.")
        return self._model

    def _close_model(self) -> None:
        with self._closing:
            model, self._model = self._model, None
        if model is None:
            return
        try:
            model.close()
        except Exception:  # noqa: BLE001 - a failure to close must not keep the next model from loading
            _log.exception("the model could not be closed")
        del model
        self._collect_garbage()

    def _send(self, event: Event) -> None:
        with self._send_lock:
            try:
                self._connection.send(event)
            except OSError:
                _log.debug("%s is dropped: the client has disconnected", type(event).__name__)


def _explained(error: Exception) -> StudioError:
    if isinstance(error, ImportError):
        return IncompleteInstallation(
            "A part of the program cannot be loaded: {reason}.",
            remedy="{mend} `timbre doctor` shows details.",
            reason=error,
            mend=repair_hint(),
        )
    if is_out_of_memory(error):
        return OutOfMemory(
            "There was not enough memory.",
            remedy="Close other programs, use a shorter text or clip, or choose a lower precision.",
        )
    return InternalError(
        "An internal error occurred ({kind}: {reason}).",
        remedy="Try again. If it happens again, report it with the log.",
        kind=type(error).__name__,
        reason=error,
    )


def _normalize(command: protocol.NormalizeText) -> Event:
    from studio.worker.normalization import normalized_text  # noqa: PLC0415 - synthesis does not need it

    spoken = normalized_text(command.text, command.model_folder, language=command.language)
    return protocol.NormalizedText(command.request_id, spoken)


_Task = Callable[[], None]


@dataclass(eq=False)
class Job:
    """One request, from its command to its last event."""

    command: protocol.QueuedCommand
    control: RequestControl
    started: float = 0.0
    text: ArrivingText | None = None  # the sentence of a synthesis whose text arrives
    _claim: threading.Lock = field(default_factory=threading.Lock)

    def try_claim(self) -> bool:
        """Return True for the first caller: the thread that runs the job, or the one that cancels it before that."""
        return self._claim.acquire(blocking=False)

    @property
    def is_in_batch(self) -> bool:
        return isinstance(self.command, protocol.Synthesize) and self.command.in_batch

    @property
    def changes_model(self) -> bool:
        return isinstance(self.command, protocol.Load)


class JobQueue:
    """A FIFO queue with two exceptions.

    Up to ``max_concurrent_lines`` jobs of a batch run concurrently, also alongside another request. Interactive
    requests start before waiting jobs of a batch. No job overtakes one that changes the model.
    """

    def __init__(self, max_concurrent_lines: Callable[[], int]) -> None:
        self._max_concurrent_lines = max_concurrent_lines
        self._waiting: list[Job] = []
        self._num_concurrent = 0
        self._has_ended = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def put(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def end(self) -> None:
        """Make ``next`` return None after the last waiting job."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def next(self) -> tuple[Job, bool] | None:
        """Wait for a job that may start; return it and whether it runs concurrently, or None after the last job.

        Call ``done`` at the end of a concurrent job; any other job must end before the next call. Raise the error
        that was passed to ``fail``.
        """
        with self._changed:
            while True:
                if self._failure is not None:
                    raise self._failure
                job = self._startable()
                if job is not None:
                    self._waiting.remove(job)
                    runs_concurrently = job.is_in_batch and self._max_concurrent_lines() > 1
                    self._num_concurrent += runs_concurrently
                    return job, runs_concurrently
                if self._has_ended and not self._waiting and not self._num_concurrent:
                    return None
                self._changed.wait()

    def done(self) -> None:
        """Record the end of a concurrent job."""
        with self._changed:
            self._num_concurrent -= 1
            self._changed.notify_all()

    def fail(self, failure: BaseException) -> None:
        """Make ``next`` raise ``failure``, the error of a concurrent job."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def _startable(self) -> Job | None:
        max_concurrent_lines = self._max_concurrent_lines()
        may_start = not self._num_concurrent or max_concurrent_lines > 1
        first_of_batch: Job | None = None
        for job in self._waiting:
            if job.changes_model:
                if first_of_batch is None and not self._num_concurrent:
                    return job
                break
            if not job.is_in_batch:
                return job if may_start else None
            first_of_batch = first_of_batch or job
        return first_of_batch if self._num_concurrent < max(1, max_concurrent_lines) else None


class WorkerThreadPool:
    """Threads for concurrent lines. A new one is started only if none is idle.

    Reason: torch keeps GPU memory for every thread that has multiplied matrices, and for each stream of the thread.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[_Task, _Task] | None] = SimpleQueue()
        self._num_threads = 0
        self._num_idle = 0
        self._lock = threading.Lock()

    def begin(self, work: _Task, then: _Task) -> None:
        """Run ``work`` on a thread, then ``then`` when that thread counts as idle again. Neither may raise."""
        with self._lock:
            if self._num_idle:
                self._num_idle -= 1
            else:
                self._num_threads += 1
                threading.Thread(target=self._run, name="line", daemon=True).start()
        self._tasks.put((work, then))

    def end(self) -> None:
        """End all threads after their current work."""
        for _ in range(self._num_threads):
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            work, then = task
            work()
            with self._lock:
                self._num_idle += 1
            then()
            del task, work, then  # releases the line's memory while the thread waits
