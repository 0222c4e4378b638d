"""A running service on a free port of this computer, with a fake model in a thread or in a process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import noise_models
from fake_checks import FakeChecks
from fake_model import open_fake
from thread_worker import ThreadWorker

from studio.model.options import Quality
from studio.pipeline.request import EngineOptions, SynthesisRequest
from studio.provenance.signing import Signing
from studio.serve.running import Address, run_service
from studio.serve.service import ServiceOptions, SpeechService
from studio.take_checks.service import TakeCheckService
from studio.voices.library import VoiceLibrary
from studio.worker.client import WorkerClient
from studio.worker.process import Worker, WorkerProcess


@dataclass
class RunningService:
    """The address of a service, and its parts, which belong to the thread of its loop."""

    url: str
    service: SpeechService
    client: WorkerClient
    loop: asyncio.AbstractEventLoop

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def kill_worker(self) -> None:
        """End the worker as a crash does, while requests run."""
        connection = self.client._connection
        assert connection is not None
        connection.kill()


Serve = Callable[..., AbstractContextManager[RunningService]]


def fake_worker(model_name: str = "fake") -> Worker:
    return ThreadWorker(lambda _folder, options: open_fake(Path(model_name), options))


def last_request() -> SynthesisRequest:
    """Return the last request that the newest fake model in a thread has received."""
    model = ThreadWorker.created[-1].server._model
    assert model is not None
    request = model.requests[-1]
    assert isinstance(request, SynthesisRequest)
    return request


def fake_process() -> Worker:
    return WorkerProcess("fake_model:open_fake")


@contextmanager
def serve(
    address: Address | None = None,
    *,
    library: VoiceLibrary,
    start_worker: Callable[[], Worker] = fake_worker,
    folder: Path = noise_models.V3,
    open_checks: Callable[[], TakeCheckService] = FakeChecks,
    max_waiting: int = 64,
    default_voice: str = "",
    default_quality: Quality = Quality.EXACT,
    engine_options: EngineOptions | None = None,
    voice_names: Mapping[str, str] | None = None,
    is_strict: bool = False,
    signing: Signing | None = None,
    warms_up: bool = False,
) -> Iterator[RunningService]:
    started = threading.Event()
    running: list[RunningService] = []
    errors: list[BaseException] = []
    tasks: list[asyncio.Task[None]] = []

    async def work() -> None:
        tasks.append(asyncio.current_task())  # type: ignore[arg-type]
        async with WorkerClient(folder, engine_options, start_worker=start_worker) as client:
            options = ServiceOptions(
                folder,
                default_voice,
                max_waiting,
                default_quality,
                voice_names or {},
                is_strict=is_strict,
                signing=signing,
                warms_up=warms_up,
            )
            speech_service = SpeechService(client, options, lambda: library, open_checks)

            def on_ready(url: str) -> None:
                running.append(RunningService(url, speech_service, client, asyncio.get_running_loop()))
                started.set()

            await run_service(speech_service, address or Address(port=0), on_ready=on_ready)

    def run() -> None:
        try:
            asyncio.run(work())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised on the thread of the test
            errors.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=run, name="test-service")
    with ExitStack() as stack:
        thread.start()
        stack.callback(thread.join, 60)
        assert started.wait(60)
        if errors:
            raise errors[0]
        stack.callback(lambda: running[0].loop.call_soon_threadsafe(tasks[0].cancel))
        yield running[0]
