"""Real worker processes: killed at any moment, orphaned, and without side effects."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from studio.errors import InternalError, WorkerDied
from studio.pipeline.request import SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient
from studio.worker.process import WorkerProcess

pytestmark = pytest.mark.timeout(120)
VOICE = VoiceReference(Path("anna.wav"), "What she said.", "anna")


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))
    return tmp_path / "logs"


class Workers:
    """Starts processes with the fake model and remembers them."""

    def __init__(self) -> None:
        self.made: list[WorkerProcess] = []

    def __call__(self) -> WorkerProcess:
        self.made.append(WorkerProcess("fake_model:open_talkative"))
        return self.made[-1]

    async def pid(self) -> int:
        while not self.made or self.made[-1].pid is None:
            await asyncio.sleep(0.01)
        assert self.made[-1].pid is not None
        return self.made[-1].pid


def run(work: Callable[[WorkerClient, Workers], Awaitable[None]], *, folder: str = "fake") -> list[WorkerProcess]:
    workers = Workers()

    async def with_client() -> None:
        async with WorkerClient(Path(folder), start_worker=workers) as client:
            await work(client, workers)

    asyncio.run(asyncio.wait_for(with_client(), 90))
    assert all(worker.pid is None or not psutil.pid_exists(worker.pid) for worker in workers.made), "a worker is left"
    return workers.made


async def heard(client: WorkerClient, words: str, *, in_batch: bool = False) -> int:
    request = SynthesisRequest(words, VOICE)
    return len([chunk async for chunk in client.synthesize(request, in_batch=in_batch)])


@pytest.mark.slow
def test_a_killed_worker_is_replaced(logs: Path) -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        speech = client.synthesize(SynthesisRequest("one wait", VOICE))
        async for _ in speech:
            os.kill(await workers.pid(), signal.SIGKILL)
        pytest.fail("the stream ended without an error")

    with pytest.raises(WorkerDied, match="SIGKILL, possibly out of memory") as raised:
        run(work)
    assert str(logs) in str(raised.value.remedy)

    async def between(client: WorkerClient, workers: Workers) -> None:
        assert await heard(client, "one two") == 2
        process = psutil.Process(await workers.pid())
        process.kill()
        assert await heard_in_the_end(client) == 2

    assert len(run(between)) == 2


async def heard_in_the_end(client: WorkerClient) -> int:
    """Only a request that is sent at the moment of the kill may fail, but not the next one."""
    try:
        return await heard(client, "one two")
    except WorkerDied:
        return await heard(client, "one two")


@pytest.mark.slow
def test_a_worker_killed_while_loading_fails_the_request() -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        loading = asyncio.create_task(client.load())
        pid = await workers.pid()
        await asyncio.sleep(1.5)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(WorkerDied):
            await loading

    run(work, folder="slow-load")


@pytest.mark.slow
@pytest.mark.parametrize("delay_seconds", [0.0, 0.05, 0.15, 0.3, 0.45, 0.6])
def test_a_worker_killed_at_any_moment_fails_the_request_only(delay_seconds: float) -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        speaking = asyncio.create_task(heard(client, "breathe " * 10))
        pid = await workers.pid()
        await asyncio.sleep(delay_seconds)
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGKILL)
        (outcome,) = await asyncio.gather(speaking, return_exceptions=True)
        assert outcome == 10 or isinstance(outcome, WorkerDied)
        assert await heard_in_the_end(client) == 2

    run(work)


@pytest.mark.slow
def test_the_exit_status_of_a_worker_is_reported() -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        with pytest.raises(WorkerDied, match="exit status 3"):
            await heard(client, "one exit")

    run(work)


@pytest.mark.slow
def test_an_exit_in_a_line_of_a_batch_ends_the_worker() -> None:
    """Otherwise its client would wait forever."""

    async def work(client: WorkerClient, workers: Workers) -> None:
        lines = [asyncio.create_task(heard(client, words, in_batch=True)) for words in ("one wait", "one exit")]
        for ended in await asyncio.gather(*lines, return_exceptions=True):
            assert isinstance(ended, WorkerDied)
            assert "exit status 3" in str(ended)

    run(work, folder="three-at-once")


@pytest.mark.slow
@pytest.mark.parametrize("in_batch", [False, True])
def test_a_worker_is_replaced_after_a_gpu_failure(in_batch: bool) -> None:
    """All further GPU work fails in that process, but succeeds in a new one."""

    async def work(client: WorkerClient, workers: Workers) -> None:
        with pytest.raises(WorkerDied):
            await heard(client, "one card-fault", in_batch=in_batch)
        assert await heard(client, "one two", in_batch=in_batch) == 2

    assert len(run(work, folder="three-at-once")) == 2


@pytest.mark.slow
def test_output_of_libraries_goes_to_the_log_only(logs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        with pytest.raises(InternalError):
            await heard(client, "bug")

    run(work)
    log = "".join(path.read_text("utf-8") for path in logs.glob("worker-*.log"))
    assert "the fake model is open" in log
    assert "ZeroDivisionError" in log
    assert "Traceback" in log
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_old_logs_are_deleted_and_an_unwritable_log_is_no_error(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs.mkdir()
    for number in range(20):
        (logs / f"worker-2020010{number % 10}-{number:06d}-1-1.log").write_text("old")
    WorkerProcess("fake_model:open_fake")
    assert len(list(logs.iterdir())) == 7

    async def work(client: WorkerClient, workers: Workers) -> None:
        assert await heard(client, "one") == 1

    (logs / "file").write_text("a file where a folder should be")
    monkeypatch.setenv("TIMBRE_LOGS", str(logs / "file"))
    run(work)


@pytest.mark.slow
def test_ctrl_c_in_the_terminal_does_not_reach_the_worker() -> None:
    async def work(client: WorkerClient, workers: Workers) -> None:
        speech = client.synthesize(SynthesisRequest("one wait", VOICE))
        async for _ in speech:
            os.kill(await workers.pid(), signal.SIGINT)
            await asyncio.sleep(0.2)
            speech.cancel()
        assert await heard(client, "one") == 1

    assert len(run(work)) == 1


@pytest.mark.slow
def test_a_stopped_process_does_not_hang_the_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.worker.client._CLOSE_GRACE_SECONDS", 0.5)

    async def work(client: WorkerClient, workers: Workers) -> None:
        await client.load()
        os.kill(await workers.pid(), signal.SIGSTOP)

    started = time.monotonic()
    run(work)
    assert time.monotonic() - started < 30


PROGRAM = """
    import asyncio, os, sys
    from functools import partial
    from pathlib import Path
    from studio.pipeline.request import SynthesisRequest, VoiceReference
    from studio.worker.client import WorkerClient
    from studio.worker.process import WorkerProcess

    async def main(end):
        worker = WorkerProcess("fake_model:open_fake")
        client = WorkerClient(Path("fake"), start_worker=lambda: worker)
        async for _ in client.synthesize(SynthesisRequest("one stuck", VoiceReference(Path("a.wav")))):
            print(worker.pid, flush=True)
            if end == "leave":
                return
            await asyncio.sleep(60)

    if __name__ == "__main__":
        asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["kill", "leave"])
def test_the_worker_never_outlives_the_program(tmp_path: Path, end: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    folders = [str(Path(__file__).parent.parent / "fakes"), str(Path(__file__).parent.parent.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    with subprocess.Popen([sys.executable, program, end], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if end == "kill":
            parent.kill()
        parent.wait(60)
    give_up = time.monotonic() + 15
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < give_up, "the worker lives on"
        time.sleep(0.05)
