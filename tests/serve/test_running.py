"""The service is stopped while clients use it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import httpx2
import pytest
from running_service import Serve
from waiting import wait_until

from studio.serve.running import run_service


@pytest.mark.timeout(120)
def test_a_stopped_service_answers_what_waits_and_breaks_off_what_does_not_end(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(run_service.__kwdefaults__, "shutdown_seconds", 1)
    with ThreadPoolExecutor(3) as pool:
        answers: list[Future[httpx2.Response]] = []
        with serve() as running:

            def post(path: str, body: dict[str, object]) -> None:
                answers.append(pool.submit(httpx2.post, f"{running.url}{path}", json=body, timeout=60))

            post("/v1/audio/speech", {"input": "one wait", "response_format": "pcm"})
            wait_until(lambda: running.service.queue.num_running == 1)
            post("/v1/audio/speech", {"input": "two"})
            post("/v1/audio/speech", {"input": "three", "stream_format": "sse"})
            wait_until(lambda: running.service.queue.num_waiting == 2)
        broken, *waiting = answers
        for answer in waiting:
            assert (answer.result().status_code, answer.result().json()["error"]["code"]) == (503, "service-stopping")
        with pytest.raises(httpx2.RemoteProtocolError):
            broken.result()
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
