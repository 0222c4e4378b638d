"""Every request has an id and a line in the log, and the metrics count those that were cancelled or refused, too."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from running_service import RunningService, Serve
from waiting import wait_until

from studio.serve.access import service_token
from studio.serve.request_log import JsonFormatter, log_to_standard_error
from studio.serve.running import Address

pytestmark = pytest.mark.timeout(120)


def speak(service: RunningService, text: str = "one two", **values: object) -> httpx2.Response:
    body = {"input": text, "voice": "Ada", "response_format": "pcm", **values}
    return httpx2.post(f"{service.url}/v1/audio/speech", json=body, headers={"x-request-id": "from-the-client.1"})


def metrics(service: RunningService) -> dict[str, float]:
    lines = httpx2.get(f"{service.url}/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, object]]]:
    """The lines of the log as they are in JSON, each of which appears when its request has ended."""
    found: list[dict[str, object]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(self.format(record)))

    handler = Handler(logging.INFO)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("studio.serve")
    logger.addHandler(handler)
    caplog.set_level(logging.INFO, "studio.serve")
    yield found
    logger.removeHandler(handler)


def wait_for(lines: list[dict[str, object]], **values: object) -> dict[str, object]:
    def matching() -> list[dict[str, object]]:
        return [line for line in lines if values.items() <= line.items()]

    wait_until(lambda: bool(matching()))
    return matching()[-1]


def test_the_line_of_a_request_has_its_facts_but_no_text_and_no_name(
    service: RunningService, lines: list[dict[str, object]]
) -> None:
    answer = speak(service, "one two")
    assert answer.headers["x-request-id"] == "from-the-client.1"
    line = wait_for(lines, id="from-the-client.1")
    expected = {
        "client": "127.0.0.1",
        "method": "POST",
        "route": "/v1/audio/speech",
        "status": 200,
        "outcome": "ok",
        "characters": 7,
        "audio": 0.2,
    }
    assert expected.items() <= line.items()
    assert 0 <= line["queue"] <= line["first_byte"] <= line["duration"]  # type: ignore[operator]
    assert len(str(line["voice"])) == 12
    assert "Ada" not in str(line)
    assert "one" not in str(line)


def test_an_id_is_made_if_the_client_sends_none_or_one_that_cannot_be_logged(service: RunningService) -> None:
    ids = set()
    for headers in ({}, {"x-request-id": "two words"}, {"x-request-id": "x" * 200}, {"x-request-id": 'a"b'}):
        ids.add(httpx2.get(f"{service.url}/v1/models", headers=headers).headers["x-request-id"])
    assert len(ids) == 4
    assert all(len(each) == 32 for each in ids)


def test_errors_contain_the_id(service: RunningService, lines: list[dict[str, object]]) -> None:
    answer = speak(service, voice="Nobody")
    assert answer.json()["error"]["request_id"] == "from-the-client.1"
    assert wait_for(lines, outcome="voice-not-found")["status"] == 404


def test_a_refused_request_has_a_line_and_an_id(serve: Serve, tmp_path: Path, lines: list[dict[str, object]]) -> None:
    with serve(Address(port=0, token_file=tmp_path / "token")) as running:
        answer = httpx2.get(f"{running.url}/v1/audio/voices")
        assert answer.headers["x-request-id"] == answer.json()["error"]["request_id"]
        assert wait_for(lines, outcome="wrong-token")["status"] == 401
        token = service_token(tmp_path / "token")
        httpx2.get(f"{running.url}/v1/audio/nothing", headers={"Authorization": f"Bearer {token}"})
        assert wait_for(lines, status=404)["route"] == "unknown"


def test_probes_are_logged_only_if_they_fail(service: RunningService, lines: list[dict[str, object]]) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/v1/models"):
        httpx2.get(f"{service.url}{path}")
    wait_for(lines, route="/v1/models")
    assert {line["route"] for line in lines} == {"/v1/models"}


def test_waits_of_clients_that_give_up_are_counted(serve: Serve, lines: list[dict[str, object]]) -> None:
    with serve() as running, httpx2.Client() as client:
        url = f"{running.url}/v1/audio/speech"
        with client.stream("POST", url, json={"input": "one wait", "voice": "Ada"}) as speaking:
            parts = speaking.iter_raw()
            next(parts)
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(url, json={"input": "two", "voice": "Ada"}, timeout=0.3)
            assert wait_for(lines, outcome="cancelled")["status"] == 499
        wait_until(lambda: metrics(running)["timbre_cancelled_total"] == 2)
        counted = metrics(running)
        assert counted["timbre_queue_wait_seconds_count"] == 2
        assert counted["timbre_first_audio_seconds_count"] == 2
        label = '{route="/v1/audio/speech",status="499"}'
        assert counted[f"timbre_http_request_duration_seconds_count{label}"] == 1


def test_a_full_queue_is_counted_by_its_status(serve: Serve) -> None:
    with serve(max_waiting=1) as running, httpx2.Client() as client:
        url = f"{running.url}/v1/audio/speech"
        with client.stream("POST", url, json={"input": "one wait", "voice": "Ada"}) as speaking:
            parts = speaking.iter_raw()
            next(parts)
            with pytest.raises(httpx2.ReadTimeout):
                httpx2.post(url, json={"input": "two", "voice": "Ada"}, timeout=0.05)
            running.service.queue.limit = 0
            assert httpx2.post(url, json={"input": "three", "voice": "Ada"}).status_code == 429
        label = '{route="/v1/audio/speech",status="429"}'
        assert metrics(running)[f"timbre_http_request_duration_seconds_count{label}"] == 1


def test_metrics_name_the_build_and_nothing_needless(service: RunningService) -> None:
    counted = metrics(service)
    [build] = [name for name in counted if name.startswith("timbre_build_info")]
    assert f'model="{service.service.model_name}"' in build
    assert not [name for name in counted if "_created" in name]


def test_metrics_have_a_port_without_the_token(serve: Serve, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        unused_port = free.getsockname()[1]
    with serve(Address(port=0, token_file=tmp_path / "token", metrics_port=unused_port)) as running:
        url = f"http://127.0.0.1:{unused_port}"
        scraped = httpx2.get(f"{url}/metrics", headers={"Host": "timbre:9108"})
        assert "timbre_build_info" in scraped.text
        assert httpx2.get(f"{url}/v1/audio/voices").status_code == 404
        assert httpx2.get(f"{running.url}/metrics").status_code == 401


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_log_is_written_to_standard_error(
    service: RunningService, log_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with log_to_standard_error(log_format):
        speak(service)
        written = ""

        def is_written() -> bool:
            nonlocal written
            written += capsys.readouterr().err
            return "\n" in written

        wait_until(is_written)
    if log_format == "json":
        assert json.loads(written)["route"] == "/v1/audio/speech"
    else:
        assert "INFO id=from-the-client.1 client=127.0.0.1 method=POST route=/v1/audio/speech status=200" in written
