"""The worker's side of the protocol: one thread reads commands, another works on one request at a time.

Lines of a batch run concurrently, each on its own thread, if that is faster. The server uses the model only through the
``Model`` protocol, so that tests can serve a fake one.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol, runtime_checkable

from studio.engines.lost_device import is_device_lost
from studio.engines.memory import is_out_of_memory
from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import IncompleteInstallation, InternalError, OutOfMemory, StudioError, WorkerBusy
from studio.pipeline.control import Cancelled, RequestControl
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.system.installation import repair_hint
from studio.worker import protocol
from studio.worker.jobs import Job, JobQueue, Work
from studio.worker.protocol import Command, Event
from studio.worker.thread_pool import WorkerThreadPool

_log = logging.getLogger(__name__)

Chunks = Generator[AudioChunk, None, SynthesisReport]


class Model(Protocol):
    """A loaded model; ``studio.worker.model_host.ModelHost`` is the real one."""

    @property
    def description(self) -> EngineDescription: ...

    def prepare_voice(self, voice: VoiceReference, *, progress: Callable[[str, float], None]) -> VoiceSummary: ...

    def stream(self, request: SynthesisRequest, *, control: RequestControl, in_batch: bool = False) -> Chunks: ...

    def stream_pieces(self, request: SynthesisRequest, pieces: Iterator[str], *, control: RequestControl) -> Chunks: ...

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks: ...

    def finish_writes(self, control: RequestControl) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class SupportsEngines(Protocol):
    """A model whose engines can be watched and managed."""

    def watch_engines(self, on_status: Callable[[EngineStatus], None]) -> None: ...

    def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int: ...


OpenModel = Callable[[Path, EngineOptions], Model]


class Server:
    """Serves one client over ``connection`` until it sends ``Shutdown`` or disconnects.

    ``when_abandoned`` is called on the reading thread when the client disconnects.
    """

    def __init__(
        self, connection: Connection, open_model: OpenModel, *, when_abandoned: Callable[[], None] | None = None
    ) -> None:
        self._connection = connection
        self._open_model = open_model
        self._when_abandoned = when_abandoned
        self._model: Model | None = None
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
                    self._line_threads.begin(partial(self._work_concurrently, job), self._waiting.done)
                else:
                    self._work_on(job)
        except BaseException:
            # The process ends with this error. Close first: running lines must not be reported as cancelled.
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
            case protocol.Ping(request_id):
                self._send(protocol.Pong(request_id))
            case protocol.Cancel(request_id):
                self._cancel(request_id)
            case protocol.AppendText(request_id, text):
                if job := self._jobs.get(request_id):
                    job.text.feed(text)
            case protocol.EndText(request_id):
                if job := self._jobs.get(request_id):
                    job.text.end()
            case protocol.NormalizeText():
                threading.Thread(target=self._normalize, args=(command,), name="normalizing", daemon=True).start()
            case protocol.WatchEngines(request_id):
                self._engine_watcher = request_id
                self._watch_engines()
            case protocol.EngineCommand():
                threading.Thread(target=self._manage_engines, args=(command,), name="managing", daemon=True).start()
            case protocol.Shutdown():
                pass  # ends the reading loop
            case _:
                self._queue(command)

    def _queue(self, command: Work) -> None:
        job = Job(command, self._control(command.request_id))
        job.control.when_cancelled(job.text.end)
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

    # Engines.

    def _watch_engines(self) -> None:
        """Send engine status from now on. The first status probes every candidate, so no request waits for it."""
        loaded = self._model
        model: object = loaded
        watcher = self._engine_watcher
        if watcher is None or not isinstance(model, SupportsEngines):
            return

        def send(status: EngineStatus) -> None:
            if self._model is loaded:
                self._send(protocol.EngineStatusChanged(watcher, status))

        threading.Thread(target=model.watch_engines, args=(send,), name="engine-status", daemon=True).start()

    def _manage_engines(self, command: protocol.EngineCommand) -> None:
        try:
            model: object = self._loaded()
            freed = model.manage_engines(command.action, command.keys) if isinstance(model, SupportsEngines) else 0
            event: Event = protocol.EnginesManaged(command.request_id, freed)
        except StudioError as error:
            event = protocol.Failed(command.request_id, error.to_record())
        except Exception as error:  # noqa: BLE001 - the border of a thread
            _log.exception("engines could not be managed")
            event = protocol.Failed(command.request_id, _explained(error).to_record())
        with contextlib.suppress(OSError, ValueError):  # the client has disconnected
            self._send(event)

    # Text normalisation, a thread per text.

    def _normalize(self, command: protocol.NormalizeText) -> None:
        from studio.worker.normalization import normalized_text  # noqa: PLC0415 - not needed to speak

        try:
            event: Event = protocol.NormalizedText(
                command.request_id, normalized_text(command.text, command.model_folder)
            )
        except StudioError as error:
            event = protocol.Failed(command.request_id, error.to_record())
        except Exception as error:  # noqa: BLE001 - the border of a thread
            _log.exception("a text could not be normalised")
            failure = InternalError(
                "The text could not be normalised ({reason}).", remedy="See the log for details.", reason=error
            )
            event = protocol.Failed(command.request_id, failure.to_record())
        with contextlib.suppress(OSError, ValueError):  # the client has disconnected
            self._send(event)

    # Requests, on the main thread or on a thread of a batch.

    def _max_concurrent_lines(self) -> int:
        return 1 if self._model is None else self._model.description.max_concurrent_lines

    def _work_concurrently(self, job: Job) -> None:
        try:
            self._work_on(job)
        except BaseException as error:  # noqa: BLE001 - the border of a thread: raised again by ``serve``
            self._waiting.fail(error)

    def _work_on(self, job: Job) -> None:
        if not job.try_claim():
            return
        event = self._outcome(job)
        del self._jobs[job.command.request_id]
        self._send(event)
        if isinstance(event, protocol.Ready):
            self._watch_engines()

    def _outcome(self, job: Job) -> Event:
        request_id = job.command.request_id
        job.started = time.perf_counter()
        try:
            job.control.raise_if_cancelled()
            return self._do(job)
        except Cancelled:
            return protocol.Cancelled(request_id)
        except StudioError as error:
            _log.info("request %d failed: %s", request_id, error)
            return protocol.Failed(request_id, error.to_record())
        except ImportError as error:
            _log.exception("a part of the program is missing")
            return protocol.Failed(request_id, _incomplete(error).to_record())
        except Exception as error:  # process boundary: every error is reported to the client
            _log.exception("request %d failed", request_id)
            if is_device_lost(error):
                raise  # ends the process: further requests fail here but succeed in a new process
            gc.collect()
            return protocol.Failed(request_id, _explained(error).to_record())

    def _do(self, job: Job) -> Event:
        control = job.control
        match job.command:
            case protocol.Load(request_id, folder, options):
                self._close_model()
                self._model = self._open_model(folder, options)
                return protocol.Ready(request_id, self._model.description)
            case protocol.Unload(request_id):
                self._close_model()
                return protocol.Unloaded(request_id)
            case protocol.PrepareVoice(request_id, voice):
                return protocol.VoiceReady(request_id, self._prepare(voice, control))
            case protocol.Synthesize(request_id) | protocol.Convert(request_id):
                return protocol.Finished(request_id, self._send_chunks(request_id, self._chunks(job), control))
            case protocol.FinishWrites(request_id):
                if self._model is not None:
                    self._model.finish_writes(control)
                return protocol.WritesFinished(request_id)
            case protocol.ImportStoredVoices(request_id, path, model_folder, destination):
                # Imported here because it loads torch, which the reading thread must not wait for.
                from studio.worker.stored_voices import convert_spk2info  # noqa: PLC0415

                voices, refused = convert_spk2info(path, model_folder, destination)
                return protocol.StoredVoicesWritten(request_id, voices, refused)

    def _chunks(self, job: Job) -> Chunks:
        match job.command:
            case protocol.Synthesize(_, request, text_arrives, in_batch):
                if text_arrives:
                    return self._loaded().stream_pieces(request, iter(job.text), control=job.control)
                runs_concurrently = in_batch and self._max_concurrent_lines() > 1
                return self._loaded().stream(request, control=job.control, in_batch=runs_concurrently)
            case protocol.Convert(_, conversion):
                return self._loaded().convert(conversion, control=job.control)
        raise AssertionError(job.command)

    def _prepare(self, voice: VoiceReference, control: RequestControl) -> VoiceSummary:
        def progress(stage: str, share: float) -> None:
            control.raise_if_cancelled()
            control.report_progress(stage, share)

        return self._loaded().prepare_voice(voice, progress=progress)

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

    def _loaded(self) -> Model:
        if self._model is None:
            raise WorkerBusy("No model is loaded.", remedy="Load a model first.")
        return self._model

    def _close_model(self) -> None:
        if self._model is None:
            return
        model, self._model = self._model, None
        try:
            model.close()
        except Exception:  # noqa: BLE001 - a failure to close must not keep the next model from loading
            _log.exception("the model could not be closed")
        del model
        gc.collect()

    def _send(self, event: Event) -> None:
        with self._send_lock:
            try:
                self._connection.send(event)
            except OSError:
                _log.debug("%s is dropped: the client has disconnected", type(event).__name__)


def _incomplete(error: ImportError) -> IncompleteInstallation:
    return IncompleteInstallation(
        "A part of the program cannot be loaded: {reason}.",
        remedy="{mend} `timbre doctor` shows details.",
        reason=error,
        mend=repair_hint(),
    )


def _explained(error: Exception) -> StudioError:
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
